"""How every kernel is compiled, said once.

``contract`` lets a multiply and an add become one instruction; ``reassoc`` lets a sum be taken in vector
lanes. ``nnan`` and ``ninf`` are never given: missing cells are NaN here, and must stay so.

In kernels arrays are copied cell by cell: ``a[:m] = b`` brings an error message with it, and formatting that takes
Numba two to three seconds to compile, in every kernel anew. For the same reason no flag is passed as a literal
``True`` or ``False`` to another kernel: each of the two would be compiled for itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def digest_of(folder: Path) -> bytes:
    """A number for the Python files of a folder as they are."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))).digest()


SOURCES = digest_of(Path(__file__).parent)


def kernel(function: F) -> F:
    """Compile on first use, remember on disk, release the GIL."""
    return _compiled(function, fastmath={"contract"})


def inlined(function: F) -> F:
    """A kernel that is written out where others call it: a call with its arrays takes as long as some rows."""
    return _compiled(function, fastmath={"contract"}, inline="always")


def lane_sum_kernel(function: F) -> F:
    """A kernel whose sums may be taken in vector lanes: faster, and the order is still fixed."""
    return _compiled(function, fastmath={"contract", "reassoc"})


def exact_kernel(function: F) -> F:
    """A kernel that rounds where it is written to round, and nowhere else."""
    return _compiled(function, fastmath=False)


def _compiled(function: F, **options: Any) -> F:
    """Two compilers of one function: for calls from Python, and for calls from other kernels.

    Most kernels are only ever called by others, which need no way in from Python and, as they hold the code of those
    they call, no copy on disk. To leave both out takes a seventh off the first run.
    """
    compiler: Any = njit  # the types it states leave out the last two options
    outer = compiler(nogil=True, cache=True, no_cfunc_wrapper=True, **options)(function)
    _stamp(outer)
    inner = compiler(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, **options)(function)
    # What Numba asks a function for when it meets a call of it inside another:
    outer.get_call_template, outer.get_overload = inner.get_call_template, inner.get_overload
    return cast(F, outer)


def _stamp(outer: Any) -> None:
    """Let what is kept on disk be that of all kernels as they are now.

    A kernel holds the code of those it calls, and Numba looks whether its own file has changed, not theirs: after an
    upgrade, or an edit, old code would run on arrays that are laid out for the new.
    """
    kept = outer._cache._cache_file
    kept._source_stamp = (kept._source_stamp, SOURCES)
