"""``read``: a table of any make in, a ``Source`` out, every column's kind decided and the reason given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from asterism.data.asked import wished
from asterism.data.columns import NUMBERS, WITH_LEVELS, Column, Wish, require_known, unique_names, wishes
from asterism.data.dates import Moment
from asterism.data.frames import MemoryTable, array_table
from asterism.data.hints import Hints
from asterism.data.infer import inferred, unusable
from asterism.data.infer_numbers import left_over
from asterism.data.memory import memory_to_keep, parse_bytes
from asterism.data.opening import opened
from asterism.data.options import ReadKeywords
from asterism.data.profile import Profile
from asterism.data.source import ArraySource, Source, checked_weights, in_memory, places_in
from asterism.data.sphere import AXES, OnSphere, pairs, spans_the_earth
from asterism.data.table import Table, TableSource, check_weights, profiles, sources_of
from asterism.data.unknown import Absent, absences
from asterism.errors import DataError, ParameterError


def read(
    table: Any,
    *,
    kinds: Mapping[str, Any] | Sequence[Column] | None = None,
    ignore: Sequence[str] = (),
    weights: Any = None,
    memory: str | int | None = None,
    na: Mapping[str, Any] | Sequence[Any] | str | None = None,
    **options: Unpack[ReadKeywords],
) -> Source:
    """A table as a source.

    ``table``    path of a file: text (CSV, TSV; plain or packed by gzip, zstd, bz2), Parquet, Feather, .npy, JSON
                 lines or an array of records, a spreadsheet (.xlsx, .xls, .ods), an SQLite or DuckDB database; a
                 folder or glob of such files with the same columns; ``"-"`` for standard input; a pandas, polars
                 or pyarrow frame; an array; a ``Source``
    ``kinds``    what columns are, where the guess is wrong: ``{"year": "categorical", "note": "ignored",
                 "size": "ordinal:S,M,L"}``; or another source's ``columns``, to read the table as that one
    ``ignore``   names of columns to leave out
    ``weights``  the name of a column that says how often each row counts, or one number a row
    ``memory``   how much of a file may be held in memory, such as "2GB". None: text files up to a quarter of
                 what is free and 2 GiB at most, since they are slow to read again; nothing of Parquet
    ``options``  where the guess of how a file is written is wrong: ``sheet``, ``sql``, ``encoding``, ``header``,
                 ``rename``, ``keep_totals`` (``data.options.ReadOptions``)

    ``na``       cells that stand for "not known": ``{"q1": [99]}`` for a column, instead of what is found there
                 (``()``: nothing does), or ``["nix", -5]`` for all columns, beside what is found

    Columns of an array are numbers, whatever they hold. Those of other tables are looked at (``infer``):
    ``source.columns`` are used, ``source.ignored`` are not, and each has its ``reason``. ``source.notes`` say how
    a file was read where that is not plain.

    >>> import pyarrow
    >>> frame = pyarrow.table({"size": [1.5, None, 2.5], "color": ["red", "red", "blue"], "lab": ["x"] * 3})
    >>> source = read(frame)
    >>> [(c.name, c.kind, c.levels) for c in source.columns]
    [('size', 'numeric', ()), ('color', 'categorical', ('blue', 'red'))]
    >>> source.ignored[0].reason
    "every cell is 'x'"
    >>> next(source.blocks()).rows
    array([[1.5, 1. ],
           [nan, 1. ],
           [2.5, 0. ]])
    """
    budget = parse_bytes(memory)
    wanted = _Wanted(wishes(kinds), _columns_given(kinds), *absences(na))
    ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    if isinstance(table, Source):
        plain = not wanted.any and not ignore and weights is None and not options
        return _as_it_is(table, plain=plain)
    if (found := opened(table, **options)) is None:
        return _array(_as_array(table), wanted, ignore, weights)
    with places_in(found):
        return _of_table(found, wanted, ignore, weights, budget)


@dataclass(frozen=True)
class _Wanted:
    """What the user says of the columns."""

    kinds: dict[str, Wish]
    columns: tuple[Column, ...]  # of another source, to be read again; empty: none
    absent: dict[str, Absent]  # column -> what stands for "not known"
    everywhere: Absent

    @property
    def any(self) -> bool:
        """Whether anything is said."""
        return bool(self.kinds or self.absent or self.everywhere.words)

    def of(self, name: str) -> Absent:
        """What stands for "not known" in a column."""
        return self.absent.get(name, self.everywhere)


def _columns_given(kinds: Any) -> tuple[Column, ...]:
    return tuple(kinds) if isinstance(kinds, Sequence) and not isinstance(kinds, str) else ()


def _as_it_is(source: Source, *, plain: bool) -> Source:
    if not plain:
        raise ParameterError(
            "The table is a Source already, so that kinds, ignore, weights and options come too late.",
            "Give them where the table itself is read.",
        )
    return source


def _of_table(
    table: Table, wanted: _Wanted, ignore: tuple[str, ...], weights: Any, budget: int | None
) -> Source:
    from asterism.data.formats.npy import NpySource, NpyTable

    if isinstance(table, NpyTable):
        plain = not wanted.any and not ignore and not isinstance(weights, str)
        return NpySource(table.path, weights) if plain else _array(table.array, wanted, ignore, weights)
    source = _source(table, wanted, ignore, weights)
    if isinstance(table, MemoryTable):
        return source
    if budget is None:
        return in_memory(source, memory_to_keep()) if table.slow else source
    return in_memory(source, budget)


def _as_array(table: Any) -> Any:
    if hasattr(table, "toarray"):
        raise DataError(
            "A sparse matrix is not a table of columns.", "Give table.toarray() if it fits in memory."
        )
    if not isinstance(table, np.ndarray):
        if not isinstance(table, list | tuple) and not hasattr(table, "__array__"):
            raise ParameterError(
                f"A table cannot be a {type(table).__name__}.",
                "Give a path, a data frame (pandas, polars, pyarrow) or an array.",
            )
        try:
            table = np.asarray(table)
        except ValueError as bad:
            raise DataError("The rows have different lengths.", "Give every row the same cells.") from bad
    return table


def _array(array: Any, wanted: _Wanted, ignore: tuple[str, ...], weights: Any) -> Source:
    """Columns of an array are numbers, unless the user says otherwise or the array holds objects."""
    mixed = array.dtype.kind in "OUS" and array.ndim == 2
    if not mixed and not wanted.any and not ignore and not isinstance(weights, str):
        return ArraySource(array, weights)
    if not mixed:
        ArraySource(array)  # what it refuses, we refuse
        numeric = {f"x{j}": Wish("numeric", known=True) for j in range(array.shape[1])}
        wanted = replace(wanted, kinds=numeric | wanted.kinds)
    return _source(array_table(array), wanted, ignore, weights)


def _source(table: Table, wanted: _Wanted, ignore: tuple[str, ...], weights: Any) -> TableSource:
    """Look at the columns, decide what they are, check the weights."""
    weight_name = weights if isinstance(weights, str) else None
    _check_names(table, wanted, ignore, weight_name)
    decided: dict[str, tuple[Column, ...]] = {
        name: (column,) for name, column in _set_aside(table, wanted, ignore, weight_name).items()
    }
    names = list(table.types)
    look = [name for name in names if name not in decided or name == weight_name]
    parse = {name for name, wish in wanted.kinds.items() if wish.kind in NUMBERS} | {weight_name or ""}
    found = profiles(table, look or names[:1], frozenset(parse), {name: wanted.of(name) for name in names})
    n_rows = next(iter(found.values())).rows
    if n_rows == 0:
        raise DataError(f"{table.title} has no rows.", "A table needs at least one row.")
    for name in look:
        if name not in decided:
            decided[name] = _decide(table, name, wanted, found[name])
    decided = _on_sphere(decided, found, wanted)
    if weight_name:
        check_weights(table, weight_name, found[weight_name])
    elif weights is not None:
        weights = checked_weights(weights, n_rows)
    every = [column for name in names for column in decided[name]]
    used = wanted.columns or tuple(column for column in every if column.kind != "ignored")
    used = tuple(replace(column, reason="as before") for column in used) if wanted.columns else _unlike(used)
    ignored = tuple(column for column in every if column.kind == "ignored")
    _require_used(table, used, ignored)
    source = TableSource(table, used, n_rows, weights, ignored)
    _check_cells(source, found)
    return source


def _unlike(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Columns of one name each: a part of a date may be called like another column."""
    names = unique_names([column.name for column in columns])
    return tuple(
        column if column.name == name else replace(column, name=name)
        for column, name in zip(columns, names, strict=True)
    )


def _set_aside(
    table: Table, wanted: _Wanted, ignore: tuple[str, ...], weight_name: str | None
) -> dict[str, Column]:
    """Columns that need not be looked at to know that they are not used."""
    again = sources_of(wanted.columns)
    why = {name: "not among the columns asked for" for name in table.types if again and name not in again}
    why |= dict.fromkeys(ignore, "left out as asked")
    why |= {name: "left out as asked" for name, wish in wanted.kinds.items() if wish.kind == "ignored"}
    why |= {weight_name: "used as row weights"} if weight_name else {}
    aside = {name: Column(name, "ignored", reason=reason) for name, reason in why.items()}
    for name, kind in table.types.items():
        unfit = unusable(name, kind)
        if unfit is not None and name not in aside and name not in wanted.kinds and name not in again:
            aside[name] = unfit
    return aside


def _decide(table: Table, name: str, wanted: _Wanted, profile: Profile) -> tuple[Column, ...]:
    kind = table.types[name]
    declared = ("false", "true") if pa.types.is_boolean(kind) else table.declared.get(name, ())
    hints = Hints(table.decimal, wanted.of(name))
    wish = wanted.kinds.get(name)
    if wanted.columns:
        return ()
    if wish is None:
        return inferred(name, kind, profile, declared, hints)
    return wished(name, wish, kind, profile, declared, hints)


def _on_sphere(
    decided: dict[str, tuple[Column, ...]], found: dict[str, Profile], wanted: _Wanted
) -> dict[str, tuple[Column, ...]]:
    """Latitudes and longitudes that span much of the earth, as places on a sphere."""
    usual = [
        name for name, columns in decided.items()
        if name not in wanted.kinds and [(c.kind, c.reading) for c in columns] == [("numeric", None)]
    ]  # fmt: skip
    for lat, lon in pairs(usual):
        if spans_the_earth(found[lat], found[lon]):
            why = f"places on the earth, from {lat!r} and {lon!r}"
            decided[lat] = tuple(
                Column(f"{lat}, {lon}: {axis}", reason=f"{why}: {AXES[axis]}", reading=OnSphere(lat, lon, j))
                for j, axis in enumerate(AXES)
            )
            decided[lon] = ()
    return decided


def _check_names(table: Table, wanted: _Wanted, ignore: tuple[str, ...], weight_name: str | None) -> None:
    names = list(table.types)
    if not names:
        raise DataError(f"{table.title} has no columns.", "Give at least one column.")
    for name in sources_of(wanted.columns):
        if name not in names:
            raise DataError(
                f"{table.title} has no such column.",
                "Give a table with the columns of the first.",
                column=name,
            )
    require_known([] if wanted.columns else list(wanted.kinds), names, "kinds")
    require_known(list(wanted.absent), names, "na")
    require_known(ignore, names, "ignore")
    require_known([weight_name] if weight_name else [], names, "weights")
    for name in ignore:
        wish = wanted.kinds.get(name, Wish("ignored"))
        if wish.kind != "ignored" and not wish.known:
            raise ParameterError(
                f"Column {name!r} is to be ignored and to be {wish.kind}.", "Say one of the two."
            )


def _require_used(table: Table, used: tuple[Column, ...], ignored: tuple[Column, ...]) -> None:
    if not used:
        why = "; ".join(f"{column.name!r}: {column.reason}" for column in ignored[:10])
        more = "; ..." if len(ignored) > 10 else ""
        raise DataError(
            f"{table.title} has no usable column ({why}{more}).",
            "Say what a column is with kinds, for instance {'name': 'numeric'}.",
        )


def _check_cells(source: TableSource, found: dict[str, Profile]) -> None:
    """Where a cell is no level, count or number, read until it is met: the error names its row."""
    for column in source.columns:
        profile = found[column.sources[0]]
        levels = profile.levels
        counts = column.kind != "count" or (profile.whole and profile.low >= 0)
        known = column.kind not in WITH_LEVELS or (levels is not None and levels.keys() <= set(column.levels))
        known = known or isinstance(column.reading, Moment)
        if not (counts and known) or left_over(column, profile):
            for _ in TableSource(source.table, (column,), source.n_rows).pieces(0, source.n_rows):
                pass
