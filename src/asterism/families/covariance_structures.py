"""The fourteen ways in which the covariances of groups can be alike, one small function each.

    Sigma_c = volume_c  D_c A_c D_c'        A_c diagonal with det 1: the shape;  D_c orthogonal: the orientation

Three letters say volume, shape, orientation: E equal in all groups, V varying, I round or along the columns.
Every function takes the weight ``n`` (k,) and the scatter of each group, ``M`` (k, d) where only diagonals matter and
(k, d, d) otherwise, and maximises

    Q = -1/2 sum_c [ n_c log det Sigma_c + tr(Sigma_c^-1 M_c) ]

Notation: g(M) = det(M)^(1/d). Scatters come in scaled and above the floor, so logarithms and inverses exist.

References
----------
1. Celeux, Govaert (1995), Gaussian parsimonious clustering models. Pattern Recognition 28:781-793.
2. Scrucca, Fop, Murphy, Raftery (2016), mclust 5. The R Journal 8:289-317.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.errors import ParameterError
from asterism.families import covariance_repair as repair
from asterism.families.covariance_common_axes import common_axes, lengths_along

Array = NDArray[np.float64]


class Parts(NamedTuple):
    """Covariances in the fewest numbers: m is 1 for what all groups share, k otherwise."""

    variances: Array | None  # (m, d) along the columns, or along ``axes``
    axes: Array | None  # (m, d, d) orientation, axes in columns
    matrices: Array | None  # (m, d, d) where neither is known


Fit = Callable[[Array, Array, Array | None], Parts]  # weights, scatters, axes to start from
Lift = Callable[[Array, Array, Array, float], repair.Mended]
Kind = Literal["spherical", "diagonal", "rotated", "full"]


@dataclass(frozen=True, slots=True)
class Structure:
    """One of the fourteen."""

    name: str  # three letters
    kind: Kind
    fit: Fit
    lift: Lift  # what must be above the floor for ``fit`` to exist
    local: bool = False  # whether ``fit`` finds a local optimum only

    @property
    def diagonal(self) -> bool:
        """Whether diagonals of scatters are enough."""
        return self.kind in ("spherical", "diagonal")

    @property
    def common(self) -> bool:
        """Whether all groups have the same covariance, so that the pooled scatter is enough."""
        return self.name in ("EII", "EEI", "EEE")

    @property
    def free_units(self) -> bool:
        """Whether each column may be in units of its own without changing the fit."""
        return self.kind in ("diagonal", "full")


# ---- round -------------------------------------------------------------------------------------------------


def _eii(n: Array, M: Array, _: Array | None) -> Parts:
    d = M.shape[1]
    return Parts(np.full((1, d), M.sum() / (n.sum() * d)), None, None)


def _vii(n: Array, M: Array, _: Array | None) -> Parts:
    d = M.shape[1]
    return Parts(np.repeat((M.sum(axis=1) / (n * d))[:, None], d, axis=1), None, None)


# ---- along the columns -------------------------------------------------------------------------------------


def _eei(n: Array, M: Array, _: Array | None) -> Parts:
    return Parts(M.sum(axis=0, keepdims=True) / n.sum(), None, None)


def _vei(n: Array, M: Array, _: Array | None) -> Parts:
    return Parts(_common_lengths(n, M), None, None)


def _evi(n: Array, M: Array, _: Array | None) -> Parts:
    return Parts(_equal_volumes(n, M), None, None)


def _vvi(n: Array, M: Array, _: Array | None) -> Parts:
    return Parts(M / n[:, None], None, None)


# ---- in any direction --------------------------------------------------------------------------------------


def _eee(n: Array, M: Array, _: Array | None) -> Parts:
    return Parts(None, None, M.sum(axis=0, keepdims=True) / n.sum())


def _vee(n: Array, M: Array, _: Array | None) -> Parts:
    """C <- S/g(S) with S = sum M_c/volume_c;  volume_c <- tr(C^-1 M_c)/(d n_c);  until volumes stand still.

    Q is concave along the curves that matter here, so there is one optimum whatever the start.
    """
    d = M.shape[1]
    volume = np.trace(M, axis1=1, axis2=2) / (n * d)
    for _step in range(STEPS):
        shape = np.einsum("c,cij->ij", 1.0 / volume, M)
        shape /= np.exp(np.linalg.slogdet(shape)[1] / d)
        before, volume = volume, np.einsum("ij,cij->c", np.linalg.inv(shape), M) / (n * d)
        if _still(before, volume):
            break
    return Parts(None, None, volume[:, None, None] * shape)


def _evv(n: Array, M: Array, _: Array | None) -> Parts:
    d = M.shape[1]
    log_g = np.linalg.slogdet(M)[1] / d
    volume = np.exp(log_g).sum() / n.sum()
    return Parts(None, None, M * (volume / np.exp(log_g))[:, None, None])


def _vvv(n: Array, M: Array, _: Array | None) -> Parts:
    return Parts(None, None, M / n[:, None, None])


# ---- along axes of each group, of a common shape -----------------------------------------------------------


def _eev(n: Array, M: Array, _: Array | None) -> Parts:
    """The j-th longest axes of all groups have the same length."""
    lengths, axes = _principal(M)
    return Parts(lengths.sum(axis=0, keepdims=True) / n.sum(), axes, None)


def _vev(n: Array, M: Array, _: Array | None) -> Parts:
    lengths, axes = _principal(M)
    return Parts(_common_lengths(n, lengths), axes, None)


# ---- along axes that all groups share ----------------------------------------------------------------------


def _eve(n: Array, M: Array, start: Array | None) -> Parts:
    def objective(v: Array) -> float:
        return float(np.log((np.exp(np.log(v).mean(axis=1)) / n.sum()).sum()))

    axes = common_axes(M, objective, np.empty(0), start)
    return Parts(_equal_volumes(n, lengths_along(M, axes)), axes[None], None)


def _vve(n: Array, M: Array, start: Array | None) -> Parts:
    share = n / n.sum()

    def objective(v: Array) -> float:
        return float(share @ np.log(v / n[:, None]).mean(axis=1))

    axes = common_axes(M, objective, share, start)
    return Parts(lengths_along(M, axes) / n[:, None], axes[None], None)


# ---- what they have in common ------------------------------------------------------------------------------

STEPS = 500  # of the alternation, at most; a dozen is usual
STILL = 1e-13  # relative change of volumes


def _common_lengths(n: Array, M: Array) -> Array:
    """(k, d) volume_c A: one shape, varying volumes, from diagonals; the alternation of ``_vee``."""
    d = M.shape[1]
    volume = M.sum(axis=1) / (n * d)
    for _ in range(STEPS):
        shape = (M / volume[:, None]).sum(axis=0)
        shape = shape / np.exp(np.log(shape).mean())
        before, volume = volume, (M / shape).sum(axis=1) / (n * d)
        if _still(before, volume):
            break
    lengths: Array = volume[:, None] * shape
    return lengths


def _equal_volumes(n: Array, M: Array) -> Array:
    """(k, d) volume A_c: shapes of their own, volume sum g(M_c)/n, from diagonals."""
    g = np.exp(np.log(M).mean(axis=1))
    lengths: Array = M * (g.sum() / n.sum() / g)[:, None]
    return lengths


def _principal(M: Array) -> tuple[Array, Array]:
    """Lengths in decreasing order, never below rounding, and axes."""
    lengths, axes = np.linalg.eigh(M)
    lengths, axes = lengths[:, ::-1], axes[:, :, ::-1]
    least = M.shape[1] * np.finfo(float).eps * lengths[:, :1]
    return np.maximum(lengths, least), axes


def _still(before: Array, after: Array) -> bool:
    return bool(np.all(np.abs(after - before) <= STILL * after))


STRUCTURES = {
    structure.name: structure
    for structure in (
        Structure("EII", "spherical", _eii, repair.lift_total),
        Structure("VII", "spherical", _vii, repair.lift_volumes),
        Structure("EEI", "diagonal", _eei, repair.lift_shared),
        Structure("VEI", "diagonal", _vei, repair.lift_each),
        Structure("EVI", "diagonal", _evi, repair.lift_each),
        Structure("VVI", "diagonal", _vvi, repair.lift_each),
        Structure("EEE", "full", _eee, repair.lift_shared),
        Structure("VEE", "full", _vee, repair.lift_each),
        Structure("EVE", "rotated", _eve, repair.lift_each, local=True),
        Structure("VVE", "rotated", _vve, repair.lift_each, local=True),
        Structure("EEV", "rotated", _eev, repair.lift_lengths),
        Structure("VEV", "rotated", _vev, repair.lift_each),
        Structure("EVV", "full", _evv, repair.lift_each),
        Structure("VVV", "full", _vvv, repair.lift_each),
    )
}
ALIASES = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}
ONE_COLUMN = {"E": "EII", "V": "VII"}  # all there is in one dimension


def structure_of(name: str, d: int) -> Structure:
    """The structure of a name or an alias; in one dimension E and V are all there is.

    >>> structure_of("tied", 3).name, structure_of("VEV", 1).name, structure_of("E", 1).name
    ('EEE', 'VII', 'EII')
    """
    full_name = ALIASES.get(name, name)
    if d == 1 and (full_name in STRUCTURES or full_name in ONE_COLUMN):
        full_name = ONE_COLUMN[full_name[0]]
    if full_name not in STRUCTURES:
        names = ", ".join([*ALIASES, *STRUCTURES])
        hint = " E and V are for tables of one column." if name in ONE_COLUMN else ""
        raise ParameterError(f"There is no covariance structure {name!r}.", f"Choose one of {names}.{hint}")
    return STRUCTURES[full_name]


def n_variance_parameters(name: str, k: int, d: int) -> int:
    """Free numbers in the covariances of ``k`` groups in ``d`` columns: a letter each for volume, shape, axes.

    >>> [n_variance_parameters(name, 3, 4) for name in ("EII", "VEI", "EVE", "VVV")]
    [1, 6, 16, 30]
    """
    structure = structure_of(name, d)
    volume, shape, orientation = ({"E": 1, "V": k, "I": 0}[letter] for letter in structure.name)
    return volume + shape * (d - 1) + orientation * (d * (d - 1) // 2)


def n_parameters(name: str, k: int, d: int) -> int:
    """Free numbers of a mixture: covariances, k d means, k - 1 proportions."""
    return n_variance_parameters(name, k, d) + k * d + k - 1
