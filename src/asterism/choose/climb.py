"""The search of a sweep over normal mixtures: every cell starts again and again from its neighbours.

A cell is a structure and a number of components. On the sample, in rounds:

1. From the best mixture of every cell, moments of its components (``choose.grow``).
2. Proposals: every split of k - 1 components, the cheapest mergers of k + 1, the moments of other structures.
3. All of them take two steps on some rows; of each cell the best few go on, on all rows of the sample.

Cells whose neighbours have not changed are left alone, so rounds become shorter. The sample cannot tell mixtures
apart that differ less than its own chance does: the best few of each cell take a few steps on the whole table. Which
of two is ahead after so few says little where the other is faster: in cells of few components, which are cheap, those
that may still pass the first go on with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from asterism.choose.grow import cheapest_mergers, merge, moments_of, moments_of_labels, splits
from asterism.choose.together import Advanced, Begun, Candidate, advance
from asterism.data.block import Vector
from asterism.data.source import ArraySource, Source
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_statistic import GaussianStatistic
from asterism.methods.em import EM
from asterism.methods.starts import Sample

Place = tuple[str, int]  # name of the family, number of components
Labels = NDArray[np.int32]

FIRST, LOOK, CLIMB = 4, 2, 4  # EM steps: of a partition, of a proposal on some rows, of those that go on
TELL, RACE = 3, 8  # of the few of a cell on the whole table, and of those that are not far apart
AHEAD = 3.0  # steps' gains by which one may be behind the first
CHEAP = 8  # components a mixture that races has at most
ROUNDS = 3  # on the sample
LOOKED_AT = 1024  # rows of the sample that sort proposals out
MERGERS = 2
GO_ON = {"full": 2, "tied": 3, "diag": 3, "round": 3}  # proposals of a cell; those of cheap forms are cheap
HANDED_ON = {"full": 2, "tied": 3, "diag": 3, "round": 3}  # mixtures of a cell
SAME = 1e-4  # a row: mixtures of one cell that differ by less in height are taken for one


@dataclass
class Peaks:
    """The best mixtures of a cell so far, from the highest down."""

    most: int
    weight: float  # of the rows
    found: list[tuple[float, Candidate]] = field(default_factory=list)

    @property
    def top(self) -> Candidate:
        """The best."""
        return self.found[0][1]

    def add(self, ends: Iterable[Advanced]) -> None:
        """Take what is among the highest, and unlike the others."""
        kept: list[tuple[float, Candidate]] = []
        both: list[tuple[float, Candidate | Advanced]] = [*((end.height, end) for end in ends), *self.found]
        for height, one in sorted(both, key=lambda pair: -pair[0]):
            if len(kept) < self.most and (not kept or kept[-1][0] - height > SAME * self.weight):
                kept.append((height, one.candidate if isinstance(one, Advanced) else one))
        self.found = kept


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
    peaks = _peaks(rows, starts, FIRST, float(sample.w.sum()))
    changed = set(peaks)
    for _ in range(ROUNDS):
        changed = _round(rows, methods, peaks, changed, sample.unit, some)
    return [(place, candidate) for place, mine in peaks.items() for _, candidate in mine.found]


def highest(source: Source, few: Sequence[tuple[Place, Candidate]], weight: float) -> dict[Place, Candidate]:
    """Of a few mixtures of every cell, the one the whole table takes for the best."""
    found = _ranked(source, few, TELL)
    still = {place: hopeful(place[1], ends, weight) for place, ends in found.items()}
    racing = [(place, end.candidate) for place, ends in still.items() if len(ends) > 1 for end in ends]
    found.update(_ranked(source, racing, RACE))
    return {place: ends[0].candidate for place, ends in found.items()}


def hopeful(k: int, ends: Sequence[Advanced], weight: float) -> list[Advanced]:
    """Of mixtures of one cell, the highest first, that one and those which may pass it.

    Those of about the same height are on the way to the same end: one will do.
    """
    first = ends[0].height
    apart = [end for end in ends[1:] if first - end.height > SAME * weight]
    return [ends[0], *(end for end in apart if k <= CHEAP and end.height + AHEAD * end.gain > first)]


def _ranked(
    source: Source, starts: Sequence[tuple[Place, Candidate]], steps: int
) -> dict[Place, list[Advanced]]:
    """What the starts of every cell come to, the highest first."""
    if not starts:
        return {}
    ends: dict[Place, list[Advanced]] = {}
    moved = advance(source, [start for _, start in starts], steps, complete=True)
    for (place, _), end in zip(starts, moved, strict=True):
        ends.setdefault(place, []).append(end)
    return {place: sorted(mine, key=lambda end: -end.height) for place, mine in ends.items()}


def _peaks(
    rows: Source,
    starts: Sequence[tuple[Place, Begun]],
    steps: int,
    weight: float,
) -> dict[Place, Peaks]:
    """Every cell with what its starts come to."""
    peaks = {place: Peaks(HANDED_ON[_form(start.em)], weight) for place, start in starts}
    _keep(peaks, [place for place, _ in starts], advance(rows, [s for _, s in starts], steps, complete=True))
    return peaks


def _round(
    rows: Source,
    methods: Mapping[str, EM],
    peaks: dict[Place, Peaks],
    changed: set[Place],
    unit: Vector,
    some: Source,
) -> set[Place]:
    """Proposals for all cells with neighbours that have changed; the cells that have changed by them."""
    moments = dict(zip(peaks, moments_of(rows, [mine.top for mine in peaks.values()]), strict=True))
    proposals = [
        (place, Begun(methods[place[0]], one))
        for place in peaks
        for one in _proposed(place, peaks, moments, changed, unit)
    ]
    if not proposals:
        return set()
    looked = advance(some, [start for _, start in proposals], LOOK, complete=True)
    best: dict[Place, list[Advanced]] = {}
    for (place, _), end in zip(proposals, looked, strict=True):
        best.setdefault(place, []).append(end)
    going = [
        (place, end.candidate)
        for place, ends in best.items()
        for end in sorted(ends, key=lambda end: -end.height)[: GO_ON[_form(methods[place[0]])]]
    ]
    new = len(going)
    going += [(place, mine.top) for place, mine in peaks.items()]
    places = [place for place, _ in going]
    ends = advance(rows, [candidate for _, candidate in going], CLIMB, complete=True)
    stayed = {place: end.height for place, end in zip(places[new:], ends[new:], strict=True)}
    after = {
        place
        for place, end in zip(places[:new], ends[:new], strict=True)
        if end.height > stayed[place] + SAME * peaks[place].weight
    }
    _keep(peaks, places, ends)
    return after


def _proposed(
    place: Place,
    peaks: Mapping[Place, Peaks],
    moments: Mapping[Place, GaussianStatistic],
    changed: set[Place],
    unit: Vector,
) -> list[GaussianStatistic]:
    name, k = place
    if k == 1:
        return []
    found: list[GaussianStatistic] = []
    if (name, k - 1) in changed:
        covariances = peaks[name, k - 1].top.model.params.covariances.full()
        found += splits(moments[name, k - 1], covariances, unit)
    if (name, k + 1) in changed:
        more = moments[name, k + 1]
        form = _form(peaks[place].top.em)
        found += [merge(more, a, b) for a, b in cheapest_mergers(more, form, MERGERS)]
    # In the order of the cells, not of the set: ties go to the first.
    return found + [
        moments[other] for other in peaks if other in changed and other[1] == k and other[0] != name
    ]


def _keep(peaks: dict[Place, Peaks], places: Sequence[Place], ends: Sequence[Advanced]) -> None:
    mine: dict[Place, list[Advanced]] = {}
    for place, end in zip(places, ends, strict=True):
        mine.setdefault(place, []).append(end)
    for place, some in mine.items():
        peaks[place].add(some)


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
