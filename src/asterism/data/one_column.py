"""One column of a table that may have been left out of the search, or cells that belong to its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import Column, require_known
from asterism.data.read import read
from asterism.data.source import Source
from asterism.errors import DataError, ParameterError


def one_column(
    table: Any, name: str, names: Sequence[str], kind: str | None = None
) -> tuple[Column, NDArray[np.float64]]:
    """A column of a table with these names, and its (n,) cells: numbers or codes, NaN where one is missing.

    >>> import pyarrow
    >>> frame = pyarrow.table({"kg": [1.5, None, 2.5], "won": ["no", "yes", "yes"]})
    >>> column, cells = one_column(frame, "won", ("kg", "won"))
    >>> column.kind, column.levels, cells.tolist()
    ('boolean', ('no', 'yes'), [0.0, 1.0, 1.0])
    """
    require_known([name], list(names), "outcome")
    if isinstance(table, Source):
        raise ParameterError(
            "The table is a Source, which was read without this column.",
            f"Give the cells of {name!r} themselves, or the file or frame to find.",
        )
    kinds = {other: "ignored" for other in names if other != name}
    source = read(table, kinds=kinds | ({} if kind is None else {name: kind}))
    if name not in source.names:
        why = next((column.reason for column in source.ignored if column.name == name), "it is not used")
        raise DataError(
            f"Nothing can be compared in it: {why}.", "Say what it is, kind='categorical' say.", column=name
        )
    j = source.names.index(name)
    cells = np.concatenate([block.rows[:, j].astype(np.float64) for block in source.blocks()])
    return source.columns[j], cells


def cells_as_column(
    values: Any, rows: int, name: str = "outcome", kind: str | None = None
) -> tuple[Column, NDArray[np.float64]]:
    """The same of cells in an array, list or series, one for each of the ``rows``."""
    import pyarrow as pa

    try:
        cells = pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError) as bad:
        raise DataError(
            "The cells of the outcome are not one number or name a row.", "Give n of them."
        ) from bad
    if len(cells) != rows:
        raise DataError(
            f"The outcome has {len(cells):,} cells, the table {rows:,} rows.", "Give one cell a row."
        )
    return one_column(pa.table({name: cells}), name, [name], kind)
