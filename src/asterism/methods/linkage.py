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

By any other dissimilarity, on a list of all pairs: SciPy's for single linkage, chains for the last three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.data.columns import numbered_columns
from asterism.data.source import Piece, Source
from asterism.distances.pairwise import memory_budget, on_threads
from asterism.errors import DataError, ParameterError

Linkage = Literal["single", "complete", "average", "weighted", "centroid", "median", "ward"]
LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
EUCLIDEAN_ONLY: tuple[Linkage, ...] = ("ward", "centroid", "median")
Tree = NDArray[np.float64]  # (n - 1, 4) in SciPy's format

MIN_CLUSTERS_LISTED = 1024  # measured: pairs of so few clusters are listed in any case
ROWS_PER_CLUSTER_LISTED = 4  # measured: rows a cluster has on average when pairs of clusters are listed
MAX_CLUSTERS_LISTED = 8192  # convention: their pairs are 268 MB
MEASURED = (
    3  # measured: n^2 over this pairs of rows may be measured one by one; then it is cheaper to list them
)
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
    if linkage in EUCLIDEAN_ONLY:
        raise ParameterError(
            f"{linkage} linkage is about centroids, which only Euclidean distance has.",
            "Use metric='euclidean' and complete rows, or average linkage.",
        )
    if linkage == "single":
        return _weighed(hierarchy.linkage(distances, "single"), weights)
    pairs, heights = _no_merges(len(weights))
    _core.chain_of_pairs(distances, weights.copy(), getattr(_core.Linkage, linkage), pairs, heights)
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
    unit = _power_of_two(widest) if widest > 0 else 1.0
    # Measured from a row, not from the mean: differences of rows near each other stay exact.
    return (rows.astype(np.float64) - rows[0].astype(np.float64)) / unit, unit


def _power_of_two(x: float) -> float:
    """The least power of two above x: to divide by it loses no digit."""
    return float(np.ldexp(1.0, int(np.frexp(x)[1])))


def _labelled(pairs: NDArray[np.int64], heights: Vector, weights: Vector, linkage: Linkage) -> Tree:
    if linkage not in ("centroid", "median"):  # heights of these may fall: they stay as they come
        order = np.argsort(heights, kind="stable")
        pairs, heights = pairs[order], heights[order]
    tree = np.empty((len(weights) - 1, 4))
    _core.label_merges(pairs, heights, weights, tree)
    return tree


def _weighed(tree: Tree, weights: Vector) -> Tree:
    """A tree whose last column counts rows, with their weights instead."""
    total = weights.tolist()
    for a, b in tree[:, :2].astype(np.int64).tolist():
        total.append(total[a] + total[b])
    tree[:, 3] = total[len(weights) :]
    return tree


# --- points -----------------------------------------------------------------------------------------------------


Merges = tuple[NDArray[np.int64], Vector]  # (n - 1, 2) a row of each cluster merged; (n - 1,) heights


def _single(points: NDArray[np.float64], weights: Vector, linkage: Linkage) -> Merges:  # noqa: ARG001  one signature for all
    pairs, squares = _no_merges(len(points))
    tiles = _core.PointTiles(points)
    _find_nearest(tiles)
    _core.spanning_tree(tiles, pairs, squares)
    return pairs, np.sqrt(squares)


def _ward(points: NDArray[np.float64], weights: Vector, linkage: Linkage) -> Merges:  # noqa: ARG001  one signature for all
    unit = _power_of_two(float(weights.max()))  # weights of any size: float32 must hold their inverses
    pairs, heights = _halving(points, weights / unit, _core.ward_chain)
    return pairs, heights * np.sqrt(unit)


def _inverting(points: NDArray[np.float64], weights: Vector, linkage: Linkage) -> Merges:
    def merge(tiles: Any, size: Vector, stop: int, pairs: Any, squares: Vector) -> int:
        _find_nearest(tiles)
        done: int = _core.merge_nearest(tiles, size, stop, linkage == "median", pairs, squares)
        return done

    return _halving(points, weights, merge)


def _halving(points: NDArray[np.float64], weights: Vector, merge: Callable[..., int]) -> Merges:
    """Merge until half the clusters are left, sort those into tiles anew, and so on: tiles stay full and small."""
    n, done = len(points), 0
    pairs, squares = _no_merges(n)
    size, tiles = weights.copy(), _core.PointTiles(points)
    while done < n - 1:
        done += merge(tiles, size, (n - done) // 2, pairs[done:], squares[done:])
        tiles.repack()
    return pairs, np.sqrt(squares)


def _by_members(points: NDArray[np.float64], weights: Vector, linkage: Linkage) -> Merges:
    """Chains among members until clusters are few, then chains on the list of all pairs of clusters."""
    n, code = len(points), getattr(_core.Linkage, linkage)
    stop = min(max(MIN_CLUSTERS_LISTED, n // ROWS_PER_CLUSTER_LISTED), MAX_CLUSTERS_LISTED)
    pairs, heights = _no_merges(n)
    tiles, members = _core.PointTiles(points), _core.Members(points, weights, code)
    done, allowed = 0, n * n // MEASURED
    while n - done > stop:
        half = max((n - done) // 2, stop)
        made, allowed = members.merge(tiles, half, allowed, pairs[done:], heights[done:])
        done += made
        tiles.repack()
        if allowed <= 0:
            if 4 * (n - done) ** 2 <= memory_budget():
                break  # listing what is left costs less
            allowed = NO_LIMIT
    names, sizes = members.left(tiles)
    distances = np.empty(len(names) * (len(names) - 1) // 2)
    on_threads(Numbers(len(names)), lambda block: members.measure(names, *_ends(block), distances))
    _core.chain_of_pairs(distances, sizes, code, pairs[done:], heights[done:])
    pairs[done:] = names[pairs[done:]]
    return pairs, np.sqrt(heights) if linkage == "complete" else heights


def _find_nearest(tiles: Any) -> None:
    on_threads(Numbers(tiles.places), lambda block: tiles.find_nearest(*_ends(block)))


def _no_merges(n: int) -> Merges:
    return np.empty((n - 1, 2), np.int64), np.empty(n - 1)


def _ends(block: Block) -> tuple[int, int]:
    return block.start, block.start + len(block)


class Numbers(Source):
    """The numbers 0 .. n - 1, in blocks for threads to work on."""

    PARTS = 64

    def __init__(self, n: int) -> None:
        self.columns, self.n_rows, self.dtype = numbered_columns(1), n, np.dtype(np.float64)

    @property
    def block_rows(self) -> int:
        """Small enough that threads end at about the same time."""
        return max(self.n_rows // self.PARTS, 1)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The numbers themselves."""
        yield np.arange(start, stop, dtype=np.float64)[:, None], None
