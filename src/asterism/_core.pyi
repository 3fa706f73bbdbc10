from typing import Annotated

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
