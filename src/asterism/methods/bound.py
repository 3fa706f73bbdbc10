"""Rows of which something is known, and the groups that they can have.

Rows that are together have one group between them; with weights w and scores s of rows in groups,

    S[u, g] = sum over rows i of chunk u of  w_i s[i, g]           forbidden where the chunk is known to be elsewhere

    hard    the groups of highest total S, chunks that are apart kept so, and groups within their sizes
    soft    q[u, g], the share of all allowed ways, weighed by exp S, in which chunk u is of group g

Groups that have sizes to keep have them in the sum of shares, too: S is lowered by a price for every row of a
group that is too large, raised for one that is too small, and the prices are those that make the shares the best
there are (maximal sum of q S plus entropy) within the sizes. They minimise a convex function of k numbers.

References
----------
1. Shental, Bar-Hillel, Hertz, Weinshall (2004), Computing Gaussian mixture models with EM using equivalence
   constraints. NIPS 16.
2. Ganchev, Graca, Gillenwater, Taskar (2010), Posterior regularization for structured latent variable models.
   JMLR 11:2001-2049.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from asterism.data.block import Block, block_of
from asterism.data.source import Source
from asterism.engines.reduce import map_rows, reduce
from asterism.errors import DataError
from asterism.methods.apart import MOST_CELLS, NEVER, Shape, best_apart, programme, shapes_of, shares_apart
from asterism.methods.linked import Known, Labels, Pairs, rows_in_words
from asterism.methods.transport import network_of, transport
from asterism.stats.picked import PickedRows, picking

Array = NDArray[np.float64]
Index = NDArray[np.int64]
LOWEST = -1e20  # convention: the score of a row in a group that cannot have made it; above what is forbidden
VOICE = 1e-12  # convention: a row of weight 0 has so much to say on the group of its chunk
CLOSE = 1e-10  # convention: by so much, a row, sums of shares may miss the sizes of groups
MOST_PROGRAMME = 2000  # convention: cells of an integer programme, rows and chunks times groups
SHOWN = 6  # rows in a message


@dataclass(frozen=True, eq=False)
class Bound:
    """Rows of a table of which something is known, in chunks, and the groups these can have."""

    rows: Index  # (m,) numbers, ascending
    block: Block  # the same rows and their weights; its ``start`` means nothing
    chunks: Index  # (m,) 0 .. u - 1
    labels: Labels  # (u,) known group; -1
    apart: Pairs  # of chunks
    counted: Index  # (u,) rows that count for the size of a group: those of weight above 0
    k: int
    least: int = 0
    most: int | None = None

    @classmethod
    def of(cls, known: Known, source: Source, group_of: Labels, k: int) -> Bound:
        """``source`` are the rows as a model sees them, ``group_of`` the group of every label, k how many there are.

        Where groups have sizes to keep, every row that counts is bound.
        """
        chunks = known.chunks
        wanted = chunks.bound
        if known.sized:
            wanted = wanted | (map_rows(source, _weights_of) > 0)
        rows = np.flatnonzero(wanted).astype(np.int64)
        picked: PickedRows = reduce(source, picking(rows))
        there, number = np.unique(chunks.numbers[rows], return_inverse=True)
        place = np.full(len(chunks.labels), -1)
        place[there] = np.arange(len(there))
        labels = chunks.labels[there]
        counted = np.bincount(number, picked.weights > 0, len(there)).astype(np.int64)
        groups = np.append(group_of, -1)[labels].astype(np.int32)
        apart = place[chunks.apart].reshape(-1, 2)
        block = block_of(picked.rows, picked.weights)
        least, most = (known.least, known.most) if known.sized else (0, None)
        return cls(rows, block, number, groups, apart, counted, k, least, most)

    @classmethod
    def alone(cls, known: Known, k: int) -> Bound:
        """One row of every chunk, of which nothing is seen; labels are groups."""
        chunks = known.chunks
        first = np.unique(chunks.numbers, return_index=True)[1].astype(np.int64)
        u = len(first)
        nothing = block_of(np.zeros((u, 1)))
        return cls(first, nothing, np.arange(u), chunks.labels, chunks.apart, np.ones(u, np.int64), k)

    @property
    def sized(self) -> bool:
        """Whether groups have sizes to keep."""
        return self.least > 0 or self.most is not None

    # --- scores of chunks ---

    @cached_property
    def _alone(self) -> NDArray[np.bool_]:
        """(u,) chunks of one row, which is apart from none."""
        alone = np.bincount(self.chunks, self.block.weights > 0, len(self.labels)) <= 1
        alone[self.apart.ravel()] = False
        return np.asarray(alone)

    @cached_property
    def _heat(self) -> Array:
        """(u,) how often a chunk counts: a row alone as often as its weight says, rows together as one."""
        weights = np.bincount(self.chunks, self.block.weights, len(self.labels))
        return np.where(self._alone & (weights > 0), weights, 1.0)

    def _summed(self, scores: Array, absent: float = 0.0) -> Array:
        """(u, k) S of scores (m, k) of rows, those of weight 0 with another one."""
        voice = np.where(self.block.weights > 0, self.block.weights, absent)[:, None]
        said = np.maximum(np.nan_to_num(scores, nan=LOWEST), LOWEST) * voice
        return np.stack([np.bincount(self.chunks, column, len(self.labels)) for column in said.T], axis=1)

    def _allowed(self, total: Array) -> Array:
        """The same where chunks are not known to be elsewhere."""
        elsewhere = (self.labels[:, None] >= 0) & (self.labels[:, None] != np.arange(self.k))
        return np.where(elsewhere, NEVER, total)

    # --- hard ---

    def best(self, scores: Array, before: Labels | None = None) -> tuple[Labels, float]:
        """(u,) groups of chunks of highest total score, and that total, from scores (m, k) of rows.

        Never lower than that of ``before``, where large integer programmes are not solved to the end.
        """
        total = self._allowed(self._summed(scores, VOICE))
        labels = self._best_sized(total) if self.sized else self._best(total)
        every = np.arange(len(labels))
        height = float(total[every, labels].sum())
        if before is not None and (last := float(total[every, before].sum())) > height:
            return before, last
        return labels, height

    def _best(self, total: Array) -> Labels:
        labels = np.asarray(total.argmax(axis=1), np.int32)
        for shape in self._shapes:
            labels[shape.chunks], height = best_apart(shape, total[shape.chunks])
            for at in np.flatnonzero(height < NEVER / 2)[:1]:
                raise self._no_way(shape.chunks[at])
        for shape in self._crowded:
            for chunks in shape.chunks:
                labels[chunks] = self._programme(total, chunks, shape)
        return labels

    def _programme(self, total: Array, chunks: Index, shape: Shape) -> Labels:
        every = np.ones(len(chunks), bool)
        found = programme(
            total[chunks], np.array(shape.edges), np.ones(len(chunks), np.int64), 0, None, every
        )
        if found is None:
            raise self._no_way(chunks)
        return found

    def _best_sized(self, total: Array) -> Labels:
        """Chunks first, then rows alone, by transport, into what is left of the sizes."""
        labels, free = self.labels.copy(), (self.labels < 0) & self._alone
        if not (free | (labels >= 0)).all():
            labels = np.where(free, -1, self._chunks_sized(total, free)).astype(np.int32)
        held = self._held(labels, ~free)
        if (held > self._most).any():
            raise self._too_many(int(held.argmax()), int(held.max()))
        left = np.maximum(self.least - held, 0)
        if int(left.sum()) > np.count_nonzero(free):
            raise self._no_sizes()
        labels[free] = transport(-total[free], left, self._most - held)
        return labels

    @property
    def _most(self) -> int:
        return int(self.counted.sum()) if self.most is None else self.most

    def _held(self, labels: Labels, which: NDArray[np.bool_]) -> Index:
        """(k,) rows that some chunks bring to the sizes of groups."""
        return np.bincount(labels[which], self.counted[which], self.k).astype(np.int64)

    def _chunks_sized(self, total: Array, free: NDArray[np.bool_]) -> Labels:
        """Groups of chunks within the sizes: the best, by an integer programme, where that is small.

        Of a larger one they are the best at the prices at which rows would fill the sizes one by one.
        """
        if total.size > MOST_PROGRAMME:
            labels = self._best(total - self.counted[:, None] * self._prices_of_rows(total))
            held = self._held(labels, ~free)
            short = int(np.maximum(self.least - held, 0).sum())
            if (held <= self._most).all() and short <= np.count_nonzero(free):
                return labels
        found = programme(total, self.apart, self.counted, self.least, self._most, ~free)
        if found is None:
            raise self._no_sizes()
        return found

    def _prices_of_rows(self, total: Array) -> Array:
        each = np.repeat(total / np.maximum(self.counted, 1)[:, None], self.counted, axis=0)
        costs = np.where(each > NEVER / 2 / max(int(self.counted.max()), 1), -each, np.inf)
        bounds = np.full(self.k, self.least), np.full(self.k, self._most)
        network = network_of(costs, *bounds)
        network.balanced()
        return network.prices()

    # --- soft ---

    def shares(self, scores: Array) -> tuple[Array, float]:
        """(u, k) q, and the sum of q S plus the entropy of q, from scores (m, k) of rows."""
        total = self._allowed(self._summed(scores) / self._heat[:, None])
        if not self.sized:
            return self._shares(total)
        prices = self._prices(total)
        q, height = self._shares(total - self._fees(prices))
        return q, height + float(self.counted @ q @ prices)

    def _shares(self, total: Array) -> tuple[Array, float]:
        top = total.max(axis=1, keepdims=True)
        q = np.exp(total - top)
        mass = q.sum(axis=1, keepdims=True)
        q /= mass
        heights = (top + np.log(mass))[:, 0] * self._heat
        for shape in self._shapes:
            q[shape.chunks], found = shares_apart(shape, total[shape.chunks])
            heights[shape.chunks] = 0.0
            heights[shape.chunks[:, 0]] = found
        for shape in self._crowded:
            for chunks in shape.chunks:
                labels = self._programme(total, chunks, shape)
                q[chunks] = np.eye(self.k)[labels]
                heights[chunks] = total[chunks, labels]
        return q, float(heights.sum())

    def _fees(self, prices: Array) -> Array:
        return (self.counted / self._heat)[:, None] * prices

    def _prices(self, total: Array) -> Array:
        """(k,) what a row of a group costs: min over prices of log Z + what the bounds let go."""
        n, k = float(self.counted.sum()), self.k
        most = float(self._most)

        def dual(both: Array) -> tuple[float, Array]:
            over, under = both[:k], both[k:]
            q, height = self._shares(total - self._fees(over - under))
            sizes = self.counted @ q
            value = height + most * over.sum() - self.least * under.sum()
            return value / n, np.concatenate([most - sizes, sizes - self.least]) / n

        found = minimize(
            dual, np.zeros(2 * k), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * (2 * k),
            options={"gtol": CLOSE, "ftol": 0.0, "maxiter": 500},
        )  # fmt: skip
        return np.asarray(found.x[:k] - found.x[k:])

    # --- components ---

    @cached_property
    def _every_shape(self) -> list[Shape]:
        return shapes_of(len(self.labels), self.apart)

    @cached_property
    def _shapes(self) -> list[Shape]:
        return [shape for shape in self._every_shape if shape.cells(self.k) <= MOST_CELLS]

    @cached_property
    def _crowded(self) -> list[Shape]:
        return [shape for shape in self._every_shape if shape.cells(self.k) > MOST_CELLS]

    # --- what cannot be ---

    def _no_way(self, chunks: Index) -> DataError:
        rows = [int(self.rows[np.flatnonzero(self.chunks == chunk)[0]]) for chunk in chunks[:SHOWN]]
        others = f" (and {len(chunks) - SHOWN} more)" if len(chunks) > SHOWN else ""
        return DataError(
            f"{rows_in_words(rows)}{others} cannot be kept apart in {self.k} group{'s' * (self.k > 1)}.",
            "Ask for more groups, or take a pair out of those that are apart.",
        )

    def _no_sizes(self) -> DataError:
        limits = f"{self.least or 'no'} to {self.most or 'any number of'} rows"
        return DataError(
            f"{int(self.counted.sum()):,} rows cannot make {self.k} groups of {limits}, with what is known of them.",
            "Change the sizes or the number of groups.",
        )

    def _too_many(self, group: int, rows: int) -> DataError:
        mine = self.rows[(self.labels[self.chunks] == group) & (self.block.weights > 0)][:SHOWN].tolist()
        which = f", such as {rows_in_words(mine)}," if mine else ""
        return DataError(
            f"{rows:,} rows{which} are known to be of one group, which may have {self.most:,} at most.",
            "Raise the largest size, or take some of them out.",
        )


def _weights_of(block: Block) -> Array:
    return block.weights


def fewest_groups(known: Known, enough: int) -> int:
    """The least number of groups in which all labels differ and all pairs are apart; at most ``enough`` + 1.

    >>> fewest_groups(Known.of(3, apart=[(0, 1), (1, 2), (0, 2)]), 10)
    3
    """
    for k in range(max(len(known.names), 1), enough + 1):
        try:
            alone = Bound.alone(known, k)
            alone.best(np.zeros((len(alone.rows), k)))
        except DataError:
            continue
        return k
    return enough + 1
