"""The search of a sweep over normal mixtures: every cell starts again and again from its neighbours.

A cell is a structure and a number of components. In rounds, on rows with the table's moments (``choose.matched``):

1. From the best mixture of every cell, moments of its components (``choose.grow``).
2. Proposals: every split of k - 1 components, the cheapest mergers of k + 1, the moments of other structures.
3. All of them take two steps on some rows; of each cell the best few go on, on all rows of the sample.

Cells whose neighbours have not changed are left alone, so rounds become shorter, until nothing changes. The best few
of each cell that lie apart (``choose.peaks``) are for the whole table to choose from (``choose.race``); where
components are few, steps are cheap and optima many, so there are more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from asterism.choose.grow import (
    axes_to_cut,
    cheapest_mergers,
    merge,
    moments_of,
    moments_of_labels,
    splits,
)
from asterism.choose.peaks import Peaks, Place
from asterism.choose.together import Advanced, Begun, Candidate, advance
from asterism.data.block import Vector
from asterism.data.source import ArraySource, Source
from asterism.families.base import Array
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_statistic import GaussianStatistic
from asterism.methods.em import EM
from asterism.methods.starts import Sample

Labels = NDArray[np.int32]

FIRST, LOOK = 4, 2  # EM steps: of a partition, of a proposal on some rows
CLIMB, SETTLE = 3, 6  # of those that go on, of all in the end
ROUNDS = 5  # at most
LOOKED_AT = 1024  # rows of the sample that sort proposals out
MERGERS = 2
COMPONENTS = 16  # a cell may have in all its mixtures that go on, and that are handed on, if not too many
GO_ON = {"full": 2, "tied": 3, "diag": 3, "round": 3}, 6  # but at least and at most so many proposals
HANDED_ON = {"full": 3, "tied": 4, "diag": 4, "round": 4}, 8  # mixtures
SAME = 1e-4  # a row: a cell that is higher by less has not changed


def climbed(
    methods: Mapping[str, EM],
    wanted: Sequence[Place],
    sample: Sample,
    labels: Mapping[int, list[Labels]],
    seed: int,
) -> list[tuple[Place, Candidate]]:
    """The best few mixtures of every cell on a sample, from ``labels`` of its rows for every k."""
    rows, some = sample.source(), _some(sample, seed)
    starts: list[tuple[Place, Begun]] = []
    for k in sorted({k for _, k in wanted}):
        moments = [moments_of_labels(sample.y, sample.w, mine, k) for mine in labels[k]]
        names = [name for name, number in wanted if number == k]
        starts += [((name, k), Begun(methods[name], one)) for name in names for one in moments]
    peaks = {place: Peaks(_how_many(HANDED_ON, start.em, place[1])) for place, start in starts}
    _keep(
        peaks,
        [place for place, _ in starts],
        advance(rows, [s for _, s in starts], FIRST, complete=True, rough=True),
    )
    changed = set(peaks)
    for _ in range(ROUNDS):
        changed = _round(rows, methods, peaks, changed, sample, some)
        if not changed:
            break
    _settle(rows, peaks)
    apart = float(np.sqrt(sample.w.sum()))
    return [
        (place, one) for place, mine in peaks.items() for one in mine.not_far(apart, COMPONENTS // place[1])
    ]


def _settle(rows: Source, peaks: dict[Place, Peaks]) -> None:
    """Further steps of all: some that seemed to differ come to the same, others fall behind."""
    going = [(place, candidate) for place, mine in peaks.items() for _, candidate in mine.found]
    for mine in peaks.values():
        mine.found = []
    ends = advance(rows, [candidate for _, candidate in going], SETTLE, complete=True, rough=True)
    _keep(peaks, [place for place, _ in going], ends)


def _round(
    rows: Source,
    methods: Mapping[str, EM],
    peaks: dict[Place, Peaks],
    changed: set[Place],
    sample: Sample,
    some: Source,
) -> set[Place]:
    """Proposals for all cells with neighbours that have changed; the cells that have changed by them."""
    givers = [place for place in peaks if place in changed]  # in the order of the cells: ties go to the first
    tops = [peaks[place].top for place in givers]
    moments = moments_of(rows, tops)
    axes = _axes(tops, moments, sample.unit)
    known = dict(zip(givers, zip(moments, axes, strict=True), strict=True))
    proposals = [
        (place, Begun(methods[place[0]], one))
        for place in peaks
        for one in _proposed(place, _form(methods[place[0]]), known)
    ]
    if not proposals:
        return set()
    looked = advance(some, [start for _, start in proposals], LOOK, complete=True, rough=True)
    best: dict[Place, list[Advanced]] = {}
    for (place, _), end in zip(proposals, looked, strict=True):
        best.setdefault(place, []).append(end)
    going = [
        (place, end.candidate)
        for place, ends in best.items()
        for end in sorted(ends, key=lambda end: -end.height)[: _how_many(GO_ON, methods[place[0]], place[1])]
    ]
    new = len(going)
    going += [(place, peaks[place].top) for place in best]
    places = [place for place, _ in going]
    ends = advance(rows, [candidate for _, candidate in going], CLIMB, complete=True, rough=True)
    stayed = {place: end.height for place, end in zip(places[new:], ends[new:], strict=True)}
    enough = SAME * float(sample.w.sum())
    after = {
        place
        for place, end in zip(places[:new], ends[:new], strict=True)
        if end.height > stayed[place] + enough
    }
    _keep(peaks, places, ends)
    return after


def _axes(tops: Sequence[Candidate], moments: Sequence[GaussianStatistic], unit: Vector) -> list[Array]:
    """Where to cut the components of every mixture; all in the same few calls."""
    axes = axes_to_cut(
        np.concatenate([one.mass for one in moments]),
        np.concatenate([one.scatters for one in moments]),
        np.concatenate([one.model.params.covariances.full() for one in tops]),
        unit,
    )
    return np.split(axes, np.cumsum([len(one.mass) for one in moments[:-1]]))


def _proposed(
    place: Place, form: str, known: Mapping[Place, tuple[GaussianStatistic, Array]]
) -> list[GaussianStatistic]:
    """Moments to start a cell from, of those neighbours whose moments and axes are ``known``."""
    name, k = place
    if k == 1:
        return []
    found: list[GaussianStatistic] = []
    if (name, k - 1) in known:
        found += splits(*known[name, k - 1])
    if (name, k + 1) in known:
        more = known[name, k + 1][0]
        found += [merge(more, a, b) for a, b in cheapest_mergers(more, form, MERGERS)]
    return found + [mine for other, (mine, _) in known.items() if other[1] == k and other[0] != name]


def _keep(peaks: dict[Place, Peaks], places: Sequence[Place], ends: Sequence[Advanced]) -> None:
    mine: dict[Place, list[Advanced]] = {}
    for place, end in zip(places, ends, strict=True):
        mine.setdefault(place, []).append(end)
    for place, some in mine.items():
        peaks[place].add(some)


def _how_many(limits: tuple[Mapping[str, int], int], em: EM, k: int) -> int:
    """Mixtures of k components that a cell may have: the fewer components, the more."""
    least, most = limits
    return min(max(least[_form(em)], COMPONENTS // k), most)


def _form(em: EM) -> str:
    assert isinstance(em.family, GaussianFamily)
    return em.family.form


def _some(sample: Sample, seed: int) -> Source:
    """Rows of the sample by chance; it is in the order of values."""
    m = len(sample.w)
    if m <= 2 * LOOKED_AT:
        return sample.source()
    chosen = np.sort(np.random.default_rng([seed, m]).choice(m, LOOKED_AT, replace=False))
    return ArraySource(np.asarray(sample.block.rows)[chosen], sample.w[chosen])
