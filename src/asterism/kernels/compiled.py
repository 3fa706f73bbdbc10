"""How every kernel is compiled, said once.

``contract`` lets a multiply and an add become one instruction; ``reassoc`` lets a sum be taken in vector
lanes. ``nnan`` and ``ninf`` are never given: missing cells are NaN here, and must stay so.

In kernels arrays are copied cell by cell: ``a[:m] = b`` brings an error message with it, and formatting that takes
Numba two to three seconds to compile, in every kernel anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile on first use, remember on disk, release the GIL."""
    return cast(F, njit(nogil=True, cache=True, fastmath={"contract"})(function))


def lane_sum_kernel(function: F) -> F:
    """A kernel whose sums may be taken in vector lanes: faster, and the order is still fixed."""
    return cast(F, njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})(function))


def exact_kernel(function: F) -> F:
    """A kernel that rounds where it is written to round, and nowhere else."""
    return cast(F, njit(nogil=True, cache=True)(function))
