"""Cases for the judge of proposals: tables whose groups are known, all proposals on each, and what each is worth.

A case is kept in a file of its own, named by the table's very cells, so that a run can be continued. It belongs
to the code of its day: empty the folder where proposals or evidence have changed. ``bench/train_judge.py`` fits to
cases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from asterism import engine
from asterism.data.encode import EncodedSource
from asterism.data.margins import MarginSource
from asterism.data.source import ArraySource
from asterism.engines.threads import one_blas_thread
from asterism.methods.encoding import standard_encoding
from asterism.metrics import adjusted_rand_score
from asterism.verdict.decide import MOST_GROUPS
from asterism.verdict.evidence import measure
from asterism.verdict.margins import margins_of
from asterism.verdict.propose import Field, propose
from asterism.verdict.rows import draw
from asterism.verdict.seen import Seen
from asterism.verdict.view import COMPARED_ROWS, SAMPLE_SEED, view_of_numbers
from bench.choose_scenes import scenes
from bench.choose_tables import LabelledTable, all_tables

Array = NDArray[Any]
SCENE_SEEDS = (100, 101)  # convention: each draws half of the scenes
MEASURED_WEIGHT = 8.0  # convention: measured tables are few, and what users have
NUMBER_SHARE = 0.12  # convention: of a target, for the right number of groups


class Keyed(Protocol):
    """A table that its name and its very cells tell from all others."""

    @property
    def key(self) -> str: ...


@dataclass(frozen=True, eq=False)
class Case:
    """All proposals on one table."""

    table: str
    kind: str
    judged: bool  # a table of the benchmark, by which judges are compared
    true: int  # groups, 1 where there are none
    names: Array  # (e,) of the evidence
    evidence: Array  # (proposals, e) float32
    rand: Array  # (proposals,) adjusted Rand index; where there are no groups 1 for a single group, else 0
    ks: Array  # (proposals,)

    @property
    def weight(self) -> float:
        """What the table counts when a judge is fitted."""
        return MEASURED_WEIGHT if self.kind == "measured" else 1.0

    @property
    def target(self) -> Array:
        """(proposals,) what a score should be: 1 for the right groups."""
        return np.asarray((1.0 - NUMBER_SHARE) * self.rand + NUMBER_SHARE * (self.ks == self.true))


def drawn_tables(n_scenes: int, seeds: Sequence[int]) -> Iterator[tuple[LabelledTable, bool]]:
    """Tables with labels, and whether they are of the benchmark."""
    for place, seed in enumerate(SCENE_SEEDS):
        share = (n_scenes + len(SCENE_SEEDS) - 1 - place) // len(SCENE_SEEDS)
        yield from ((table, False) for table in scenes(seed, share))
    for seed in seeds:
        for table in all_tables(seed, measured=seed == seeds[0]):
            if table.half == "older" and "walk" not in table.name and (table.labels > 0).any():
                yield table, True


def examined(table: LabelledTable, judged: bool) -> Case:
    """Proposals on the rows as the verdict sees them, and what each is worth."""
    source = ArraySource(table.rows)
    margins = margins_of(source, numbers_only=True)
    formed = source if margins.is_plain else MarginSource(source, margins)
    encoded = EncodedSource(formed, standard_encoding(formed))
    with one_blas_thread(), engine(n_threads=1):
        drawn = draw(view_of_numbers(encoded).of(formed), COMPARED_ROWS, SAMPLE_SEED)
        # A sample depends on the numbers of rows alone: that of the labels is of the same rows.
        labels = draw(ArraySource(table.labels[:, None].astype(float)), COMPARED_ROWS, SAMPLE_SEED).x[:, 0]
        seen = Seen.of(drawn.x, drawn.weights)
        field = Field.of(seen.rows, seen.weights, MOST_GROUPS)
        proposals = propose(field, MOST_GROUPS)
        names, evidence = measure(field, proposals)
    known = labels > 0
    ks = np.array([proposal.k for proposal in proposals])
    rand = (ks == 1).astype(float)
    if table.k > 1:
        found = [proposal.labels[seen.place][known] for proposal in proposals]
        rand = np.array([adjusted_rand_score(labels[known].astype(int), one) for one in found])
    return Case(
        table.name, table.kind, judged, table.k, np.array(names), evidence.astype(np.float32), rand, ks
    )


def kept(folder: Path, measure_case: Callable[[Any, bool], Case], drawn: tuple[Keyed, bool]) -> Case:
    """The case of a table, from its file if there is one."""
    table, judged = drawn
    path = folder / f"{hashlib.sha256(table.key.encode()).hexdigest()[:20]}.npz"
    if not path.exists():
        case = measure_case(table, judged)
        aside = path.with_suffix(".part")
        with aside.open("wb") as file:
            parts: dict[str, Any] = {f.name: np.asarray(getattr(case, f.name)) for f in fields(Case)}
            np.savez_compressed(file, **parts)
        aside.rename(path)
    with np.load(path, allow_pickle=False) as held:
        return Case(**{name: held[name] if held[name].ndim else held[name].item() for name in held.files})


def gathered(
    folder: Path, tables: Iterable[tuple[Keyed, bool]], jobs: int = 1,
    measure_case: Callable[[Any, bool], Case] | None = None,
) -> list[Case]:  # fmt: skip
    """Cases of all tables, in their order; of tables of numbers unless another measure is given."""
    measure_case = measure_case or examined
    folder.mkdir(parents=True, exist_ok=True)
    if jobs == 1:
        cases = [kept(folder, measure_case, drawn) for drawn in tables]
    else:
        with ProcessPoolExecutor(jobs) as pool:
            cases = list(pool.map(partial(kept, folder, measure_case), tables))
    if any(case.names.tolist() != cases[0].names.tolist() for case in cases):
        raise SystemExit(f"{folder} holds evidence of different versions: empty it.")
    return cases
