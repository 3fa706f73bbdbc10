"""Whether a column that took no part differs between groups, though no row's group is known for sure.

    cells  ->  columns of numbers (the cell; or a zero or one for each level)
           ->  third step (``three_step``: BCH or ML, and the naive one beside it)  ->  estimates, intervals, one test

Intervals are Student's about the estimate with as many degrees of freedom as the group has rows, less one; those of
shares are made on the logit scale, so that they stay between 0 and 1. Of sure groups they are the usual ones.

The test asks whether all groups are alike. With C the differences from the first group,

    W = (C m)' (C V C')^+ (C m)

is chi-squared with the rank of C V C' for degrees of freedom. For one number a group, W / (k - 1) is held to an F
distribution as Welch's is: for sure groups it is his test, for two of them the unequal-variances t-test.

References
----------
1. Welch (1951), On the comparison of several mean values: an alternative approach. Biometrika 38:330-336.
2. Bakk, Vermunt (2016), Robustness of stepwise latent class modeling with continuous distal outcomes. Structural
   Equation Modeling 23:20-31.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import chi2
from scipy.stats import f as f_distribution
from scipy.stats import t as student

from asterism.data.columns import WITH_LEVELS, Column
from asterism.errors import DataError, ParameterError
from asterism.explain.three_step import Array, Membership, Solved, bch, ml_levels, ml_numbers, naive
from asterism.explain.words import number_text

Places = NDArray[np.intp]
Method = Literal["bch", "ml"]
METHODS: tuple[Method, ...] = get_args(Method)
LEVEL = 0.95  # convention: of the intervals
MIXED_UP = 0.2  # convention: least singular value of Q below which errors grow more than fivefold: said
LOW_ENTROPY = 0.4  # convention: below it the literature advises against reading groups one by one: said
FEW_ROWS = 5.0  # convention: rows of a level or group below which a chi-squared test is rough: said
RANK = 1e-9  # convention: directions of C V C' with less than this share of the largest have no variance

# --- what is found ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or a share, with its standard error and interval; NaN where nothing is known."""

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """The outcome in one group."""

    group: int
    level: str | None  # whose share this is; None: the mean of numbers
    corrected: Estimate
    naive: Estimate  # of the rows labelled so, as if labels were groups


@dataclass(frozen=True, slots=True)
class OutcomeTest:
    """Whether all groups are alike."""

    name: str  # "F" or "chi-squared"
    statistic: float
    df: float
    df_within: float | None  # of F
    p: float

    def __str__(self) -> str:
        within = "" if self.df_within is None else f", {self.df_within:.1f}"
        p = f"= {self.p:.3g}" if self.p >= 1e-12 else "< 1e-12"
        return f"{self.name}({self.df:g}{within}) = {self.statistic:.4g}, p {p}"


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """A column that took no part, group by group."""

    column: str
    kind: Literal["numeric", "binary", "categorical"]
    method: Method
    groups: tuple[GroupOutcome, ...]  # groups in order, and the levels of each in order
    test: OutcomeTest | None  # None: one group, or an outcome that does not vary
    entropy: float  # 1: every row's group is sure, 0: nothing is known
    rows: int  # of the third step
    left_out: int  # rows in groups without a cell of the outcome
    step_one: bool  # errors include what the making of the groups leaves uncertain
    sampling: bool  # weights were taken for sampling weights, else for copies of rows
    warnings: tuple[str, ...] = ()

    @property
    def estimates(self) -> Array:
        """(k,) corrected means or shares of the second level; (k, levels) of categorical outcomes."""
        values = np.array([group.corrected.value for group in self.groups])
        k = 1 + max(group.group for group in self.groups)
        return values if self.kind != "categorical" else values.reshape(k, -1)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        found = asdict(self)
        return found | {"warnings": list(self.warnings), "groups": list(found["groups"])}

    def __str__(self) -> str:
        """The table in a few lines."""
        return "\n".join(self.lines())

    __repr__ = __str__

    def lines(self, names: Sequence[str] = ()) -> list[str]:
        """The table in plain words; ``names`` of the groups, where there are any."""
        out = f", {self.left_out:,} more without a cell" if self.left_out else ""
        head = f"{self.title}, {self.rows:,} rows{out}, entropy {self.entropy:.2f}"
        rows = [["group", "", "corrected", "95% interval", "naive", "95% interval"], *self.cells(names)]
        widths = [max(len(row[j]) for row in rows) for j in range(6)]
        lines = [
            "  "
            + "  ".join(
                c.ljust(w) if j == 1 else c.rjust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return [head, *(line.rstrip() for line in lines), *self.sentences()]

    @property
    def title(self) -> str:
        """The column, and what is estimated."""
        what = {"numeric": "means", "binary": f"shares of {self.groups[0].level}", "categorical": "shares"}
        return f"{self.column!r}: {what[self.kind]} by {self.method.upper()}"

    def cells(self, names: Sequence[str] = ()) -> list[list[str]]:
        """For each group (and level): group, what it is, corrected estimate and interval, naive ones."""
        rows = []
        for g in self.groups:
            name = names[g.group] if g.group < len(names) else ""
            level = g.level if self.kind == "categorical" else None
            label = ": ".join(part for part in (name, level) if part)
            rows.append([str(g.group), label, *self._cells(g.corrected), *self._cells(g.naive)])
        return rows

    def _cells(self, estimate: Estimate) -> tuple[str, str]:
        if math.isnan(estimate.value):
            return "-", "-"
        value, low, high = (self._shown(v) for v in (estimate.value, estimate.low, estimate.high))
        return value, f"{low} to {high}"

    def _shown(self, value: float) -> str:
        """Shares in percent; numbers to the second digit of the smallest error, or intervals would be of no width."""
        if self.kind != "numeric":
            return f"{value:.1%}"
        errors = [g.naive.error for g in self.groups if g.naive.error > 0]
        decimals = 1 - math.floor(math.log10(min(errors))) if errors else 0
        return f"{value:,.{decimals}f}" if 0 < decimals < 12 else number_text(value)

    def sentences(self) -> list[str]:
        """What the test says, and what to beware of."""
        said = []
        if self.test is not None:
            differ = (
                "The groups differ" if self.test.p < 1 - LEVEL else "No difference between the groups is seen"
            )
            said.append(f"{differ}: {self.test}.")
        return [*said, *self.warnings]


# --- how it is found --------------------------------------------------------------------------------------------


def outcome_of(known: Membership, cells: Array, column: Column, method: Method = "bch") -> Outcome:
    """The outcome ``cells`` (n,), NaN where missing, of the rows of ``known``; codes for columns with levels.

    >>> r = np.array([[0.9, 0.1]] * 40 + [[0.1, 0.9]] * 40)
    >>> sold = np.r_[np.tile([1.0, 2.0, 3.0], 14)[:40], np.tile([7.0, 8.0, 9.0], 14)[:40]]
    >>> found = outcome_of(Membership(r, np.ones(80)), sold, Column("sold"))
    >>> [round(group.corrected.value, 3) for group in found.groups], [group.naive.value for group in found.groups]
    ([1.225, 8.725], [1.975, 7.975])
    >>> found.test.name, found.test.df, found.test.p < 1e-12
    ('F', 1, True)
    """
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}.", f"Methods there are: {', '.join(METHODS)}.")
    here = ~np.isnan(cells)
    if not here.any():
        raise DataError("No row of a group has a cell here.", "Give another outcome.", column=column.name)
    step_one = known.step_one
    some = Membership(known.shares[here], known.weights[here], known.sampling, step_one)
    there = np.flatnonzero(np.bincount(some.labels, minlength=known.k) > 0)
    if len(there) < known.k:  # a group without a labelled row cannot be told from the others
        shares = some.shares[:, there]
        shares = shares / shares.sum(axis=1, keepdims=True)
        step_one = None if step_one is None else step_one[np.ix_(there, there, there, there)]
        some = Membership(shares, some.weights, some.sampling, step_one)
    y, levels = _columns(cells[here], column)
    solved = _solve(some, y, levels, method)
    plain = naive(some, y)
    test = _test(some, solved)
    return Outcome(
        column=column.name,
        kind="numeric" if not levels else "binary" if len(levels) == 2 else "categorical",
        method=method,
        groups=_groups(
            known.k, there, _estimates(some, solved, levels), _estimates(some, plain, levels), levels
        ),
        test=test,
        entropy=some.entropy,
        rows=int(here.sum()),
        left_out=int((~here).sum()),
        step_one=step_one is not None,
        sampling=known.sampling,
        warnings=_warnings(known, some, there, y, levels),
    )


def _columns(cells: Array, column: Column) -> tuple[Array, tuple[str, ...]]:
    """Columns of numbers: all levels but the last of a categorical outcome, the second of a binary one."""
    if column.kind not in WITH_LEVELS:
        if not np.isfinite(cells).all():
            raise DataError(
                "A cell is infinite.", "Leave the row out, or make the cell empty.", column=column.name
            )
        return cells[:, None], ()
    seen = np.unique(cells).astype(int)
    levels = tuple(
        column.levels[code] for code in (seen if len(column.levels) > 2 else range(len(column.levels)))
    )
    if len(levels) == 2:
        return (cells == (seen[-1] if len(column.levels) > 2 else 1))[:, None].astype(np.float64), levels
    return (cells[:, None] == seen[None, :-1]).astype(np.float64), levels


def _solve(known: Membership, y: Array, levels: tuple[str, ...], method: Method) -> Solved:
    if (y == y[0]).all():
        return naive(known, y)
    if method == "bch":
        return bch(known, y)
    return ml_levels(known, y) if levels else ml_numbers(known, y)


def _spread(known: Membership, solved: Solved) -> Array:
    """V of the means, widened as variances are that are divided by rows less one."""
    size = solved.means.size
    rows = known.group_rows
    wider = np.tile(np.sqrt(rows / np.maximum(rows - 1.0, 0.5)), solved.means.shape[1])
    return solved.covariance(known)[:size, :size] * np.outer(wider, wider)


def _estimates(known: Membership, solved: Solved, levels: tuple[str, ...]) -> list[list[Estimate]]:
    """Of each group, its levels; the last level of a categorical outcome is what the others leave."""
    k, columns = solved.means.shape
    v = _spread(known, solved).reshape(columns, k, columns, k)
    reach = np.asarray(student.ppf(0.5 + LEVEL / 2, np.maximum(known.group_rows - 1.0, 1.0)))
    found = []
    for g in range(k):
        values, own = solved.means[g], v[:, g, :, g]
        errors = np.sqrt(np.maximum(np.diag(own), 0.0))
        if len(levels) > 2:
            values = np.append(values, 1.0 - values.sum())
            errors = np.append(errors, math.sqrt(max(float(own.sum()), 0.0)))
        make = _share if levels else _mean
        found.append([make(float(x), float(e), float(reach[g])) for x, e in zip(values, errors, strict=True)])
    return found


def _mean(value: float, error: float, reach: float) -> Estimate:
    return Estimate(value, error, value - reach * error, value + reach * error)


def _share(value: float, error: float, reach: float) -> Estimate:
    """Held between 0 and 1, where BCH may leave them."""
    if not 0.0 < value < 1.0:
        value = float(np.clip(value, 0.0, 1.0))
        return Estimate(value, error, max(value - reach * error, 0.0), min(value + reach * error, 1.0))
    half = reach * error / (value * (1.0 - value))
    low, high = (float(expit(float(logit(value)) + side * half)) for side in (-1, 1))
    return Estimate(value, error, low, high)


def _test(known: Membership, solved: Solved) -> OutcomeTest | None:
    k, columns = solved.means.shape
    if k == 1:
        return None
    v = _spread(known, solved)
    c = np.kron(np.eye(columns), np.eye(k)[1:] - np.eye(k)[:1])
    apart = c @ solved.means.T.ravel()
    spread = c @ v @ c.T
    values, vectors = np.linalg.eigh(spread)
    kept = values > RANK * max(values.max(), 0.0)
    df = int(kept.sum())
    if not df or not values.max() > 0:
        return None
    w = float(((vectors[:, kept].T @ apart) ** 2 / values[kept]).sum())
    if columns > 1:
        return OutcomeTest("chi-squared", w, df, None, float(chi2.sf(w, df)))
    # Welch: groups count by how sure their means are.
    share = 1.0 / np.maximum(np.diag(v), np.finfo(float).tiny)
    rest = float(((1.0 - share / share.sum()) ** 2 / np.maximum(known.group_rows - 1.0, 0.5)).sum())
    statistic = w / (k - 1) / (1.0 + 2.0 * (k - 2) / (k**2 - 1) * rest)
    within = (k**2 - 1) / (3.0 * rest)
    return OutcomeTest("F", statistic, k - 1, within, float(f_distribution.sf(statistic, k - 1, within)))


def _groups(
    k: int,
    there: Places,
    corrected: list[list[Estimate]],
    plain: list[list[Estimate]],
    levels: tuple[str, ...],
) -> tuple[GroupOutcome, ...]:
    names: tuple[str | None, ...] = (None,) if not levels else levels[1:] if len(levels) == 2 else levels
    unknown = Estimate(*[math.nan] * 4)
    place = {int(g): i for i, g in enumerate(there)}
    return tuple(
        GroupOutcome(
            g,
            name,
            corrected[place[g]][j] if g in place else unknown,
            plain[place[g]][j] if g in place else unknown,
        )
        for g in range(k)
        for j, name in enumerate(names)
    )


def _warnings(
    known: Membership, some: Membership, there: Places, y: Array, levels: tuple[str, ...]
) -> tuple[str, ...]:
    said = []
    gone = [g for g in range(known.k) if g not in set(there.tolist())]
    if gone:
        said.append(
            f"No row with a cell has group {', '.join(map(str, gone))} for its likeliest: nothing is known of it."
        )
    if some.k > 1 and np.linalg.svd(some.mixing, compute_uv=False).min() < MIXED_UP:
        confused = some.mixing + some.mixing.T
        np.fill_diagonal(confused, -1.0)
        a, b = sorted(divmod(int(confused.argmax()), some.k))
        said.append(
            f"Groups {int(there[a])} and {int(there[b])} can hardly be told apart: what is theirs alone is little "
            "known, and their intervals are wide."
        )
    elif some.entropy < LOW_ENTROPY:
        said.append(
            f"Membership is unsure (entropy {some.entropy:.2f}): intervals are wide, and rest on the model."
        )
    if levels and len(y) * y.mean(axis=0).clip(0, 1).min(initial=1.0) / max(some.k, 1) < FEW_ROWS:
        said.append("Some levels have few rows: the test is rough.")
    return tuple(said)
