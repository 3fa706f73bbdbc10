"""Are two groups one? A group has fewer rows between it and the next; components of a mixture need not.

Rows of two candidate groups are looked at along the line that tells them apart best,

    s(x) = v' (x - middle),      v = S_within^-1 (mean_b - mean_a)

with v found without the rows it is applied to (in five parts, turn by turn): a cut through one group looks like a gap
along a line that was fitted to it, and like nothing along a line that was not. If the distribution of s has one hump
(``null.dip_test``), the two are one group, whatever a likelihood says: it only says that the group is not normal.

Components are brought together in the order in which they share rows. Two groups that have already been brought
together are asked where they touch, which keeps crescents apart, and, if hardly any row lies between them, as a
whole, where there are more rows to see a valley by. (Two arcs of one crescent have a valley along a line.)

References
----------
1. Hartigan, Hartigan (1985), The dip test of unimodality. Annals of Statistics 13:70-84.
2. Hennig (2010), Methods for merging Gaussian mixture components. Adv. in Data Analysis and Classification 4:3-34.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.families.base import Array
from asterism.verdict.null import dip_test
from asterism.verdict.rows import Rows

PARTS, DRAWS = 5, 5
SURE = 0.02  # a valley that one hump shows less often than this is a valley,
VERY_SURE = 0.001  # and than this, where nothing else speaks for groups
APART = 0.01  # of the smaller group's rows are in doubt: more, and two groups touch
SIDES = 3.0  # a larger group is looked at only where it is near: so many times the weight of the smaller


@dataclass(frozen=True, slots=True)
class Valley:
    """What lies between two candidate groups."""

    p: float  # how often one hump shows such a dip
    dip: float


@dataclass(frozen=True)
class Groups:
    """Components brought together."""

    group_of: NDArray[np.int64]  # (k,) group of every component
    valleys: dict[tuple[int, int], Valley] = field(default_factory=dict)  # between groups that stayed apart

    @property
    def k(self) -> int:
        """Groups."""
        return int(self.group_of.max()) + 1

    @property
    def weakest(self) -> float:
        """The largest p of two groups that stayed apart; 0 for one group."""
        return max((valley.p for valley in self.valleys.values()), default=0.0)


def valley_between(a: Rows, b: Rows, seed: int = 0) -> Valley:
    """The valley between two sets of rows; p = 1 where they are too few to tell."""
    if min(len(a), len(b)) < 2 or len(a) + len(b) < 8:
        return Valley(1.0, 0.0)
    x, w = np.vstack([a.x, b.x]), np.concatenate([a.weights, b.weights])
    second = np.arange(len(x)) >= len(a)
    # Parts are drawn by chance, and what they show varies: the middle of several draws is taken.
    return sorted((_seen(x, w, second, draw, seed) for draw in range(DRAWS)), key=lambda v: v.p)[DRAWS // 2]


def _seen(x: Array, w: Vector, second: NDArray[np.bool_], draw: int, seed: int) -> Valley:
    """The valley along lines fitted to one draw of the parts."""
    along = _along(x, w, second, [seed, draw])
    near = _near(along, w, second)
    return Valley(*dip_test(along[near], w[near]))


def _along(x: Array, w: Vector, second: NDArray[np.bool_], seed: list[int]) -> Vector:
    """(n,) s of every row, along a line fitted to the other parts; group means at -1/2 and 1/2."""
    part = np.empty(len(x), np.int64)
    for side in (second, ~second):  # both groups in every part
        members = np.flatnonzero(side)
        part[members] = np.random.default_rng([*seed, len(members)]).permutation(len(members)) % PARTS
    along = np.empty(len(x))
    for p in range(PARTS):
        out = part == p
        if not out.any():
            continue
        fit = ~out
        ours = [Rows(x[fit & side], w[fit & side]) for side in (~second, second)]
        if min(len(group) for group in ours) == 0:
            ours = [Rows(x[side], w[side]) for side in (~second, second)]
        direction, middle = _line(ours[0], ours[1])
        along[out] = (x[out] - middle) @ direction
    return along


def _line(a: Rows, b: Rows) -> tuple[Vector, Vector]:
    """v, scaled so that the means are 1 apart, and the middle."""
    apart, d = b.mean - a.mean, a.x.shape[1]
    about = np.vstack([(g.x - g.mean) * np.sqrt(g.weights)[:, None] for g in (a, b)])
    n = len(about)
    within = about.T @ about / (a.total + b.total)
    # Correlations are trusted in so far as there are rows to see them: of d columns, d^2 / 2 of them.
    trust = max(1.0 - d / n, 0.0) if d < n / 2 else 0.0
    ridge = np.diagonal(within) * (1.0 - trust) + 1e-9 * max(
        float(np.trace(within)) / d, np.finfo(float).tiny
    )
    v = np.linalg.solve(trust * within + np.diag(ridge), apart)
    length = float(v @ apart)
    return v / (length if length > 0 else 1.0), (a.mean + b.mean) / 2


def _near(along: Vector, w: Vector, second: NDArray[np.bool_]) -> NDArray[np.intp]:
    """All rows, or of a much larger group only those next to the smaller: a small group is lost in a long tail."""
    mass = [float(w[~second].sum()), float(w[second].sum())]
    large = int(mass[1] > mass[0])
    if mass[large] <= SIDES * mass[1 - large]:
        return np.arange(len(along))
    members = np.flatnonzero(second == bool(large))
    members = members[np.argsort(along[members] if large else -along[members], kind="stable")]
    enough = np.searchsorted(np.cumsum(w[members]), max(SIDES * mass[1 - large], 20.0))
    return np.concatenate([np.flatnonzero(second != bool(large)), members[: enough + 1]])


# --- components to groups ---------------------------------------------------------------------------------------


def groups_by_valleys(rows: Rows, shares: Array, seed: int = 0, sure: float = SURE) -> Groups:
    """Components with shares (m, k) of the rows, brought together until every two groups have a valley between."""
    labels, k = shares.argmax(axis=1), shares.shape[1]
    shared = (shares * rows.weights[:, None]).T @ shares
    mass = np.maximum(np.bincount(labels, rows.weights, k), np.finfo(float).tiny)
    groups = [[c] for c in range(k) if (labels == c).any()]
    apart: dict[tuple[tuple[int, ...], tuple[int, ...]], Valley] = {}
    while True:
        pair = _to_merge(rows, labels, shared, mass, groups, apart, seed, sure)
        if pair is None:
            break
        a, b = pair
        groups[a] = sorted(groups[a] + groups[b])
        del groups[b]
    return _numbered(rows, labels, k, groups, apart, shared)


def _to_merge(
    rows: Rows,
    labels: NDArray[np.intp],
    shared: Array,
    mass: Vector,
    groups: list[list[int]],
    apart: dict[tuple[tuple[int, ...], tuple[int, ...]], Valley],
    seed: int,
    sure: float,
) -> tuple[int, int] | None:
    """The two groups that share most rows and have no valley between them."""
    pairs = []
    for i in range(len(groups)):
        for j in range(i + 1, len(groups)):
            least = min(mass[groups[i]].sum(), mass[groups[j]].sum())
            pairs.append((-shared[np.ix_(groups[i], groups[j])].sum() / least, i, j))
    for _, i, j in sorted(pairs):
        key = (tuple(groups[i]), tuple(groups[j]))
        if key not in apart:
            apart[key] = _valley(rows, labels, shared, mass, groups[i], groups[j], seed)
        if apart[key].p >= sure:
            return i, j
    return None


def _valley(
    rows: Rows, labels: NDArray[np.intp], shared: Array, mass: Vector, a: list[int], b: list[int], seed: int
) -> Valley:
    """Where they touch; and as a whole, where they hardly do."""
    block = shared[np.ix_(a, b)]
    i, j = divmod(int(block.argmax()), len(b))
    touch = valley_between(rows.take(labels == a[i]), rows.take(labels == b[j]), seed)
    if len(a) + len(b) == 2 or block.sum() > APART * min(mass[a].sum(), mass[b].sum()):
        return touch
    whole = valley_between(rows.take(np.isin(labels, a)), rows.take(np.isin(labels, b)), seed)
    return min(whole, touch, key=lambda valley: valley.p)


def _numbered(
    rows: Rows,
    labels: NDArray[np.intp],
    k: int,
    groups: list[list[int]],
    apart: dict[tuple[tuple[int, ...], tuple[int, ...]], Valley],
    shared: Array,
) -> Groups:
    """Groups from the heaviest down; a component that no row likes best goes where it shares most."""
    weight = [float(rows.weights[np.isin(labels, members)].sum()) for members in groups]
    order = sorted(range(len(groups)), key=lambda g: (-weight[g], groups[g]))
    group_of = np.full(k, -1, np.int64)
    for new, old in enumerate(order):
        group_of[groups[old]] = new
    for c in np.flatnonzero(group_of < 0):
        others = np.where(group_of >= 0, shared[c], -1.0)
        group_of[c] = group_of[int(others.argmax())]
    places = {tuple(groups[old]): new for new, old in enumerate(order)}
    valleys = {
        (min(places[a], places[b]), max(places[a], places[b])): valley
        for (a, b), valley in apart.items()
        if a in places and b in places
    }
    return Groups(group_of, valleys)
