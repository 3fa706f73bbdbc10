"""Where a table ends among the lines of a file: above its totals and remarks.

A line that says "Total" is one if a column above it adds up to it (or has it for its mean), or if it has an empty
cell where the rows above have none. A line that does not say so is one only if it has no name where rows have one
and everything else in it adds up, or if it is all sums, of two columns at least. Sums are taken of the numbers in
cells, whatever stands around them ("1.234,50 EUR"), in either convention. What was passed over is said, and
``keep_totals`` keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from asterism.data.cells import NUMBER, numbers_in_text
from asterism.data.heading import Cells, filled

TOTAL = re.compile(
    r"((grand|sub|over)?[ -]?(totals?|sums?)|overall|average|mean|(gesamt|end|zwischen)?summe|gesamt|insgesamt|"
    r"durchschnitt|mittelwert|somme|moyenne|totale|totaal|suma|media|итого)\b|合计|合計|総計",
    re.I,
)
REMARK = re.compile(
    r"source|quelle|note|remark|anmerkung|stand\b|created|generated|exported|erstellt|©|\*|\(", re.I
)
MOST_BELOW = 10  # convention: lines below the rows
MIN_ROWS = 3  # convention: rows above a line that says it is a total
MIN_ROWS_UNNAMED = 5  # convention: rows above one that does not
SURE_COLUMNS = 2  # convention: sums that make a total of a line without a gap that does not say so

# (lines at the bottom to leave out, places of columns) -> batches of their cells, as Arrow text
Above = Callable[[int, Sequence[int]], Iterable[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Ending:
    """The last lines of a file that are no rows, from the bottom upwards: how many, and what to say of them."""

    lines: int = 0
    note: str = ""


def ending_of(rows: Sequence[Cells], width: int, above: Above) -> Ending:
    """What stands below the rows of a table.

    ``rows``   the last lines of the file, or all of them (not the names); each as long as it was written
    ``above``  gives the cells of all lines but the last few; it is asked only where the last lines look like totals
    """
    at, remarks = len(rows), list[str]()
    while at > MIN_ROWS and len(rows) - at < MOST_BELOW:
        row = rows[at - 1]
        if filled(row):
            if not _is_remark(row, width, after_gap=not filled(rows[at - 2])):
                break
            remarks.insert(0, row[0].strip())
        at -= 1
    totals = _totals(rows[:at], width, len(rows) - at, above)
    said = [f"the line of totals {' '.join(' '.join(row).split())[:60]!r}" for row in rows[at - totals : at]]
    said += [f"the remark {remark[:60]!r}" for remark in remarks]
    if not said:
        return Ending()  # empty lines alone may be rows whose cells are missing
    lines = len(rows) - at + totals
    return Ending(lines, f"Passed over below the rows: {', '.join(said)} (--keep-totals keeps such lines).")


def _is_remark(row: Cells, width: int, after_gap: bool) -> bool:
    holds = filled(row)
    text = row[holds[0]].strip()
    if holds != [0] or width < 2 or re.match(NUMBER, text) or TOTAL.match(text):
        return False
    alone = len(row) < width or width > 2
    return alone and (REMARK.match(text) is not None or (after_gap and " " in text))


def _totals(rows: Sequence[Cells], width: int, beneath: int, above: Above) -> int:
    """How many of the last rows are totals; ``beneath`` lines below them are none of the table anyway."""
    named = 0
    while named < MOST_BELOW and len(rows) - named > MIN_ROWS and _says_total(rows[-1 - named]):
        named += 1
    lines, others = rows[len(rows) - max(named, 1) :], rows[: len(rows) - max(named, 1)]
    if any(len(line) > width or (len(line) < width and not named) for line in lines):
        return 0
    lines = [[*line, *[""] * (width - len(line))] for line in lines]
    if named:
        unsure = [line for line in lines if not _gaps(line, others)]
        return named if not unsure or all(_adds_up(line, named + beneath, above)[0] for line in unsure) else 0
    if len(rows) <= MIN_ROWS_UNNAMED or not _may_be_sums(lines[0], others):
        return 0
    agree, differ = _adds_up(lines[0], 1 + beneath, above, sums_only=True)
    return int(differ == 0 and agree >= (1 if _gaps(lines[0], others) else SURE_COLUMNS))


def _says_total(row: Cells) -> bool:
    holds = filled(row)
    return bool(holds) and TOTAL.match(row[holds[0]].strip()) is not None


def _gaps(line: Cells, others: Sequence[Cells]) -> bool:
    """Whether it has an empty cell where the other lines seen have none."""
    whole = [row for row in others if len(row) == len(line)]
    return bool(whole) and any(
        not cell.strip() and all(row[j].strip() for row in whole) for j, cell in enumerate(line)
    )


def _may_be_sums(line: Cells, others: Sequence[Cells]) -> bool:
    """Whether every filled cell is at least as far from 0 as its column is in the lines seen: cheap, and mostly
    false."""
    whole = [row for row in others if len(row) == len(line)]
    for place in filled(line):
        for comma in (False, True):
            [value], seen = (
                numbers_in(pa.array(cells), comma) for cells in ([line[place]], [row[place] for row in whole])
            )
            if not np.isnan(value) and abs(value) >= np.nanmax(np.abs(seen), initial=0.0):
                break
        else:
            return False
    return True


def _adds_up(line: Cells, beneath: int, above: Above, *, sums_only: bool = False) -> tuple[int, int]:
    """Filled cells of the line that are the sum (or mean) of their column, and those that are not."""
    places = [j for j in filled(line) if re.search(r"\d", line[j])]
    sums = {(j, comma): Sum() for j in places for comma in (False, True)}
    for batch in above(beneath, places):
        for j, cells in zip(places, batch, strict=True):
            for comma in (False, True):
                sums[j, comma] = sums[j, comma].merge(Sum.of(numbers_in(cells, comma)))
    agree = {j for (j, comma), total in sums.items() if total.is_written(line[j], comma, sums_only)}
    return len(agree), len(filled(line)) - len(agree)


@dataclass(frozen=True, slots=True)
class Sum:
    """Numbers of one column added up."""

    total: float = 0.0
    size: float = 0.0  # the sum of their absolute values
    count: int = 0

    @classmethod
    def of(cls, numbers: Any) -> Sum:
        """Of an array; NaN is left out."""
        here = numbers[~np.isnan(numbers)]
        return cls(float(here.sum()), float(np.abs(here).sum()), len(here))

    def merge(self, other: Sum) -> Sum:
        """Both."""
        return Sum(self.total + other.total, self.size + other.size, self.count + other.count)

    def is_written(self, cell: str, comma: bool, sums_only: bool) -> bool:
        """Whether the cell is this sum (or its mean) to the last digit that it shows, where the sum is not empty."""
        [value] = numbers_in(pa.array([cell]), comma)
        if np.isnan(value) or not self.size:
            return False
        shown = re.sub(r"[^\d.,]", "", cell).rpartition("," if comma else ".")
        unit = 0.5 * 10.0 ** -(len(shown[2]) if shown[1] else 0) * (1 + 1e-9)
        slack = unit + 1e-12 * self.size
        return abs(value - self.total) <= slack or (
            not sums_only and abs(value - self.total / max(self.count, 1)) <= slack
        )


def numbers_in(cells: Any, comma: bool) -> Any:
    """(n,) the numbers in text, whatever stands around them; ``comma`` is their decimal sign, or else the point.

    >>> numbers_in(pa.array(["$1,234.50", "(12)", "n/a"]), False), numbers_in(pa.array(["-1.234,50 EUR"]), True)
    (array([1234.5,  -12. ,    nan]), array([-1234.5]))
    """
    digits = pc.replace_substring_regex(cells, r"[^0-9.,]", "")
    digits = pc.replace_substring(digits, "." if comma else ",", "")
    values, _ = numbers_in_text(pc.replace_substring(digits, ",", ".") if comma else digits)
    negative = pc.fill_null(pc.match_substring_regex(cells, r"^\s*\(|^[^0-9]*[-−][^0-9]*[0-9]"), False)
    return np.where(negative.to_numpy(zero_copy_only=False), -values, values)
