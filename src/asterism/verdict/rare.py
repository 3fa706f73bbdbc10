"""Rare groups of long tables: far from everything that a sample shows, and too small to be in it.

Numbers of groups are compared on a few thousand rows, in which a far group of one row in ten thousand has none. So
all rows are read for those that the sample explains badly, and these are drawn:

    level   a log density of the sample's mixture that few rows of the table lie below
    draw    rows below it, outside the groups found so far: all of them, or an even sample          (one pass)
    clumps  those among them that stand by themselves (``verdict.clumps``)
    count   in and around each, all rows of the table: mean, covariance, weight                     (two passes)

until nothing is left. Where more rows lie below the level than can be kept, it is lowered to what those that were
drawn show of their tail, so that a hundred rows are found among 10^8. A table without rare groups takes one pass.

"Far" is a matter of numbers: of a mixed table, its columns of numbers are asked, and rows in which all of them are
known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.data.source import Source
from asterism.engines.context import current, engine
from asterism.engines.loop import iterate
from asterism.engines.reduce import reduce
from asterism.families.assignment import log_sum
from asterism.families.gaussian import GaussianFamily
from asterism.methods.em import EM, MixtureModel, pieces
from asterism.methods.posterior import Mixture
from asterism.stats.moments import ColumnMoments
from asterism.stats.sample import RowSample
from asterism.stats.surroundings import Places, Surroundings
from asterism.verdict.clumps import Cloud, clumps_of, places_of, recounted, stand_alone
from asterism.verdict.rows import Rows
from asterism.verdict.view import SAMPLE_SEED

Array = NDArray[np.float64]
Columns = NDArray[np.int64]
MOST_DRAWN = 8000  # convention: rows kept of those below the level
MOST_SHARE = 0.02  # convention: of the table below the level
LEAST_ROWS = 20.0  # convention: of the sample that make a component known
ROUNDS = 8  # convention: draws, of which each finds groups or goes deeper
REFIT = 5  # convention: steps of EM, on the sample without the rows of groups found


@dataclass(frozen=True, eq=False)
class RareGroup:
    """A group that all rows show and the sample did not."""

    weight: float  # rows of the table
    mean: Vector  # (d,) of the columns of numbers
    covariance: Array  # (d, d)
    rows: Array  # (m, D) some of its rows, all columns
    weights: Vector  # (m,) of those


@dataclass(frozen=True, eq=False)
class Found:
    """Rare groups, and the places whose rows are theirs."""

    groups: tuple[RareGroup, ...]
    places: Places | None  # None: no groups
    total: float = 0.0  # weight of the table

    def holds(self, rows: Array) -> NDArray[np.bool_]:
        """(n,) whether rows (n, d) lie in or next to one of them."""
        if self.places is None:
            return np.zeros(len(rows), bool)
        return np.asarray((self.places.distances(rows) <= self.places.outer).any(axis=1))

    def only(self, some: NDArray[np.bool_]) -> Found:
        """Some of the groups."""
        if self.places is None or not some.any():
            return replace(self, groups=(), places=None)
        places = replace(self.places, means=self.places.means[some], whiteners=self.places.whiteners[some])
        return replace(self, groups=tuple(np.array(self.groups, object)[some]), places=places)


NONE = Found((), None)


def rare_groups(source: Source, body: Mixture, sample: Rows, columns: Columns | None = None) -> Found:
    """The rare groups of a table, the heaviest first.

    ``source``   the table, as the mixture sees it
    ``body``     a mixture of normal components in the columns of numbers, fitted to the sample
    ``sample``   (m, d) even sample of the table, columns of numbers only
    ``columns``  (d,) which columns of the table are those; None: all

    >>> from asterism.data.source import ArraySource
    >>> rng = np.random.default_rng(0)
    >>> x = np.vstack([rng.normal(0, 1, (30_000, 2)), rng.normal(15, 1, (120, 2))])
    >>> family = GaussianFamily().at(np.zeros(2))
    >>> some = block_of(x[:30_000:10])
    >>> one = family.estimate(family.statistic(None, some, np.ones((3000, 1))), None)
    >>> found = rare_groups(ArraySource(x), Mixture(family, np.ones(1), one), Rows(some.rows, some.weights))
    >>> [group.weight for group in found.groups], found.groups[0].mean.round().tolist()
    ([120.0], [15.0, 15.0])
    """
    columns = np.arange(source.n_columns) if columns is None else columns
    n = float(reduce(source, ColumnMoments.of).total)
    body, found, deepest = _known(body, sample), NONE, np.inf
    for _ in range(ROUNDS):
        outside = ~found.holds(sample.x)
        heights = _heights(body, sample.x)
        share = min(MOST_SHARE, 0.5 * MOST_DRAWN / n)
        level = min(_quantile(heights[outside], sample.weights[outside], share), deepest)
        drawn: RowSample = reduce(source, partial(_far, body, found, columns, level))
        new = _counted(source, drawn, _others(body, sample, heights, outside, level, n), columns)
        if new.places is not None:
            found = _both(found, new)
            body = _refitted(body, sample, ~found.holds(sample.x))
        elif drawn.whole:
            break
        else:
            rows, weights = drawn.estimates()
            deepest = _quantile(
                _heights(body, rows[:, columns].astype(np.float64)), weights, 0.5 * MOST_DRAWN / weights.sum()
            )
    return replace(found, total=n)


# --- rows that are explained badly ------------------------------------------------------------------------------


def _heights(body: Mixture, rows: Array) -> Vector:
    """(n,) log p(x)."""
    return np.concatenate([log_sum(body.scores(piece)) for _, piece in pieces(block_of(rows))])


def _quantile(values: Vector, weights: Vector, share: float) -> float:
    """The least value that so much of the weight is below, or the second least."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    return float(values[order[min(max(int(np.searchsorted(below, share)), 1), len(order) - 1)]])


def _far(body: Mixture, found: Found, columns: Columns, level: float, block: Block) -> RowSample:
    """Rows below the level that lie in no group found so far."""
    rate = np.zeros(len(block))
    for at, piece in pieces(block):
        numbers = np.ascontiguousarray(piece.rows[:, columns], np.float64)
        there = (piece.weights > 0) & ~np.isnan(numbers).any(axis=1)
        low = np.flatnonzero(there)[_heights(body, numbers[there]) < level]
        low = low[~found.holds(numbers[low])]
        rate[at][low] = piece.weights[low]
    return RowSample.of(block, rate, MOST_DRAWN, SAMPLE_SEED)


def _others(
    body: Mixture, sample: Rows, heights: Vector, outside: NDArray[np.bool_], level: float, n: float
) -> tuple[Rows, Vector]:
    """Rows of the sample that are not below the level, standing for all such rows; and the spread of a component."""
    usual = outside & (heights >= level)
    spreads = np.sqrt(body.params.covariances.diagonals())
    return Rows(sample.x[usual], sample.weights[usual] * (n / sample.total)), body.weights @ spreads


def _counted(source: Source, drawn: RowSample, usual: tuple[Rows, Vector], columns: Columns) -> Found:
    """The clumps of rows drawn that still stand by themselves where all rows of the table are counted."""
    rows, weights = drawn.estimates()
    rows = rows.astype(np.float64)
    if not len(rows):
        return NONE
    others, units = usual
    cloud = Cloud(rows[:, columns], weights, others.x, others.weights, units)
    clumps = clumps_of(cloud)
    for last in (False, True):
        if not clumps:
            return NONE
        places = places_of(clumps, units)
        counted: Surroundings = reduce(source, partial(_around, places, columns))
        if last:
            alone = stand_alone(clumps, counted)
            break
        clumps = recounted(clumps, counted, cloud)
    every = tuple(
        RareGroup(
            m.weight, m.mean + m.rest, m.scatter / max(m.weight, 1e-300), rows[c.inside], weights[c.inside]
        )
        for m, c in zip(counted.inside, clumps, strict=True)
    )
    return Found(every, places).only(alone)


def _around(places: Places, columns: Columns, block: Block) -> Surroundings:
    rows = np.ascontiguousarray(block.rows[:, columns])
    return Surroundings.of(block_of(rows, block.weights, block.start), places)


def _both(old: Found, new: Found) -> Found:
    """The groups of both, the heaviest first."""
    if old.places is None or new.places is None:
        return new if old.places is None else old
    groups = (*old.groups, *new.groups)
    order = sorted(range(len(groups)), key=lambda g: (-groups[g].weight, groups[g].mean.tolist()))
    means, whiteners = (
        np.concatenate([getattr(found.places, name) for found in (old, new)])[order]
        for name in ("means", "whiteners")
    )
    return Found(tuple(groups[g] for g in order), replace(old.places, means=means, whiteners=whiteners))


# --- the model of the sample ------------------------------------------------------------------------------------


def _known(body: Mixture, sample: Rows) -> Mixture:
    """Without components of a few rows: those may be all that the sample has of a rare group."""
    scores = body.scores(block_of(sample.x))
    mass = np.bincount(scores.argmax(axis=1), sample.weights, body.k)
    keep = mass >= min(LEAST_ROWS, float(mass.max()))
    return body if keep.all() else components_of(body, keep)


def components_of(mixture: Mixture, keep: NDArray[np.bool_]) -> Mixture:
    """Some of the components."""
    arrays = {
        name: array[keep] if len(array) == mixture.k and mixture.k > 1 else array
        for name, array in mixture.family.pack(mixture.params).items()
    }
    weights = mixture.weights[keep]
    return Mixture(mixture.family, weights / weights.sum(), mixture.family.unpack(arrays))


def _refitted(body: Mixture, sample: Rows, outside: NDArray[np.bool_]) -> Mixture:
    """A few steps of EM without the rows of groups that were found."""
    if outside.all() or not isinstance(body.family, GaussianFamily):
        return body
    rest = sample.take(outside)
    with engine(n_threads=current().n_threads):  # no time limit, checkpoint or progress of its own
        start = MixtureModel(body.weights, body.params)
        model = iterate(EM(body.family), rest.source, [start], max_iter=REFIT)[0].model
    return replace(body, weights=model.weights, params=model.params)
