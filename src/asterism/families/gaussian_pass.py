"""Normal mixtures and the rows of a block, in one pass of the core (``src/core/gaussian.cpp`` has the formulas).

    s_c = log pi_c p(x | c)      scores        r_c = exp(s_c) / sum_b exp(s_b)      sum_n w_n r_nc (1, z, z z')

Scores are linear in features of ``y = x - centre`` wherever that is precise: terms of a score are then as large as
``g^2``, where ``g`` (the growth) is what a cell of ``y`` or of a mean comes to in standard deviations of a component,

    g^2 = max over lines of W_c of  sum_j W_cj^2 (mean of y_j^2 + mean_cj^2),

and rounding moves a score by about ``eps g^2``. Means far apart and nearly dependent columns make ``g`` large;
then scores are taken from the differences ``x - mean_c``, which rounding moves by ``eps g`` standard deviations only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Matrix, Vector
from asterism.families.base import Array
from asterism.families.covariance import Covariances
from asterism.families.gaussian_statistic import Form, GaussianSums, SumsLayout

Kind = Literal["tied", "round", "diagonal", "quadratic", "full", "differences"]
KINDS: tuple[Kind, ...] = ("tied", "round", "diagonal", "quadratic", "full", "differences")
ASSIGNMENTS = {"soft": 0, "hard": 1, "stochastic": 2}

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# derived: rounding moves a score by eps g^2, 6e-5 in float32 and 1.5e-11 in float64
LINEAR_GROWTH = {SINGLE: 32.0, DOUBLE: 256.0}
DIFFERENCES_GROWTH = 64.0  # derived: float32 moves W (x - mean) by less than 4e-6
# measured: up to so many columns, their products are faster than a matrix W_c a component
QUADRATIC_COLUMNS = 12
# derived: mean squares whose sums float32 holds, outliers included
LEAST_SQUARE, MOST_SQUARE = 2.0**-80, 2.0**80

Index = NDArray[np.int64]


@dataclass(frozen=True)
class GaussianParams:
    """k normal components."""

    means: Array  # (k, d) offsets from the family's reference
    covariances: Covariances  # of k components

    @cached_property
    def passes(self) -> dict[Any, Any]:
        """What was made ready of them for passes over rows; see ``GaussianFamily``."""
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        return GaussianParams, (self.means, self.covariances)  # what was made of them is made again elsewhere

    @cached_property
    def no_weights(self) -> Vector:
        """(k,) zeros: log weights of densities."""
        return np.zeros(len(self.means))

    @cached_property
    def factors(self) -> Array:
        """W as kernels want it: (k, d, d) lower triangular, (1, d, d) where all share one, (k, d) diagonals, (k, 1)
        where a group has but one number.
        """
        if self.covariances.diagonal:
            roots = self.covariances.root_precisions()
            round_ones = self.covariances.structure in ("EII", "VII")
            return np.ascontiguousarray(roots[:, :1]) if round_ones else roots
        if self.covariances.structure == "EEE":
            return self.covariances.distinct_inverse_factors()
        return self.covariances.inverse_factors()

    @cached_property
    def matrices(self) -> Array:
        """(k, d, d) covariances, or (1, d, d) for one that all share."""
        matrices = self.covariances.full()
        return matrices[:1] if self.covariances.structure == "EEE" else matrices

    @cached_property
    def whiteners(self) -> Array:
        """(k, d, d) W, or (1, d, d) for one that all share, also of diagonal components."""
        return self.covariances.distinct_inverse_factors()


@dataclass(frozen=True)
class Components:
    """The components of one or several mixtures, one below the other."""

    starts: Index  # (m + 1,) components of mixture i: starts[i] up to starts[i + 1]
    log_weights: Vector  # (k,) log pi
    means: Array  # (k, d) offsets from the reference
    factors: Array  # W: (k, d, d); (m, d, d) one for a mixture; (k, d) diagonals; (k, 1) one number

    @property
    def form(self) -> Form:
        """What the shape of the factors says."""
        if self.factors.ndim == 3:
            return "full" if len(self.factors) == len(self.means) else "tied"
        return "diag" if self.factors.shape[1] == self.means.shape[1] else "round"

    @cached_property
    def mixture_of(self) -> Index:
        """(k,) the mixture of each component."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def heights(self) -> Vector:
        """(k,) log pi_c p(mean_c | c): log pi + log det W - d/2 log 2 pi."""
        d, f = self.means.shape[1], self.factors
        logs = np.log(f if f.ndim == 2 else np.einsum("kjj->kj", f)).sum(axis=1)
        if self.form == "round":
            logs = logs * d
        elif self.form == "tied":
            logs = logs[self.mixture_of]
        return np.asarray(self.log_weights + (logs - 0.5 * d * math.log(2.0 * math.pi)))

    def growth(self, squares: Vector, about: Array) -> float:
        """See above; ``squares`` (d,) are means of y_j^2, ``about`` (k, d) means from the centre."""
        sizes, f = about * about + squares, self.factors
        if f.ndim == 2:
            return math.sqrt(float((f * f * sizes).max()))
        if self.form == "tied":
            f = f[self.mixture_of] if len(f) > 1 else f
        return math.sqrt(float(np.matmul(f * f, sizes[:, :, None]).max()))


@dataclass(frozen=True)
class Table:
    """What a pass has to know of the rows it will meet."""

    reference: Vector  # (d,) a row of the table: means are offsets from it
    mean: Vector  # (d,) of the columns, as offsets
    variance: Vector | None  # (d,) None where nothing is known of it
    single_rows: bool  # whether cells are float32
    single: bool  # whether float32 is wanted where it is precise


class GaussianPass:
    """Mixtures made ready to visit any block of a table."""

    def __init__(self, components: Components, table: Table, form: Form | None = None) -> None:
        """``form``: of the scatters that are asked for, where it is not that of the factors."""
        self.components, self.table, self.form = components, table, form or components.form
        middle = components.means.mean(axis=0)
        # (d,) from the reference to the centre; float32 rows subtract it in float32
        self.shift = _rounded(middle) if table.single_rows else middle
        self.about = components.means - self.shift  # (k, d)
        self.kind, self.single = self._choose()
        about, factors = self.about, components.factors
        self._means: Array | None = None
        self._factors: Array | None = None
        if self.kind == "tied":
            self._factors = np.ascontiguousarray(factors)
        elif self.kind in ("full", "differences"):
            self.about = about = np.ascontiguousarray(_rounded(about) if self.single else about)
            self._means, (k, d) = about, about.shape
            if self.kind == "full":
                each = factors[components.mixture_of] if components.form == "tied" else factors
            else:
                each = np.broadcast_to(factors[:, None, :], (k, 1, d))
            self._factors = np.ascontiguousarray(each)
        lines = getattr(self, f"_{self.kind}_lines")()
        self._core = _core.Mixtures(
            KINDS.index(self.kind),
            self.single,
            np.ascontiguousarray(components.starts),
            np.stack([table.reference, self.shift]),
            np.ascontiguousarray(lines),
            self._means,
            self._factors,
        )

    def _choose(self) -> tuple[Kind, bool]:
        """How scores are taken, and whether in float32."""
        table, form, d = self.table, self.components.form, self.about.shape[1]
        by_differences: Kind = "full" if form in ("full", "tied") else "differences"
        if table.variance is None or (form == "full" and d > QUADRATIC_COLUMNS and not table.single):
            return by_differences, False
        squares = table.variance + (table.mean - self.shift) ** 2
        growth = self.components.growth(squares, self.about)
        fits = table.single and squares.min() >= LEAST_SQUARE and squares.max() <= MOST_SQUARE
        if form == "full" and d > QUADRATIC_COLUMNS:
            return "full", bool(fits and growth <= DIFFERENCES_GROWTH)
        linear: dict[Form, Kind] = {"tied": "tied", "round": "round", "diag": "diagonal", "full": "quadratic"}
        if fits and growth <= LINEAR_GROWTH[SINGLE]:
            return linear[form], True
        if growth <= LINEAR_GROWTH[DOUBLE]:
            return linear[form], False
        return by_differences, False

    # --- lines: scores are lines . features ---

    def _tied_lines(self) -> Array:
        pulls = np.einsum("kab,kb->ka", self._precisions[self.components.mixture_of], self.about)
        return np.column_stack([self._constants(pulls), pulls])

    def _round_lines(self) -> Array:
        precisions = self.components.factors**2  # (k, 1)
        pulls = self.about * precisions
        return np.column_stack([self._constants(pulls), pulls, -precisions])

    def _diagonal_lines(self) -> Array:
        precisions = self.components.factors**2
        pulls = self.about * precisions
        return np.column_stack([self._constants(pulls), pulls, -0.5 * precisions])

    def _quadratic_lines(self) -> Array:
        pulls = np.einsum("kab,kb->ka", self._precisions, self.about)
        return np.column_stack([self._constants(pulls), pulls, -self._packed_precisions])

    def _full_lines(self) -> Array:
        return self.components.heights[:, None]

    _differences_lines = _full_lines

    @cached_property
    def _precisions(self) -> Array:
        """(k, d, d) or (m, d, d) W'W."""
        f = self.components.factors
        return np.asarray(f.transpose(0, 2, 1) @ f)

    @cached_property
    def _packed_precisions(self) -> Array:
        return _packed(self._precisions)

    def _constants(self, pulls: Array) -> Vector:
        return np.asarray(self.components.heights - 0.5 * np.einsum("kj,kj->k", pulls, self.about))

    # --- a block ---

    def summarize(
        self,
        rows: Matrix,
        weights: Vector,
        assignment: str = "soft",
        draws: Vector | None = None,
    ) -> tuple[Array, GaussianSums]:
        """(m, 2) sums of w log p(x) and of w max_c log pi_c p(x | c), and what the shares add up to.

        ``draws`` (n,) picks components for "stochastic".
        """
        totals, sums, common = _core.gaussian_pass(self._core, rows, weights, ASSIGNMENTS[assignment], draws)
        return self._whole(totals, common), GaussianSums(sums, common, self.layout)

    def classify(self, rows: Matrix, weights: Vector) -> tuple[NDArray[np.int32], Array]:
        """(n,) the likeliest components of a single mixture, and (1, 2) the same sums."""
        labels = np.empty(len(rows), np.int32)
        totals, common = _core.gaussian_labels(self._core, rows, weights, labels)
        return labels, self._whole(totals, common)

    def _whole(self, totals: Array, common: Vector) -> Array:
        """With the term that all components of a row share, where it was left out."""
        if self.kind == "tied":
            totals -= (self._packed_precisions @ common)[:, None]
        return totals

    def scores(self, rows: Matrix) -> Array:
        """(n, k) log pi_c p(x | c)."""
        out = np.empty((len(rows), len(self.about)))
        _core.gaussian_scores(self._core, rows, out)
        return out

    @cached_property
    def layout(self) -> SumsLayout:
        """What the sums of all blocks are about."""
        points = self.shift + (self.about if self._means is not None else np.zeros_like(self.about))
        return SumsLayout(self.kind, self.form, self.components.starts, points)


def sums_of_shares(rows: Matrix, reference: Vector, means: Array, shares: Array, form: Form) -> GaussianSums:
    """What given shares (n, k) of complete rows add up to, about means (k, d) from the reference."""
    full = form in ("full", "tied")
    means, shares = np.ascontiguousarray(means), np.ascontiguousarray(shares)
    sums = _core.gaussian_sums(rows, np.ascontiguousarray(reference), means, shares, full)
    layout = SumsLayout("full" if full else "differences", form, np.array([0, len(means)]), means)
    return GaussianSums(sums, np.empty(0), layout)


def _packed(matrices: Array) -> Array:
    """(k, d (d + 1) / 2) lower triangles of symmetric matrices Q: y'Qy / 2 = packed . (y_a y_b for b <= a)."""
    d = matrices.shape[1]
    a, b = np.tril_indices(d)
    return np.asarray(matrices[:, a, b] * np.where(a == b, 0.5, 1.0))


def _rounded(array: Array) -> Array:
    """To what float32 holds, where it holds it."""
    with np.errstate(over="ignore"):
        single = array.astype(np.float32).astype(np.float64)
    return single if np.isfinite(single).all() else array


def unknown_table(reference: Vector) -> Table:
    """Of rows that nothing is known of: differences in float64 are always precise."""
    return Table(reference, np.zeros_like(reference), None, single_rows=False, single=False)


def one_mixture(log_weights: Vector, means: Array, factors: Array) -> Components:
    """Components of a single mixture; ``factors`` of one matrix for all have the shape (1, d, d)."""
    starts: Any = np.array([0, len(means)], np.int64)
    return Components(starts, log_weights, means, factors)
