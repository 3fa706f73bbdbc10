"""Tables of numbers with known groups, and tables without groups.

A group is a region where rows gather, of any shape, with clearly fewer rows between it and the next; where groups
overlap, it is one of the distributions that rows were drawn from, or a published class. Generated tables come from a
seed that draws sizes, places and widths too. Tables are of two halves: ``older`` ones were there while the rule of
the verdict was sought, ``fresh`` ones (``bench/choose_fresh.py``) were written after it was fixed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bench.choose_classes import CLASSES
from bench.choose_classics import CLASSICS
from bench.choose_curves import CURVES
from bench.choose_none import NONE
from bench.choose_normals import NOISE, ROUND, WIDE
from bench.choose_pictures import PICTURES
from bench.choose_pieces import Array, Drawn, Labels, Rng, rotation
from bench.choose_regions import REGIONS

KINDS = ("shape", "round", "noise", "wide", "measured", "none")


@dataclass(frozen=True)
class LabelledTable:
    """Rows (n, d) and the group of each, labels (n,): 1.. are groups, 0 is background noise that no score counts. A
    table without groups has the label 1 everywhere."""

    name: str
    kind: str  # one of KINDS
    rows: Array
    labels: Labels
    half: str = "older"  # or "fresh"
    accepted: int = 0  # groups usually given of a measured table without classes, whose labels are all 0

    @property
    def k(self) -> int:
        """Groups, 1 where there are none to tell apart."""
        return self.accepted or len(np.unique(self.labels[self.labels > 0]))

    @property
    def key(self) -> str:
        """Its name and its very cells."""
        return f"{self.name} {hashlib.sha256(np.ascontiguousarray(self.rows).tobytes()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Recipe:
    """How a generated table is drawn."""

    name: str
    kind: str
    draw: Callable[[Rng], Drawn]
    half: str = "older"

    def table(self, seed: int) -> LabelledTable:
        """The table of a seed. Rows are shuffled and half of the shapes turned at random; where there are no groups
        the order is kept, as walks are in it."""
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        rows, labels = self.draw(rng)
        if self.kind == "shape" and rng.uniform() < 0.5:
            rows = rows @ rotation(rng, rows.shape[1])
        if self.kind != "none":
            order = rng.permutation(len(rows))
            rows, labels = rows[order], labels[order]
        return LabelledTable(
            self.name, self.kind, np.ascontiguousarray(rows), labels.astype(np.int64), self.half
        )


RECIPES: list[Recipe] = []  # bench/choose_fresh.py registers its own


def register(kind: str, draws: dict[str, Callable[[Rng], Drawn]], half: str = "older") -> None:
    """Add generated tables. Names are those of answers kept in files: they must be unique."""
    known = {recipe.name for recipe in RECIPES}
    if repeated := known & set(draws):
        raise ValueError(f"tables of these names are there already: {sorted(repeated)}")
    RECIPES.extend(Recipe(name, kind, draw, half) for name, draw in draws.items())


for _kind, _draws in (
    ("shape", CURVES), ("shape", REGIONS), ("shape", PICTURES), ("round", ROUND), ("noise", NOISE),
    ("wide", WIDE), ("none", NONE), *CLASSICS.items(), *CLASSES.items(),
):  # fmt: skip
    register(_kind, _draws)


def recipes() -> list[Recipe]:
    """Those of both halves."""
    if importlib.util.find_spec("bench.choose_fresh") is not None:
        importlib.import_module("bench.choose_fresh")
    return list(RECIPES)


def all_tables(
    seed: int = 0, *, measured: bool = True, kinds: Iterable[str] = KINDS, words: str = ""
) -> Iterator[LabelledTable]:
    """Generated tables of one seed, both halves, and measured ones; those with ``words`` in their names."""
    wanted = set(kinds)
    for recipe in recipes():
        if recipe.kind in wanted and words in recipe.name:
            yield recipe.table(seed)
    if measured and "measured" in wanted:
        from bench.choose_measured import measured_tables

        yield from (table for table in measured_tables() if words in table.name)
