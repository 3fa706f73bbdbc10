"""The encoding of a table: one pass for its moments, none if nothing is to be scaled."""

from __future__ import annotations

import numpy as np

from asterism.data.encode import EncodedSource, Encoding
from asterism.data.finite import infinite_cell
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.errors import DataError
from asterism.stats.moments import ColumnMoments


def standard_encoding(source: Source, scale: bool = True) -> Encoding:
    """The encoding of this table's columns; with ``scale``, mean 0 and total variance 1 for each of them.

    >>> from asterism.data.source import ArraySource
    >>> encoding = standard_encoding(ArraySource(np.array([[1.0, 5.0], [3.0, 5.0]])))
    >>> encoding.center.tolist(), encoding.scale.tolist()
    ([2.0, 5.0], [1.0, 1.0])
    """
    plain = Encoding.plain(source.columns)
    if not scale:
        return plain
    moments = reduce(EncodedSource(source, plain), ColumnMoments.of)
    if moments.infinite is not None:
        raise infinite_cell(plain.names, *moments.infinite)
    if not np.isfinite(moments.variance).all():
        column = plain.names[int(np.argmin(np.isfinite(moments.variance)))]
        raise DataError(
            "the values are so large that their squares are infinite.",
            "Divide the column by a power of ten.",
            column=column,
        )
    return plain.standardised(moments.mean, moments.variance)
