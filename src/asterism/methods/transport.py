"""Rows to groups at the least cost, where groups have sizes to keep.

    minimise  sum_i costs[i, z_i]      so that      least_c <= #{i : z_i = c} <= most_c

A problem of transport: rows are sources of one, groups are sinks with bounds. It begins with every row at its
cheapest group, which is the best there is without sizes, and carries what is over along shortest paths of the
residual network to where there is room (successive shortest paths). A path goes from group to group, each time by
the row that costs least to move, so the network has a node a group and one more: its shortest paths take no time,
whatever the number of rows. Every flow on the way is the best of its sizes (reduced costs never become negative),
so the last one is the best of all, and flows are whole numbers.

References
----------
1. Ahuja, Magnanti, Orlin (1993), Network Flows, 9.7. Prentice Hall.
2. Bradley, Bennett, Demiriz (2000), Constrained k-means clustering. MSR-TR-2000-65.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from asterism.errors import ParameterError

Array = NDArray[np.float64]
Labels = NDArray[np.int32]
Counts = NDArray[np.int64]
ROUNDING = 1e-12  # convention: of the largest cost; a path that is shorter by less is not shorter
NO_WAY = "Sizes of groups cannot be met: rows that could fill them are known to be elsewhere."


def transport(costs: Array, least: Counts, most: Counts) -> Labels:
    """(n,) groups of rows of least total cost with ``least`` to ``most`` (k,) rows each; inf is forbidden.

    >>> costs = np.array([[0.0, 5.0], [1.0, 2.0], [0.0, 9.0], [3.0, 4.0]])
    >>> transport(costs, np.array([0, 0]), np.array([4, 4])).tolist()
    [0, 0, 0, 0]
    >>> transport(costs, np.array([2, 2]), np.array([4, 4])).tolist()
    [0, 1, 0, 1]
    """
    n = len(costs)
    if int(least.sum()) > n or int(most.sum()) < n:
        raise ParameterError(
            f"{n} rows cannot fill groups of {_sizes(least)} to {_sizes(most)} rows.",
            "Change the sizes or the number of groups.",
        )
    if not n:
        return np.zeros(0, np.int32)
    return network_of(costs, least, most).balanced()


def network_of(costs: Array, least: Counts, most: Counts) -> Network:
    """Every row at its cheapest group."""
    labels = np.asarray(costs.argmin(axis=1), np.int32)
    if not np.isfinite(costs[np.arange(len(costs)), labels]).all():
        raise ParameterError(NO_WAY, "Change the sizes or the number of groups.")
    return Network(costs, labels, least, most)


def _sizes(sizes: Counts) -> str:
    return str(int(sizes[0])) if len(set(sizes.tolist())) == 1 else ", ".join(map(str, sizes.tolist()))


@dataclass
class Network:
    """Groups, and the store that takes what they hold between their bounds: node k."""

    costs: Array  # (n, k)
    labels: Labels  # (n,) changed in place
    least: Counts
    most: Counts
    sizes: Counts = field(init=False)  # (k,) rows
    held: Counts = field(init=False)  # (k,) what goes on from a group to the store
    lengths: Array = field(init=False)  # (k + 1, k + 1) cheapest move of one row, node to node

    def __post_init__(self) -> None:
        k = self.costs.shape[1]
        self.sizes = np.bincount(self.labels, minlength=k)
        self.held = np.clip(self.sizes, self.least, self.most)
        self.queues = {(a, b): Queue.of(self, a, b) for a in range(k) for b in range(k) if a != b}
        self.lengths = np.full((k + 1, k + 1), np.inf)
        for a in range(k):
            self._measure(a)
        finite = self.costs[np.isfinite(self.costs)]
        self.slack = ROUNDING * float(np.abs(finite).max(initial=0.0))

    def balanced(self) -> Labels:
        """Carry rows until every group has its size."""
        k, n = self.costs.shape[1], len(self.costs)
        while True:
            excess = np.append(self.sizes - self.held, self.held.sum() - n)
            if not excess.any():
                return self.labels
            path = self._shortest(np.flatnonzero(excess > 0), np.flatnonzero(excess < 0))
            for a, b in pairwise(path):
                if a == k:
                    self.held[b] -= 1
                elif b == k:
                    self.held[a] += 1
                else:
                    self._move(self.queues[a, b].first(), b)
            for a in path:
                self._measure(a)

    def prices(self) -> Array:
        """(k,) what a place in each group is worth, once balanced: with it, every row is at its cheapest group.

        0 for a group between its bounds, more for a full one, less for one that is kept from being too small.
        """
        size = len(self.lengths)
        far = np.zeros(size)
        for _ in range(size):
            far = np.minimum(far, (far[:, None] + self.lengths).min(axis=0))
        return np.asarray(far[-1] - far[:-1])

    def _move(self, row: int, to: int) -> None:
        """One row, which can go on from there."""
        self.sizes[self.labels[row]] -= 1
        self.sizes[to] += 1
        self.labels[row] = to
        for b in range(len(self.sizes)):
            if b != to:
                self.queues[to, b].add(row)

    def _measure(self, a: int) -> None:
        k = len(self.sizes)
        if a < k:
            for b in range(k):
                if b != a:
                    self.lengths[a, b] = self.queues[a, b].cost()
        self.lengths[:k, k] = np.where(self.held < self.most, 0.0, np.inf)
        self.lengths[k, :k] = np.where(self.held > self.least, 0.0, np.inf)

    def _shortest(self, sources: NDArray[np.intp], targets: NDArray[np.intp]) -> list[int]:
        """The nodes of the shortest path from any source to any target (Bellman and Ford: lengths may be below 0)."""
        size = len(self.lengths)
        far = np.full(size, np.inf)
        far[sources] = 0.0
        before = np.full(size, -1)
        for _ in range(size):
            through = far[:, None] + self.lengths
            by = through.argmin(axis=0)
            new = through[by, np.arange(size)]
            shorter = new < far - self.slack
            if not shorter.any():
                break
            far[shorter], before[shorter] = new[shorter], by[shorter]
        end = int(targets[far[targets].argmin()])
        if not np.isfinite(far[end]):
            raise ParameterError(NO_WAY, "Change the sizes or the number of groups.")
        path = [end]
        while before[path[-1]] >= 0 and len(path) <= size:
            path.append(int(before[path[-1]]))
        return path[::-1]


@dataclass
class Queue:
    """Rows of one group in the order of what a move to another adds to the cost."""

    network: Network
    here: int
    to: int
    waiting: list[tuple[float, int]]  # sorted, from the last to the first
    later: list[tuple[float, int]] = field(default_factory=list)  # a heap of rows that came since

    @classmethod
    def of(cls, network: Network, here: int, to: int) -> Queue:
        """Those that are there."""
        rows = np.flatnonzero(network.labels == here)
        more = network.costs[rows, to] - network.costs[rows, here]
        order = np.lexsort((rows, more))[::-1]
        return cls(network, here, to, list(zip(more[order].tolist(), rows[order].tolist(), strict=True)))

    def add(self, row: int) -> None:
        """A row that came."""
        costs = self.network.costs[row]
        heapq.heappush(self.later, (float(costs[self.to] - costs[self.here]), row))

    def cost(self) -> float:
        """Of the cheapest move; infinite where there is none."""
        self._drop_gone()
        return min(self._ends(), default=(np.inf, -1))[0]

    def first(self) -> int:
        """The row of that move."""
        self._drop_gone()
        return min(self._ends())[1]

    def _ends(self) -> list[tuple[float, int]]:
        return [*self.waiting[-1:], *self.later[:1]]

    def _drop_gone(self) -> None:
        labels = self.network.labels
        while self.waiting and labels[self.waiting[-1][1]] != self.here:
            self.waiting.pop()
        while self.later and labels[self.later[0][1]] != self.here:
            heapq.heappop(self.later)
