"""Layers: groups of groups, and parts of groups, from one search.

The finest parts are what the search saw of a group: the components of its mixture that are 2 standard deviations
apart or more (nearer ones have no valley between them), or the regions that clear valleys part inside it. From them
upwards, the two that are nearest (``groups.apart``) are joined again and again, parts of one group first, until all
of every group are together; then groups, until one is left. Nearest is single linkage,

    apart(A, B) = min over members a of A, b of B of  apart(a, b)

the valley between two heaps of groups is that between their nearest members. Every join makes a layer of one group
fewer, so layers lie within each other by construction, and one of them is the groups themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.distances.neighbours import Neighbours
from asterism.errors import ParameterError
from asterism.families.infile import demand
from asterism.groups.apart import separations
from asterism.groups.judges import Judge, MixtureJudge, RegionsJudge
from asterism.methods.density_layers import clearest
from asterism.methods.density_tree import grow_tree, least_size, scales_of
from asterism.methods.posterior import Mixture
from asterism.methods.regions import Regions

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Join = tuple[int, int, float]  # two parts, and how far apart what they are in is
LEAST_APART = 2.0  # derived: two normal groups of one size and spread have one mode up to there
CLEAR = 1.0  # derived: evidence of a valley that chance makes in one of a hundred tables without groups
MEMBERS = 200  # convention: rows drawn from a component to see which group they are in
FEWEST_ROWS = 20  # convention: of a region that is searched for valleys
SEARCHED = (5, 12, 27, 60, 135)  # convention: every other scale of the search


@dataclass(frozen=True)
class Layer:
    """One number of groups."""

    k: int  # groups of the layer
    group_of: tuple[int, ...]  # (F,) the layer's group of each part
    apart: float | None  # standard deviations between its two nearest groups; None: there is one
    joined: tuple[int, int] | None  # these two, which the next coarser layer has as one
    lasts: float  # by how much more its nearest groups are apart than those of the next finer layer


@dataclass(frozen=True)
class Layers:
    """All layers of a finding, from one group down to the finest parts.

    >>> import numpy as np, asterism
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(x, 1, (n, 2)) for x, n in ((0, 60), (9, 50), (40, 40))])
    >>> layers = asterism.find(rows, k=3).layers
    >>> [layer.k for layer in layers], layers.within(2)
    ([1, 2, 3], (0, 0, 1))
    """

    groups: tuple[int, ...]  # (F,) the group of each part
    joins: tuple[Join, ...]  # (F - 1,) parts within groups first, then groups; the nearest first
    layers: tuple[Layer, ...]  # coarse to fine

    @property
    def k(self) -> int:
        """Groups of the finding."""
        return max(self.groups) + 1

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def at(self, level: int) -> Layer:
        """The layer of so many groups."""
        whole = isinstance(level, int | np.integer) and not isinstance(level, bool)
        if not whole or not 1 <= level <= len(self):
            most = f"{self.k} groups" + (f" of {len(self)} parts" if len(self) > self.k else "")
            raise ParameterError(f"level is {level!r}, and the model has {most}.", f"Give 1 to {len(self)}.")
        return self.layers[int(level) - 1]

    def within(self, level: int) -> tuple[int, ...]:
        """For a coarser layer (k,) its group of every group; for a finer one (level,) the group each is part of."""
        layer = self.at(level)
        pairs = sorted(set(zip(self.groups, layer.group_of, strict=True)))
        if layer.k <= self.k:
            return tuple(of for _, of in pairs)
        return tuple(group for group, _ in sorted(pairs, key=lambda pair: pair[1]))

    @property
    def standing_out(self) -> Layer | None:
        """The coarser layer that lasts longest, if its nearest are twice as far apart as those of the next finer.

        None where groups lie about evenly: then no heap of groups is more than its groups.
        """
        coarser = [layer for layer in self.layers[1 : self.k - 1] if layer.apart is not None]
        best = max(coarser, key=lambda layer: layer.lasts, default=None)
        return (
            best if best is not None and best.apart is not None and best.lasts >= best.apart / 2.0 else None
        )


# --- joins ------------------------------------------------------------------------------------------------------


def layers_from(groups: Sequence[int], joins: Sequence[Join]) -> Layers:
    """The layers that joins make of parts; groups of a layer are numbered in the order of the groups they hold."""
    order = sorted(range(len(groups)), key=lambda part: (groups[part], part))
    of, found, finer = list(range(len(groups))), [], 0.0
    for join in (*joins, None):
        number: dict[int, int] = {}
        for part in order:
            number.setdefault(of[part], len(number))
        group_of = tuple(number[one] for one in of)
        apart = None if join is None else join[2]
        lasts = 0.0 if apart is None else max(apart - finer, 0.0)
        pair = None if join is None else tuple(sorted((group_of[join[0]], group_of[join[1]])))
        found.append(Layer(len(number), group_of, apart, pair, lasts))  # type: ignore[arg-type]  # of two
        if join is not None:
            a, b, finer = of[join[0]], of[join[1]], join[2]
            of = [a if one == b else one for one in of]
    return Layers(tuple(groups), tuple(joins), tuple(reversed(found)))


def joins_of(groups: Index, parts: Array, whole: Array) -> list[Join]:
    """Joins of parts (F, F) within groups, and of groups (k, k), by single linkage; the nearest first in each."""
    inner = []
    for g in range(int(groups.max()) + 1):
        mine = np.flatnonzero(groups == g)
        inner += [(int(mine[a]), int(mine[b]), h) for a, b, h in _nearest_first(parts[np.ix_(mine, mine)])]
    first = [int(np.flatnonzero(groups == g)[0]) for g in range(len(whole))]
    outer = [(first[a], first[b], h) for a, b, h in _nearest_first(whole)]
    return [*sorted(inner, key=lambda join: join[2]), *outer]


def _nearest_first(apart: Array) -> list[Join]:
    """Edges of the shortest tree that joins all, the shortest first."""
    n = len(apart)
    a, b = np.triu_indices(n, 1)
    of, found = list(range(n)), []
    for edge in np.argsort(apart[a, b], kind="stable"):
        one, other = of[a[edge]], of[b[edge]]
        if one != other:
            found.append((int(a[edge]), int(b[edge]), float(apart[a[edge], b[edge]])))
            of = [one if group == other else group for group in of]
    return found


# --- of a judge -------------------------------------------------------------------------------------------------


def layers_of(judge: Judge, seen: Mixture | None = None) -> tuple[Layers, Judge]:
    """The layers of a judge, and a judge of the finest parts.

    ``seen``  a mixture of more components that the search saw in the same rows: each is part of the group that most
              of its rows are in
    """
    together = separations(judge, np.arange(judge.k))[0] if not isinstance(judge, MixtureJudge) else None
    if seen is not None and seen.k > (len(judge.groups) if isinstance(judge, MixtureJudge) else judge.k):
        groups = _majority(judge, seen)
        if len(np.unique(groups)) == judge.k:
            components, whole = separations(MixtureJudge.of(seen), groups)
            return _layers_of_components(seen, groups, components, whole if together is None else together)
    if isinstance(judge, MixtureJudge):
        components, whole = separations(MixtureJudge.of(judge.mixture), judge.groups)
        return _layers_of_components(judge.mixture, judge.groups, components, whole)
    if isinstance(judge, RegionsJudge):
        part_of = subregions(judge.regions)
        groups = _groups_of(part_of, judge.regions.labels)
        known = judge.regions
        by_part = RegionsJudge(Regions(known.rows, known.weights, part_of, known.log_widths))
        return layers_from(groups.tolist(), joins_of(groups, *separations(by_part, groups))), by_part
    assert together is not None
    groups = np.arange(judge.k)
    return layers_from(groups.tolist(), joins_of(groups, together, together)), judge


def _layers_of_components(
    mixture: Mixture, groups: Index, components: Array, together: Array
) -> tuple[Layers, Judge]:
    """Components that are near and of one group are one part."""
    joins = joins_of(groups, components, together)
    near = [join for join in joins if join[2] < LEAST_APART and groups[join[0]] == groups[join[1]]]
    part_of = _joined(groups, near)
    kept = [(int(part_of[a]), int(part_of[b]), h) for a, b, h in joins if (a, b, h) not in near]
    return layers_from(_groups_of(part_of, groups).tolist(), kept), MixtureJudge(mixture, part_of)


def _majority(judge: Judge, seen: Mixture) -> Index:
    """(components,) the group that most rows drawn from each are in."""
    rng = np.random.default_rng(0)
    found = []
    for c in range(seen.k):
        rows = np.ascontiguousarray(seen.family.sample(seen.params, c, MEMBERS, rng))
        found.append(int(np.bincount(judge.look(block_of(rows))[0], minlength=judge.k).argmax()))
    return np.array(found)


def _joined(groups: Index, joins: Sequence[Join]) -> Index:
    """(F,) parts that joins make of components, numbered by group and then by component."""
    of = np.arange(len(groups))
    for a, b, _ in joins:
        of[of == of[b]] = of[a]
    number: dict[int, int] = {}
    for component in np.argsort(groups, kind="stable"):
        number.setdefault(int(of[component]), len(number))
    return np.array([number[int(one)] for one in of])


def _groups_of(part_of: Index, groups: Index) -> Index:
    """(F,) the group of each part, of whose members it is known."""
    return np.asarray(groups[np.unique(part_of, return_index=True)[1]])


def subregions(regions: Regions) -> Index:
    """(m,) the parts that clear valleys make of every region, numbered by region; one where there are none."""
    out = np.empty(len(regions.rows), np.int64)
    first = 0
    for g in range(regions.k):
        mine = np.flatnonzero(regions.labels == g)
        parts = _parted(regions.rows[mine], regions.weights[mine])
        out[mine] = first + parts
        first += int(parts.max()) + 1
    return out


def _parted(rows: Array, weights: Array) -> Index:
    weights = weights / weights.mean()
    total, least = float(weights.sum()), least_size(float(weights.sum()))
    if total < max(FEWEST_ROWS, 2 * least):
        return np.zeros(len(rows), np.int64)
    scales = [scale for scale in scales_of(total) if scale in SEARCHED]
    near = Neighbours.of(rows, weights, max([*scales, 3]))
    trees = [grow_tree(near, scale, least) for scale in scales if scale <= near.width]
    if not trees:
        return np.zeros(len(rows), np.int64)
    labels = clearest(trees, CLEAR).regions(CLEAR)
    _, parts = np.unique(labels, return_inverse=True)
    sizes = np.argsort(np.argsort(-np.bincount(parts, weights), kind="stable"), kind="stable")
    return np.asarray(sizes[parts], np.int64)


def layers_table(layers: Layers) -> dict[str, Any]:
    """For a summary: parts and their groups, and every layer."""
    out = layers.standing_out
    return {
        "parts": list(layers.groups),
        "stands_out": None if out is None else out.k,
        "table": [
            {"k": layer.k, "apart": layer.apart, "lasts": layer.lasts, "group_of": list(layer.group_of)}
            for layer in layers
        ],
    }


# --- in files ---------------------------------------------------------------------------------------------------


def unpacked_layers(spec: Any, k: int, parts: int) -> Layers:
    """The layers of a file, of a judge of k groups and one of its parts, looked over."""
    groups, joins = tuple(spec["groups"]), tuple((a, b, h) for a, b, h in spec["joins"])
    demand(all(type(group) is int for group in groups) and len(groups) == parts, "a group for every part")
    demand(
        sorted(set(groups)) == list(range(k)) and len(joins) == parts - 1,
        "parts of all groups, and their joins",
    )
    of = list(range(parts))
    for a, b, h in joins:
        demand(type(a) is int and type(b) is int and min(a, b) >= 0 and max(a, b) < parts, "joins of parts")
        demand(of[a] != of[b] and isinstance(h, int | float) and 0 <= h < np.inf, "joins of two")
        of = [of[a] if one == of[b] else one for one in of]
    inner = [groups[a] == groups[b] for a, b, _ in joins]
    demand(inner == sorted(inner, reverse=True), "parts of a group joined before groups")
    return layers_from(groups, [(a, b, float(h)) for a, b, h in joins])
