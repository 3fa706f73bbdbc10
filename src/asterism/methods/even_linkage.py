"""Single linkage that keeps an eye on the sizes of clusters.

Edges of a spanning tree join clusters from the shortest up, as in single linkage, which finds groups of any shape but
sees a group in every row that lies alone. Whenever sizes are too uneven (Gini index above a threshold), the next edge
is the shortest one that leads out of a smallest cluster instead.

References
----------
1. Gagolewski, Bartoszuk, Cena (2016), Genie: a new, fast, and outlier-resistant hierarchical clustering algorithm.
   Information Sciences 363:8-23.
"""

from __future__ import annotations

import heapq
from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

Array = NDArray[np.float64]
Index = NDArray[np.int64]
ALONE = 1 << 60  # rank of the next edge of a cluster that has none


def join_evenly(pairs: Index, lengths: Array, sizes: Index, most_uneven: float) -> Index:
    """(n - 1,) the order in which edges (n - 1, 2) of a spanning tree join clusters.

    ``sizes`` (n,) are those of the rows, whole numbers; with ``most_uneven`` = 1 it is single linkage.

    >>> pairs, lengths = np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), np.array([1.0, 2.0, 1.5, 9.0])
    >>> join_evenly(pairs, lengths, np.ones(5, int), 1.0).tolist()
    [0, 2, 1, 3]
    >>> join_evenly(pairs, lengths, np.ones(5, int), 0.1).tolist()  # row 4 before the two pairs join
    [0, 2, 3, 1]
    """
    by_length = np.lexsort((np.arange(len(lengths)), lengths))
    clusters = _Clusters(pairs[by_length], sizes)
    joined = [clusters.join_next(most_uneven) for _ in range(len(pairs))]
    return np.asarray(by_length[joined], np.int64)


def cut(pairs: Index, n: int, keep: NDArray[np.bool_] | Index) -> Index:
    """(n,) numbers of the connected parts of n rows under some of the edges."""
    kept = pairs[keep]
    graph = coo_matrix((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


class _Clusters:
    """Clusters as they grow, and the edges that lead out of each."""

    def __init__(self, pairs: Index, sizes: Index) -> None:
        n = len(sizes)
        self.pairs = pairs.tolist()  # from the shortest up
        self.parent, self.size = list(range(n)), [int(s) for s in sizes]
        self.edges: list[list[int]] = [[] for _ in range(n)]  # heaps of ranks
        for rank, (a, b) in enumerate(self.pairs):
            self.edges[a].append(rank)
            self.edges[b].append(rank)
        self.used = [False] * len(self.pairs)
        self.shortest = 0  # rank below which all edges are used
        self.count, self.total, self.n_of_size = n, sum(self.size), Counter(self.size)
        self.smallest = [(self.size[c], self._next_edge(c), c) for c in range(n)]
        heapq.heapify(self.smallest)

    def join_next(self, most_uneven: float) -> int:
        """Join two clusters; the rank of the edge."""
        rank = self._shortest_edge() if self._gini() <= most_uneven else self._edge_of_smallest()
        self.used[rank] = True
        a, b = (self._root(row) for row in self.pairs[rank])
        if len(self.edges[a]) < len(self.edges[b]):
            a, b = b, a
        for size in (self.size[a], self.size[b]):
            self.n_of_size[size] -= 1
            if not self.n_of_size[size]:
                del self.n_of_size[size]
        self.parent[b] = a
        self.size[a] += self.size[b]
        self.n_of_size[self.size[a]] += 1
        for edge in self.edges[b]:
            heapq.heappush(self.edges[a], edge)
        self.edges[b] = []
        self.count -= 1
        heapq.heappush(self.smallest, (self.size[a], self._next_edge(a), a))
        return rank

    def _root(self, row: int) -> int:
        while self.parent[row] != row:
            self.parent[row] = self.parent[self.parent[row]]
            row = self.parent[row]
        return row

    def _next_edge(self, cluster: int) -> int:
        heap = self.edges[cluster]
        while heap and self.used[heap[0]]:
            heapq.heappop(heap)
        return heap[0] if heap else ALONE

    def _shortest_edge(self) -> int:
        while self.used[self.shortest]:
            self.shortest += 1
        return self.shortest

    def _edge_of_smallest(self) -> int:
        while True:
            size, rank, cluster = self.smallest[0]
            if self.parent[cluster] != cluster or self.size[cluster] != size:
                heapq.heappop(self.smallest)  # joined since
            elif rank != self._next_edge(cluster):
                heapq.heapreplace(self.smallest, (size, self._next_edge(cluster), cluster))
            else:
                return rank

    def _gini(self) -> float:
        """Sum of |size - size'| over pairs of clusters, in units of the most it could be."""
        if self.count == 1:
            return 0.0
        size = np.array(sorted(self.n_of_size), float)
        times = np.array([self.n_of_size[int(s)] for s in size], float)
        middle = np.cumsum(times) - (times - 1.0) / 2.0  # mean rank of the clusters of a size
        return float(
            (times * size * (2.0 * middle - self.count - 1.0)).sum() / ((self.count - 1) * self.total)
        )
