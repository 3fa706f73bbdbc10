"""Clumps among the rows that a model explains badly: near each other, far from everything else.

A tail thins out in every direction away from its group; a clump has a gap about it. Rows are compared by

    r(x) = |W (x - mean)|,      W' W = S^-1,      mean and S those of the rows with r <= sqrt(d) + 2

About its own mean a normal clump has r of sqrt(d) +- 0.7 in any number of columns d, so nearly all of it (99.7%) is
inside sqrt(d) + 2. It stands by itself where hardly any row of the table lies in the next step, up to sqrt(d) + 3.
A piece of a tail, of an even cloud or of a line has as many there as inside, or more. S is held up to half the spread
of an ordinary component in every direction: values that repeat (a rounded column, a popular number, a row written
many times) are only far if they are far in these units.

Where to try is what single linkage of the tail rows suggests; what decides is counted on all rows
(``stats.surroundings``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.distances.neighbours import Neighbours
from asterism.stats.surroundings import Places, Surroundings

Array = NDArray[np.float64]
Index = NDArray[np.int64]
LEAST_WEIGHT = 100.0  # convention: rows of the table that make a rare group
LEAST_INSIDE = 0.95  # derived: of 100 normal rows hardly ever more than five are not inside
LEAST_DRAWN = 20  # convention: rows seen, where the table is too long to see all that are far
INSIDE, BESIDE = 2.0, 3.0  # derived: r - sqrt(d) below which 99.7% of a normal group lie, and one more
MOST_BESIDE = (
    0.1  # measured: bench/rare; an even line has a third as many beside as inside, anything wider more
)
LEAST_SPREAD = 0.5  # convention: of a clump, in standard deviations of an ordinary component
ROUNDED = 4.0  # convention: as many rows a value, and a column is rounded
STEPS = 10  # convention: of mean and covariance in turn
MOST_PLACES = 24  # convention: clumps counted in one pass, those of most weight


@dataclass(frozen=True, eq=False)
class Cloud:
    """Rows that a model explains badly, all or a sample of them, and beside them a sample of all others."""

    far: Array  # (m, d)
    far_weights: Vector  # (m,) of the table
    other: Array  # (b, d)
    other_weights: Vector  # (b,) of the table
    units: Vector  # (d,) the spread of an ordinary component

    @property
    def d(self) -> int:
        """Columns."""
        return int(self.far.shape[1])


@dataclass(frozen=True, eq=False)
class Clump:
    """A candidate: mean and covariance in units of the cloud, and which far rows are inside."""

    mean: Vector  # (d,)
    covariance: Array  # (d, d) held up to the least spread
    inside: NDArray[np.bool_]  # (m,) of the far rows
    weight: float  # of those


def clumps_of(cloud: Cloud) -> list[Clump]:
    """Clumps that stand by themselves as far as the rows drawn show, the heaviest first."""
    far, other = cloud.far / cloud.units, cloud.other / cloud.units
    rows, weights = np.vstack([far, other]), np.concatenate([cloud.far_weights, cloud.other_weights])
    grain = grain_of(rows)
    found: list[Clump] = []
    seen: set[bytes] = set()
    for members in _linked(far, cloud.far_weights):
        clump = _settled(rows, weights, len(far), members, grain)
        if clump is not None and clump.inside.tobytes() not in seen:
            seen.add(clump.inside.tobytes())
            found.append(clump)
    return _apart(found)[:MOST_PLACES]


def places_of(clumps: list[Clump], units: Vector) -> Places:
    """Where to count, in the table's units."""
    d = len(units)
    whiteners = np.array([whitener(clump.covariance) / units for clump in clumps])
    means = np.array([clump.mean * units for clump in clumps])
    return Places(means, whiteners, d**0.5 + INSIDE, d**0.5 + BESIDE)


def recounted(clumps: list[Clump], counted: Surroundings, cloud: Cloud) -> list[Clump]:
    """The clumps with mean and covariance of all the rows inside."""
    grain = grain_of(np.vstack([cloud.far, cloud.other]) / cloud.units)
    out = []
    for clump, inside in zip(clumps, counted.inside, strict=True):
        if inside.weight <= 0:
            out.append(clump)
            continue
        own = inside.scatter / inside.weight / np.outer(cloud.units, cloud.units)
        covariance = held_up(trusted(own, inside.weight), grain)
        out.append(Clump((inside.mean + inside.rest) / cloud.units, covariance, clump.inside, clump.weight))
    return out


def stand_alone(clumps: list[Clump], counted: Surroundings) -> NDArray[np.bool_]:
    """(k,) whether rows enough are inside, most of them far from the model, and hardly any beside."""
    weights = counted.weights
    far = np.array([clump.weight for clump in clumps])
    enough = (weights >= LEAST_INSIDE * LEAST_WEIGHT) & (far >= 0.5 * weights)
    return np.asarray(enough & (counted.beside <= MOST_BESIDE * weights))


# --- where to try -----------------------------------------------------------------------------------------------


def _linked(rows: Array, weights: Vector) -> Iterator[Index]:
    """Sets of rows that single linkage joins before others: where two of them meet, and each time one has doubled."""
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    which = which.ravel()
    order = np.argsort(which, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(which, minlength=len(distinct)))[:-1])

    def enough(own: Index) -> bool:
        return len(own) >= LEAST_DRAWN and float(weights[own].sum()) >= 0.5 * LEAST_WEIGHT

    at_last = [len(own) if enough(own) else 0 for own in members]
    yield from (own for own, size in zip(members, at_last, strict=True) if size)
    if len(distinct) < 2:
        return
    pairs, lengths = Neighbours.of(distinct, np.ones(len(distinct)), 1).tree
    parent = list(range(len(distinct)))
    for a, b in pairs[np.argsort(lengths, kind="stable")].tolist():
        while parent[a] != a:
            parent[a] = a = parent[parent[a]]
        while parent[b] != b:
            parent[b] = b = parent[parent[b]]
        if len(members[a]) < len(members[b]):
            a, b = b, a
        if at_last[b] or enough(members[b]):
            yield from (members[c] for c in (a, b) if len(members[c]) > at_last[c])
        parent[b] = a
        members[a] = np.concatenate([members[a], members[b]])
        members[b] = members[b][:0]
        if len(members[a]) >= max(2 * at_last[a], LEAST_DRAWN) and enough(members[a]):
            at_last[a] = len(members[a])
            yield members[a]
    yield members[a]


def _settled(rows: Array, weights: Vector, m: int, members: Index, grain: Vector) -> Clump | None:
    """Mean and covariance of the rows inside, until they stay the same; None where it is no clump.

    The first ``m`` rows are far from the model, the others stand for those that are not.
    """
    d = rows.shape[1]
    inner, outer = d**0.5 + INSIDE, d**0.5 + BESIDE
    inside = np.zeros(len(rows), bool)
    inside[members] = True
    mean, covariance = np.zeros(d), np.eye(d)
    for _ in range(STEPS):
        w, own = weights[inside], rows[inside]
        if w[: np.count_nonzero(inside[:m])].sum() < 0.5 * w.sum() or w.sum() < 0.5 * LEAST_WEIGHT:
            return None
        mean = np.average(own, axis=0, weights=w)
        about = own - mean
        covariance = held_up(trusted((about * w[:, None]).T @ about / w.sum(), len(own)), grain)
        y = (rows - mean) @ whitener(covariance).T
        r = np.sqrt(np.einsum("nd,nd->n", y, y))
        before, inside = inside, r <= inner
        if np.array_equal(before, inside):
            break
    total = float(weights[inside].sum())
    beside = float(weights[(r > inner) & (r <= outer)].sum())
    far = float(weights[:m][inside[:m]].sum())
    enough = far >= 0.7 * LEAST_WEIGHT and np.count_nonzero(inside[:m]) >= LEAST_DRAWN
    if not enough or far < 0.5 * total or beside > 2.0 * MOST_BESIDE * total:
        return None
    return Clump(mean, covariance, inside[:m], far)


def _apart(clumps: list[Clump]) -> list[Clump]:
    """Clumps without rows in common, heaviest first: of nested ones the smaller, which stand by themselves, too."""
    kept: list[Clump] = []
    for clump in sorted(clumps, key=lambda c: (c.weight, c.mean.tolist())):
        if not any(_same(clump, other) for other in kept):
            kept.append(clump)
    return sorted(kept, key=lambda c: (-c.weight, c.mean.tolist()))


def _same(a: Clump, b: Clump) -> bool:
    return bool((a.inside & b.inside).any())


# --- spreads ----------------------------------------------------------------------------------------------------


def grain_of(rows: Array) -> Vector:
    """(d,) the step between values of columns that are rounded; 0 for others.

    >>> grain_of(np.array([[0.0, 0.1], [1.0, 0.25], [1.0, 0.33], [2.0, 0.4]] * 9)).tolist()[0]
    1.0
    """
    steps = np.zeros(rows.shape[1])
    for j, column in enumerate(rows.T):
        values = np.unique(column)
        if 1 < len(values) <= len(column) / ROUNDED:
            steps[j] = float(np.median(np.diff(values)))
    return steps


def trusted(covariance: Array, n: float) -> Array:
    """With correlations believed in so far as there are rows to see them."""
    trust = max(1.0 - len(covariance) / max(n, 1.0), 0.0)
    return np.asarray(trust * covariance + (1.0 - trust) * np.diag(np.diagonal(covariance)))


def held_up(covariance: Array, grain: Vector) -> Array:
    """With no direction narrower than the least spread, and no column narrower than the step of its values."""
    values, vectors = np.linalg.eigh(covariance)
    out = (vectors * np.maximum(values, LEAST_SPREAD**2)) @ vectors.T
    return np.asarray(out + np.diag(np.maximum(grain**2 - np.diagonal(out), 0.0)))


def whitener(covariance: Array) -> Array:
    """(d, d) W with W' W = S^-1."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))
