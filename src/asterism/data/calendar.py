"""Dates and times of a column, counted: from when to when, and how they fall on the circles of day, week and year."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.dates import ORDERS, Order, ParsedDates, days_and_hours


@dataclass(frozen=True, slots=True)
class Calendar:
    """Dates and times, counted."""

    cells: int = 0  # that are dates
    low: float = np.inf  # days since 1970, with their fraction
    high: float = -np.inf
    timed: int = 0  # cells with a time of day
    hours: tuple[int, ...] = (0,) * 24
    weekdays: tuple[int, ...] = (0,) * 7
    months: tuple[int, ...] = (0,) * 12
    least_hour: float = np.inf
    most_hour: float = -np.inf

    @classmethod
    def of(cls, days: NDArray[np.float64], hours: NDArray[np.float64], times: NDArray[np.int64]) -> Calendar:
        """Of cells that occur so many times; NaN: none."""
        dated, timed = ~np.isnan(days), ~np.isnan(hours)
        moment = days[dated] + np.nan_to_num(hours[dated]) / 24
        whole = days[dated].astype("datetime64[D]")
        hour = hours[timed]
        return cls(
            int(times[dated].sum()),
            float(moment.min(initial=np.inf)),
            float(moment.max(initial=-np.inf)),
            int(times[timed].sum()),
            _counted(np.clip(hour.astype(int), 0, 23), times[timed], 24),
            _counted((days[dated].astype(int) + 3) % 7, times[dated], 7),  # 1970 began on a Thursday
            _counted(whole.astype("datetime64[M]").astype(int) % 12, times[dated], 12),
            float(hour.min(initial=np.inf)),
            float(hour.max(initial=-np.inf)),
        )

    def merge(self, other: Calendar) -> Calendar:
        """Both sets of cells."""
        return Calendar(
            self.cells + other.cells,
            min(self.low, other.low),
            max(self.high, other.high),
            self.timed + other.timed,
            _added(self.hours, other.hours),
            _added(self.weekdays, other.weekdays),
            _added(self.months, other.months),
            min(self.least_hour, other.least_hour),
            max(self.most_hour, other.most_hour),
        )

    @property
    def span(self) -> float:
        """Days from the first to the last."""
        return self.high - self.low if self.cells else 0.0


@dataclass(frozen=True, slots=True)
class Dates:
    """What of a column of text is dates, in every order they may be written in, and what is times alone."""

    orders: tuple[Calendar, ...] = (Calendar(),) * 3  # year, day, month first
    clock: Calendar = field(default_factory=Calendar)  # cells that are a time of day and no date
    slashes: int = 0

    @classmethod
    def of(cls, found: ParsedDates, times: NDArray[np.int64]) -> Dates:
        """Of cells that occur so many times."""
        dated = ~(np.isnan(found.days["day"]) & np.isnan(found.days["month"]))
        alone = np.where(dated, np.nan, found.hours)
        return cls(
            tuple(
                Calendar.of(days, np.where(np.isnan(days), np.nan, found.hours), times)
                for days in (found.days[order] for order in ORDERS)
            ),
            Calendar.of(np.full(len(alone), np.nan), alone, times),
            int(times[found.slash].sum()),
        )

    def merge(self, other: Dates) -> Dates:
        """Both sets of cells."""
        return Dates(
            tuple(mine.merge(its) for mine, its in zip(self.orders, other.orders, strict=True)),
            self.clock.merge(other.clock),
            self.slashes + other.slashes,
        )

    @property
    def order(self) -> Order:
        """The order that most cells allow."""
        _, day, month = self.orders
        first: Order = "month" if 2 * self.slashes > max(day.cells, month.cells) else "day"
        return first if day.cells == month.cells else "day" if day.cells > month.cells else "month"

    @property
    def ambiguous(self) -> bool:
        """Whether day and month could change places in every cell, and it matters."""
        year, day, month = self.orders
        return day.cells == month.cells > year.cells and (day.low, day.high) != (month.low, month.high)


def _counted(codes: Any, times: NDArray[np.int64], parts: int) -> tuple[int, ...]:
    return tuple(np.bincount(codes, times, parts).astype(int).tolist())


def _added(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def calendar_of(array: Any) -> Calendar:
    """The dates and times of an Arrow array of such a type."""
    days, hours = days_and_hours(array)
    return Calendar.of(days, hours, np.ones(len(days), np.int64))


# --- which parts ---------------------------------------------------------------------------------------------------


def in_cycle(counts: Sequence[int]) -> bool:
    """Whether the parts of a circle are not even, by BIC.

    >>> in_cycle([10] * 7), in_cycle([30, 30, 30, 30, 30, 2, 1])
    (False, True)
    """
    c = np.array(counts, float)
    n, parts = c.sum(), len(c)
    some = c > 0
    ratio = 2 * float((c[some] * np.log(c[some] * parts / n)).sum()) if n else 0.0
    return bool(ratio > (parts - 1) * np.log(max(n, 2.0)))


def opening(counts: Sequence[int]) -> int:
    """Where a circle is cut: before the part that this is the number of, at its emptiest place.

    >>> opening([0, 0, 0, 5, 9, 5, 0, 0]), opening([5, 1, 0, 0, 1, 5, 9, 9])
    (0, 3)
    """
    c = np.array(counts)
    n = len(c)

    def near(cut: int) -> tuple[int, ...]:
        return tuple(int(c[np.arange(cut - r, cut + r) % n].sum()) for r in range(1, n // 2 + 1))

    return min(range(n), key=lambda cut: (near(cut), cut))
