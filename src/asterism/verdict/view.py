"""How rows of a table become rows that groups are told apart in: as they are, scaled, or in a few directions.

Before that every column takes the form that suits it (``verdict.margins``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import Column
from asterism.data.encode import EncodedSource, Encoding
from asterism.data.margins import Margins, MarginSource
from asterism.data.select import SelectedColumns
from asterism.data.source import Piece, Source
from asterism.verdict.rows import draw
from asterism.verdict.seen import MANY_COLUMNS, principal_directions

Array = NDArray[np.float64]
SAMPLE_SEED = 0  # convention: a verdict does not depend on the user's seed
COMPARED_ROWS = 4000  # convention: rows that numbers of groups are compared on


@dataclass(frozen=True, eq=False)
class View:
    """How rows of the table become rows that a judge takes."""

    encoding: Encoding | None = None  # scaled and opened columns; None: cells and codes as they are
    axes: Array | None = None  # (m, D) directions that rows are reduced to; None: all columns
    margins: Margins | None = None  # the form of each column, first of all; None: as they are
    aside: tuple[str, ...] = ()  # columns, in their forms, in which groups do not differ

    @property
    def name(self) -> str:
        """In a word."""
        return "plain" if self.encoding is None else "scaled" if self.axes is None else "reduced"

    def of(self, source: Source) -> Source:
        """The rows of a table, seen so."""
        source = self.formed(source)
        if self.aside:
            source = SelectedColumns(source, dict.fromkeys(self.aside, "groups do not differ in it"))
        if self.encoding is None:
            return source
        encoded = EncodedSource(source, self.encoding)
        return encoded if self.axes is None else ReducedSource(encoded, self.axes)

    def modelled(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns of a table in their forms, without those set aside."""
        formed = columns if self.margins is None else self.margins.modelled
        return tuple(column for column in formed if column.name not in self.aside)

    def described(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns of a table, the reason of each saying in which form it is seen."""
        return columns if self.margins is None else self.margins.described(columns)

    def formed(self, source: Source) -> Source:
        """The rows of a table, every column in its form."""
        return source if self.margins is None else MarginSource(source, self.margins)


class ReducedSource(Source):
    """Encoded rows, in a few directions: z = axes x. A missing cell is taken for its column's mean, 0 here."""

    def __init__(self, source: EncodedSource, axes: Array) -> None:
        self.source, self.axes = source, axes
        self.columns = tuple(Column(f"component {j + 1}") for j in range(len(axes)))
        self.n_rows, self.ignored = source.n_rows, source.ignored
        self.dtype = np.dtype(np.float64)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Pieces of the table, a block at a time: sums of products must not depend on how files are cut."""
        size = self.block_rows
        for a in range(start, stop, size):
            parts = list(self.source.pieces(a, min(a + size, stop)))
            rows = np.concatenate([rows for rows, _ in parts]).astype(np.float64)
            rows[np.isnan(rows)] = 0.0
            weights = None if parts[0][1] is None else np.concatenate([w for _, w in parts if w is not None])
            yield rows @ self.axes.T, weights


def view_of_numbers(encoded: EncodedSource, margins: Margins | None = None) -> View:
    """Scaled columns; principal directions where they are many. ``encoded`` is of the columns in their forms."""
    if encoded.n_columns <= MANY_COLUMNS:
        return View(encoded.encoding, None, margins)
    drawn = draw(encoded, COMPARED_ROWS, SAMPLE_SEED)
    z = np.nan_to_num(drawn.x)
    share = drawn.weights / drawn.weights.sum()
    about = z - share @ z
    covariance = (about * share[:, None]).T @ about
    spread = np.sqrt(np.maximum(np.diagonal(covariance), np.finfo(float).tiny))
    unit = np.where(np.diagonal(covariance) > 0, 1.0 / spread, 0.0)
    axes = principal_directions(covariance * np.outer(unit, unit), float(drawn.weights.sum()))
    return View(encoded.encoding, np.ascontiguousarray(axes * unit), margins)
