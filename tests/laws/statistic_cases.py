"""How to make every statistic of the library from rows: a new one is one line in ``CASES``.

A case says of a statistic

    of       rows -> statistic, through the function of a method that makes it wherever there is one
    zero     number of columns -> the statistic of no rows; unless given, what ``of`` makes of none
    excused  laws that it does not keep, each with the reason
    view     statistic -> what is compared, where fields may say the same in several ways
    scales   what rounding is measured against, by field, where numbers cancel

Models are cached by the number of columns: blocks of one table must be asked about one model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from asterism.data.block import Block, block_of, present
from asterism.data.calendar import Calendar, Dates
from asterism.data.columns import Column
from asterism.data.dates import parsed_dates
from asterism.data.decorated import Decorated, parsed
from asterism.data.profile import Profile, Words, Written
from asterism.data.source import ArraySource
from asterism.data.totals import Sum
from asterism.distances.base import Fitted, dissimilarity
from asterism.distances.given import NoFault
from asterism.distances.scatter import PairScatter
from asterism.explain import rules
from asterism.explain.rows import FirstRows
from asterism.families.categorical import count_levels
from asterism.families.covariance import Covariances
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import GaussianParams
from asterism.families.gaussian_statistic import GaussianStatistic
from asterism.families.negative_binomial import NegativeBinomialFamily
from asterism.families.student import StudentFamily, StudentParams, StudentStatistic
from asterism.groups import figures
from asterism.groups import model as groups
from asterism.methods import kmeans, pca, posterior, quantize, sparse_pca
from asterism.methods.curve import Chain, Curve, Pulls
from asterism.methods.dual import Deviations
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.frame import Frame
from asterism.methods.ica import Directions, FixedPoint, Pull
from asterism.methods.krylov import Image, ScatterOperator
from asterism.methods.lloyd import Centers, centers_at, lloyd_for
from asterism.methods.medoids import labels_and_cost
from asterism.methods.network import Network, slope_of
from asterism.methods.palette import ColourCells, DistinctColours
from asterism.methods.sheet import plane_of
from asterism.methods.softkmeans import Soft, SoftTotals
from asterism.methods.sparse_lloyd import FarRows, SparseLloyd, SparseSums
from asterism.methods.squares import Product, SquaresOperator
from asterism.methods.stack import Stack
from asterism.methods.surface import Shares, Sheet, Surface
from asterism.methods.swaps import Changes, Pool, Swaps
from asterism.metrics import estimate
from asterism.metrics.internal import CenterSums
from asterism.stats.base import Joined
from asterism.stats.contingency import Contingency
from asterism.stats.counts import CellTotals, CountHistogram, LevelCounts
from asterism.stats.groups import FarthestRows, Moves
from asterism.stats.moments import ColumnMoments, Moments
from asterism.stats.picked import picking
from asterism.stats.sample import RowSample
from asterism.stats.scatter import GroupMoments, GroupScatter
from asterism.stats.surroundings import Places, Surroundings
from asterism.verdict.null import Steps

Scales = Callable[[np.ndarray, np.ndarray], dict[str, Any]]  # of rows and weights, by field

NO_WEIGHTS = "it knows no weights"
CELLS = (
    "$1,234.50",
    "1.234,5 EUR",
    "7/8/2024",
    "2024-01-02 10:30",
    "14:35",
    "n/a",
    "a@b.org",
    "12 kg",
    "word",
    "<5",
    "01",
)


def text_of(block: Block) -> tuple[Any, np.ndarray]:
    """Cells of text, one a row, and how often each occurs."""
    place = np.abs(np.nan_to_num(block.rows[:, 0])).astype(np.int64) % len(CELLS)
    return pa.array([CELLS[i] for i in place], pa.string()), np.ones(len(place), np.int64)


def dates_of(block: Block) -> Dates:
    words, times = text_of(block)
    return Dates.of(parsed_dates(words), times) if len(words) else Dates()


def decorated_of(block: Block) -> Decorated:
    words, times = text_of(block)
    return Decorated.of(parsed(words), times) if len(words) else Decorated()


WORD_CASES = (
    ("what words look like", "profile.Words", lambda block: Words.of(*text_of(block))),
    (
        "numbers in text, as written",
        "profile.Written",
        lambda block: Written.of(
            pa.array([f"{x:.3f}" for x in block.rows[:, 0]], pa.string()), block.rows[:, 0].astype(float)
        ),
    ),
    ("numbers with decoration", "decorated.Decorated", decorated_of),
    ("dates and times in text", "calendar.Dates", dates_of),
    (
        "dates and times",
        "calendar.Calendar",
        lambda block: Calendar.of(
            np.floor(block.rows[:, 0].astype(float) % 4e4),
            block.rows[:, 0].astype(float) % 24,
            np.ones(len(block), np.int64),
        ),
    ),
)
BY_NUMBER = "it keeps rows by their number, whatever their weight"


@dataclass(frozen=True)
class Case:
    """A statistic and how it is made."""

    name: str
    statistic: str  # the class, as module.name below asterism
    of: Callable[[Block], Any]
    zero: Callable[[int], Any] | None = None  # of the number of columns
    missing: bool = False  # whether cells may be NaN
    counts: tuple[str, ...] = ()  # fields that count rows, whatever their weight
    numbers: tuple[str, ...] = ()  # fields that hold the numbers of rows
    below: tuple[str, ...] = ()  # fields below the rounding of others: compared only where bits are
    scales: Scales = lambda _rows, _weights: {}
    view: Callable[[Any], Any] = lambda statistic: statistic
    excused: dict[str, str] = field(default_factory=dict)  # "split", "copies", "absent" -> why

    def zero_of(self, d: int) -> Any:
        """The statistic of no rows of d columns."""
        return self.of(block_of(np.empty((0, d)))) if self.zero is None else self.zero(d)


COUNTED = {"copies": NO_WEIGHTS, "absent": NO_WEIGHTS}


def days_of(block: Block) -> np.ndarray:
    """(n,) days since 1970, whole."""
    return np.floor(np.clip(np.nan_to_num(block.rows[:, 0].astype(float)), 0.0, 30_000.0))


def once(block: Block) -> np.ndarray:
    """(n,) each cell occurs once."""
    return np.ones(len(block), np.int64)


def dates_of(block: Block) -> Any:
    """Days as text."""
    return pa.array(days_of(block).astype("datetime64[D]").astype(str), pa.string())


def with_units(block: Block) -> Any:
    """Days as numbers with a unit, as dates, and as a word."""
    text = [f"{x:g} kg" if x % 3 == 0 else "unknown" if x % 3 == 1 else f"{x:g},5" for x in days_of(block)]
    return pa.array(text, pa.string())


# --- what rounding is measured against --------------------------------------------------------------------------


def moment_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """The largest cell, the widest deviation."""
    seen = np.where(np.isfinite(rows) & (weights > 0)[:, None], rows, np.nan).astype(np.float64)
    columns = [column[np.isfinite(column)] for column in seen.T]
    size = np.array([np.abs(c).max(initial=0.0) for c in columns])
    spread = np.array([np.ptp(c) if len(c) else 0.0 for c in columns])
    return {"mean": size, "scatter": weights.sum() * spread**2}


def move_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """High parts are whole multiples of the grid's unit: a row of weight 2 may be split where its copies are not."""
    return {"sums": np.repeat([1e13, 1e4], rows.shape[1])}


def sum_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Deviations from three centres cancel in their sums; weights do not."""
    d = rows.shape[1]
    return {"table": np.repeat([[weights.sum() * (1e8 + reach(rows, weights)), 0.0]], [d, d], axis=1)}


def soft_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """And what rounding may do to a share, in units of energy."""
    return {**sum_scales(rows, weights), "energy": 20 * weights.sum() / SOFT.stiffness}


def group_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Deviations from a reference that is not among the rows."""
    size = moment_scales(rows, weights)["mean"] + 7.0
    spread = weights.sum() * size**2
    return {"mean": np.tile(size, (3, 1)), "scatter": np.tile(spread, (3, 1)), "within": spread}


def gaussian_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Sums are taken about the parameters' means, which may be far from the rows."""
    far = 100.0 + reach(rows, weights)
    return {"means": np.full((1, rows.shape[1]), far), "scatters": np.full(1, weights.sum() * far**2)}


def linear_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Sums of deviations, of their squares, and of numbers below 1, all of which may cancel."""
    far, mass = 100.0 + reach(rows, weights), weights.sum()
    return {
        **dict.fromkeys(("product", "square", "squares", "echoes", "inertia"), 10 * mass * far**2),
        **dict.fromkeys(("away", "sums", "total"), mass * far),
        **dict.fromkeys(("diagonal", "beside", "slope"), mass),
    }


def plain_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Sums of numbers of about 1 (``tame``), whatever the field."""
    names = ("gradient", "loss", "cost", "joins", "leaves", "table", "sure", "logs", "climbed", "totals", "value",
             "divergence", "log_likelihood", "surprise", "means", "scatters", "first", "second", "mass")  # fmt: skip
    return dict.fromkeys(names, 100.0 * (1.0 + weights.sum()))


def tame_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Of columns of numbers up to 1."""
    return {"mean": np.ones(rows.shape[1]), "scatter": np.full(rows.shape[1], weights.sum())}


def reach(rows: np.ndarray, weights: np.ndarray) -> float:
    """The largest cell that counts."""
    return float(np.abs(seen_in(rows, weights)).max(initial=0.0))


# --- rows of other kinds, made of each row's own cells ------------------------------------------------------------


def seen_in(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Cells that are there, else 0."""
    return np.where(np.isfinite(rows) & (weights > 0)[:, None], rows, 0.0).astype(np.float64)


def tame(block: Block) -> Block:
    """Rows between -1 and 1; an absent row keeps what it holds."""
    finite = np.isfinite(block.rows) & (np.abs(block.rows) < 1e12)
    cells = np.where(finite, np.sin(np.where(finite, block.rows, 0.0)), block.rows)
    return block_of(cells.astype(block.rows.dtype), block.weights, block.start)


def labels_in(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Two labelings of rows, 0 to 2 and 0 to 1; absent rows may hold anything."""
    cells = np.nan_to_num(block.rows.astype(np.float64), nan=0.0, posinf=1.0, neginf=-1.0)
    return np.digitize(cells[:, 0], [0.0, 50.0]), (cells[:, -1] > 10.0).astype(np.int64)


def numbered_labels(block: Block) -> np.ndarray:
    """Labels of the whole table, as functions want them that look their rows up by number."""
    return np.concatenate([np.zeros(block.start, np.int64), labels_in(block)[0]])


def cells_of(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Cells, and which of them are there."""
    known = np.isfinite(block.rows) & (block.weights > 0)[:, None]
    return seen_in(block.rows, block.weights), known.astype(np.float64)


def codes_of(block: Block, levels: int = 4) -> Block:
    """Whole numbers 0 .. levels - 1; an absent row keeps what it holds."""
    finite = np.isfinite(block.rows)
    codes = np.where(finite, np.floor(np.abs(np.where(finite, block.rows, 0.0))) % levels, block.rows)
    return block_of(codes, block.weights, block.start)


def colours_of(block: Block) -> Block:
    """Bytes."""
    finite = np.isfinite(block.rows)
    cells = np.floor(np.abs(np.where(finite, block.rows, 0.0))) % 256
    return Block(cells.astype(np.uint8), block.weights, block.start)


def shares_of(block: Block) -> np.ndarray:
    """Mass (n, 2)."""
    r = 1 / (2 + np.abs(seen_in(block.rows, block.weights)).sum(axis=1) % 3)
    return np.column_stack([r, 1 - r]) * block.weights[:, None]


# --- models -----------------------------------------------------------------------------------------------------

SOFT = Soft(stiffness=1e-9)


@cache
def three_centers(d: int) -> Centers:
    return centers_at(Frame(np.full(d, 7.0), 2.0**-27, True), np.array([[0.0], [50.0], [1e8]]) + np.arange(d))


@cache
def lloyd(d: int) -> Any:
    """k-means for tables whose cells reach no further than these, with weights that sum to less."""
    bounds = block_of(np.full((2, d), 1e9) * [[1], [-1]], np.full(2, 500.0))
    return lloyd_for(three_centers(d).frame, replace(ColumnMoments.of(bounds), rows=100))


def normal(structure: str, d: int) -> GaussianFamily:
    return GaussianFamily(structure).at(np.full(d, 7.0))


def two_normals(structure: str, d: int, apart: float = 50.0) -> GaussianParams:
    unit = np.repeat(np.eye(d)[None], 2, axis=0)
    return GaussianParams(np.array([[0.0], [apart]]) + np.arange(d), Covariances.given(structure, unit))


@cache
def mixture_model(structure: str, d: int) -> MixtureModel:
    """Near rows between -1 and 1, as offsets from the reference."""
    params = replace(two_normals(structure, d, 0.5), means=np.array([[-7.5], [-6.5]]) + np.zeros(d))
    return MixtureModel(np.array([0.25, 0.75]), params)


@cache
def mixture(d: int) -> posterior.Mixture:
    model = mixture_model("VVI", d)
    return posterior.Mixture(normal("VVI", d), model.weights, model.params)


@cache
def stack(d: int) -> Stack:
    models = [mixture_model("VVI", d), mixture_model("VVI", d)]
    return Stack.of(EM(normal("VVI", d)), models, [0, 1])


@cache
def network(d: int) -> Network:
    sizes = (d, 3, 1, 3, d)
    count = sum((a + 1) * b for a, b in pairwise(sizes))
    return Network(sizes, np.zeros(d), 1.0, np.cos(np.arange(count)))


@cache
def euclidean(d: int) -> Fitted:
    return dissimilarity("euclidean").prepare(ArraySource(np.eye(3, d)))


@cache
def some_points(d: int) -> np.ndarray:
    return np.linspace(-1.0, 1.0, 5)[:, None] + np.zeros(d)


@cache
def swaps(d: int) -> tuple[Swaps, Any]:
    fitted = euclidean(d)
    method = Swaps(fitted, Pool(np.arange(5), fitted.ready(some_points(d))), "laws")
    return method, method.begin(np.array([0, 3]))


def two_places(d: int) -> Places:
    """One about 0, one farther out, so that rows lie inside, beside and elsewhere."""
    means = np.array([[0.0], [7.0]]) + np.zeros(d)
    return Places(means, np.repeat(np.eye(d)[None], 2, axis=0), 1.0 + d**0.5, 3.0 + d**0.5)


def two_directions(d: int) -> np.ndarray:
    return np.outer(np.arange(1.0, d + 1), [1.0, -0.5])


# --- statistics of a block --------------------------------------------------------------------------------------


def width(block: Block) -> int:
    return block.rows.shape[1]


def gaussian_statistic(structure: str, block: Block) -> GaussianStatistic:
    """Two components with fixed shares; missing cells by fixed parameters."""
    here, d = present(block), width(block)
    return normal(structure, d).statistic(
        two_normals(structure, d), here, here.weights[:, None] * [0.25, 0.75]
    )


def student_statistic(block: Block) -> StudentStatistic:
    here = present(tame(block))
    model = mixture_model("VVV", width(block))
    family = StudentFamily(normal("VVV", width(block)))
    params = StudentParams(model.params, np.array([3.0, 20.0]))
    return family.statistic(params, here, here.weights[:, None] * [0.25, 0.75])


def expected(block: Block) -> Expected:
    d = width(block)
    return EM(normal("VVI", d)).summarize(mixture_model("VVI", d), tame(block))


def image_of(block: Block) -> Image:
    d = width(block)
    return ScatterOperator(1.0, np.full(d, 7.0)).visit(two_directions(d), block)


def product_of(block: Block) -> Product:
    d = width(block)
    return SquaresOperator(0.0, d, 0.0).visit(two_directions(d), block)


def pulls_of(block: Block) -> Pulls:
    d = width(block)
    knots = np.array([[-10.0], [0.0], [30.0], [1e8]]) + np.arange(d)
    return Curve(np.full(d, 7.0), 1.0, 1.0, 0.0).summarize(Chain(knots), block)


def shares_on_sheet(block: Block) -> Shares:
    """Of a flat sheet: on a folded one two places may be equally near, and rounding decides."""
    rows = tame(block).rows
    rows = np.hstack([rows, rows]) if rows.shape[1] == 1 else rows
    d = rows.shape[1]
    surface = Surface(4, np.zeros(d), 1.0, 1.0, 0.0)
    return surface.summarize(Sheet(plane_of(4, 0.7 * np.eye(d)[:2]), 1.0), replace(block, rows=rows))


def pull_of(block: Block) -> Pull:
    d = width(block)
    point = FixedPoint("logcosh", 1.0, 0.0, 1.0, np.full(d, 7.0), np.full((2, d), 1e-3), np.empty((0, 2)))
    return point.summarize(Directions(np.eye(2)), block)


def farthest_of(block: Block) -> FarthestRows:
    """As k-means keeps them: up to four rows with the largest squares."""
    squares = np.where(block.weights > 0, (seen_in(block.rows, block.weights) ** 2).sum(axis=1), 0.0)
    number = block.start + np.arange(len(block))
    order = np.lexsort((number, -squares))[:4]
    far = np.zeros((4, 2))
    far[: len(order)] = np.column_stack([squares, number])[order]
    return FarthestRows.of(block.rows, block.start, far)


def first_rows_of(block: Block) -> FirstRows:
    there = np.flatnonzero(block.weights > 0)
    group, second = (labels[there] for labels in labels_in(block))
    rank = np.abs(seen_in(block.rows, block.weights))[there, 0]
    return FirstRows.of(2, group, rank, block.start + there, second, -rank)


def hits_of(block: Block) -> Any:
    each = [rules.Condition(Column("x"), 0, low) for low in (-np.inf, 0.0, 50.0)]
    return rules._hits(tuple(rules.Rule((one,), 0.0, 0.0) for one in each), numbered_labels(block), block)


def figures_of(block: Block) -> figures.Figures:
    """Of two groups and none, by the first column; where a row stands is said by its own cells."""
    d = block.rows.shape[1]
    borders = np.linspace(-60.0, 60.0, figures.PLACES - 1)
    heights = np.linspace(-60.0, 60.0, figures.HEIGHTS - 1)
    ruler = figures.Ruler(
        tuple(Column(f"x{j}") for j in range(d)),
        np.tile(borders, (d, 1)),
        np.tile(borders, (2, d, 1)),
        heights,
    )
    first = np.where(np.isfinite(block.rows[:, 0]), block.rows[:, 0], 0.0).astype(np.float64)
    own = (first > 0).astype(np.int32)
    labels = np.where(first > 50, np.int32(-1), own)
    standing = figures.Standing(own, labels, np.abs(first) / 100, first)
    return figures.Figures.of(ruler, block.rows, block.weights, standing)


def doubt_of(block: Block) -> Any:
    mass = shares_of(block_of(block.rows, np.ones(len(block))))
    judge = SimpleNamespace(k=2, look=lambda _block: (mass.argmax(axis=1), mass))
    return groups._doubt(judge, (), block)[1]


def group_sums_of(block: Block) -> estimate.GroupSums:
    block, d = tame(block), width(block)
    table, fitted = SimpleNamespace(k=3, codes=lambda block: labels_in(block)[0]), euclidean(d)
    ready = block_of(
        fitted.ready(np.nan_to_num(block.rows, posinf=0.0, neginf=0.0)), block.weights, block.start
    )
    return estimate._sums(table, fitted, fitted.ready(some_points(d)), ready)


def changes_of(block: Block) -> Changes:
    method, search = swaps(width(block))
    block = tame(block)
    return method.summarize(search, block_of(method.fitted.ready(block.rows), block.weights, block.start))


def cost_of(block: Block) -> Any:
    fitted, block = euclidean(width(block)), tame(block)
    points = fitted.points(fitted.ready(some_points(width(block))))
    ready = block_of(fitted.ready(block.rows), block.weights, block.start)
    return labels_and_cost(fitted, points, 5, ready)[1]


def stored(block: Block) -> Block:
    """The block with its rows in CSR."""
    return block_of(csr_array(block.rows), block.weights, block.start)


def sparse_sums_of(block: Block) -> SparseSums:
    return SparseLloyd().summarize(three_centers(width(block)), stored(tame(block)))


def with_dense_rows(far: FarRows) -> FarRows:
    return replace(far, values=far.values.toarray().astype(float))


def usage_of(block: Block) -> quantize.Usage:
    d = width(block)
    return quantize._measured(quantize.Quantizer((three_centers(d),)), ("x",) * d, block)[1]


def center_sums_of(block: Block) -> CenterSums:
    d = width(block)
    return CenterSums.of(tame(block), labels_in(block)[0], np.zeros(d), some_points(d)[:3].copy())


def pair_scatter_of(block: Block) -> PairScatter:
    """By hand: ``pair_scatter`` measures against the rows of a whole table."""
    sums = block.weights @ np.abs(seen_in(tame(block).rows, block.weights))
    return PairScatter(float(sums[0]), float(sums[-1]))


def centred(statistic: Expected) -> tuple[Any, ...]:
    """Masses, means and scatters, in whatever form a pass left them."""
    return statistic.mass, statistic.climbed, statistic.inner.centred


# --- all of them ------------------------------------------------------------------------------------------------

CASES = [
    Case("columns", "stats.moments.ColumnMoments", ColumnMoments.of, ColumnMoments.zero, missing=True,
         counts=("rows", "observed"), below=("rest",), scales=moment_scales),
    Case("columns of sparse rows", "stats.moments.ColumnMoments",
         lambda block: ColumnMoments.of(stored(tame(block))),
         ColumnMoments.zero, counts=("rows", "observed"), below=("rest",),
         scales=tame_scales),
    Case("moments", "stats.moments.Moments", Moments.of, Moments.zero, below=("rest",), scales=moment_scales),
    Case("joined", "stats.base.Joined", lambda block: Joined((Moments.of(block), ColumnMoments.of(block))),
         lambda d: Joined((Moments.zero(d), ColumnMoments.zero(d))), counts=("rows", "observed"),
         below=("rest",), scales=moment_scales),
    Case("sample of rows", "stats.sample.RowSample",
         lambda block: RowSample.of(block, (block.weights > 0).astype(float), 4, 0),
         lambda d: RowSample.zero(4, d),
         view=lambda sample: replace(sample, values=sample.values.astype(float)),  # of no rows it has no type
         excused={"copies": BY_NUMBER, "absent": "chance goes by number, and other rows have other numbers then"}),
    Case("cell totals", "stats.counts.CellTotals", lambda block: CellTotals.of(*cells_of(block), shares_of(block)),
         lambda d: CellTotals.zero(2, d), missing=True, scales=linear_scales),
    Case("level counts", "stats.counts.LevelCounts",
         lambda block: count_levels((4,) * width(block), codes_of(block), shares_of(block), ()),
         lambda d: LevelCounts.zero(2, 4 * d), missing=True),
    Case("histogram of counts", "stats.counts.CountHistogram",
         lambda block: NegativeBinomialFamily(tops=(1,) * width(block)).statistic(
             None, codes_of(block), shares_of(block)),
         lambda d: CountHistogram.zero(2, 2 * d), missing=True),
    Case("contingency", "stats.contingency.Contingency",
         lambda block: Contingency.of(*labels_in(block), block.weights, (3, 2)), lambda _d: Contingency.zero((3, 2))),
    Case("group moments", "stats.scatter.GroupMoments",
         lambda block: GroupMoments.of(block, labels_in(block)[0], 3, np.full(width(block), 7.0)),
         lambda d: GroupMoments.zero(3, d), missing=True, scales=group_scales),
    Case("group scatter", "stats.scatter.GroupScatter",
         lambda block: GroupScatter.of(block, labels_in(block)[0], 3, np.full(width(block), 7.0)),
         lambda d: GroupScatter.zero(3, d), scales=group_scales),
    Case("surroundings", "stats.surroundings.Surroundings",
         lambda block: Surroundings.of(block, two_places(width(block))), lambda d: Surroundings.zero(2, d),
         missing=True, below=("rest",), scales=moment_scales),
    Case("farthest rows", "stats.groups.FarthestRows", farthest_of, lambda d: FarthestRows.zero(4, d),
         numbers=("row",), excused={"copies": BY_NUMBER}),
    Case("picked rows", "stats.picked.PickedRows", picking(np.array([1, 3, 4])),
         view=lambda picked: replace(picked, rows=picked.rows.astype(float)),  # of no rows it has no type
         excused={"copies": BY_NUMBER, "absent": BY_NUMBER}),
    # --- k-means ---
    Case("moves", "stats.groups.Moves",
         lambda block: replace(lloyd(width(block)).summarize(three_centers(width(block)), block), far=None),
         lambda d: Moves.zero(3, d, d), missing=True, scales=move_scales),
    Case("scatter about centres", "methods.kmeans.Scatter",
         lambda block: kmeans._scattered(three_centers(width(block)), block), missing=True, scales=linear_scales),
    Case("sums of sparse rows", "methods.sparse_lloyd.SparseSums", sparse_sums_of, scales=plain_scales,
         view=lambda sums: (sums.totals, sums.mass, sums.inertia)),
    Case("far sparse rows", "methods.sparse_lloyd.FarRows", lambda block: sparse_sums_of(block).far,
         numbers=("row",), scales=plain_scales, view=with_dense_rows, excused={"copies": BY_NUMBER}),
    Case("soft totals", "methods.softkmeans.SoftTotals",
         lambda block: SOFT.summarize(three_centers(width(block)), block), lambda d: SoftTotals.zero(3, d),
         missing=True, scales=soft_scales),
    Case("usage of codes", "methods.quantize.Usage", usage_of, missing=True, scales=linear_scales),
    Case("colour cells", "methods.palette.ColourCells", lambda block: ColourCells.of(colours_of(block))),
    Case("distinct colours", "methods.palette.DistinctColours", lambda block: DistinctColours.of(colours_of(block))),
    # --- medoids and silhouettes ---
    Case("changes of medoids", "methods.swaps.Changes", changes_of, scales=plain_scales),
    Case("cost of medoids", "methods.medoids.Cost", cost_of, scales=plain_scales),
    Case("pair scatter", "distances.scatter.PairScatter", pair_scatter_of),
    Case("no fault", "distances.given.NoFault", lambda _block: NoFault()),
    Case("sums to groups", "metrics.estimate.GroupSums", group_sums_of, scales=plain_scales),
    Case("sums to centres", "metrics.internal.CenterSums", center_sums_of, lambda _d: CenterSums.zero(3),
         scales=plain_scales),
    # --- mixtures ---
    *(Case(f"gaussian {structure}", "families.gaussian_statistic.GaussianStatistic",
           partial(gaussian_statistic, structure),
           lambda d, structure=structure: GaussianStatistic.zero(2, d, normal(structure, d).form),
           missing=True, scales=gaussian_scales)
      for structure in ("VVV", "EEE", "VVI")),
    Case("gaussian sums", "families.gaussian_statistic.GaussianSums", lambda block: expected(block).inner,
         scales=plain_scales, view=lambda statistic: statistic.centred),
    Case("student", "families.student.StudentStatistic", student_statistic, scales=plain_scales),
    Case("expected", "methods.em.Expected", expected, scales=plain_scales, view=centred),
    Case("sums of a stack", "methods.stack.StackSums",
         lambda block: stack(width(block)).summarize(tame(block)), scales=plain_scales,
         view=lambda sums: (sums.mass, sums.heights)),
    Case("likelihood", "methods.posterior.RowTotals",
         lambda block: posterior.classify_rows(mixture(width(block)), tame(block))[1], scales=plain_scales),
    Case("bound", "methods.posterior.Bound",
         lambda block: posterior._bound_of(mixture(width(block)), ("x",) * width(block), None, tame(block)),
         scales=plain_scales),
    Case("figures", "groups.figures.Figures", figures_of, missing=True, counts=("rows", "observed"),
         below=("rest",), scales=moment_scales),
    Case("doubt", "groups.model.Doubt", doubt_of, missing=True, scales=plain_scales),
    # --- components and curves ---
    Case("rows that count", "methods.pca._Count",
         lambda block: pca._moments_and_count(Moments.of, block).parts[1], counts=("rows",)),
    Case("gram", "methods.dual.Gram", lambda block: Deviations(np.ones(width(block))).gram(np.dtype(float), block),
         scales=linear_scales,
         excused=dict.fromkeys(("copies", "absent"), "a block holds columns of the table, which have no weights")),
    Case("scatter of directions", "methods.krylov.Image", image_of, scales=linear_scales),
    Case("squares of directions", "methods.squares.Product", product_of, scales=linear_scales),
    Case("squares of sparse rows", "methods.sparse_pca.Squares",
         lambda block: sparse_pca._squares(stored(tame(block))),
         scales=linear_scales),
    Case("image of sparse rows", "methods.krylov.Image", lambda block: image_of(stored(tame(block))),
         scales=linear_scales),
    Case("pulls on a curve", "methods.curve.Pulls", pulls_of, scales=linear_scales),
    Case("shares of a surface", "methods.surface.Shares", shares_on_sheet, scales=linear_scales),
    Case("pull of sources", "methods.ica.Pull", pull_of, scales=linear_scales),
    Case("slope of a network", "methods.network.Slope",
         lambda block: slope_of(network(width(block)), network(width(block)).weights, tame(block)),
         scales=plain_scales),
    # --- how a table is, and what is said of it ---
    Case("steps", "verdict.null.Steps", Steps.of, scales=linear_scales,
         excused={"split": "a step from the last row of a block to the first of the next is left out",
                  "copies": "copies of a row follow each other: their steps are 0"}),
    Case("sum of a column's numbers", "data.totals.Sum", lambda block: Sum.of(block.rows[:, 0].astype(float)),
         lambda _d: Sum(), missing=True, scales=lambda rows, weights: {"total": len(rows) * reach(rows, weights)},
         excused=dict.fromkeys(("copies", "absent"), NO_WEIGHTS)),
    Case("dates, counted", "data.calendar.Calendar",
         lambda block: Calendar.of(days_of(block), np.full(len(block), np.nan), once(block)),
         lambda _d: Calendar(), excused=COUNTED),
    Case("dates in text", "data.calendar.Dates", lambda block: Dates.of(parsed_dates(dates_of(block)), once(block)),
         lambda _d: Dates(), excused=COUNTED),
    Case("numbers with units", "data.decorated.Decorated",
         lambda block: Decorated.of(parsed(with_units(block)), once(block)), lambda _d: Decorated(), excused=COUNTED),
    Case("numbers in text", "data.profile.Written",
         lambda block: Written.of(pa.array([f"{x:g}" for x in days_of(block)], pa.string()), days_of(block)),
         lambda _d: Written(), excused=COUNTED),
    Case("words", "data.profile.Words", lambda block: Words.of(with_units(block), once(block)), lambda _d: Words(),
         excused=COUNTED),
    Case("profile of a column", "data.profile.Profile",
         lambda block: Profile.of(pa.array(block.rows[:, 0].astype(float)), block.start), lambda _d: Profile(),
         missing=True, excused={"copies": NO_WEIGHTS, "absent": NO_WEIGHTS}),
    *(Case(name, f"data.{statistic}", of_words, missing=True, excused=dict.fromkeys(("copies", "absent"), NO_WEIGHTS))
      for name, statistic, of_words in WORD_CASES),
    Case("hits of rules", "explain.rules._Hits", hits_of, missing=True),
    Case("first rows", "explain.rows.FirstRows", first_rows_of, lambda _d: FirstRows.zero(2), missing=True,
         numbers=("row",), excused={"copies": BY_NUMBER}),
]  # fmt: skip

NOT_STATISTICS = {"stats.base.Statistic": "the protocol itself"}
