from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


variant: str = 'v4'

class ShapeError(ValueError):
    pass

def contrast_logcosh(u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float) -> float:
    """u becomes w tanh(a u); returns the sum of w a (1 - tanh(a u)^2)."""

def contrast_bell(u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float) -> float:
    """u becomes w u exp(-u^2/2); returns the sum of w (1 - u^2) exp(-u^2/2)."""

def contrast_cube(u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float) -> float:
    """u becomes w u^3; returns the sum of w 3 u^2."""

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
