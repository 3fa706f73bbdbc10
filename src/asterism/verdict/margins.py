"""The form of each column, by evidence, before groups are counted.

A log-normal column is a mixture of many normal components, or one normal component of its logarithm; groups in it are
lost among the former. So every column of numbers is explained in several forms (``data.margins``), each by normal
mixtures of one to six components, on the scale of the column itself:

    BIC(form) = min over k, equal and own variances of   -2 [log p(g(x)) + sum log g'(x)] + p log n

The column stays as it is unless another form is better by ``MARGIN`` and with fewer components. Groups may be in any
form; the right one is that in which they are simple. Columns with little to go by stay as they are.

References
----------
1. Kass, Raftery (1995), Bayes factors. Journal of the American Statistical Association 90:773-795.
2. Box, Cox (1964), An analysis of transformations. Journal of the Royal Statistical Society B 26:211-252.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.margins import Form, Margins
from asterism.data.source import Source
from asterism.verdict.margin_counts import count_cost, normal_cost, pointed_cost
from asterism.verdict.margin_fit import MOST_COMPONENTS, Line, NormalMixture, bin_edges, fit_lines
from asterism.verdict.rows import draw
from asterism.verdict.view import COMPARED_ROWS, SAMPLE_SEED

Array = NDArray[np.float64]

MARGIN = 10.0  # convention: of BIC, "very strong" evidence; measured: tests/verdict/test_margins
FEWER = 2.0 / 3.0  # convention: of the components of the plain form, that another may have at most
LEAST_ROWS, LEAST_VALUES = 50, 8  # convention: with fewer rows or distinct values a column stays as it is
LEAST_COUNTS = 4  # convention: distinct whole numbers, below which they are rather levels
MOST_COLUMNS = 128  # convention: a wider table is seen in few directions, in which single columns say little
MOST_WITH_POINTS = 24  # measured: digits, 64 columns; with more, counts and points would be mostly noise
MOST_MEAN = 15.0  # derived: from there on a Poisson count is normal by its root to 1% of its deviation
MOST_COUNT = 1000  # convention: the largest number of a column of counts
LEAST_SHARE = 0.05  # convention: of the rows, at a point
DENSER = 5.0  # convention: how many times more rows are at a point than at a value next to it
BESIDE = 5  # convention: values next to a point, on each side
RANGE = 2.0  # convention: largest over smallest value, below which a logarithm is nearly a line
LEAST_SKEW = 0.5  # convention: below, a shifted logarithm is nearly a line
LEAST_TAIL = 1.0  # convention: excess kurtosis, below which tails are not heavy


@dataclass(frozen=True, eq=False)
class _Candidate:
    """One form of a column."""

    form: Form
    extra: int  # parameters that were estimated for it


_Fitted = Sequence[tuple[_Candidate, list[NormalMixture]]]


@dataclass(frozen=True, eq=False)
class _Values:
    """The known cells of a column, in order, beside its point where it has one."""

    raw: Array
    x: Array  # the same, rounded values spread over the cells they were rounded to
    weights: Array  # 1 in the mean over all rows of the sample
    point: float | None
    share: float  # of rows at the point
    counts: bool  # may be a column of small counts
    histogram: Array  # of those

    @property
    def total(self) -> float:
        """Sum of weights."""
        return float(self.weights.sum())


def margins_of(source: Source, given: Collection[str] = (), *, numbers_only: bool = False) -> Margins:
    """The forms of the columns of a table, on the sample that a verdict is made of.

    ``given``         columns that the user calls numeric: a form of numbers may suit them, but they are no counts and
                      have no point
    ``numbers_only``  the same for all columns

    >>> from asterism.data.source import ArraySource
    >>> rng = np.random.default_rng(0)
    >>> table = ArraySource(np.column_stack([rng.lognormal(3, 1, 400), rng.normal(3, 1, 400)]))
    >>> [form.kind for form in margins_of(table).forms]
    ['log', 'plain']
    """
    columns = source.columns
    plain = Margins.plain(columns)
    numeric = [j for j, column in enumerate(columns) if column.kind == "numeric"]
    counts = [j for j, column in enumerate(columns) if column.kind == "count"]
    if not numeric + counts or len(columns) > MOST_COLUMNS:
        return plain
    drawn = draw(source, COMPARED_ROWS, SAMPLE_SEED)
    weights = drawn.weights / drawn.weights.mean()
    some = {}
    for j in numeric:
        free = not numbers_only and len(columns) <= MOST_WITH_POINTS and columns[j].name not in given
        values = _values(drawn.x[:, j], weights, free)
        if values is not None:
            some[j] = values
    forms = dict(zip(some, _forms(list(some.values())), strict=True))
    large = [j for j in counts if numbers_only or np.nanmax(drawn.x[:, j], initial=0.0) > MOST_COUNT]
    forms |= dict.fromkeys(
        large, Form("root")
    )  # no histogram: their variance goes with their mean all the same
    return Margins(columns, tuple(forms.get(j, Form()) for j in range(len(columns))))


# --- the values of a column -------------------------------------------------------------------------------------


def _values(cells: Array, weights: Array, free: bool) -> _Values | None:
    """What is known of a column; None: too little. ``free``: it may be a count, and have a point."""
    known = np.isfinite(cells)
    x, w = cells[known], weights[known]
    if len(x) < LEAST_ROWS:
        return None
    order = np.lexsort((w, x))
    x, w = x[order], w[order]
    distinct = np.unique(x)
    if free and _may_count(x, w, distinct):
        histogram = np.bincount(x.astype(np.int64), w).astype(np.float64)
        return _Values(x, _spread(x), w, None, 0.0, True, histogram)
    point, share = _point(x, w)
    if point is not None and not free:
        return None  # no form of numbers makes a mass at one value simple
    if point is not None:
        x, w = x[x != point], w[x != point]
    if len(x) < LEAST_ROWS or len(np.unique(x)) < LEAST_VALUES:
        return None
    return _Values(x, _spread(x), w, point, share, False, np.zeros(0))


def _spread(x: Array) -> Array:
    """Values in order; where most are equal to others, spread evenly over the cells that they were rounded to.

    As ``verdict.seen.spread_in_cells`` does for rows: otherwise a component as thin as a value wins any likelihood.
    """
    values, which, times = np.unique(x, return_inverse=True, return_counts=True)
    if len(values) < 2 or 2 * len(values) > len(x):
        return x
    step = float(np.quantile(np.diff(values), 0.25))
    turn = np.arange(len(x)) - (np.cumsum(times) - times)[which]
    return np.sort(x + step * ((turn + 0.5) / times[which] - 0.5))


def _may_count(x: Array, w: Array, distinct: Array) -> bool:
    """Whole numbers from 0 on, small ones."""
    if len(distinct) < LEAST_COUNTS or distinct[0] < 0 or distinct[-1] > MOST_COUNT:
        return False
    more = x > 0
    return bool((distinct == np.floor(distinct)).all() and np.average(x[more], weights=w[more]) <= MOST_MEAN)


def _point(x: Array, w: Array) -> tuple[float | None, float]:
    """The value with far more rows than the values next to it, and its share of the weight."""
    values, which = np.unique(x, return_inverse=True)
    mass = np.bincount(which, w).astype(np.float64)
    best: tuple[float | None, float] = (None, 0.0)
    for value in {0.0, float(values[0]), float(values[-1])}:
        at = int(np.searchsorted(values, value))
        if at == len(values) or values[at] != value or len(values) - 1 < LEAST_VALUES:
            continue
        beside = np.r_[mass[max(at - BESIDE, 0) : at], mass[at + 1 : at + 1 + BESIDE]]
        share = float(mass[at] / mass.sum())
        if share >= max(LEAST_SHARE, best[1]) and mass[at] > DENSER * beside.mean():
            best = (value, share)
    return best


# --- forms ------------------------------------------------------------------------------------------------------


def _forms(columns: list[_Values]) -> list[Form]:
    """The form of each column; all are fitted together."""
    edges = [bin_edges(len(values.x)) for values in columns]
    plain = fit_lines([Line.of(v.x, v.weights, e) for v, e in zip(columns, edges, strict=True)])
    several = [
        1 + int(np.argmin([mixture.cost(v.total) for mixture in mixtures]))
        for v, mixtures in zip(columns, plain, strict=True)
    ]
    lines, most, forms = [], [], []
    for values, cut, k in zip(columns, edges, several, strict=True):
        limit = MOST_COMPONENTS if values.counts else _fewer(k)
        forms.append(_candidates(values) if limit else [])
        lines += [Line.of(candidate.form.of(values.x), values.weights, cut) for candidate in forms[-1]]
        most += [limit] * len(forms[-1])
    others = iter(fit_lines(lines, most))
    fitted = [
        [(_Candidate(Form(), 0), mixtures), *((candidate, next(others)) for candidate in candidates)]
        for mixtures, candidates in zip(plain, forms, strict=True)
    ]
    counts = [j for j, values in enumerate(columns) if values.counts]
    whole = _whole_numbers([columns[j] for j in counts], [fitted[j] for j in counts])
    of_counts = dict(zip(counts, whole, strict=True))
    found = [of_counts[j] if j in of_counts else _chosen(v, fitted[j]) for j, v in enumerate(columns)]
    return [
        form if v.point is None else replace(form, point=v.point, share=v.share)
        for form, v in zip(found, columns, strict=True)
    ]


def _candidates(values: _Values) -> list[_Candidate]:
    """Forms other than plain that may suit a column; those that would be nearly a line are left out."""
    x, w = values.x, values.weights
    share = w / w.sum()
    z = x - share @ x
    deviation = np.sqrt(share @ z**2)
    out: list[_Candidate] = []
    if not deviation > 0:
        return out
    z /= deviation
    skew, tail = float(share @ z**3), float(share @ z**4) - 3.0
    for sign in (1, -1):
        near, far = (x[0], x[-1]) if sign == 1 else (-x[-1], -x[0])
        if near > 0 and far > RANGE * near:
            out.append(_Candidate(Form("log", sign=sign, least=float(near) / 2.0), 0))
        if sign * skew > LEAST_SKEW:
            shift = _end(sign * x if sign == 1 else -x[::-1])
            out.append(_Candidate(Form("log", sign * shift, sign=sign, least=float(near - shift) / 2.0), 1))
    raw = values.raw
    if raw[0] >= 0 and bool((raw == np.floor(raw)).all()):
        out.append(_Candidate(Form("root"), 0))
    if tail > LEAST_TAIL:
        low, middle, high = (float(np.quantile(x, q)) for q in (0.25, 0.5, 0.75))
        if high > low:
            out.append(_Candidate(Form("asinh", middle, (high - low) / 2.0), 2))
    return out


def _end(x: Array) -> float:
    """Where a shifted logarithm begins: low, middle and high value are even steps of it; x is in order.

    (m - s)^2 = (a - s) (b - s) for the 5%, 50% and 95% points a, m, b. It stays below the least value by the usual
    step between the lowest values: at the least value itself any likelihood is infinite.
    """
    a, m, b = (float(np.quantile(x, q)) for q in (0.05, 0.5, 0.95))
    lowest = float(x[0])
    step = max((a - lowest) / (0.05 * len(x)), 1e-9 * (b - a))  # derived: rows below a are 5% of all
    most = lowest - step
    curved = a + b - 2.0 * m
    return min((a * b - m**2) / curved, most) if curved > 0 else most


def _chosen(values: _Values, fitted: _Fitted) -> Form:
    """The form of least BIC, where it beats the plain one by ``MARGIN`` and with fewer components."""
    costs = []
    for candidate, mixtures in fitted:
        jacobian = float(values.weights @ candidate.form.log_slope(values.x))
        costs.append([mixture.cost(values.total, jacobian, candidate.extra) for mixture in mixtures])
    least = min(costs[0])
    best, at = Form(), least - MARGIN
    for (candidate, _), those in zip(fitted[1:], costs[1:], strict=True):
        fewer = min(those[: _fewer(1 + int(np.argmin(costs[0])))], default=np.inf)
        if fewer < at:
            best, at = candidate.form, fewer
    return best


@dataclass(frozen=True)
class _Counts:
    """What speaks for a column of small whole numbers being counts."""

    form: Form  # as counts
    over_plain: float  # BIC of normal mixtures as they are, less that of counts
    over_best: float  # the same of the best form

    @classmethod
    def of(cls, values: _Values, fitted: _Fitted) -> _Counts:
        """Counts with a point at 0 or without, one column either way: groups may have zeros of their own."""
        histogram = values.histogram
        normal = [normal_cost(histogram, form.form, mixtures, form.extra) for form, mixtures in fitted]
        cost = min(count_cost(histogram), pointed_cost(histogram))
        return cls(Form("count"), normal[0] - cost, min(normal) - cost)


def _whole_numbers(several: list[_Values], fitted: list[_Fitted]) -> list[Form]:
    """Counts, where they explain the numbers better than normal mixtures of any form; else as for other columns.

    Where one column is of counts, those that may as well be are too: a mixture of one kind of column says more.
    """
    cases = [_Counts.of(values, forms) for values, forms in zip(several, fitted, strict=True)]
    some = any(case.over_best > 0 and case.over_plain > MARGIN for case in cases)
    return [
        case.form
        if some and case.over_best > -MARGIN
        else _chosen(values, forms)
        if np.count_nonzero(values.histogram) >= LEAST_VALUES
        else Form()
        for case, values, forms in zip(cases, several, fitted, strict=True)
    ]


def _fewer(k: int) -> int:
    """Components that another form may have where the plain one has k.

    >>> [_fewer(k) for k in (1, 2, 3, 4, 5, 6)]
    [0, 1, 2, 2, 3, 4]
    """
    return int(FEWER * k + 1e-9) if k > 1 else 0
