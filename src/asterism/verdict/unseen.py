"""What could not have been seen: how small a group, and how near another, may be and be missed.

* rows   a group needs max(4, sqrt(m) / 4) of the m rows that numbers are compared on; of n rows in the table n / m
         times as many. Far groups of 100 rows or more are found in all rows of long tables (``verdict.rare``)
* apart  two normal groups of one size, by rows and columns: simulated, and never less than what the direction of most
         spread must stand out by (``words.nearest_seen``)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asterism.methods.density_tree import least_size
from asterism.verdict.words import nearest_seen

# Standard deviations that are enough in four of five tables. measured: bench/unseen, 10 tables each
ROWS = (50.0, 200.0, 800.0)
APART = {2: (4.6, 3.7, 3.4), 6: (6.5, 4.9, 4.0)}
FOUND_IN_ALL_ROWS = 100  # derived: rare_model's least rare group


@dataclass(frozen=True)
class Unseen:
    """Limits of what a search could see."""

    rows: int  # a group of fewer is no group to it
    apart: (
        float | None
    )  # standard deviations below which two equal groups are missed in more than one of five tables
    sampled: int | None  # rows that numbers were compared on; None: all

    @property
    def sentence(self) -> str:
        """In words."""
        beside = f" (numbers were compared on {self.sampled:,} rows)" if self.sampled else ""
        far = (
            f"; far groups from {FOUND_IN_ALL_ROWS} rows on are looked for in all rows"
            if self.sampled
            else ""
        )
        near = ""
        if self.apart is not None:
            near = f" Two normal groups of one size and spread less than {self.apart:.1f} standard deviations apart"
            near += " may have been missed."
        return f"Groups of fewer than {self.rows:,} rows would have been missed{beside}{far}.{near}"


def unseen_in(n_rows: int, n_columns: int, sample: int, *, numbers: bool) -> Unseen:
    """The limits for a table; ``sample``: rows that numbers are compared on at the most.

    ``numbers``  all columns are: of others nearness is not told in deviations
    """
    compared = min(n_rows, sample)
    least = least_size(float(compared)) * n_rows / compared
    apart = enough_apart(compared, n_columns) if numbers else None
    return Unseen(int(np.ceil(least)), apart, compared if compared < n_rows else None)


def enough_apart(rows: int, columns: int) -> float:
    """Standard deviations that are enough: between simulated numbers on the logarithm of rows; held beyond them."""
    at = np.log(np.clip(rows, ROWS[0], ROWS[-1]))
    narrow, wide = (float(np.interp(at, np.log(ROWS), APART[d])) for d in (2, 6))
    between = float(np.interp(columns, (2, 6), (narrow, wide)))
    return round(max(between, nearest_seen(float(rows), columns)), 1)
