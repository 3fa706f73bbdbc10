"""Labels of every table from us and from our peers, one table at a time; they are kept, so a run can be continued.

    python -m bench.choose_answers --keep answers --only peers --minutes 8     # again, until none is missing
    python -m bench.choose_answers --keep answers --only ours --seeds 1,2,3
    python -m bench.choose_answers --keep answers --only genie --table moons
    python -m bench.choose_answers --keep answers --score                      # scores of what is there

Peers get standardised columns (``find`` scales by itself) and one thread. ``answers`` is a folder with a file of JSON
lines for each contestant: remove the file, and its tables are labelled again. An answer belongs to a table's very
cells; where they change, it is computed again. Answers of ours belong to the code of their day. Seconds are those of
the processor, the same on a busy machine.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bench import choose_peers as peers
from bench.choose_pieces import Labels
from bench.choose_tables import KINDS, LabelledTable, all_tables

FIND, CHOOSE = "asterism", "asterism choose_k"
OURS = (FIND, CHOOSE)
TOLD = "genie, told k"
SEEDS = (1, 2, 3)
MOST, MANY = 20, 60  # numbers of groups that peers try; MANY where a table has more than 15


@dataclass(frozen=True)
class Answer:
    """Labels (n,) of a table, -1 for rows of no group, and the number of groups."""

    labels: Labels
    k: int
    seconds: float = 0.0
    confidence: float = 0.0  # that we state


def counted(labels: Any, seconds: float = 0.0) -> Answer:
    """The answer with as many groups as there are labels, and 1 where all rows are noise."""
    found = np.asarray(labels, dtype=np.int64)
    return Answer(found, max(1, len(np.unique(found[found >= 0]))), seconds)


# --- contestants --------------------------------------------------------------------------------------------------


def by_find(table: LabelledTable, **settings: Any) -> Answer:
    """``asterism.find`` with all its defaults."""
    from asterism import find

    finding = find(table.rows, **settings)
    return Answer(np.asarray(finding.labels, np.int64), int(finding.k), confidence=float(finding.confidence))


def by_choose_k(table: LabelledTable) -> Answer:
    """``asterism.choose_k``; its verdict does not depend on the criteria listed."""
    from asterism import choose_k

    choice = choose_k(table.rows, criteria=["bic"], random_state=0)
    return Answer(np.asarray(choice.labels, np.int64), int(choice.k), confidence=float(choice.confidence))


def most(table: LabelledTable) -> int:
    """The largest number of groups that peers try."""
    return min(MOST if table.k <= 15 else MANY, len(table.rows) // 2)


def _peer(label: Callable[..., Labels], **settings: int) -> Callable[[LabelledTable], Answer]:
    def ask(table: LabelledTable) -> Answer:
        return counted(label(peers.standardised(table.rows), *(settings.values() or (most(table),))))

    return ask


def by_mclust(table: LabelledTable) -> Answer:
    return counted(*peers.mclust_process().labels(peers.standardised(table.rows), most(table)))


def by_genie(table: LabelledTable) -> Answer:
    return counted(peers.genie(peers.standardised(table.rows), table.k))


@dataclass(frozen=True)
class Contestant:
    """How it is asked, and what must be installed for it."""

    ask: Callable[[LabelledTable], Answer]
    module: str


CONTESTANTS: dict[str, Contestant] = {
    FIND: Contestant(by_find, "asterism"),
    CHOOSE: Contestant(by_choose_k, "asterism"),
    "hdbscan 5": Contestant(_peer(peers.hdbscan, smallest=5), "sklearn"),
    "hdbscan 15": Contestant(_peer(peers.hdbscan, smallest=15), "sklearn"),
    "hdbscan 50": Contestant(_peer(peers.hdbscan, smallest=50), "sklearn"),
    "plscan": Contestant(_peer(peers.plscan), "fast_plscan"),
    "k-means, silhouette": Contestant(_peer(peers.largest_silhouette), "sklearn"),
    "mixture, BIC": Contestant(_peer(peers.least_bic), "sklearn"),
    "mclust": Contestant(by_mclust, ""),
    TOLD: Contestant(by_genie, "genieclust"),
}


def present() -> list[str]:
    """Contestants that are installed."""
    return [
        name
        for name, contestant in CONTESTANTS.items()
        if (peers.has_mclust() if name == "mclust" else find_spec(contestant.module) is not None)
    ]


def chosen(words: str) -> list[str]:
    """Contestants that are installed and meant: "ours", "peers", or words in their names."""
    if words == "ours":
        return [name for name in present() if name in OURS]
    if words == "peers":
        return [name for name in present() if name not in OURS]
    return [name for name in present() if words in name]


def ask(name: str, table: LabelledTable) -> Answer:
    """One contestant about one table. Peers get one thread: on small tables more only cost time."""
    began = processor_seconds()
    if name in OURS:
        answer = CONTESTANTS[name].ask(table)
    else:
        with threadpool_limits(1):
            answer = _attempt(name, table)
    seconds = answer.seconds or processor_seconds() - began  # mclust has its own clock
    return Answer(answer.labels, answer.k, seconds, answer.confidence)


def _attempt(name: str, table: LabelledTable) -> Answer:
    """A peer's answer; one that fails has found nothing, and the run goes on."""
    try:
        return CONTESTANTS[name].ask(table)
    except (ValueError, np.linalg.LinAlgError, FloatingPointError) as error:
        print(f"  {name} fails on {table.name}: {error}", file=sys.stderr, flush=True)
        return counted(np.full(len(table.rows), -1))


def processor_seconds() -> float:
    """Of this process and of those it waited for: the same on a busy machine."""
    spent = os.times()
    return spent.user + spent.system


# --- answers kept -------------------------------------------------------------------------------------------------


class Kept:
    """Answers by contestant and table (anything with a ``key``). In a folder, each is a line of JSON added at the end
    of the contestant's file: several processes can work into one folder, nothing is lost when one is stopped; of two
    lines the later counts."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._said: dict[tuple[str, str], Answer] = {}
        for file in sorted(folder.glob("*.jsonl")) if folder is not None else ():
            for line in file.read_text().splitlines():
                said = json.loads(line)
                key = said.pop("contestant"), said.pop("table")
                self._said[key] = Answer(labels=_unpacked(said.pop("labels")), **said)

    def get(self, name: str, table: Any) -> Answer | None:
        """The answer, if it was given."""
        return self._said.get((name, table.key))

    def put(self, name: str, table: Any, answer: Answer) -> None:
        """Keep an answer."""
        self._said[name, table.key] = answer
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            line = {
                "contestant": name,
                "table": table.key,
                **asdict(answer),
                "labels": _packed(answer.labels),
            }
            with (self.folder / f"{name.replace(' ', '_').replace(',', '')}.jsonl").open("a") as file:
                file.write(json.dumps(line) + "\n")


def _packed(labels: Labels) -> str:
    return base64.b64encode(zlib.compress(labels.astype("<i4").tobytes())).decode()


def _unpacked(text: str) -> Labels:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i4").astype(np.int64)


def tables_of(seeds: Iterable[int], kinds: Iterable[str] = KINDS, words: str = "") -> list[LabelledTable]:
    """Generated tables of all seeds, and measured ones once."""
    found = []
    for j, seed in enumerate(seeds):
        found += all_tables(seed, kinds=kinds, measured=j == 0, words=words)
    return found


def answers(
    kept: Kept, names: Sequence[str], tables: Sequence[Any], seconds: float = float("inf"),
    ask: Callable[[str, Any], Answer] = ask,
) -> int:  # fmt: skip
    """Ask contestants about every table that they have not answered; how many answers are missing when time is up."""
    missing = [
        (name, table)
        for table in tables
        for name in names
        if kept.get(name, table) is None
        and not (name == TOLD and table.k == 1)  # one group: nothing to label
    ]
    began = time.monotonic()
    for done, (name, table) in enumerate(missing):
        if time.monotonic() - began > seconds:
            return len(missing) - done
        answer = ask(name, table)
        kept.put(name, table, answer)
        said = f"  {name}, {table.name}: {answer.k} (true {table.k}), {answer.seconds:.1f} s"
        print(said, file=sys.stderr, flush=True)
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Label tables by us and by peers, and keep the labels.")
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER", help="where answers are kept")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="ours, peers, or words in a contestant's name"
    )
    parser.add_argument("--table", default="", metavar="WORDS", help="tables with these words in their names")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only these kinds of tables")
    parser.add_argument("--seeds", default="1,2,3", help="of the generated tables")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no table after so many")
    parser.add_argument(
        "--part", default="1/1", metavar="I/N", help="of the tables, every N-th from the I-th on"
    )
    parser.add_argument("--score", action="store_true", help="label nothing, score what is there")
    options = parser.parse_args()
    tables = tables_of(map(int, options.seeds.split(",")), options.kind or KINDS, options.table)
    first, step = map(int, options.part.split("/"))
    tables, kept = tables[first - 1 :: step], Kept(options.keep)
    if options.score:
        from bench.choose_score import described, scored

        print("\n".join(described(scored(kept, list(CONTESTANTS), tables))))
        return
    missing = answers(kept, chosen(options.only), tables, 60.0 * options.minutes)
    print(f"{len(tables)} tables, {missing} answers missing")


if __name__ == "__main__":
    main()
