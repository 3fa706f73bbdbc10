"""Exchanges of medoids for other rows, a batch of candidates at a time: the method k-medoids iterates.

For each candidate and each medoid a step finds what the exchange of the two would change of

    J = sum_i w_i d(x_i, medoid of i)

measured on every row of the table (``core/medoids.cpp``), and makes the best exchange if that lowers J. It has
settled when every candidate was measured since the last exchange. Batches are fixed, so threads decide nothing.

References
----------
1. Schubert, Rousseeuw (2021), Fast and eager k-medoids clustering. Information Systems 101:101804.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.distances.base import Fitted
from asterism.errors import DataError, row_name

BATCH = 256  # candidates of a step
STRIP = 128  # rows whose dissimilarities to a batch are in the cache together
LEAST_GAIN = 1e-12  # of J: a smaller change may be rounding


# --- the model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows that may become medoids."""

    numbers: NDArray[np.int64]  # (p,) in the table, ascending
    rows: NDArray[np.float64]  # (p, width) as the dissimilarity takes them; (p, 0) where numbers are enough

    def __len__(self) -> int:
        return len(self.numbers)

    def points(self, fitted: Fitted, places: NDArray[np.intp]) -> Any:
        """What dissimilarities to these candidates are measured to."""
        return fitted.points(self.rows[places], self.numbers[places])


@dataclass(frozen=True, eq=False)
class Search:
    """Where the search is."""

    medoids: NDArray[np.intp]  # (k,) places in the pool
    batch: NDArray[np.intp]  # places of the candidates to look at next
    cursor: int  # the place to draw candidates from after these
    left: int  # candidates to draw until all were looked at since the last exchange
    swaps: int = 0  # exchanges made
    done: bool = False  # every candidate was looked at, and none is any better
    to_medoids: Any = field(default=None, repr=False)  # what dissimilarities to the medoids are measured to
    to_batch: Any = field(default=None, repr=False)  # the same of the batch


# --- summarize and update ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Changes:
    """J, and what every exchange of a medoid for a candidate would change of it."""

    cost: float
    joins: Vector  # (c,)
    leaves: NDArray[np.float64]  # (k, c)

    def merge(self, other: Changes) -> Changes:
        """Sums add."""
        return Changes(self.cost + other.cost, self.joins + other.joins, self.leaves + other.leaves)

    @property
    def best(self) -> tuple[Vector, NDArray[np.intp]]:
        """(c,) the best change that each candidate offers, and the medoid that would leave."""
        change = self.joins + self.leaves
        leaver = change.argmin(axis=0)
        return change[leaver, np.arange(len(leaver))], leaver


@dataclass(frozen=True, eq=False)
class Swaps:
    """The method: exchanges of medoids for candidates."""

    fitted: Fitted = field(repr=False)
    pool: Pool = field(repr=False)
    title: str  # of the job: by it a checkpoint knows it
    batch: int = BATCH  # candidates of a step
    name: str = "k-medoids"

    def begin(self, medoids: NDArray[np.intp]) -> Search:
        """A search from these places of the pool."""
        p = len(self.pool)
        return self._drawn(Search(np.asarray(medoids, np.intp), np.zeros(0, np.intp), 0, p), [])

    def summarize(self, model: Search, block: Block) -> Changes:
        """Look at every row of a block for every exchange."""
        n, k = len(block), len(model.medoids)
        labels, near, second = np.empty(n, np.int32), np.empty(n), np.empty(n)
        _core.nearest_two(self.fitted.tile(block.rows, model.to_medoids), labels, near, second)
        joins, leaves = np.zeros(len(model.batch)), np.zeros((k, len(model.batch)))
        for a in range(0, n, STRIP):
            b = a + STRIP
            tile = self.fitted.tile(block.rows[a:b], model.to_batch)
            _core.add_changes(tile, labels[a:b], near[a:b], second[a:b], block.weights[a:b], joins, leaves)
        near[block.weights == 0] = 0.0
        cost = float(block.weights @ near)
        if not (np.isfinite(joins).all() and np.isfinite(cost)):
            self._complain(model, block)
        return Changes(cost, joins, leaves)

    def _complain(self, model: Search, block: Block) -> NoReturn:
        """Name the rows that made a sum not finite."""
        tile = np.hstack(
            [self.fitted.tile(block.rows, points) for points in (model.to_medoids, model.to_batch)]
        )
        bad = ~np.isfinite(tile) & (block.weights > 0)[:, None]
        i, j = divmod(int(bad.argmax()), tile.shape[1])
        other = int(self.pool.numbers[np.concatenate([model.medoids, model.batch])[j]])
        raise DataError(
            f"its dissimilarity to {row_name(int(other))} is {tile[i, j]}.",
            "Divide the columns by a power of ten, or standardise them first.",
            row=block.start + i,
        )

    def update(self, model: Search, statistic: Changes) -> Search:
        """Make the best exchange, if any is good; then look at the others that were, and at further candidates."""
        change, leaver = statistic.best
        good = change < -LEAST_GAIN * statistic.cost
        if not good.any():
            return replace(model, done=True) if model.left == 0 else self._drawn(model, [])
        best = int(change.argmin())
        medoids = model.medoids.copy()
        medoids[leaver[best]] = model.batch[best]
        after = replace(model, medoids=medoids, swaps=model.swaps + 1, left=len(self.pool))
        # Others that were good come again, the best first; in half a batch at most, or the rest would never come.
        good[best] = False
        again = np.flatnonzero(good)
        again = again[np.argsort(change[again], kind="stable")][: self.batch // 2]
        return self._drawn(after, model.batch[again])

    def _drawn(self, model: Search, again: Any) -> Search:
        """The next batch: ``again``, then candidates in the order of the pool, round and round."""
        p = len(self.pool)
        if self.batch >= p:  # everybody, every time
            return self._equipped(replace(model, batch=np.arange(p), left=0))
        fresh = min(self.batch - len(again), model.left)
        places = (model.cursor + np.arange(fresh)) % p
        if len(again):
            places = np.concatenate([again, places])
        search = replace(model, batch=places, cursor=int((model.cursor + fresh) % p), left=model.left - fresh)
        return self._equipped(search)

    def _equipped(self, model: Search) -> Search:
        """With what dissimilarities are measured to: made once a step, not once a block."""
        return replace(
            model,
            to_medoids=self.pool.points(self.fitted, model.medoids),
            to_batch=self.pool.points(self.fitted, model.batch),
        )

    def objective(self, model: Search, statistic: Changes) -> float:  # noqa: ARG002  the statistic knows
        """J."""
        return statistic.cost

    def settled(self, before: Search, after: Search) -> bool:  # noqa: ARG002  the model knows
        """Whether all candidates were looked at in vain."""
        return after.done

    def pack(self, model: Search) -> Mapping[str, NDArray[Any]]:
        """For a checkpoint."""
        numbers = np.array([model.cursor, model.left, model.swaps, model.done])
        return {"medoids": model.medoids, "batch": model.batch, "numbers": numbers}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Search:
        """The search again."""
        cursor, left, swaps, done = (int(x) for x in arrays["numbers"])
        medoids, batch = arrays["medoids"].astype(np.intp), arrays["batch"].astype(np.intp)
        return self._equipped(Search(medoids, batch, cursor, left, swaps, bool(done)))
