"""Where EM starts: rows of a sample, groups of them, and the M-step of their shares.

Rows of a sample stand for the table (an even sample, so its likelihood estimates the table's). A guess is a table of
shares (m, k): the groups of k-means, of Ward's method, of random rows. ``methods.search`` chooses among them for a
single fit, ``methods.path`` for mixtures of every k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of, present
from asterism.data.source import ArraySource, Source
from asterism.engines.reduce import reduce
from asterism.errors import DataError, ParameterError
from asterism.families.base import Array, Compared, Family
from asterism.methods.coarse import coarse_centers
from asterism.methods.cut import cut_tree
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.frame import Frame
from asterism.methods.kmeans import fit_kmeans, nearest
from asterism.methods.linkage import link_points
from asterism.methods.seeding import sample_rows
from asterism.stats.moments import ColumnMoments

View = Literal["plain", "standard"]
WARD_ROWS = 1000  # Ward's method looks at all pairs


@dataclass(frozen=True)
class Sample:
    """Some rows of a table, in offsets from its reference, with weights that add up to their number."""

    block: Block  # in the table's coordinates
    y: Array  # (m, d) offsets from the reference, missing cells at the column's mean
    unit: Vector  # (d,) standard deviations of the columns; 1 for a constant one
    whole: bool  # whether this is the whole table
    seen: Array | None = None  # (m, d) the rows as their family compares them (``families.base.Compared``)

    @property
    def w(self) -> Vector:
        """(m,) weights."""
        return self.block.weights

    @cached_property
    def standard(self) -> Array:
        """(m, d) in units of the columns' standard deviations."""
        return np.asarray(self.y / self.unit)

    @cached_property
    def complete(self) -> bool:
        """Whether no cell is missing."""
        return not np.isnan(self.block.rows).any()

    def source(self) -> Source:
        """The sample as a table."""
        return ArraySource(np.asarray(self.block.rows), self.w)

    def compared(self, view: View = "plain") -> Source:
        """The sample as a table of rows to be compared."""
        plain: Any = self.block.rows if self.seen is None else self.seen
        return ArraySource(np.asarray(plain if view == "plain" else self.standard), self.w)

    def seen_by(self, family: Family) -> Sample:
        """The same rows, compared as a family does."""
        if not isinstance(family, Compared):
            return self
        seen = family.compared(self.block.rows)
        there = ~np.isnan(seen)
        mass = np.maximum(self.w @ there, np.finfo(float).tiny)
        mean = self.w @ np.where(there, seen, 0.0) / mass
        y = np.where(there, seen - mean, 0.0)
        spread = np.sqrt(self.w @ y**2 / mass)
        return replace(self, y=y, unit=np.where(spread > 0, spread, 1.0), seen=seen)


def sample_of(
    source: Source, frame: Frame, moments: ColumnMoments, k: int, seed: int, at_least: int = 0
) -> Sample:
    """An even sample, equal rows as one, in an order that depends on values alone; a small table itself.

    ``at_least``: rows, where the usual number for k groups is too small.
    """
    drawn = sample_rows(source, frame, moments, k, even=True, seed=seed, at_least=at_least)
    w = drawn.w if drawn.whole else drawn.w * (len(drawn.w) / drawn.w.sum())
    spread = np.sqrt(moments.variance)
    rows = drawn.y / frame.scale + frame.reference
    unit = np.where(spread > 0, spread, 1.0)
    return Sample(block_of(rows, w), drawn.filled() / frame.scale, unit, drawn.whole)


def in_order_of_values(sample: Sample) -> Sample:
    """The same rows in an order that knows nothing of the order, units and offsets of columns.

    Two sums over columns of bounded functions of the cells, each moved by its column's third moment: columns are told
    apart by what is in them.
    """
    z = sample.standard - np.average(sample.standard, axis=0, weights=sample.w)
    moved = z + np.average(z**3, axis=0, weights=sample.w)
    keys = np.arctan(moved).sum(axis=1), np.arctan(3.0 * moved).sum(axis=1)
    order = np.lexsort(keys)
    block = block_of(np.ascontiguousarray(sample.block.rows[order]), sample.w[order])
    return replace(sample, block=block, y=np.ascontiguousarray(sample.y[order]))


# --- guesses ----------------------------------------------------------------------------------------------------


def by_kmeans(sample: Sample, k: int, rng: np.random.Generator, *, view: View = "plain") -> Array:
    """Groups of k-means, by way of many (``methods.coarse``)."""
    seed = int(rng.integers(2**31))
    rows = sample.compared(view)
    return one_hot(nearest(coarse_centers(rows, k, seed), rows), k)


def by_seeds(sample: Sample, k: int, rng: np.random.Generator) -> Array:
    """Rows to the nearest of the starting centres of k-means++."""
    seed = int(rng.integers(2**31))
    return one_hot(fit_kmeans(sample.compared(), k, max_iter=1, seed=seed).labels, k)


def by_rows(sample: Sample, k: int, rng: np.random.Generator) -> Array:
    """Rows to the nearest of k random rows, in standard units."""
    rank = rng.exponential(size=len(sample.w)) / sample.w
    chosen = sample.standard[np.resize(np.argsort(rank, kind="stable")[:k], k)]
    return one_hot(nearest_of(sample.standard, chosen), k)


def by_chance(sample: Sample, k: int, rng: np.random.Generator) -> Array:
    """Random shares."""
    shares = rng.exponential(size=(len(sample.w), k))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def by_ward(sample: Sample, k: int, rng: np.random.Generator) -> Array:
    """Groups of Ward's method on a part of the sample; the other rows go to the nearest group mean."""
    m = len(sample.w)
    some = np.arange(m) if m <= WARD_ROWS else np.sort(rng.choice(m, WARD_ROWS, replace=False))
    if len(some) <= k:
        return by_rows(sample, k, rng)
    part = replace(sample, block=block_of(sample.block.rows[some], sample.w[some]), y=sample.y[some])
    groups = cut_tree(ward_tree(part), k=k)
    if len(some) == m:
        return one_hot(groups, k)
    return one_hot(nearest_of(sample.standard, means_of(part, one_hot(groups, k))[0]), k)


def ward_tree(sample: Sample) -> Array:
    """Ward's tree of the rows, in standard units."""
    return link_points(sample.standard, sample.w, "ward")


def in_order(sample: Sample, shares: Array) -> Array:
    """The same groups, numbered by where they lie along the first column in which they differ.

    Guesses number groups as they find them; so numbered, the same groups have the same numbers in any unit.
    """
    return np.ascontiguousarray(shares[:, along(means_of(sample, shares)[0])])


def means_of(sample: Sample, shares: Array) -> tuple[Array, Vector]:
    """(k, d) means of groups in standard units, 0 of one without rows, and (k,) their masses."""
    mass = shares * sample.w[:, None]
    total = mass.sum(axis=0)
    return np.asarray((mass.T @ sample.standard) / np.maximum(total, np.finfo(float).tiny)[:, None]), total


def along(means: Array) -> NDArray[np.intp]:
    """(k,) the order of group means (k, d), in standard units, along the first column in which they differ."""
    return np.lexsort(np.round(means, 6).T[::-1])


def nearest_of(y: Array, centers: Array) -> NDArray[np.int32]:
    """(m,) the nearest centre."""
    squares = (centers**2).sum(axis=1) - 2.0 * (y @ centers.T)
    return np.asarray(squares.argmin(axis=1), np.int32)


def one_hot(labels: NDArray[Any], k: int) -> Array:
    """(m, k) all of a row to its label."""
    return np.asarray(np.eye(k)[labels])


# --- from shares to models --------------------------------------------------------------------------------------


def model_of(em: EM, block: Block, shares: Array, before: MixtureModel | None = None) -> MixtureModel:
    """The M-step of given shares of the rows of one block."""
    return started(em, expected_of(em, shares, block), before)


def expected_of(em: EM, shares: Array, block: Block) -> Expected:
    """What given shares of some rows add up to."""
    here = block.weights > 0
    mass = (shares if here.all() else shares[here]) * block.weights[here, None]
    return Expected(mass.sum(axis=0), 0.0, em.family.statistic(None, present(block), mass))


def started(em: EM, expected: Expected, before: MixtureModel | None = None) -> MixtureModel:
    """The first model; a component that got nothing has a small share of everything."""
    share = expected.mass / expected.mass.sum()
    weights = np.maximum(share, 1e-3 / len(share))
    previous = None if before is None else before.params
    return MixtureModel(weights / weights.sum(), em.family.estimate(expected.inner, previous))


def given_shares(em: EM, source: Source, shares: Any, k: int) -> MixtureModel:
    """The start from a user's responsibilities (n, k)."""
    try:
        array = np.asarray(shares, np.float64)
    except (TypeError, ValueError) as bad:
        raise ParameterError("responsibilities_init is not a table of numbers.", "Give shares.") from bad
    if array.shape != (source.n_rows, k):
        raise ParameterError(
            f"responsibilities_init has the shape {array.shape}.",
            f"Give one row a row of X and one column a component: {(source.n_rows, k)}.",
        )
    bad_rows = np.flatnonzero(~(np.isfinite(array) & (array >= 0)).all(axis=1) | (array.sum(axis=1) <= 0))
    if len(bad_rows):
        raise DataError(
            "the responsibilities are not shares.", "Give numbers from 0 to 1.", row=int(bad_rows[0])
        )
    return started(em, reduce(source, partial(_shares_of, em, array)))


def _shares_of(em: EM, array: Array, block: Block) -> Expected:
    shares = array[block.start : block.start + len(block)]
    return expected_of(em, shares / shares.sum(axis=1, keepdims=True), block)
