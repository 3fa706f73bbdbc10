"""Every statistic keeps the laws written in ``stats/base.py``. A new one is one line in ``STATISTICS``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.data.block import Block, block_of
from asterism.families.assignment import present
from asterism.families.categorical import count_levels
from asterism.families.covariance import Covariances
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_params import GaussianParams
from asterism.families.gaussian_statistic import GaussianStatistic
from asterism.stats.groups import grid_of
from asterism.methods.curve import Chain, Curve, Pulls
from asterism.methods.frame import Frame
from asterism.methods.ica import Directions, FixedPoint, Pull
from asterism.methods.krylov import Image, ScatterOperator
from asterism.methods.lloyd import Centers, Lloyd, centers_at
from asterism.methods.softkmeans import Soft, SoftTotals
from asterism.methods.squares import Product, SquaresOperator
from asterism.stats.base import Joined
from asterism.stats.contingency import Contingency
from asterism.stats.counts import CellTotals, LevelCounts
from asterism.stats.groups import Moves
from asterism.stats.moments import ColumnMoments, Moments
from asterism.stats.scatter import GroupMoments, GroupScatter


def no_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    return {}


def moment_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """What rounding is measured against where numbers cancel: the largest cell, the widest deviation."""
    seen = np.where(np.isfinite(rows) & (weights > 0)[:, None], rows, np.nan).astype(np.float64)
    columns = [column[np.isfinite(column)] for column in seen.T]
    size = np.array([np.abs(c).max(initial=0.0) for c in columns])
    spread = np.array([np.ptp(c) if len(c) else 0.0 for c in columns])
    return {"mean": size, "scatter": weights.sum() * spread**2}


def three_centers(d: int) -> Centers:
    return centers_at(Frame(np.full(d, 7.0), 2.0**-27, True), np.array([[0.0], [50.0], [1e8]]) + np.arange(d))


def lloyd(block: Block) -> Lloyd:
    """k-means for tables whose cells reach no further than these, with weights that sum to less."""
    d = block.rows.shape[1]
    return Lloyd(grid_of(np.repeat([1e9, 1.0], d), 1e3, 100))


def move_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """High parts are whole multiples of the grid's unit: a row of weight 2 may be split where its copies are not."""
    return {"sums": np.repeat([1e13, 1e4], rows.shape[1])}


def sum_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Deviations from three centres cancel in their sums; squares and weights do not."""
    d = rows.shape[1]
    counted = rows[weights > 0].astype(np.float64)
    reach = weights.sum() * (1e8 + np.nanmax(np.abs(counted), initial=0.0, where=np.isfinite(counted)))
    return {"table": np.repeat([[reach, 0.0]], [d, d + 1], axis=1)}


def soft_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    return {
        "table": sum_scales(rows, weights)["table"][:, :-1],
        "energy": 20 * weights.sum() / SOFT.stiffness,  # what rounding may do to a share, in units of energy
    }


def labels_in(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Two labelings of rows by what they hold, 0 to 2 and 0 to 1; absent rows may hold anything."""
    cells = np.nan_to_num(block.rows.astype(np.float64), nan=0.0, posinf=1.0, neginf=-1.0)
    return np.digitize(cells[:, 0], [0.0, 50.0]), (cells[:, -1] > 10.0).astype(np.int64)


def group_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Deviations from a reference that is not among the rows."""
    size = moment_scales(rows, weights)["mean"] + 7.0
    spread = weights.sum() * size**2
    return {"mean": np.tile(size, (3, 1)), "scatter": np.tile(spread, (3, 1)), "within": spread}


def seen_in(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(rows) & (weights > 0)[:, None], rows, 0.0).astype(np.float64)


def cells_of(block: Block) -> tuple[np.ndarray, np.ndarray]:
    known = np.isfinite(block.rows) & (block.weights > 0)[:, None]
    return seen_in(block.rows, block.weights), known.astype(np.float64)


def codes_of(block: Block) -> Block:
    """Codes 0 .. 3, made of each cell alone; an absent row keeps what it holds."""
    finite = np.isfinite(block.rows)
    codes = np.where(finite, np.floor(np.abs(np.where(finite, block.rows, 0.0))) % 4, block.rows)
    return block_of(codes, block.weights, block.start)


def shares_of(block: Block) -> np.ndarray:
    """Mass (n, 2) that depends on the row's own cells."""
    r = 1 / (2 + np.abs(seen_in(block.rows, block.weights)).sum(axis=1) % 3)
    return np.column_stack([r, 1 - r]) * block.weights[:, None]


SOFT = Soft(stiffness=1e-9)


def normal(structure: str, d: int) -> GaussianFamily:
    return GaussianFamily(structure).at(np.full(d, 7.0))


def gaussian_statistic(structure: str, block: Block) -> GaussianStatistic:
    """Two components with fixed shares; missing cells by fixed parameters."""
    here, d = present(block), block.rows.shape[1]
    family, unit = normal(structure, d), np.repeat(np.eye(d)[None], 2, axis=0)
    params = GaussianParams(np.array([[0.0], [50.0]]) + np.arange(d), Covariances.given(structure, unit))
    return family.statistic(params, here, here.weights[:, None] * [0.25, 0.75])


def gaussian_zero(structure: str, d: int) -> GaussianStatistic:
    return GaussianStatistic.zero(2, d, normal(structure, d).form)


def gaussian_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Sums are taken about the parameters' means, which may be far from the rows."""
    counted = rows[weights > 0].astype(np.float64)
    reach = 100.0 + np.nanmax(np.abs(counted), initial=0.0, where=np.isfinite(counted))
    return {"means": np.full((1, rows.shape[1]), reach), "scatters": np.full(1, weights.sum() * reach**2)}


def two_directions(d: int) -> np.ndarray:
    return np.outer(np.arange(1.0, d + 1), [1.0, -0.5])


def image_of(block: Block) -> Image:
    d = block.rows.shape[1]
    return ScatterOperator(1.0, np.full(d, 7.0)).visit(two_directions(d), block)


def product_of(block: Block) -> Product:
    d = block.rows.shape[1]
    return SquaresOperator(None, 0.0, d, 0.0).visit(two_directions(d), block)


def pulls_of(block: Block) -> Pulls:
    d = block.rows.shape[1]
    knots = np.array([[-10.0], [0.0], [30.0], [1e8]]) + np.arange(d)
    return Curve(np.full(d, 7.0), 1.0, 1.0, 0.0).summarize(Chain(knots), block)


def pull_of(block: Block) -> Pull:
    d = block.rows.shape[1]
    point = FixedPoint("logcosh", 1.0, 0.0, 1.0, np.full(d, 7.0), np.full((2, d), 1e-3), np.empty((0, 2)))
    return point.summarize(Directions(np.eye(2)), block)


def linear_scales(rows: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Sums of deviations, of their squares, and of numbers below 1, all of which may cancel."""
    reach = 100.0 + np.abs(seen_in(rows, weights)).max(initial=0.0)
    mass = weights.sum()
    squares = dict.fromkeys(("product", "square"), 10 * mass * reach**2)
    return {
        **squares,
        "away": mass * reach,
        "sums": mass * reach,
        "diagonal": mass,
        "beside": mass,
        "slope": mass,
    }


@dataclass(frozen=True)
class Case:
    name: str
    of: Callable[[Block], Any]
    zero: Callable[[int], Any]  # of the number of columns
    missing: bool = False  # whether cells may be NaN
    counts: tuple[str, ...] = ()  # fields that count rows, whatever their weight
    below: tuple[
        str, ...
    ] = ()  # fields below the rounding of others: equal bits only where bits are asked for
    scales: Callable[[np.ndarray, np.ndarray], dict[str, Any]] = no_scales


STATISTICS = [
    Case(
        "columns", ColumnMoments.of, ColumnMoments.zero, True, ("rows", "observed"), ("rest",), moment_scales
    ),
    Case("moments", Moments.of, Moments.zero, below=("rest",), scales=moment_scales),
    Case(
        "joined",
        lambda block: Joined((Moments.of(block), ColumnMoments.of(block))),
        lambda d: Joined((Moments.zero(d), ColumnMoments.zero(d))),
        counts=("rows", "observed"),
        below=("rest",),
        scales=moment_scales,
    ),
    Case(
        "moves",
        lambda block: replace(lloyd(block).summarize(three_centers(block.rows.shape[1]), block), far=None),
        lambda d: Moves.zero(3, d, d),
        missing=True,
        scales=move_scales,
    ),
    Case(
        "cell totals",
        lambda block: CellTotals.of(*cells_of(block), shares_of(block)),
        lambda d: CellTotals.zero(2, d),
        missing=True,
        scales=lambda rows, weights: {
            "total": weights.sum() * np.nanmax(np.abs(seen_in(rows, weights)), initial=0.0)
        },
    ),
    Case(
        "level counts",
        lambda block: count_levels((4,) * block.rows.shape[1], codes_of(block), shares_of(block), ()),
        lambda d: LevelCounts.zero(2, 4 * d),
        missing=True,
    ),
    Case(
        "soft totals",
        lambda block: SOFT.summarize(three_centers(block.rows.shape[1]), block),
        lambda d: SoftTotals.zero(3, d),
        missing=True,
        scales=soft_scales,
    ),
    Case(
        "contingency",
        lambda block: Contingency.of(*labels_in(block), block.weights, (3, 2)),
        lambda _d: Contingency.zero((3, 2)),
    ),
    Case(
        "group moments",
        lambda block: GroupMoments.of(block, labels_in(block)[0], 3, np.full(block.rows.shape[1], 7.0)),
        lambda d: GroupMoments.zero(3, d),
        missing=True,
        scales=group_scales,
    ),
    Case(
        "group scatter",
        lambda block: GroupScatter.of(block, labels_in(block)[0], 3, np.full(block.rows.shape[1], 7.0)),
        lambda d: GroupScatter.zero(3, d),
        scales=group_scales,
    ),
    Case(
        "scatter of directions",
        image_of,
        lambda d: Image(np.zeros((d, 2)), np.zeros(d)),
        scales=linear_scales,
    ),
    Case("squares of directions", product_of, lambda d: Product(np.zeros((d, 2))), scales=linear_scales),
    Case(
        "pulls on a curve",
        pulls_of,
        lambda d: Pulls(np.zeros(4), np.zeros(4), np.zeros((4, d)), 0.0),
        scales=linear_scales,
    ),
    Case("pull of sources", pull_of, lambda d: Pull(np.zeros((2, d)), np.zeros(2)), scales=linear_scales),
]

STATISTICS += [
    Case(
        f"gaussian {structure}",
        partial(gaussian_statistic, structure),
        partial(gaussian_zero, structure),
        missing=True,
        scales=gaussian_scales,
    )
    for structure in ("VVV", "EEE", "VVI")
]

every_statistic = pytest.mark.parametrize("case", STATISTICS, ids=lambda case: case.name)
few = settings(max_examples=40, deadline=None)


# --- tables ------------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn, missing: bool = False) -> np.ndarray:
    """0 to 9 rows of 1 to 3 columns, each column with its own offset and spread."""
    n, d = draw(st.integers(0, 9)), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    cell = st.floats(-100, 100, width=32, allow_subnormal=False)
    if missing:
        cell = cell | st.just(np.nan)
    rows = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d)), np.float64).reshape(n, d)
    offset = [draw(st.sampled_from([0.0, 1e8, -3e5])) for _ in range(d)]
    spread = [draw(st.sampled_from([1.0, 1e-3, 1e4])) for _ in range(d)]
    return (rows * spread + offset).astype(dtype)


def whole_weights(draw: st.DrawFn, n: int) -> np.ndarray:
    return np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), np.float64)


def any_weights(draw: st.DrawFn, n: int) -> np.ndarray:
    weight = st.sampled_from([0.0, 1.0, 0.3, 7.5, 1e-3])
    return np.array(draw(st.lists(weight, min_size=n, max_size=n)), np.float64)


def parts_of(draw: st.DrawFn, rows: np.ndarray, weights: np.ndarray) -> list[Block]:
    """The rows cut anywhere into 1 to 4 blocks, empty ones among them."""
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    edges = [0, *cuts, len(rows)]
    return [block_of(rows[a:b], weights[a:b], a) for a, b in pairwise(edges)]


# --- comparing ---------------------------------------------------------------------------------------------


def values(statistic: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a statistic with the names of their fields."""
    if is_dataclass(statistic):
        for field in fields(statistic):
            yield from values(getattr(statistic, field.name), field.name)
    elif isinstance(statistic, tuple):
        for part in statistic:
            yield from values(part, name)
    else:
        yield name, statistic


def bits(statistic: Any) -> list[Any]:
    return [
        (name, value if value is None else (np.asarray(value).dtype.str, np.asarray(value).tobytes()))
        for name, value in values(statistic)
    ]


def assert_close(case: Case, a: Any, b: Any, scales: dict[str, Any], but: tuple[str, ...] = ()) -> None:
    for (name, left), (_, right) in zip(values(a), values(b), strict=True):
        if name in but or name in case.below:
            continue
        if left is None or right is None:
            assert left is right, name
            continue
        left, right = np.asarray(left), np.asarray(right)
        assert left.shape == right.shape, name
        if left.dtype.kind != "f":
            assert np.array_equal(left, right), name
            continue
        scale = np.asarray(scales.get(name, 0.0))
        if right.ndim == 2 and scale.ndim == 1:  # of a product of two columns
            scale = np.sqrt(np.outer(scale, scale))
        with np.errstate(invalid="ignore"):  # inf - inf, where both are inf
            close = np.abs(left - right) <= 1e-12 * (np.abs(right) + scale)
        assert ((left == right) | close).all(), f"{name}: {left} and {right}"


# --- the laws ----------------------------------------------------------------------------------------------


@every_statistic
@few
@given(data=st.data())
def test_merging_with_zero_changes_no_bit(case, data):
    rows = data.draw(tables(case.missing))
    some, zero = case.of(block_of(rows, any_weights(data.draw, len(rows)))), case.zero(rows.shape[1])
    assert bits(some.merge(zero)) == bits(some)
    assert bits(zero.merge(some)) == bits(some)
    assert bits(zero.merge(zero)) == bits(zero)


@every_statistic
def test_statistic_of_no_rows_is_zero(case):
    for dtype in (np.float32, np.float64):
        assert bits(case.of(block_of(np.empty((0, 3), dtype)))) == bits(case.zero(3))


@every_statistic
@few
@given(data=st.data())
def test_merge_is_commutative_and_associative(case, data):
    rows = data.draw(tables(case.missing))
    weights = any_weights(data.draw, len(rows))
    cut, cut2 = sorted((data.draw(st.integers(0, len(rows))), data.draw(st.integers(0, len(rows)))))
    a, b, c = (
        case.of(block_of(rows[s], weights[s], s.start))
        for s in (slice(0, cut), slice(cut, cut2), slice(cut2, None))
    )
    scales = case.scales(rows, weights)
    assert_close(case, a.merge(b), b.merge(a), scales)
    assert_close(case, a.merge(b).merge(c), a.merge(b.merge(c)), scales)


@every_statistic
@few
@given(data=st.data())
def test_any_split_gives_the_statistic_of_the_whole(case, data):
    rows = data.draw(tables(case.missing))
    weights = any_weights(data.draw, len(rows))
    merged = case.zero(rows.shape[1])
    for part in parts_of(data.draw, rows, weights):
        merged = merged.merge(case.of(part))
    assert_close(case, merged, case.of(block_of(rows, weights)), case.scales(rows, weights))


@every_statistic
@few
@given(data=st.data())
def test_weight_counts_as_copies(case, data):
    rows = data.draw(tables(case.missing))
    weights = whole_weights(data.draw, len(rows))
    weighted = case.of(block_of(rows, weights))
    repeated = case.of(block_of(np.repeat(rows, weights.astype(int), axis=0)))
    assert_close(case, weighted, repeated, case.scales(rows, weights), but=case.counts)


@every_statistic
@few
@given(data=st.data())
def test_weight_zero_is_absent_whatever_the_row_holds(case, data):
    rows = data.draw(tables(case.missing))
    weights = any_weights(data.draw, len(rows))
    holed = rows.copy()
    for i in np.flatnonzero(weights == 0):
        holed[i] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 3e30]))
    counted = weights > 0
    absent = case.of(block_of(rows[counted], weights[counted]))
    assert_close(case, case.of(block_of(holed, weights)), absent, case.scales(rows, weights))


@every_statistic
def test_a_statistic_cannot_be_changed_and_leaves_its_rows_alone(case):
    rows = np.random.default_rng(0).normal(size=(50, 3))
    before = rows.copy()
    some = case.of(block_of(rows))
    kept = bits(some)
    some.merge(case.of(block_of(rows[:7])))
    assert bits(some) == kept
    assert np.array_equal(rows, before)
    with pytest.raises(AttributeError):
        setattr(some, fields(some)[0].name, None)
