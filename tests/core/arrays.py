"""Arrays for tests of kernels: lengths around those of vectors, every place in memory, and what a border refuses.

    shapes(2)                     a strategy: 0, 1, odd, a vector, one past a vector, in every dimension
    numbers(shape, dtype)         a strategy: arrays of that shape, or of a strategy for shapes
    frozen(x)                     the same, read-only
    placed(x, offset)             the same numbers, `offset` elements past a cache line, with NaN before and after
    foreign(x)                    named arrays that a kernel made for arrays like x must refuse
    assert_refused(call, *arrays) each of the arrays in turn, in all foreign forms: TypeError or ValueError
    between_elements(x)           the same numbers at an address that is no multiple of their size
    assert_same_anywhere(call, *arrays)  the result has the same bits wherever the arrays lie, and read-only or not

``call`` takes the arrays and returns an array, a number, or a tuple of them. A kernel that writes into an argument
is given a copy by the test's own lambda, and the copy is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

CACHE_LINE = 64  # bytes
LONGEST_VECTOR = 16  # float32 in 64 bytes
LENGTHS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 129)  # 4, 8 and 16 lanes, and one to either side

Kernel = Callable[..., Any]


# --- strategies -------------------------------------------------------------------------------------------------


def lengths(least: int = 0, most: int = LENGTHS[-1]) -> st.SearchStrategy[int]:
    """Of one dimension."""
    return st.sampled_from([n for n in LENGTHS if least <= n <= most])


def shapes(ndim: int, least: int = 0, most: int = LENGTHS[-1]) -> st.SearchStrategy[tuple[int, ...]]:
    """Of ``ndim`` dimensions, each by itself."""
    return st.tuples(*[lengths(least, most)] * ndim)


@st.composite
def numbers(
    draw: st.DrawFn, shape: Any, dtype: Any = np.float64, scale: float = 1.0
) -> np.ndarray[Any, np.dtype[Any]]:
    """Normal numbers of that spread around 0; whole numbers from 0 to ``scale`` where the type is one of those."""
    size = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, int(scale), size, dtype=dtype, endpoint=True)
    return (scale * rng.standard_normal(size)).astype(dtype)


def weights(length: Any) -> st.SearchStrategy[Any]:
    """One number a row, above 0; one in three is 0, of a row that is absent."""
    return numbers(length).map(lambda x: np.where(x < -0.43, 0.0, np.abs(x)))


# --- places -----------------------------------------------------------------------------------------------------


def frozen(x: Any) -> Any:
    """A read-only copy."""
    copy = np.array(x)
    copy.flags.writeable = False
    return copy


def placed(x: Any, offset: int) -> Any:
    """A contiguous copy, ``offset`` elements past a cache line, with the worst of numbers before and after."""
    x = np.asarray(x)
    room = CACHE_LINE // x.itemsize
    worst = np.iinfo(x.dtype).max if np.issubdtype(x.dtype, np.integer) else np.nan
    memory = np.full(x.size + offset + 3 * room, worst, x.dtype)
    first = -(memory.ctypes.data // x.itemsize) % room + offset
    copy = memory[first : first + x.size].reshape(x.shape)
    copy[...] = x
    return copy


def between_elements(x: Any) -> Any:
    """A copy a byte past where elements of its type may stand, as a worker of a cluster gets them."""
    x = np.asarray(x)
    memory = np.zeros(x.nbytes + 1, np.uint8)
    shifted = memory[1:].view(x.dtype).reshape(x.shape)
    shifted[...] = x
    return shifted


# --- what a border refuses --------------------------------------------------------------------------------------


def foreign(x: Any) -> Iterator[tuple[str, Any]]:
    """Arrays with the numbers of x, or some of them, that are of another type, layout or dimension."""
    x = np.asarray(x)
    for dtype in (
        np.float16,
        np.float32,
        np.float64,
        np.longdouble,
        np.int64,
        np.complex128,
        np.bool_,
        object,
    ):
        if np.dtype(dtype) != x.dtype:
            yield f"of type {np.dtype(dtype)}", np.ones(x.shape, dtype)
    yield "of the other byte order", x.astype(x.dtype.newbyteorder())
    yield "of one dimension more", x[None]
    yield "of no dimension", np.zeros((), x.dtype)
    yield "None", None
    yield "a list", x.tolist()
    if x.size > 1:
        wide = np.zeros((*x.shape, 2), x.dtype)
        yield "every second element", wide[..., 0]
        yield "a page between elements", np.zeros((*x.shape, 4096 // x.itemsize), x.dtype)[..., 0]
        yield "from last to first", x[::-1] if len(x) > 1 else x[..., ::-1]
        yield "one element for all", np.broadcast_to(x.ravel()[0], x.shape)
    if x.ndim > 1 and sum(n > 1 for n in x.shape) > 1:
        yield "column by column", np.asfortranarray(x)


def assert_refused(call: Kernel, *arrays: Any) -> None:
    """Each of the arrays, in every foreign form, is a TypeError or a ValueError; as they are, they are not."""
    call(*arrays)
    for i, x in enumerate(arrays):
        for what, bad in foreign(x):
            assert _is_refused(call, *arrays[:i], bad, *arrays[i + 1 :]), f"argument {i} was taken: {what}"


def _is_refused(call: Kernel, *arrays: Any) -> bool:
    try:
        call(*arrays)
    except (TypeError, ValueError):
        return True
    return False


def assert_same_anywhere(call: Kernel, *arrays: Any) -> None:
    """The same bits from read-only arrays, and wherever in memory the arrays lie and whatever lies beside them."""
    expected = _bits(call(*arrays))
    assert _bits(call(*map(frozen, arrays))) == expected
    assert _bits(call(*map(between_elements, arrays))) == expected
    for offset in (0, 1, LONGEST_VECTOR - 1):
        assert _bits(call(*(placed(x, offset) for x in arrays))) == expected


def _bits(found: Any) -> list[bytes]:
    return [np.asarray(part).tobytes() for part in (found if isinstance(found, tuple) else (found,))]
