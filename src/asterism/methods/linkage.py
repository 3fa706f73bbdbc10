"""Agglomerative trees: the two nearest clusters merge until one is left.

    single    min |x - y|             complete  max |x - y|         average   mean |x - y|
    weighted  mean of the two merged  centroid  |a - b|             median    |a - b|, a the middle of two middles
    ward      |a - b| sqrt(2 s t / (s + t)): what the merge adds to the sum of squares, doubled, under the root

Rows of weight w are clusters of w copies that have merged already. Trees are in SciPy's format: line i says which
clusters merge into cluster n + i, at which height, and the weight of the result.

Of points, by Euclidean distance, in O(n) memory:

    single                       minimum spanning tree by Boruvka's rounds
    ward                         chains of nearest neighbours among centroids
    centroid, median             the nearest pair of all, again and again
    complete, average, weighted  chains among members, then on a list of pairs of clusters: O(n + k^2)

By any other dissimilarity, on a list of all pairs: Prim's algorithm for single linkage, chains for the last three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.columns import numbered_columns
from asterism.data.source import Piece, Source
from asterism.distances.pairwise import memory_budget, on_threads
from asterism.errors import DataError, ParameterError

Linkage = Literal["single", "complete", "average", "weighted", "centroid", "median", "ward"]
LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
EUCLIDEAN_ONLY: tuple[Linkage, ...] = ("ward", "centroid", "median")
Tree = NDArray[np.float64]  # (n - 1, 4) in SciPy's format

FEW = 1024  # clusters whose pairs are kept without further thought
SHARE = 4  # rows a cluster has on average when pairs of clusters are listed
MOST = 8192  # clusters whose pairs are listed: 268 MB
MEASURED = 3  # pairs of rows may be measured one by one: all n^2 over this; then it is cheaper to list them
NO_LIMIT = 1 << 62


def check_linkage(linkage: Any) -> Linkage:
    """A ``ParameterError`` unless it is one of ours."""
    if linkage not in LINKAGES:
        raise ParameterError(f"linkage is {linkage!r}.", f"Choose one of {', '.join(LINKAGES)}.")
    return linkage  # type: ignore[no-any-return]


def link_points(rows: NDArray[Any], weights: Vector, linkage: Linkage) -> Tree:
    """The tree of complete rows (n, d) by Euclidean distance; weights more than 0."""
    points, unit = _unit_box(rows)
    build = {"single": _single, "ward": _ward, "centroid": _inverting, "median": _inverting}
    pairs, heights = build.get(linkage, _by_members)(points, weights, linkage)
    return _labelled(pairs, heights * unit, weights, linkage)


def link_pairs(distances: Vector, weights: Vector, linkage: Linkage) -> Tree:
    """The tree of n rows of which all distances are given, every pair once; they are overwritten."""
    from asterism.kernels import chain
    from asterism.kernels.mst import matrix_tree

    n = len(weights)
    if linkage in EUCLIDEAN_ONLY:
        raise ParameterError(
            f"{linkage} linkage is about centroids, which only Euclidean distance has.",
            "Use metric='euclidean' and complete rows, or average linkage.",
        )
    pairs, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    if linkage == "single":
        matrix_tree(distances, n, pairs, heights)
    else:
        chain.matrix_chain(distances, weights.copy(), _code(linkage), pairs, heights)
    return _labelled(pairs, heights, weights, linkage)


def _unit_box(rows: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    """Rows from the middle of their box, in units of a power of two near its width: no digit is lost twice."""
    low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
    with np.errstate(over="ignore"):
        widest = float((high - low).max())
    if not np.isfinite(widest):
        raise DataError(
            "The values range over more than float64 can hold.", "Change the unit of the columns."
        )
    unit = float(np.ldexp(1.0, int(np.frexp(widest)[1]))) if widest > 0 else 1.0
    # Measured from a row, not from the mean: differences of rows near each other stay exact.
    return (rows.astype(np.float64) - rows[0].astype(np.float64)) / unit, unit


def _labelled(pairs: NDArray[np.int64], heights: Vector, weights: Vector, linkage: Linkage) -> Tree:
    from asterism.kernels.chain import label_merges

    if linkage not in (
        "centroid",
        "median",
    ):  # these merge in the order of their heights, or fall: as they come
        order = np.argsort(heights, kind="stable")
        pairs, heights = pairs[order], heights[order]
    tree = np.empty((len(weights) - 1, 4))
    label_merges(pairs, heights, weights, tree)
    return tree


# --- points -----------------------------------------------------------------------------------------------------


def _single(points: NDArray[np.float64], weights: Vector, linkage: Linkage) -> tuple[Any, Vector]:  # noqa: ARG001  one signature for all
    from asterism.kernels.mst import spanning_tree
    from asterism.kernels.tiles import tiled

    n = len(points)
    tiles = tiled(points, np.arange(n))
    near, known = _nearest(tiles)
    pairs, squares = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    spanning_tree(tiles, near, known, pairs, squares)
    return pairs, np.sqrt(squares)


def _ward(points: NDArray[np.float64], weights: Vector, linkage: Linkage) -> tuple[Any, Vector]:  # noqa: ARG001  one signature for all
    from asterism.kernels.chain import ward_chain

    def merge(tiles: Any, size: Vector, stop: int, pairs: Any, squares: Vector, done: int) -> int:
        return ward_chain(tiles, size, stop, pairs, squares, done)

    return _halving(points, weights, merge)


def _inverting(points: NDArray[np.float64], weights: Vector, linkage: Linkage) -> tuple[Any, Vector]:
    from asterism.kernels.inversions import merge_nearest

    def merge(tiles: Any, size: Vector, stop: int, pairs: Any, squares: Vector, done: int) -> int:
        near, known = _nearest(tiles)
        return merge_nearest(tiles, near, known, size, linkage == "median", stop, pairs, squares, done)

    return _halving(points, weights, merge)


def _halving(
    points: NDArray[np.float64], weights: Vector, merge: Callable[..., int]
) -> tuple[NDArray[np.int64], Vector]:
    """Merge until half the clusters are left, sort those into tiles anew, and so on: tiles stay full and small."""
    from asterism.kernels.tiles import tiled

    n = len(points)
    pairs, squares = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    size, done = weights.copy(), 0
    tiles = tiled(points, np.arange(n))
    while done < n - 1:
        done = merge(tiles, size, (n - done) // 2, pairs, squares, done)
        here = tiles.owner >= 0
        tiles = tiled(tiles.points[here], tiles.owner[here])
    return pairs, np.sqrt(squares)


def _by_members(points: NDArray[np.float64], weights: Vector, linkage: Linkage) -> tuple[Any, Vector]:
    """Chains among members until clusters are few, then chains on the list of all pairs of clusters."""
    from asterism.kernels import chain, members
    from asterism.kernels.tiles import tiled

    n, code = len(points), _code(linkage)
    stop = min(max(FEW, n // SHARE), MOST)
    state = members.Members(
        points, np.ones(n), np.full(n, -1), np.arange(n), weights.copy(), np.ones(n, np.int64), np.zeros(n)
    )
    pairs, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    tiles, done, allowed = tiled(points, np.arange(n)), 0, n * n // MEASURED
    while n - done > stop:
        half = max((n - done) // 2, stop)
        done, allowed = members.member_chain(tiles, state, code, half, allowed, pairs, heights, done)
        here = tiles.owner >= 0
        tiles = tiled(tiles.points[here], tiles.owner[here])
        if allowed <= 0:
            if 4 * (n - done) ** 2 <= memory_budget():
                break  # listing what is left costs less
            allowed = NO_LIMIT
    if linkage == "complete":
        heights[:done] = np.sqrt(heights[:done])
    names, distances = _pairs_of_clusters(tiles, state, n - done, code)
    chain.matrix_chain(distances, state.size[names], code, pairs[done:], heights[done:])
    pairs[done:] = names[pairs[done:]]
    return pairs, heights


def _pairs_of_clusters(tiles: Any, state: Any, k: int, code: int) -> tuple[NDArray[np.int64], Vector]:
    from asterism.kernels import members

    n, d = state.rows.shape
    names, order, starts = np.empty(k, np.int64), np.empty(n, np.int64), np.empty(k + 1, np.int64)
    members.list_clusters(tiles, state, names, order, starts)
    columns = np.zeros((-(-d // 4) * 4, n))
    columns[:d] = state.rows[order].T
    part, out = state.part[order], np.empty(k * (k - 1) // 2)

    def fill(block: Block) -> None:
        members.fill_pairs(columns, part, starts, block.start, block.start + len(block), code, out)

    on_threads(Numbers(k), fill)
    return names, out


def _nearest(tiles: Any) -> tuple[NDArray[np.int64], Vector]:
    """The nearest place of every place, and its squared distance."""
    from asterism.kernels.mst import nearest_places

    m = len(tiles.owner)
    near, known, group = np.zeros(m, np.int64), np.full(m, np.inf), np.arange(m)

    def search(block: Block) -> None:
        nearest_places(tiles, block.start, block.start + len(block), group, near, known)

    on_threads(Numbers(m), search)
    return near, known


class Numbers(Source):
    """The numbers 0 .. n - 1, in blocks for threads to work on."""

    PARTS = 64

    def __init__(self, n: int) -> None:
        self.columns, self.n_rows, self.dtype = numbered_columns(1), n, np.dtype(np.float64)

    @property
    def block_rows(self) -> int:
        """Small enough that the last block keeps nobody waiting."""
        return max(self.n_rows // self.PARTS, 1)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The numbers themselves."""
        yield np.arange(start, stop, dtype=np.float64)[:, None], None


def _code(linkage: Linkage) -> int:
    from asterism.kernels import chain

    return {"complete": chain.COMPLETE, "average": chain.AVERAGE, "weighted": chain.WEIGHTED}[linkage]
