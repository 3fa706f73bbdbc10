"""How columns of a table become columns that a mixture can model: plain, by a logarithm, a root, an asinh, as counts.

=========  =========================================  ===================================================
form       modelled value g(x)                        for
=========  =========================================  ===================================================
plain      x                                          anything
log        s log(s (x - shift)), s = 1 or -1          incomes, sizes, times: errors in proportion
root       sqrt(x + 3/8)                              large counts: variance in proportion to the mean
asinh      asinh((x - shift) / unit)                  heavy tails on both sides
count      x - shift, of kind ``count``               small counts
=========  =========================================  ===================================================

Any form may have a *point*, one value with a share of the rows (zero spend). The column then becomes two: a boolean,
"is the cell at the point", and the rest in its form, missing where the cell is at the point. Mixtures integrate
missing cells out, so that the two together are a hurdle model. A count with a point at 0 counts the rest from 1.

Every form rises with x. A cell outside the domain (a negative new value of a logarithm) becomes the nearest value
inside. Nothing is estimated here: ``verdict.margins`` does that.

References
----------
1. Anscombe (1948), The transformation of Poisson, binomial and negative-binomial data. Biometrika 35:246-254.
2. Mullahy (1986), Specification and testing of some modified count data models. Journal of Econometrics 33:341-365.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix, Vector
from asterism.data.columns import Column, unique_names
from asterism.data.source import Piece, Source, part_within
from asterism.errors import ModelFileError

FormKind = Literal["plain", "log", "root", "asinh", "count"]
FORMS: tuple[FormKind, ...] = ("plain", "log", "root", "asinh", "count")
ANSCOMBE = 3.0 / 8.0  # derived: the variance of sqrt(x + 3/8) is 1/4 + O(1 / mean^2) for Poisson x

# --- one column -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Form:
    """How one column becomes one or two modelled columns.

    >>> incomes = Form("log", least=0.5)
    >>> incomes.of(np.array([1.0, np.e, np.nan, -3.0])).round(2).tolist()
    [0.0, 1.0, nan, -0.69]
    """

    kind: FormKind = "plain"
    shift: float = 0.0  # log: the end of the domain; asinh: the centre; count: the least count
    unit: float = 1.0  # asinh: where it turns from a line to a logarithm
    sign: int = 1  # log: -1 for values below the shift
    least: float = 0.0  # log: the least distance from the shift, more than 0
    point: float | None = None  # a value with a share of the rows
    share: float = 0.0  # of rows at the point, for words

    @property
    def is_plain(self) -> bool:
        """Nothing is done."""
        return self.kind == "plain" and self.point is None

    def of(self, cells: NDArray[Any]) -> Vector:
        """(n,) modelled values of cells that are not at the point; NaN and infinite cells stay as they are."""
        x = np.asarray(cells, np.float64)
        if self.kind == "plain":
            return x
        with np.errstate(invalid="ignore"):
            y = self._distance(x)
            if self.kind == "log":
                out = self.sign * np.log(y)
            elif self.kind == "root":
                out = np.sqrt(y + ANSCOMBE)
            else:
                out = np.arcsinh(y) if self.kind == "asinh" else y
        return np.where(np.isfinite(x), out, x)

    def back(self, values: NDArray[Any]) -> Vector:
        """(n,) cells that have these modelled values."""
        z = np.asarray(values, np.float64)
        if self.kind == "log":
            return self.shift + self.sign * np.exp(self.sign * z)
        if self.kind == "root":
            return z**2 - ANSCOMBE
        if self.kind == "asinh":
            return self.shift + self.unit * np.sinh(z)
        return z + self.shift if self.kind == "count" else z

    def log_slope(self, cells: NDArray[Any]) -> Vector:
        """(n,) log g'(x); 0 for missing cells, plain columns, and counts, which have no density to carry over."""
        x = np.asarray(cells, np.float64)
        if self.kind in ("plain", "count"):
            return np.zeros(x.shape)
        with np.errstate(invalid="ignore"):
            y = self._distance(x)
            if self.kind == "log":
                slope = -np.log(y)
            elif self.kind == "root":
                slope = -np.log(2.0) - 0.5 * np.log(y + ANSCOMBE)
            else:
                slope = -0.5 * np.log1p(y**2) - np.log(self.unit)
        return np.where(np.isfinite(x), slope, 0.0)

    def _distance(self, x: Vector) -> Vector:
        """Cells in the domain, counted from its end or centre."""
        if self.kind == "log":
            return np.maximum(self.sign * (x - self.shift), self.least)
        if self.kind == "root":
            return np.maximum(x, 0.0)
        if self.kind == "count":
            return np.maximum(np.rint(x - self.shift), 0.0)
        return (x - self.shift) / self.unit

    def words(self, before: str = "numbers") -> str:
        """What is done, for people.

        >>> Form("log", least=1.0).words(), Form("count").words("whole numbers"), Form(point=0.0, share=0.31).words()
        ('numbers, seen by their logarithm', 'whole numbers, seen as counts', 'numbers, with 31% exactly 0')
        """
        point = "" if self.point is None else f", with {self.share:.0%} exactly {self.point:g}"
        others = " the others" if point and self.kind != "plain" else ""
        return f"{before}{point}{',' if self.kind != 'plain' else ''}{others}{WORDS[self.kind]}"


WORDS: dict[str, str] = {
    "plain": "",
    "log": " seen by their logarithm",
    "root": " seen by their square root",
    "asinh": " seen by their asinh, for their tails are heavy",
    "count": " seen as counts",
}


# --- all columns ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Margins:
    """The forms of the columns of a table.

    >>> spend = Margins((Column("age"), Column("spend")), (Form(), Form("log", least=0.5, point=0.0, share=0.4)))
    >>> [(column.name, column.kind) for column in spend.modelled], spend.origins
    ([('age', 'numeric'), ('spend = 0', 'boolean'), ('spend', 'numeric')], (0, 1, 1))
    >>> spend.apply(np.array([[41.0, 0.0], [38.0, 1.0]]))
    array([[41.,  1., nan],
           [38.,  0.,  0.]])
    """

    columns: tuple[Column, ...]  # of the source
    forms: tuple[Form, ...]  # one a column

    @classmethod
    def plain(cls, columns: tuple[Column, ...]) -> Margins:
        """Every column as it is."""
        return cls(columns, (Form(),) * len(columns))

    @property
    def is_plain(self) -> bool:
        """Nothing is done to any column."""
        return all(form.is_plain for form in self.forms)

    @cached_property
    def modelled(self) -> tuple[Column, ...]:
        """The columns that come out."""
        out: list[Column] = []
        for column, form in zip(self.columns, self.forms, strict=True):
            if form.point is not None:
                out.append(Column(f"{column.name} = {form.point:g}", "boolean", ("false", "true")))
            seen = "count" if form.kind == "count" else "numeric"
            out.append(column if form.kind == "plain" else replace(column, kind=seen))  # type: ignore[arg-type]
        names = unique_names([column.name for column in out])
        return tuple(replace(column, name=name) for column, name in zip(out, names, strict=True))

    @cached_property
    def origins(self) -> tuple[int, ...]:
        """Place of the source column that each modelled one comes from."""
        return tuple(j for j, form in enumerate(self.forms) for _ in range(1 + (form.point is not None)))

    def apply(self, rows: Matrix) -> Matrix:
        """Rows (n, d) of the source -> (n, len(modelled)), in the same precision."""
        out = np.empty((len(rows), len(self.origins)), rows.dtype)
        place = 0
        for j, form in enumerate(self.forms):
            cells = rows[:, j]
            if form.point is not None:
                at = cells == np.asarray(form.point, rows.dtype)
                out[:, place] = np.where(np.isnan(cells), np.nan, at)
                out[:, place + 1] = np.where(at, np.nan, form.of(cells))
                place += 2
            else:
                out[:, place] = form.of(cells)
                place += 1
        return out

    def log_jacobian(self, rows: Matrix) -> Vector:
        """(n,) what a log density of modelled rows needs to become one in the units of the source: sum log g'(x)."""
        total = np.zeros(len(rows))
        for j, form in enumerate(self.forms):
            slope = form.log_slope(rows[:, j])
            total += slope if form.point is None else np.where(rows[:, j] == form.point, 0.0, slope)
        return total

    def described(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """These columns, the reason of each saying how it is seen."""
        return tuple(
            column if form.is_plain else replace(column, reason=_seen(column, form))
            for column, form in zip(columns, self.forms, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a model file; the columns are the model's."""
        return {"forms": [{name: getattr(form, name) for name in FIELDS} for form in self.forms]}

    @classmethod
    def from_dict(cls, spec: Any, columns: tuple[Column, ...]) -> Margins:
        """What ``to_dict`` gave; a ``ModelFileError`` where it makes no sense.

        >>> some = Margins((Column("x"),), (Form("log", least=0.25),))
        >>> Margins.from_dict(some.to_dict(), some.columns) == some
        True
        """
        forms = spec.get("forms") if isinstance(spec, Mapping) else None
        _require(isinstance(forms, list) and len(forms) == len(columns), "a form for each column")
        assert isinstance(forms, list)
        found = cls(columns, tuple(map(_form_in_file, forms)))
        numbers = all(
            form.is_plain or column.kind == "numeric"
            for form, column in zip(found.forms, columns, strict=True)
        )
        _require(numbers, "forms for columns of numbers alone")
        return found


FIELDS = ("kind", "shift", "unit", "sign", "least", "point", "share")


def _seen(column: Column, form: Form) -> str:
    """What a column is, how it is seen, and how its cells are read."""
    if column.reading is None:
        return form.words("whole numbers" if column.reason.startswith("whole numbers") else "numbers")
    noun, mark, rest = column.reason.partition(";")
    return f"{form.words(noun)}{mark}{rest}"


def _form_in_file(spec: Any) -> Form:
    _require(isinstance(spec, Mapping) and set(spec) == set(FIELDS), "the fields of a form")
    numbers = [spec[name] for name in ("shift", "unit", "least", "share")]
    if spec["point"] is not None:
        numbers.append(spec["point"])
    plain = all(type(value) in (int, float) and math.isfinite(value) for value in numbers)
    _require(plain and spec["kind"] in FORMS, "known forms with finite numbers")
    _require(
        spec["unit"] > 0 and spec["sign"] in (1, -1) and type(spec["sign"]) is int,
        "forms with a unit and a sign",
    )
    _require(spec["kind"] != "log" or spec["least"] > 0, "logarithms of positive numbers")
    _require(0 <= spec["share"] <= 1, "shares between 0 and 1")
    return Form(**spec)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ModelFileError(
            f"The model file should hold {what}.", "It was not written by Asterism, or is damaged."
        )


# --- a table ----------------------------------------------------------------------------------------------------


class MarginSource(Source):
    """A source seen through its margins. Its blocks are its own: it may be the wider one."""

    def __init__(self, source: Source, margins: Margins) -> None:
        self.source, self.margins = source, margins
        self.columns = margins.modelled
        self.n_rows, self.dtype, self.ignored = source.n_rows, source.dtype, source.ignored

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Pieces of the table, no more than a block at a time."""
        size = self.block_rows
        for rows, weights in self.source.pieces(start, stop):
            for a in range(0, len(rows), size):
                part = None if weights is None else weights[a : a + size]
                yield self.margins.apply(rows[a : a + size]), part

    def part(self, first: int, last: int) -> Source:
        """The part of the table that holds these blocks, and the margins."""
        inner, stop = part_within(self, self.source, first, last)
        part = MarginSource(inner, self.margins)
        part.n_rows = stop
        return part
