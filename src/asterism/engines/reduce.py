"""The two verbs, and both in one pass, on whichever engine is current.

``reduce(source, summarize)``  one statistic of all rows
``map_rows(source, f)``        one row out per row in
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.context import current
from asterism.engines.gather import Gather, Stacked, StackedAndMerged, Visit, merged
from asterism.errors import DataError


def reduce(source: Source, summarize: Callable[[Block], Any]) -> Any:
    """Merge ``summarize(block)`` over all blocks, in the fixed tree."""
    return _walk(source, summarize, merged)


def map_rows(source: Source, f: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
    """``f(block)`` for all blocks, one under the other."""
    rows: NDArray[Any] = _walk(source, f, Stacked)
    return rows


def map_reduce(source: Source, f: Callable[[Block], tuple[NDArray[Any], Any]]) -> tuple[NDArray[Any], Any]:
    """Both in one pass: ``f(block)`` gives rows out and a statistic."""
    both: tuple[NDArray[Any], Any] = _walk(source, f, StackedAndMerged)
    return both


def _walk(source: Source, visit: Visit, gather: Gather) -> Any:
    require_rows(source)
    return current().runner().walk(source, visit, gather)


def require_rows(source: Source) -> None:
    """A table without rows or columns has no statistic."""
    if source.n_rows == 0 or source.n_columns == 0:
        raise DataError(
            f"The table is empty: 0 sample(s) or 0 feature(s) (shape=({source.n_rows}, {source.n_columns})) "
            "while a minimum of 1 is required.",
            "Give at least one row and one usable column.",
        )
