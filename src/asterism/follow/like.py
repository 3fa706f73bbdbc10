"""A search that follows an earlier one: what it starts from, and the numbers and names of the groups it finds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.data.like import read_like
from asterism.data.source import Source
from asterism.engines.context import current
from asterism.engines.reduce import map_rows
from asterism.estimators.base import WeightedSource
from asterism.follow.columns import seen_columns
from asterism.follow.drift import differences, drifted, model_of
from asterism.follow.events import Event, Moved, Story, moved, tallied
from asterism.follow.matching import Match, Overlap, match
from asterism.groups.baseline import figures_of, standing_of
from asterism.groups.figures import Figures, Standing
from asterism.groups.judges import MixtureJudge
from asterism.groups.model import GroupModel
from asterism.groups.numbered import numbers_of, plain_judge
from asterism.stats.base import Joined
from asterism.verdict.offered import Offered

ALIEN = 0.01  # derived: rows below a typicality of 1%, where the model does not say how many it expects


@dataclass(frozen=True, eq=False)
class Past:
    """An earlier model, and where the rows of a new table stand in it."""

    model: GroupModel
    source: Source  # the table with the columns of the model, in its rows' new weights
    weights: Vector  # (n,)
    standing: Standing
    figures: Figures | None  # of the table; None: the model has no baseline
    drifted: bool

    @classmethod
    def of(cls, like: Any, table: Any, used: Source) -> Past:
        """``used``: the rows of the table that take part in the search."""
        model = model_of(like)
        plain, fit = read_like(table, model.columns, absent="missing", memory=current().memory)
        weights = map_rows(used, lambda block: block.weights)
        source = WeightedSource(plain, weights)
        standing = standing_of(model, source)
        if model.baseline is None:
            return cls(model, source, weights, standing, None, True)
        figures = figures_of(model.view.formed(source), model.baseline.ruler, standing)
        return cls(model, source, weights, standing, figures, drifted(differences(model, figures, fit)))

    @property
    def offered(self) -> Offered:
        """Its groups, for the search to start from."""
        judge, k = plain_judge(self.model.judge), len(numbers_of(self.model.judge))
        convex = isinstance(judge, MixtureJudge) and judge.mixture.k == k
        return Offered(self.standing.own, k, not self.drifted, convex)

    @property
    def key(self) -> str:
        """What a checkpoint knows it by."""
        told = self.standing.own.tobytes() + bytes([self.drifted])
        return hashlib.sha256(told).hexdigest()

    @property
    def shares(self) -> Vector:
        """(places,) of the old groups, in the rows they were found in."""
        model = self.model
        if model.baseline is not None:
            mass = model.baseline.figures.mass[:-1]
        else:
            mass = np.zeros(model.k) if model.typicality is None else model.typicality.weights
        if not mass.any():
            mass = np.isin(np.arange(model.k), numbers_of(model.judge)).astype(np.float64)
        return np.asarray(mass / mass.sum())

    @property
    def alien(self) -> float:
        """The share of rows that no group explains, expected of rows of the old source."""
        if self.model.baseline is None:
            return ALIEN
        counts = self.model.baseline.figures
        return float((1.0 + counts.unusual.sum()) / (2.0 + counts.known.sum()))


@dataclass(frozen=True)
class Followed:
    """What became of the old groups, and what the new ones are called."""

    events: tuple[Event, ...]
    numbers: tuple[int, ...]  # (new,) lasting ones
    places: int  # numbers there are, vacant ones included
    names: tuple[str, ...]  # (places,) of the groups that have gone, too


def follow(
    past: Past,
    labels: NDArray[np.int32],
    names: tuple[str, ...],
    given: Mapping[int, str] = MappingProxyType({}),
) -> Followed:
    """``labels`` (n,) and suggested names (k,) of the new groups, 0 .. k - 1; ``given``: the user's own names."""
    old, k = past.model, len(names)
    overlap = Overlap.of(past.standing, labels, past.weights, past.shares, k, past.alien)
    found = match(overlap)
    numbers, places = _numbers(found, old.k, k)
    kept = {b: old.name_of(a) for a, b in found.heirs.items()} | dict(given)
    own = _names(kept, names, old.names)
    shifts, apart = Moved({}, {}), {}
    if past.figures is not None and old.baseline is not None:
        formed = old.view.formed(past.source)
        new = tallied(formed, old.baseline, labels, k)
        shifts = moved(old, found.heirs, past.figures, new)
        apart = _apart(old, found, new)
    story = Story(old, overlap, found, shifts, numbers, own, apart)
    every = [*(old.names or ("",) * old.k), *("",) * (places - old.k)]
    for number, name in zip(numbers, own, strict=True):
        every[number] = name
    return Followed(story.events(), numbers, places, tuple(every))


def _numbers(found: Match, places: int, k: int) -> tuple[tuple[int, ...], int]:
    """Old groups keep theirs; others get new ones after the highest there ever was."""
    of = {b: a for a, b in found.heirs.items()}
    for b in range(k):
        if b not in of:
            of[b], places = places, places + 1
    return tuple(of[b] for b in range(k)), places


def _names(kept: dict[int, str], suggested: tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, ...]:
    """Old groups keep theirs; no new one is called like any other."""
    used = {name for name in taken if name}
    out = []
    for b, name in enumerate(suggested):
        if kept.get(b):
            out.append(kept[b])
            continue
        own, times = name, 1
        while own in used:
            times += 1
            own = f"{name} ({times})"
        used.add(own)
        out.append(own)
    return tuple(out)


def _apart(old: GroupModel, found: Match, new: Joined) -> dict[int, str]:
    """What sets the parts of a split group apart most: part -> words."""
    _, *moments = new.parts
    out = {}
    for a, parts in found.split.items():
        heir = moments[found.heirs[a]]
        for b in parts:
            gaps = []
            for seen in seen_columns(old):
                if seen.column.levels:
                    continue
                here, there = moments[b], heir
                spread = np.sqrt((here.variance[seen.j] + there.variance[seen.j]) / 2)
                if spread > 0:
                    gaps.append((abs(float(here.mean[seen.j] - there.mean[seen.j])) / float(spread), seen))
            if gaps:
                size, seen = max(gaps, key=lambda pair: pair[0])
                values = f"{seen.text(heir)} and {seen.text(moments[b])}"
                out[b] = f"They differ most in {seen.name!r}: {values}, {size:.1f} standard deviations."
    return out
