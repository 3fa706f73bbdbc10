"""A second look at a wide table: mixtures with full covariances, in all columns.

Principal directions are those in which rows differ most. Groups may differ in others, and in how columns go together;
in a few directions they are then one heap. Where these show no groups, and rows are enough, normal groups with one
covariance for all, and with one each, are fitted to all columns, up to numbers that BIC likes less and less. They are
judged as ever, by the valleys between them (``verdict.valley``), but believed only where every criterion takes the
same number: curved, uneven or heavy-tailed rows take many components, and some of those have valleys between them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from asterism.data.encode import EncodedSource
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current, engine
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import CollapsedComponentWarning, NotConvergedWarning
from asterism.families.gaussian import GaussianFamily
from asterism.methods.cells import Cell, Cells, cell_of
from asterism.methods.mixture import Settings, fit_mixture
from asterism.methods.posterior import imputed, shares_of
from asterism.stats.moments import ColumnMoments
from asterism.verdict.choice import Choice, fit_on_whole, group_labels, heaviest_first
from asterism.verdict.compared import rows_enough
from asterism.verdict.rows import Rows, draw
from asterism.verdict.tabulate import Question, measured
from asterism.verdict.valley import SURE, groups_by_valleys
from asterism.verdict.view import SAMPLE_SEED, View

MOST_ROWS = 20_000  # convention: rows compared
USUAL_K = range(1, 11)  # convention: numbers tried where none are given
LEAST_ROWS = 20  # a column: with fewer, covariances are mostly chance
MOST_COLUMNS = 256  # beyond, they are too many numbers
STRUCTURES = ("EEE", "VVV")
SETTINGS = Settings(max_iter=30)
RIGHT = 0.9  # measured: how often such a verdict is right
PATIENCE = 2  # numbers in a row that BIC likes less, after which no larger ones are tried


def in_all_columns(encoded: EncodedSource, question: Question) -> Choice | None:
    """The verdict of mixtures of all columns; None where they see no groups either, or rows are too few."""
    if encoded.n_columns > MOST_COLUMNS:
        return None
    ks = question.ks or USUAL_K
    with one_blas_thread():
        if reduce(encoded, ColumnMoments.of).rows < LEAST_ROWS * encoded.n_columns:
            return None
        drawn = draw(encoded, MOST_ROWS, SAMPLE_SEED)
        table = ArraySource(drawn.x, drawn.weights)
        with engine(n_threads=current().n_threads):  # no time limit, checkpoint or progress of its own
            cells = _cells(table, ks)
        best = min(cells.values(), key=lambda cell: cell.bic)
        if best.k == 1 or min(cells.values(), key=lambda cell: cell.icl).k != best.k:
            return None
        rows = Rows(imputed(best.mixture, table) if np.isnan(drawn.x).any() else drawn.x, drawn.weights)
        groups = groups_by_valleys(rows, shares_of(best.mixture, table), SAMPLE_SEED, SURE)
        if groups.k != best.k:
            return None
        criteria, picks = measured(rows, cells, best, replace(question, ks=list(ks)))
        mixture = best.mixture if drawn.whole else fit_on_whole(encoded, best.mixture)
        labels = map_rows(encoded, partial(group_labels, mixture, np.arange(best.k)))
        labels, group_of = heaviest_first(encoded, labels, np.arange(best.k), best.k)
    said = (
        "In all columns there are clearly fewer rows between every two of them than within them.",
        "BIC and ICL agree.",
    )
    text = f"{best.k} groups (confidence {RIGHT:.0%}). {' '.join(said)}"
    return Choice(
        k=best.k, confidence=RIGHT, reasons=said, verdict=text, table=criteria, picks=picks,
        structure=best.structure, components=best.k, group_of=group_of, model=mixture, labels=labels,
        view=View(encoded.encoding),
    )  # fmt: skip


def _cells(table: Source, ks: Sequence[int]) -> Cells:
    one = _cell(table, STRUCTURES[0], 1)
    cells: Cells = {(one.structure, 1): one}
    for name in STRUCTURES:
        least, worse = one.bic, 0
        for k in range(2, max(ks) + 1):
            if worse == PATIENCE or not rows_enough(name, k, one.total, table.n_columns):
                break
            cell = cells[name, k] = _cell(table, name, k)
            worse = 0 if cell.bic < least else worse + 1
            least = min(least, cell.bic)
    return cells


def _cell(table: Source, name: str, k: int) -> Cell:
    with warnings.catch_warnings():  # a mixture among many: whether it is usable is what BIC tells
        warnings.simplefilter("ignore", CollapsedComponentWarning)
        warnings.simplefilter("ignore", NotConvergedWarning)
        fit = fit_mixture(table, GaussianFamily(name), k, SETTINGS)
    return cell_of(name, fit.mixture, table)
