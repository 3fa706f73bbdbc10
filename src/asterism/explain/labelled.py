"""Labels beside what they are labels of: names of groups, and the table's own columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import WITH_LEVELS
from asterism.data.source import Source

NAME = "group_name"


def with_names(frame: Any, names: Sequence[str]) -> Any:
    """The frame with a column of the groups' names after all others; null where a row has no group."""
    import pyarrow as pa

    groups = frame["group"].combine_chunks()
    known = pa.compute.greater_equal(groups, 0).fill_null(False).to_numpy(zero_copy_only=False)
    codes = np.where(known, groups.fill_null(0).to_numpy(zero_copy_only=False), 0).astype(np.int32)
    return frame.append_column(NAME, _levels(codes, ~known, names))


def with_columns(frame: Any, source: Source) -> Any:
    """The frame with the columns of a table after all others; a name that is taken gets "(table)" behind it.

    Columns with levels come as dictionaries of them, missing cells as nulls.
    """
    for name, column in columns_of(source).items():
        frame = frame.append_column(free_name(name, frame.column_names), column)
    return frame


def columns_of(source: Source) -> dict[str, Any]:
    """The columns of a table as Arrow arrays, in the user's own units and words."""
    import pyarrow as pa

    rows = np.concatenate([block.rows for block in source.blocks()])
    missing = np.isnan(rows)
    found = {}
    for j, column in enumerate(source.columns):
        if column.kind in WITH_LEVELS:
            codes = np.where(missing[:, j], 0, rows[:, j]).astype(np.int32)
            found[column.name] = _levels(codes, missing[:, j], column.levels)
        else:
            found[column.name] = pa.array(np.ascontiguousarray(rows[:, j]), mask=missing[:, j])
    return found


def free_name(name: str, taken: Sequence[str]) -> str:
    """The name, or one that no other column has.

    >>> free_name("height", ["row", "group"]), free_name("group", ["row", "group"])
    ('height', 'group (table)')
    """
    while name in taken:
        name = f"{name} (table)"
    return name


def _levels(codes: NDArray[np.int32], missing: NDArray[np.bool_], levels: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=missing), pa.array(list(levels), pa.string()))
