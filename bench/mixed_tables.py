"""Generated tables with columns of every kind, with groups and without.

With groups, a table is a mixture whose parameters the seed draws, and the label of a row is the group it was drawn
from. Where there are groups, parameters are drawn again until Bayes' rule, which knows them all, reaches an adjusted
Rand index of ``LEAST_RAND`` and finds half of every group: what no method could find is not asked for. Without groups
columns may depend on each other in any way that one population explains. Tables are of halves: ``older`` ones were
there while rules were sought, ``fresh`` ones (``bench/mixed_fresh.py``) were written after and have been seen since,
``newer`` ones (``bench/mixed_newer.py``) were written when those had been. Modules that are not there are left out.
"""

from __future__ import annotations

import hashlib
import importlib.util
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from bench.choose_pieces import Labels, Rng

KINDS = ("groups", "none", "measured")
HALVES = ("older", "fresh", "newer")  # of generated tables, in the order in which they were written
LEAST_RAND = 0.6  # convention: of Bayes' rule
TRIES = 200


@dataclass(frozen=True)
class DrawnTable:
    """What a kind draws: columns as users have them, the group (n,) 1.. of each row, and the one by Bayes' rule."""

    frame: pd.DataFrame
    labels: Labels
    oracle: Labels
    families: dict[str, str] = field(default_factory=dict)  # of columns, given the group


@dataclass(frozen=True)
class MixedTable:
    """A table and the group of each row, labels (n,): 1.., 0 is not known; 1 everywhere where there are no groups."""

    name: str
    kind: str  # one of KINDS
    frame: pd.DataFrame
    labels: Labels
    half: str = "older"  # one of HALVES
    oracle: Labels | None = None  # labels by Bayes' rule with the true parameters; None: measured
    families: dict[str, str] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Groups, 1 where there are none to tell apart."""
        return len(np.unique(self.labels[self.labels > 0]))

    @cached_property
    def key(self) -> str:
        """Its name and its very cells."""
        return f"{self.name} {hashlib.sha256(self.frame.to_csv(index=False).encode()).hexdigest()[:12]}"


def none(frame: pd.DataFrame) -> DrawnTable:
    """A table without groups."""
    one = np.ones(len(frame), np.int64)
    return DrawnTable(frame, one, one)


@dataclass(frozen=True)
class Recipe:
    """How a generated table is drawn."""

    name: str
    kind: str  # "groups" or "none"
    draw: Callable[[Rng], DrawnTable]
    half: str = "older"

    def table(self, seed: int) -> MixedTable:
        """The table of a seed, rows shuffled where there are groups."""
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        for _ in range(TRIES):
            drawn = self.draw(rng)
            if self.kind == "none":
                return MixedTable(self.name, self.kind, drawn.frame, drawn.labels, self.half, drawn.oracle)
            if can_be_found(drawn.labels, drawn.oracle):
                order = rng.permutation(len(drawn.labels))
                return MixedTable(
                    self.name, self.kind, drawn.frame.iloc[order].reset_index(drop=True),
                    drawn.labels[order], self.half, drawn.oracle[order], drawn.families,
                )  # fmt: skip
        raise RuntimeError(f"{self.name}: the groups of {TRIES} drawn tables overlap too much")


def can_be_found(labels: Labels, oracle: Labels) -> bool:
    """Whether Bayes' rule tells the groups apart: well enough over all rows, and half of every group."""
    right = [np.mean(oracle[labels == g] == g) for g in np.unique(labels)]
    return bool(min(right) >= 0.5 and adjusted_rand_score(labels, oracle) >= LEAST_RAND)


RECIPES: list[Recipe] = []  # modules register their own


def register(kind: str, draws: dict[str, Callable[[Rng], DrawnTable]], half: str = "older") -> None:
    """Add generated tables. Names are those of answers kept in files: they must be unique."""
    known = {recipe.name for recipe in RECIPES}
    if repeated := known & set(draws):
        raise ValueError(f"tables of these names are there already: {sorted(repeated)}")
    RECIPES.extend(Recipe(name, kind, draw, half) for name, draw in draws.items())


def recipes() -> list[Recipe]:
    """Those of all halves."""
    for module in ("mixed_people", "mixed_things", "mixed_surveys", "mixed_hard", "mixed_none", "mixed_linked",
                   "mixed_fresh", "mixed_newer"):  # fmt: skip
        if importlib.util.find_spec(f"bench.{module}") is not None:
            importlib.import_module(f"bench.{module}")
    return list(RECIPES)


def all_tables(
    seed: int = 0, *, measured: bool = True, kinds: Iterable[str] = KINDS, words: str = "", half: str = ""
) -> Iterator[MixedTable]:
    """Generated tables of one seed, and measured ones; those with ``words`` in their names."""
    wanted = set(kinds)
    for recipe in recipes():
        if recipe.kind in wanted and words in recipe.name and half in ("", recipe.half):
            yield recipe.table(seed)
    if measured and "measured" in wanted and importlib.util.find_spec("bench.mixed_measured") is not None:
        from bench.mixed_measured import measured_tables

        yield from (table for table in measured_tables() if words in table.name)
