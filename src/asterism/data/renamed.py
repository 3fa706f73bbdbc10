"""A table some of whose columns go by new names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from asterism.data.columns import require_known
from asterism.data.table import Batch, Table
from asterism.errors import ParameterError


class RenamedTable(Table):
    """The same cells under other names.

    >>> from asterism.data.frames import array_table
    >>> import numpy as np
    >>> list(RenamedTable(array_table(np.zeros((2, 2))), {"x0": "kg"}).types)
    ['kg', 'x1']
    """

    def __init__(self, inner: Table, names: Mapping[str, str]) -> None:
        require_known(list(names), list(inner.types), "rename")
        self.inner, self.title = inner, inner.title
        self.untyped, self.slow = inner.untyped, inner.slow
        new = [str(names.get(name, name)) for name in inner.types]
        for name in new:
            if new.count(name) > 1 or not name:
                raise ParameterError(
                    f"With these new names {new.count(name)} columns are called {name!r}.",
                    "Give each its own name.",
                )
        self._old = dict(zip(new, inner.types, strict=True))
        self.types = {name: inner.types[old] for name, old in self._old.items()}
        self.declared = {
            name: inner.declared[old] for name, old in self._old.items() if old in inner.declared
        }

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # known when the table has been read
        """Those of the table."""
        return self.inner.notes

    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """The same rows."""
        for batch in self.inner.batches([self._old[name] for name in names], start, stop):
            yield {name: batch[self._old[name]] for name in names}

    def place(self, row: int) -> str:
        """That of the table."""
        return self.inner.place(row)
