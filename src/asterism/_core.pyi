import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


variant: str = 'v4'

class ShapeError(ValueError):
    pass

def add_colours(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """sums (cells, 1 + d) += w and w x of every colour x in its cell."""

def list_candidates(codes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int, starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], lists: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    The codes that can be nearest in each of some cells, lowest first; returns how long the lists are together.
    """

@overload
def encode_colours(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lists: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

@overload
def encode_colours(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lists: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu')], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

@overload
def encode_colours(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lists: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float:
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
def gaussian_pass(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], assignment: int, draws: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

@overload
def gaussian_pass(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], assignment: int, draws: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Totals (mixtures, 2), sums (k, moments) and the common scatter of tied forms, of the rows of a block.
    """

@overload
def gaussian_scores(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def gaussian_scores(mixtures: Mixtures, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """log pi_c p_c(x) into scores (n, k)."""

@overload
def add_level_scores(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], added: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def add_level_scores(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], added: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    (n, k) += sum over known cells of the (D, k) scores of their levels; i d + j of no code, or -1.
    """

@overload
def add_level_counts(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], added: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def add_level_counts(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], added: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    (D, k) += the (n, k) mass of the rows at their levels; i d + j of a cell that is no code, or -1.
    """

@overload
def column_moments(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> tuple: ...

@overload
def column_moments(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> tuple:
    """
    table (7, d) becomes weight, mean, rest of the mean, scatter, low, high and number of the observed cells.
    Returns the rows of weight above 0, and row and column of the first infinite cell (-1 for none).
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
