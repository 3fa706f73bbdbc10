"""What is known of the groups on the command line: a column of labels, files of pairs, sizes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import click

from asterism.cli import options as common
from asterism.errors import DataError, ParameterError

Pair = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Knowing:
    """What one call is told of the groups."""

    known: str | None
    together: str | None
    apart: str | None
    pairs: str | None
    min_size: int | None
    max_size: int | None

    def told(self) -> dict[str, Any]:
        """Parameters of ``asterism.find``."""
        same, different = judged_pairs(self.pairs) if self.pairs else ([], [])
        return {
            "known": self.known,
            "together": [*(pairs_in(self.together) if self.together else []), *same],
            "apart": [*(pairs_in(self.apart) if self.apart else []), *different],
            "min_size": self.min_size,
            "max_size": self.max_size,
        }


knowing = common.together(
    click.option(
        "--known",
        metavar="COLUMN",
        help="Column with the groups of some rows, empty where they are not known.",
    ),
    click.option(
        "--together", metavar="FILE", help="Pairs of rows of one group: two columns of row numbers, from 0."
    ),
    click.option("--apart", metavar="FILE", help="Pairs of rows of two groups, in the same way."),
    click.option(
        "--pairs", metavar="FILE", help="Judgements: columns first, second (row numbers from 0), same."
    ),
    click.option("--min-size", type=click.IntRange(min=1), help="Rows that every group has at least."),
    click.option("--max-size", type=click.IntRange(min=1), help="Rows that every group has at most."),
)


def pairs_in(path: str) -> list[Pair]:
    """The row numbers in the first two columns of a file."""
    from asterism.cli.compare import _columns, _row
    from asterism.data.opening import opened

    table = opened(path)
    names = [] if table is None else list(table.types)
    if len(names) < 2:
        raise ParameterError(
            f"{path!r} has {len(names)} column{'s' * (len(names) != 1)}.", "Give two: a pair of rows a line."
        )
    first, second = _columns(path, names[:2]).values()
    return [(_row(a, i), _row(b, i)) for i, (a, b) in enumerate(zip(first, second, strict=True))]


def judged_pairs(path: str) -> tuple[list[Pair], list[Pair]]:
    """Pairs that are together and pairs that are apart; of a pair that was judged several times what most say."""
    from asterism.cli.compare import _columns, _row, _truth
    from asterism.methods.linked import rows_in_words

    cells = _columns(path, ["first", "second", "same"])
    votes: Counter[Pair] = Counter()
    for i, (a, b, same) in enumerate(zip(*cells.values(), strict=True)):
        one, other = sorted((_row(a, i), _row(b, i)))
        votes[one, other] += 1 if _truth(same, i) else -1
    for (one, other), balance in votes.items():
        if balance == 0:
            raise DataError(
                f"{path!r} says as often that {rows_in_words([one, other])} are together as that they are apart.",
                "Settle it, or take that pair out.",
            )
    return [pair for pair, said in votes.items() if said > 0], [
        pair for pair, said in votes.items() if said < 0
    ]
