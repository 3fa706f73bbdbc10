"""Labels of tables with columns of every kind, by us and by peers, one table at a time; they are kept.

    python -m bench.mixed_answers --keep answers --only ours --seeds 1-3 --minutes 8    # until none is missing
    python -m bench.mixed_answers --keep answers --only peers --part 1/2
    python -m bench.mixed_answers --keep answers --only ours --table survey --kind groups --half newer
    python -m bench.mixed_answers --keep answers --score --seeds 1-3                    # scores of what is there

``answers`` is a folder with a file of JSON lines for each contestant (``choose_answers.Kept``): an answer belongs to
a table's very cells, and ours to the code of their day: remove the file, and its tables are labelled again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from bench import mixed_peers as peers
from bench.choose_answers import FIND, Answer, Kept, answers, counted, processor_seconds
from bench.mixed_tables import HALVES, KINDS, MixedTable, all_tables

SEEDS = tuple(range(1, 21))


def by_find(table: MixedTable) -> Answer:
    """``asterism.find`` with all its defaults."""
    from asterism import find

    finding = find(table.frame, seed=0)
    return Answer(np.asarray(finding.labels, np.int64), int(finding.k), confidence=float(finding.confidence))


def _peer(label: Callable[..., object]) -> Callable[[MixedTable], Answer]:
    return lambda table: counted(label(table.frame))


@dataclass(frozen=True)
class Contestant:
    """How it is asked, and what must be installed for it."""

    ask: Callable[[MixedTable], Answer]
    module: str


CONTESTANTS: dict[str, Contestant] = {
    FIND: Contestant(by_find, "asterism"),
    "StepMix, BIC": Contestant(_peer(peers.stepmix), "stepmix"),
    "k-prototypes, silhouette": Contestant(_peer(peers.k_prototypes), "kmodes"),
    "Gower, PAM, silhouette": Contestant(_peer(peers.gower_pam), "kmedoids"),
    "one-hot, HDBSCAN 15": Contestant(_peer(peers.one_hot_hdbscan), "sklearn"),
}


def present() -> list[str]:
    """Contestants that are installed."""
    return [name for name, contestant in CONTESTANTS.items() if find_spec(contestant.module) is not None]


def chosen(text: str) -> list[str]:
    """Contestants that are installed and meant: "ours", "peers", or words in their names."""
    if text in ("ours", "peers"):
        return [name for name in present() if (name == FIND) == (text == "ours")]
    return [name for name in present() if text in name]


def ask(name: str, table: MixedTable) -> Answer:
    """One contestant about one table; one that fails has found nothing (k = 0 if it is ours: never right)."""
    began = processor_seconds()
    try:
        with nullcontext() if name == FIND else threadpool_limits(1):
            answer = CONTESTANTS[name].ask(table)
    except Exception as error:  # whatever a table does to a method, the run goes on
        print(f"  {name} fails on {table.name}: {error!r}", file=sys.stderr, flush=True)
        answer = Answer(np.full(len(table.labels), -1), 0 if name == FIND else 1)
    return Answer(answer.labels, answer.k, processor_seconds() - began, answer.confidence)


def tables_of(
    seed: int, kinds: Iterable[str] = KINDS, words: str = "", measured: bool = True, half: str = ""
) -> list[MixedTable]:
    """Tables of one seed: all seeds at once would fill the memory."""
    return list(all_tables(seed, kinds=kinds, words=words, measured=measured, half=half))


def main() -> None:
    parser = argparse.ArgumentParser(description="Label tables by us and by peers, and keep the labels.")
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER", help="where answers are kept")
    parser.add_argument("--only", default="", metavar="WORDS", help="ours, peers, or words in a name")
    parser.add_argument("--table", default="", metavar="WORDS", help="tables with these words in their names")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only these kinds of tables")
    parser.add_argument("--half", default="", choices=("", *HALVES), help="of the generated tables")
    parser.add_argument("--seeds", default="1,2,3", help="of the generated tables: 1,2,5 or 1-20")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no table after so many")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every N-th table from the I-th on")
    parser.add_argument("--score", action="store_true", help="label nothing, score what is there")
    options = parser.parse_args()
    seeds, kinds, kept = seeds_of(options.seeds), options.kind or KINDS, Kept(options.keep)
    by_seed = (tables_of(seed, kinds, options.table, j == 0, options.half) for j, seed in enumerate(seeds))
    if options.score:
        from bench.mixed_score import described, scored

        print("\n".join(described(scored(kept, list(CONTESTANTS), by_seed))))
        return
    first, step = map(int, options.part.split("/"))
    ends, missing = time.monotonic() + 60 * options.minutes, 0
    for tables in by_seed:
        left = ends - time.monotonic()
        missing += answers(kept, chosen(options.only), tables[first - 1 :: step], left, ask)
    print(f"seeds {options.seeds}: {missing} answers missing")


def seeds_of(text: str) -> list[int]:
    """ "1,2,5" or "1-20".

    >>> seeds_of("1-3,7")
    [1, 2, 3, 7]
    """
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


if __name__ == "__main__":
    main()
