import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


variant: str = 'v4'

class ShapeError(ValueError):
    pass

class Linkage(enum.Enum):
    """How the distance of two clusters follows from those of their members."""

    complete = 0

    average = 1

    weighted = 2

def ward_chain(tiles: PointTiles, size: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], stop: int, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Merge centroids by Ward's linkage until `stop` clusters are left; how many merges that were.
    """

def chain_of_pairs(distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], size: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], linkage: Linkage, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], heights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    All merges of clusters whose distances are given, every pair once (overwritten).
    """

def label_merges(pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], heights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tree: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    tree = the merges in SciPy's format: clusters are numbered n, n + 1, ... as they are made.
    """

def add_colours(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """sums (cells, 1 + d) += w and w x of every colour x in its cell."""

def list_candidates(codes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int, starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], lists: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    The codes that can be nearest in each of some cells, lowest first; returns how long the lists are together.
    """

def encode_colours(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lists: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float:
    """
    labels = the nearest code of every colour, mass += their weights; returns sum w ||x - c||^2.
    """

def split_points(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Means (k, d) of parts, made by halving the part with the largest sum of squares along an axis at its mean.
    Returns how many parts there are: fewer than k where there are no more different points.
    """

def table_information(row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float) -> float:
    """
    N MI of a table: its cells of weight above 0, the sums of its rows and of its columns, and their total.
    """

def chance_information(a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], times_a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], times_b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float) -> float:
    """
    N E[MI] of two labelings by chance: different sizes of groups, and how many groups have each.
    """

def greedy_match(row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], of_row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], of_column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Takes cells in their order, heaviest first, where row and column are both free (below 0).
    """

def contrast_logcosh(u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float) -> float:
    """u becomes w tanh(a u); returns the sum of w a (1 - tanh(a u)^2)."""

def contrast_bell(u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float) -> float:
    """u becomes w u exp(-u^2/2); returns the sum of w (1 - u^2) exp(-u^2/2)."""

def contrast_cube(u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float) -> float:
    """u becomes w u^3; returns the sum of w 3 u^2."""

def dip(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    Hartigan's dip of distinct ascending x, whose shares add up to 1:
    1/(2n) at least for n equal shares, 1/4 at most (two far heaps of one half each).
    """

@overload
def move_rows(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Centers, before: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], after: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], grid: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: int, wanted: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None))], float, Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]: ...

@overload
def move_rows(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Centers, before: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], after: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], grid: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: int, wanted: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None))], float, Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    Rows leave their groups before for those after. Returns (k, 2, d + c) exact sums of w (x - reference) and of
    weights that groups gained, in high and low parts; by how much sum w ||x - c||^2 fell; and (wanted, 2) squared
    distance and number of the farthest rows that had no group.
    """

@overload
def exponential(x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def exponential(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """out = exp(x); 0 where that is no normal number."""

@overload
def logarithm(x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def logarithm(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """out = log(x) of normal positive numbers."""

class Mixtures:
    """Normal mixtures as a pass takes them; see src/core/gaussian.cpp."""

    def __init__(self, form: int, single: bool, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], lines: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None) -> None: ...

@overload
def gaussian_pass(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], assignment: int, draws: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

@overload
def gaussian_pass(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], assignment: int, draws: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Totals (mixtures, 2), sums (k, moments) and the common scatter of tied forms, of the rows of a block.
    """

@overload
def gaussian_labels(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

@overload
def gaussian_labels(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    The likeliest components into labels (n); totals (1, 2), and the common scatter of tied forms.
    """

@overload
def gaussian_scores(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def gaussian_scores(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """log pi_c p_c(x) into scores (n, k)."""

@overload
def gaussian_sums(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], reference: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], full: bool) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def gaussian_sums(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reference: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], full: bool) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Sums (k, moments) of shares (n, k) that are given, about means (k, d) from the reference (d).
    """

@overload
def group_moments(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reference: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def group_moments(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reference: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    table = weight, mean from the reference and scatter of every column in every group; mass = weight of the rows. Both must be 0 before.
    """

def merge_nearest(tiles: PointTiles, size: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], stop: int, median: bool, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Merge the nearest centroids (or medians) until `stop` clusters are left; how many merges that were.
    """

def add_level_scores(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], added: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    (n, k) += sum over known cells of the (D, k) scores of their levels; i d + j of no code, or -1.
    """

def add_level_counts(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], added: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    (D, k) += the (n, k) mass of the rows at their levels; i d + j of a cell that is no code, or -1.
    """

def nearest_two(tile: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], near: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], second: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Each row's nearest medoid (the first of equals; -1 where all are NaN), how far it is, and how far the next one.
    """

def add_changes(tile: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], joins: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], leaves: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add what every exchange of a medoid for a candidate changes, by rows whose dissimilarities to the candidates are the tile.
    """

class Members:
    """Rows (n, d) and the clusters they are in; at first each is alone."""

    def __init__(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], linkage: Linkage) -> None: ...

    def merge(self, tiles: PointTiles, stop: int, allowed: int, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], heights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, int]:
        """
        Merge until `stop` clusters are left, or `allowed` pairs of rows were measured: how many merges that were, and what is left of `allowed`. Heights are squared for complete linkage.
        """

    def left(self, tiles: PointTiles) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Names and weights of the clusters that are left."""

    def measure(self, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, last: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        out = heights of these clusters from first to last with all that follow them, every pair once.
        """

@overload
def column_moments(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def column_moments(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    table (7, d) becomes weight, mean, rest of the mean, scatter, low, high and number of the observed cells.
    Returns how many rows have a weight above 0.
    """

class Centers:
    """k centres, ready to be searched: never changed."""

    def __init__(self, reference: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], origin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, missing: bool) -> None: ...

@overload
def nearest(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], centers: Centers) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

@overload
def nearest(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], centers: Centers) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """(n,) the nearest centre of every row, the first of equals."""

@overload
def relabel(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], centers: Centers, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leads: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], drift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

@overload
def relabel(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], centers: Centers, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leads: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], drift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """
    The same where labels and leads are known from a pass before; leads are brought up to date.
    """

@overload
def scatter(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Centers, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

@overload
def scatter(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Centers, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    sum w ||x - c||^2 over observed cells, each row about its own centre; and (k,) the weights of the groups.
    """

@overload
def squared_distances(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], reference: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def squared_distances(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reference: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    (n, k) ||x - reference - c||^2 over observed cells, from the differences themselves.
    """

PACK: int = 256

def norm_tile(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], p: float, root: bool, unknown: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    out[i, o] = p-norm of row i minus point o, or its p-th power; `unknown` without a column in common.
    """

def mixed_tile(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], kinds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, unknown: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    out[i, o] = scale times the weighted mean over columns of what row i and point o differ by; kinds: 0 codes, 1 numbers, 2 zeros and ones of which two zeros say nothing.
    """

def add_euclidean_sums(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], root: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    out[i, g] += sum of weights[o] |row i - point o|, or its square, over the runs of group g; PACK points at most.
    """

class Angle(enum.Enum):
    """How the angle of a plane is found."""

    NEWTON = 0
    """the tangent's, then Newton's steps"""

    SEARCH = 1
    """the best of many, then Newton's steps"""

    TANGENT = 2
    """where the tangent is least: never raises the objective"""

def turn_planes(turned: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], axes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], how: Angle) -> float:
    """
    Turns every plane of two axes once, each to its best angle; returns the largest.
    turned (k, d, d) is D' W_c D, axes (d, d) is D', an axis a line: both change.
    """

class PointTiles:
    """Points (n, d) in tiles of near neighbours, numbered 0 to n - 1."""

    def __init__(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def repack(self) -> None:
        """Sort the points that are left into tiles anew."""

    @property
    def places(self) -> int:
        """Places for points: at least as many as there are points."""

    def find_nearest(self, first: int, last: int) -> None:
        """
        Find the nearest neighbours of these places, which may be done on threads.
        """

    def nearest_points(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """out = number of the point nearest to each row; of equals, the lowest."""

def spanning_tree(tiles: PointTiles, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Edges of the shortest tree over the points."""

def split_all(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], diameters: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    A row of each side of every split and the diameter of the cluster, small clusters first.
    """
