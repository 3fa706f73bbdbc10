"""Columns that repeat or determine each other count once: which are set aside, and why.

A column that follows from another brings nothing to the rows but its weight, and a mixture takes what two columns say
together for groups. One column b is set aside for another, a, where

* both are numbers, and b never falls where a rises (or never rises): other units, other scales, rounded copies;
  or b = c + s a up to a noise of a thousandth of its spread, and ranks agree as well
* both have levels, and each level of a has one of b, but for one cell in a hundred
* a is a number, and the levels of b are intervals of it, as "adult" is of "age"

Chance makes small tables agree, and so the last two are compared with independence: log(likelihood if b follows from
a, every map from levels to levels being as likely) - log(likelihood if b is drawn by itself) is to be at least
log 1000; of intervals, the logarithm of the ways to arrange the levels of b along the values of a is.

**Groups.** A level that all rows of a far group have, and no others, is an interval of every number in which that
group is far. It is no copy: levels change where values are fewer than on both sides, and cuts fall anywhere
(``VALLEY``). Two names for the same groups cannot be told from a name that was written twice, and count once.

The finer column stays, of equally fine ones the one with more known cells, of equal ones the first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from asterism.data.block import Vector
from asterism.data.columns import Column
from asterism.data.select import SelectedColumns
from asterism.data.source import Source
from asterism.families.base import Array
from asterism.verdict.rows import draw
from asterism.verdict.view import COMPARED_ROWS, SAMPLE_SEED

CERTAIN = float(np.log(1000.0))  # convention: odds against chance, of a pair of columns
LEAST_VALUES = 20  # convention: distinct values of a number, below which it is compared level by level
MOST_LEVELS = 256  # convention: of a number that is compared level by level, as of names
WRONG = 0.01  # convention: share of cells that may contradict a map of levels
WRONG_OF_RARE = 0.1  # convention: and of those that are not of the commonest level
NOISE = 1e-3  # convention: of a copy, in its spread
RANK_NOISE = 1e-5  # derived: 1 - rank correlation of such a copy, and ten times more
NEAR = 0.9  # derived: rank correlation below which no two numbers are compared further
COMMON = 0.5  # convention: share of a column's known cells that the other must know as well
VALLEY = 2.0  # derived: a cut anywhere among evenly spread values is in a valley as deep once in a hundred
BESIDE = 5  # convention: gaps on each side that are about a cut
FAR = 20  # convention: and gaps beyond, that these are compared with
MOST_CELLS = 4_000_000  # convention: of the rows that are compared
MOST_PAIRED = (
    128  # convention: columns; of wider tables only those whose rows are in the same order are compared
)
FEW_ROWS = 256  # convention: rows that rule most pairs out


def without_repeated(source: Source, fixed: Collection[str] = ()) -> Source:
    """The table without columns that repeat others; those in ``fixed`` stay whatever they are.

    >>> from asterism.data.source import ArraySource
    >>> kg = np.random.default_rng(0).normal(70, 9, 200)
    >>> once = without_repeated(ArraySource(np.column_stack([kg, 2.20462 * kg])))
    >>> once.names, once.ignored[0].reason
    (('x0',), "'x0' in other units: 2.2046 x")
    """
    if source.n_columns < 2:
        return source
    drawn = draw(source, min(COMPARED_ROWS, max(2 * FEW_ROWS, MOST_CELLS // source.n_columns)), SAMPLE_SEED)
    aside = repeated_columns(source.columns, drawn.x, drawn.weights, fixed)
    return SelectedColumns(source, aside) if aside else source


def repeated_columns(
    columns: Sequence[Column], rows: Array, weights: Vector, fixed: Collection[str] = ()
) -> dict[str, str]:
    """Names of the columns to set aside, each with the reason, for rows (n, d) of numbers and codes, NaN missing.

    >>> x = np.arange(50.0)
    >>> columns = (Column("age"), Column("adult", "boolean", ("no", "yes")))
    >>> repeated_columns(columns, np.column_stack([x, x >= 18]), np.ones(50))
    {'adult': "follows from 'age'"}
    """
    counting = weights > 0
    rows = rows[counting].astype(np.float64)
    share = weights[counting] * (len(rows) / weights[counting].sum())
    groups = [list(range(len(columns)))] if len(columns) <= MOST_PAIRED else _alike(rows)
    reasons: dict[str, str] = {}
    for js in groups:
        reasons |= _among([_Cells.of(columns[j], rows[:, j]) for j in js], share, fixed)
    return {column.name: reasons[column.name] for column in columns if column.name in reasons}


def _among(cells: Sequence[_Cells], share: Vector, fixed: Collection[str]) -> dict[str, str]:
    """Those of a few columns that are set aside."""
    near = _near(cells)
    order = sorted(
        range(len(cells)),
        key=lambda j: (cells[j].name not in fixed, -cells[j].distinct, -cells[j].observed, j),
    )
    reasons: dict[str, str] = {}
    kept: list[int] = []
    for j in order:
        b, found = cells[j], None
        if b.name not in fixed and b.distinct > 1:
            found = next((r for i in kept if near[i, j] and (r := _reason(cells[i], b, share))), None)
        if found is None:
            kept.append(j)
        else:
            reasons[b.name] = found
    return reasons


@dataclass(frozen=True)
class _Cells:
    """The cells of one column."""

    name: str
    numeric: bool
    x: Vector  # (n,) NaN = missing
    known: NDArray[np.bool_]  # (n,)
    observed: int  # known cells
    distinct: int  # different values
    codes: NDArray[np.int64] | None  # (n,) place of each value among those, 0 where missing; None: too many

    @classmethod
    def of(cls, column: Column, x: Vector) -> _Cells:
        known = ~np.isnan(x)
        values, places = np.unique(x[known], return_inverse=True)
        codes = None
        numeric = not column.levels
        if not numeric or len(values) <= MOST_LEVELS:
            codes = np.zeros(len(x), np.int64)
            codes[known] = places
        return cls(column.name, numeric, x, known, int(known.sum()), len(values), codes)


def _reason(a: _Cells, b: _Cells, share: Vector) -> str | None:
    """Why b says nothing that a does not say, or None."""
    both = a.known & b.known
    if both.sum() < max(COMMON * b.observed, 2):
        return None
    if a.numeric and b.numeric and min(a.distinct, b.distinct) >= LEAST_VALUES:
        copied = _monotone(a.x[both], b.x[both], a.name)
        if copied is not None:
            return copied
    if a.codes is not None and b.codes is not None:
        pairs = a.codes[both] * b.distinct + b.codes[both]
        here = np.count_nonzero(np.bincount(pairs, minlength=1))
        one_to_one = here <= min(a.distinct, b.distinct) + WRONG * len(pairs)
        if one_to_one or (not a.numeric and here <= a.distinct + WRONG * len(pairs)):
            sums = np.bincount(pairs, share[both], a.distinct * b.distinct)
            table = sums.astype(np.float64).reshape(a.distinct, b.distinct)
            follows = _follows(table)
            if follows and one_to_one and _follows(table.T):
                return f"repeats {a.name!r}"
            if follows and not a.numeric:
                return f"follows from {a.name!r}"
    if a.numeric and b.codes is not None and _is_cut(a.x[both], b.codes[both]):
        return f"follows from {a.name!r}"
    return None


# --- numbers ----------------------------------------------------------------------------------------------------


def _monotone(x: Vector, y: Vector, name: str) -> str | None:
    """What y is to the column ``name`` of cells x, where it is a copy."""
    if not np.ptp(x) or not np.ptp(y):
        return None
    slope, start, noise = _line(x, y)
    if noise > NOISE and not _rises(x[:FEW_ROWS], y[:FEW_ROWS]) and not _rises(x[:FEW_ROWS], -y[:FEW_ROWS]):
        return None
    if min(len(np.unique(x)), len(np.unique(y))) < LEAST_VALUES:
        return None
    alike = float(_ranks(x) @ _ranks(y))
    up = alike > 0
    if not _rises(x, y if up else -y) and (noise > NOISE or 1.0 - abs(alike) > RANK_NOISE):
        return None
    if noise > NOISE:
        return f"grows with {name!r}, in every row" if up else f"falls as {name!r} grows, in every row"
    if abs(start) > NOISE * float(np.ptp(y)):
        sign = "+" if start > 0 else "-"
        return f"{name!r} in other units: {slope:.5g} x {sign} {abs(start):.5g}"
    return f"repeats {name!r}" if abs(slope - 1.0) <= NOISE else f"{name!r} in other units: {slope:.5g} x"


def _rises(x: Vector, y: Vector) -> bool:
    """Whether y never falls where x rises."""
    return bool((np.diff(y[np.lexsort((y, x))]) >= 0).all())


def _line(x: Vector, y: Vector) -> tuple[float, float, float]:
    """Slope, value at 0 and noise (as a share of the spread of y) of the straight line through y over x."""
    about_x, about_y = x - x.mean(), y - y.mean()
    slope = float(about_x @ about_y / (about_x @ about_x))
    rest = about_y - slope * about_x
    return slope, float(y.mean() - slope * x.mean()), float(np.sqrt((rest @ rest) / (about_y @ about_y)))


def _ranks(x: Vector) -> Vector:
    """(n,) ranks, those of ties their mean, centred and of length 1; zeros where all are equal."""
    _, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2.0)[places]
    ranks -= ranks.mean()
    length = np.sqrt(ranks @ ranks)
    return np.asarray(ranks / length if length > 0 else ranks)


def _near(cells: Sequence[_Cells]) -> NDArray[np.bool_]:
    """(d, d) pairs that may repeat each other: what can be ruled out at once need not be compared."""
    d = len(cells)
    near = np.ones((d, d), bool)
    many = np.array([j for j, c in enumerate(cells) if c.numeric and c.distinct >= LEAST_VALUES], int)
    if len(many) > 1:
        ranks = np.zeros((len(cells[0].x), len(many)))
        known = np.column_stack([cells[j].known for j in many]).astype(np.float64)
        for i, j in enumerate(many):
            ranks[cells[j].known, i] = _ranks(cells[j].x[cells[j].known])
        squares = (ranks**2).T @ known
        size = np.sqrt(squares * squares.T)
        near[np.ix_(many, many)] = np.abs(ranks.T @ ranks) >= NEAR * size
    return near


def _alike(rows: Array) -> list[list[int]]:
    """Columns of a wide table that are in the same order, row by row: monotone functions of each other."""
    groups = [list(range(rows.shape[1]))]
    for some in (rows[:FEW_ROWS], rows):  # most differ in a few rows
        parts: dict[tuple[int, bytes], list[int]] = {}
        for i, js in enumerate(groups):
            for j in js:
                parts.setdefault((i, _order(some[:, j])), []).append(j)
        groups = [js for js in parts.values() if len(js) > 1]
    return groups


def _order(x: Vector) -> bytes:
    """The same for all monotone functions of the cells, rising or falling."""
    places = np.unique(x, return_inverse=True)[1].astype(np.int16)  # NaN comes last
    known = ~np.isnan(x)
    turned = np.where(known, places[known].max(initial=0) - places, places).astype(np.int16)
    return min(places.tobytes(), turned.tobytes())


# --- levels -----------------------------------------------------------------------------------------------------


def _follows(table: Array) -> bool:
    """Whether the level of b follows from that of a: weights (A, B) of all pairs."""
    table = table[table.sum(axis=1) > 0]
    table = table[:, table.sum(axis=0) > 0]
    n, levels = table.sum(), table.shape[1]
    of_b, right = table.sum(axis=0), table.max(axis=1).sum()
    wrong = n - right
    if levels < 2 or wrong > min(WRONG * n, WRONG_OF_RARE * (n - of_b.max())):
        return False
    by_itself = of_b @ np.log(of_b / n)
    mapped = right * np.log1p(-WRONG) + wrong * np.log(WRONG / (levels - 1)) - len(table) * np.log(levels)
    return bool(mapped - by_itself >= CERTAIN)


def _is_cut(x: Vector, codes: NDArray[np.int64]) -> bool:
    """Whether the levels are intervals of x, between cuts that fell among its values."""
    if len(x) > FEW_ROWS and not _in_intervals(*_distinct_pairs(x[:FEW_ROWS], codes[:FEW_ROWS])):
        return False
    values, codes = _distinct_pairs(x, codes)
    gaps, cuts = np.diff(values), np.flatnonzero(np.diff(codes)).tolist()
    if not cuts or not _in_intervals(values, codes):
        return False
    lengths = np.diff([0, *(cut + 1 for cut in cuts), len(values)])
    ways = gammaln(len(values) + 1.0) - gammaln(lengths + 1.0).sum() - gammaln(len(lengths) + 1.0)
    return bool(ways >= CERTAIN and np.median([_valley(gaps, cut) for cut in cuts]) <= VALLEY)


def _distinct_pairs(x: Vector, codes: NDArray[np.int64]) -> tuple[Vector, NDArray[np.int64]]:
    """Values and their levels in order, each pair once."""
    order = np.lexsort((codes, x))
    x, codes = x[order], codes[order]
    new = np.append(True, (np.diff(x) > 0) | (np.diff(codes) != 0))
    return x[new], codes[new]


def _in_intervals(values: Vector, codes: NDArray[np.int64]) -> bool:
    """Whether no value has two levels, and no level comes again after another."""
    changes = int(np.count_nonzero(np.diff(codes)))
    return changes + 1 == len(np.unique(codes)) and bool((np.diff(values) > 0).all())


def _valley(gaps: Vector, cut: int) -> float:
    """The mean gap about a cut, in the wider of those on its two sides: large where groups were told apart."""
    low, high = cut - BESIDE, cut + BESIDE + 1
    left = gaps[max(low - FAR, 0) : low] if low > BESIDE else gaps[:cut]
    right = gaps[high : high + FAR] if len(gaps) - high > BESIDE else gaps[cut + 1 :]
    sides = [float(side.mean()) for side in (left, right) if len(side)]
    return float(gaps[max(low, 0) : high].mean()) / max(sides) if sides else np.inf
