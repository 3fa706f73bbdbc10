"""How many groups, by the scatter within them and between them.

The k with the largest Calinski-Harabasz index is taken. With W_k the within sum of squares, T = W_1 and n the
total weight,

    CH(k) = (T - W_k) / (k - 1)  /  (W_k / (n - k))

which is defined from k = 2 on: it picks the best of several groupings, and cannot say that there are none.

References
----------
1. Calinski, Harabasz (1974), A dendrite method for cluster analysis. Communications in Statistics 3:1-27.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from asterism.errors import WeightError
from asterism.metrics.internal import calinski_harabasz

CRITERION = "Calinski-Harabasz"


class Fit(Protocol):
    """What is compared: the result of one k."""

    @property
    def inertia(self) -> float:
        """W_k."""
        ...

    @property
    def n_iter(self) -> int:
        """Steps done."""
        ...

    @property
    def status(self) -> str:
        """ "settled", or the limit it stopped at."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """One number of groups that was tried."""

    k: int
    within: float  # W_k, sum of w ||x - centre||^2 in the scaled columns
    explained: float  # 1 - W_k / T
    calinski_harabasz: float | None  # None for k = 1, where it is not defined
    steps: int  # of k-means
    status: str  # "settled", or the limit it stopped at


@dataclass(frozen=True, slots=True)
class Choice:
    """How the number of groups came about."""

    k: int
    criterion: str | None  # None where the user gave k
    table: tuple[Candidate, ...]  # by k

    @property
    def chosen(self) -> Candidate:
        """The row of the table that was taken."""
        return next(row for row in self.table if row.k == self.k)

    @property
    def settled(self) -> bool:
        """Whether every candidate went on until it no longer moved."""
        return all(row.status == "settled" for row in self.table)

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped the search."""
        return any(row.status == "interrupted" for row in self.table)


def choose_by_scatter(fits: Mapping[int, Fit], ks: list[int], n: float, *, asked: bool) -> Choice:
    """The k of ``ks`` with the largest index; the smallest of several that are equally good.

    ``fits`` must hold k = 1 too, whose sum of squares is the total; ``n`` is the total weight of the rows;
    ``asked`` says that the user gave this very k.
    """
    total = fits[1].inertia
    table = tuple(_candidate(fits[k], k, total, n) for k in ks)
    judged = [row for row in table if row.calinski_harabasz is not None]
    if not judged and len(table) > 1:
        raise WeightError(
            f"The weights sum to {n:g}, as if the table had no more rows than that, too few to compare "
            f"{ks[-1]} groups.",
            "Multiply the weights so that they sum to the number of rows, or give one k.",
        )
    best = max(judged, key=_index, default=table[0])
    return Choice(best.k, None if asked else CRITERION, table)


def _index(row: Candidate) -> float:
    return -math.inf if row.calinski_harabasz is None else row.calinski_harabasz


def _candidate(fit: Fit, k: int, total: float, n: float) -> Candidate:
    within = float(fit.inertia)
    explained = 1.0 - within / total if total > 0 else 0.0
    return Candidate(k, within, explained, calinski_harabasz(within, total, k, n), fit.n_iter, fit.status)


def verdict(choice: Choice) -> str:
    """How many groups and why, in plain words, with what the index cannot tell."""
    best = choice.chosen
    groups = "1 group" if choice.k == 1 else f"{choice.k} groups"
    said = [f"{groups}, which explain {best.explained:.0%} of the spread of the rows."]
    if choice.criterion is None:
        said.append("That number was given, so nothing was compared.")
    elif best.calinski_harabasz is None:
        said.append("The table has too few rows to compare numbers of groups.")
    else:
        said += _why(choice, best)
    if choice.interrupted:
        said.append("The search was interrupted: this is the best so far.")
    elif not choice.settled:
        said.append("The search stopped at a limit before it settled: usable, but it could improve.")
    return " ".join(said)


def _why(choice: Choice, best: Candidate) -> list[str]:
    judged = [row for row in choice.table if row.calinski_harabasz is not None]
    tried = f"k = {judged[0].k}" if len(judged) == 1 else f"k = {judged[0].k} to {judged[-1].k}"
    said = [f"Of {tried} it has the largest {choice.criterion} index."]
    second = max((row for row in judged if row is not best), key=_index, default=None)
    if second is not None and math.isfinite(_index(best)):
        said.append(f"The next best, k = {second.k}, reaches {_index(second) / _index(best):.0%} of it.")
    if best is judged[-1] and len(judged) > 1:
        said.append("It is also the largest number tried: try more.")
    said.append(
        "This index compares groupings and always takes one: it cannot say that a table has no groups."
    )
    return said
