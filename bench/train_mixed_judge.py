"""The judge of mixed proposals, fitted to tables whose groups are known: makes ``mixed_judge.json``.

    python -m bench.train_mixed_judge --seeds 102-107 --scenes 500 --keep FOLDER --jobs 2    # from the root
    python -m bench.train_mixed_judge --seeds 102-107 --scenes 500 --keep FOLDER --write other.json

Tables are those of the older and the fresh half of ``bench/mixed_tables.py``, by seeds that no figure is reported on,
and scenes put together at random (``bench/mixed_scenes.py``); the newer half is left for the figures. Cases,
cross-validation by the names of tables, lead, frequency and fit are those of ``bench/train_judge.py``: only the
evidence is another (``asterism.verdict.mixed_evidence``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from asterism import engine
from asterism.data.read import read
from asterism.data.source import ArraySource
from asterism.engines.threads import one_blas_thread
from asterism.metrics import adjusted_rand_score
from asterism.search.ranks import with_ranks
from asterism.verdict.dependence_null import MixedRows
from asterism.verdict.margins import margins_of
from asterism.verdict.mixed import SAMPLE, AsNumbers, evidence_of, mixtures_of
from asterism.verdict.repeated import without_repeated
from asterism.verdict.rows import draw
from asterism.verdict.view import SAMPLE_SEED
from bench.judge_cases import Case, gathered
from bench.mixed_answers import seeds_of
from bench.mixed_scenes import scenes
from bench.mixed_tables import MixedTable, all_tables
from bench.train_judge import Fitting, cross_validated, fit_judge, made, told, written

JUDGE = Path(__file__).resolve().parent.parent / "src" / "asterism" / "verdict" / "mixed_judge.json"
HALVES = ("older", "fresh")
SCENE_SEED = 1
CROSS_LAYERS, CROSS_STEPS, LAYERS, STEPS = 4, 3500, 4, 4500  # convention
HOW = Fitting(hidden=20, decay=1e-3, square=1.0, temperature=0.05)  # measured: by cross-validation, as below


def drawn_tables(
    seeds: Sequence[int], n_scenes: int, n_beside: int, n_few: int
) -> Iterator[tuple[MixedTable, bool]]:
    """Tables with columns of several kinds, and whether judges are compared by them."""
    kinds = (
        (table, True)
        for seed in seeds
        for half in HALVES
        for table in all_tables(seed, kinds=("groups", "none"), measured=False, half=half)
    )
    drawn = ((table, False) for table in scenes(SCENE_SEED, n_scenes, n_beside, n_few))
    return (one for one in chain(kinds, drawn) if not _numbers_alone(one[0]))


def _numbers_alone(table: MixedTable) -> bool:
    """Whether the judge of numbers is asked."""
    source = without_repeated(with_ranks(read(table.frame), ()))
    return all(column.kind == "numeric" for column in margins_of(source).modelled)


def examined(table: MixedTable, judged: bool) -> Case:
    """Proposals on the rows as the verdict sees them, and what each is worth."""
    source = AsNumbers(without_repeated(with_ranks(read(table.frame), ())))
    with engine(n_threads=1), one_blas_thread():
        drawn = draw(source, SAMPLE, SAMPLE_SEED)
        rows = MixedRows(margins_of(source.inner), drawn.x, drawn.weights)
        _, proposals, names, evidence = evidence_of(rows, mixtures_of(rows)[1])
        # A sample depends on the numbers of rows alone: that of the labels is of the same rows.
        true = draw(ArraySource(table.labels[:, None].astype(float)), SAMPLE, SAMPLE_SEED).x[:, 0].astype(int)
    rand = [adjusted_rand_score(true, p.labels) if table.k > 1 else float(p.k == 1) for p in proposals]
    ks = np.array([proposal.k for proposal in proposals])
    return Case(
        table.name,
        table.kind,
        judged,
        table.k,
        np.array(names),
        evidence.astype(np.float32),
        np.array(rand),
        ks,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="102-107", help="of the tables")
    parser.add_argument("--scenes", type=int, default=500, help="drawn scenes")
    parser.add_argument("--beside", type=int, default=100, help="drawn scenes of numbers beside names")
    parser.add_argument("--few", type=int, default=150, help="drawn scenes of few columns")
    parser.add_argument("--keep", type=Path, required=True, help="folder of evidence")
    parser.add_argument("--jobs", type=int, default=1, help="processes that measure evidence")
    parser.add_argument("--write", type=Path, default=JUDGE)
    asked = parser.parse_args(arguments)
    cases = gathered(
        asked.keep,
        drawn_tables(seeds_of(asked.seeds), asked.scenes, asked.beside, asked.few),
        asked.jobs,
        examined,
    )
    print(f"{len(cases)} tables, {sum(len(case.ks) for case in cases)} proposals", file=sys.stderr)
    scored = cross_validated(cases, CROSS_LAYERS, CROSS_STEPS, HOW)
    judge = made(scored, fit_judge(cases, LAYERS, STEPS, HOW))
    print(told(scored, judge))
    asked.write.write_text(written(judge), encoding="utf-8")


if __name__ == "__main__":
    main()
