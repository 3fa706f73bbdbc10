"""Who says how many groups a table has, asked one table at a time; answers are kept, so a run can be continued.

    python -m bench.choose_answers --keep answers.jsonl --seed 1 --minutes 8           # again, until nobody is left
    python -m bench.choose_answers --keep answers.jsonl --contestant gap --table iris
    python -m bench choose --only sets --keep answers.jsonl                            # the columns

Everybody gets the same rows and the same numbers to choose from. An answer belongs to a table's very cells: where
they change, it is asked for again. Answers of ours belong to the code of their day: for new code take a new file with
the peers' lines of the old one. Seconds are those of the processor, the same on a busy machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bench import choose_peers as peers
from bench.choose_sets import LabelledSet, all_sets

OURS = "asterism"


@dataclass(frozen=True)
class Answer:
    """What somebody says of a table; k = 0 where nothing came of it."""

    k: int
    confidence: float = 0.0
    seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)  # whatever else is worth keeping


def asterism(table: LabelledSet) -> Answer:
    """Our verdict, from the criteria it listens to."""
    from asterism import choose_k

    choice = choose_k(table.X, k=table.ks, criteria=["silhouette", "gap", "stability"], random_state=0)
    facts = {"picks": choice.picks, "components": choice.components, "reason": choice.reasons[0]}
    return Answer(choice.k, choice.confidence, facts=facts)


CONTESTANTS: dict[
    str, tuple[str, Callable[[LabelledSet], Answer | int]]
] = {  # name -> package, how it is asked
    OURS: (OURS, asterism),
    "BIC loop": ("scikit-learn", peers.least_bic),
    "silhouette": ("scikit-learn", peers.largest_silhouette),
    "gap": ("scikit-learn", peers.gap),
    "mclust": ("mclust", peers.mclust),
}


def present() -> list[str]:
    """Contestants that are installed."""
    return [name for name in CONTESTANTS if name != "mclust" or peers.has_mclust()]


def ask(name: str, table: LabelledSet) -> Answer:
    """One contestant about one table. Peers get one thread: on small tables more only get in the way."""
    began = _processor_seconds()
    with threadpool_limits(None if name == OURS else 1):
        said = CONTESTANTS[name][1](table)
    seconds = _processor_seconds() - began
    if isinstance(said, Answer):
        return Answer(said.k, said.confidence, seconds, said.facts)
    return Answer(int(said), seconds=seconds)


def _processor_seconds() -> float:
    """Of this process and of those it has started and waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


class Kept:
    """Answers by contestant and table. In a file each is a line of JSON added at the end, so that several processes
    can work into one file and nothing is lost when one is stopped; of two lines on the same the later counts."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._said: dict[tuple[str, str], Answer] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                said = json.loads(line)
                key = said.pop("contestant"), said.pop("table")
                self._said[key] = Answer(**said)

    def get(self, name: str, table: LabelledSet) -> Answer | None:
        """The answer, if it was given."""
        return self._said.get((name, _key(table)))

    def put(self, name: str, table: LabelledSet, answer: Answer) -> None:
        """Keep an answer."""
        self._said[name, _key(table)] = answer
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps({"contestant": name, "table": _key(table), **asdict(answer)}) + "\n")


def _key(table: LabelledSet) -> str:
    cells = np.ascontiguousarray(table.X)
    return f"{table.name} {hashlib.sha256(cells.tobytes()).hexdigest()[:12]}"


def answers(
    kept: Kept, names: Sequence[str], tables: Sequence[LabelledSet], seconds: float = float("inf")
) -> int:
    """Ask everybody about every table that they have not answered; how many answers are missing when time is up."""
    open_ = [(name, table) for table in tables for name in names if kept.get(name, table) is None]
    began = time.monotonic()
    for done, (name, table) in enumerate(open_):
        if time.monotonic() - began > seconds:
            return len(open_) - done
        answer = ask(name, table)
        kept.put(name, table, answer)
        told = f"  {name}, {table.name}: {answer.k} (true {table.k}), {answer.seconds:.1f} s"
        print(told, file=sys.stderr, flush=True)
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask contestants about tables, and keep their answers.")
    parser.add_argument("--keep", type=Path, required=True, metavar="FILE", help="where answers are kept")
    parser.add_argument("--contestant", action="append", choices=list(CONTESTANTS), help="only these")
    parser.add_argument("--table", default="", metavar="WORDS", help="tables with these words in their names")
    parser.add_argument("--seed", type=int, default=1, help="of the generated tables")
    parser.add_argument("--generated", action="store_true", help="no real tables")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no question after so many")
    parser.add_argument(
        "--part", default="1/1", metavar="I/N", help="of the tables, every N-th from the I-th on"
    )
    options = parser.parse_args()
    tables = [t for t in all_sets(options.seed, real=not options.generated) if options.table in t.name]
    first, step = map(int, options.part.split("/"))
    tables = tables[first - 1 :: step]
    missing = answers(Kept(options.keep), options.contestant or present(), tables, 60.0 * options.minutes)
    print(f"{len(tables)} tables, {missing} answers missing")


if __name__ == "__main__":
    main()
