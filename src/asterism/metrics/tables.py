"""A labelled table, as the internal metrics take it: rows in blocks, a group for every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.source import Source
from asterism.engines.reduce import require_rows
from asterism.errors import DataError
from asterism.metrics.labels import Labels, labels_of

LOOK = 255  # rows of the first block that are asked for a typical value


@dataclass(frozen=True)
class Labelled:
    """A table and the groups of its rows."""

    source: Source
    labels: Labels

    @property
    def k(self) -> int:
        """Number of groups."""
        return self.labels.k

    def codes(self, block: Block) -> NDArray[Any]:
        """(n,) groups of the rows of a block."""
        return self.labels.codes[block.start : block.start + len(block)]


def labelled(X: Any, labels: Any, sample_weight: Any = None, *, mixed: bool = False) -> Labelled:
    """Rows ``X`` (array, data frame, path, ``Source``) with their labels; ``mixed``: names may be cells."""
    source = source_of(X, sample_weight, mixed=mixed)
    require_rows(source)
    given = np.asarray(labels)
    if given.shape[:1] != (source.n_rows,):
        raise DataError(
            f"There are {given.shape[0] if given.ndim else 1} labels for {source.n_rows} rows.",
            "Give one label a row, in the order of the table.",
        )
    return Labelled(source, labels_of(given, weights_of(source)))


def source_of(X: Any, sample_weight: Any, *, mixed: bool = False) -> Source:
    """The table as a source. Columns of a data frame that hold numbers are numbers, however few they are."""
    from asterism.data.read import read

    if hasattr(X, "tocsr"):
        from asterism.data.sparse import SparseSource

        return SparseSource(X, sample_weight)
    if isinstance(X, Source):
        if sample_weight is None:
            return _numeric(X, mixed)
        from asterism.estimators.base import WeightedSource

        return _numeric(WeightedSource(X, sample_weight), mixed)
    if isinstance(X, np.ndarray | list | tuple | str) or mixed:
        return _numeric(read(X, weights=sample_weight), mixed)
    from asterism.data.frames import frame_table

    frame = frame_table(X)
    kinds = None if frame is None else dict.fromkeys(frame.types, "numeric")
    return _numeric(read(X, kinds=kinds, weights=sample_weight), mixed)


def _numeric(source: Source, mixed: bool) -> Source:
    for column in source.columns:
        if column.kind == "categorical" and not mixed:
            raise DataError(
                "the cells are names without an order, and this metric calculates with numbers.",
                "Leave the column out, encode it, or give a dissimilarity for mixed tables (metric='gower').",
                column=column.name,
            )
    return source


def weights_of(source: Source) -> Vector | None:
    """(n,) weights of all rows; None where all are one. Only a column of weights in a file has to be read."""
    own: Any = getattr(source, "weights", "")
    inner: Any = getattr(source, "inner", None)
    if inner is not None and isinstance(own, np.ndarray):
        below = weights_of(inner)
        return own if below is None else own * below
    if inner is None and not isinstance(own, str):
        return None if own is None else np.asarray(own, np.float64)
    parts = [(len(rows), w) for rows, w in source.pieces(0, source.n_rows)]
    if all(w is None for _, w in parts):
        return None
    return np.concatenate([np.ones(n) if w is None else w for n, w in parts])


def typical_row(source: Source) -> Vector:
    """(d,) medians of some rows of the first block: a point to measure from, whatever lies far out."""
    block = next(iter(source.blocks(0, 1)))
    counted = np.flatnonzero(block.weights > 0)
    some = np.sort(block.rows[counted[:: -(-len(counted) // LOOK) or 1]].astype(np.float64), axis=0)
    if not len(some):
        return np.zeros(source.n_columns)
    seen = np.count_nonzero(np.isfinite(some), axis=0)
    middle = some[np.maximum((seen - 1) // 2, 0), np.arange(some.shape[1])]
    return np.where(np.isfinite(middle), middle, 0.0)
