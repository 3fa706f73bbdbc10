"""Of a few mixtures of every cell, found on a sample, the one the whole table takes for the best.

All take a few steps. Which of two is ahead after so few says little where the other is faster: those that may still
pass the first, and lie elsewhere, go on with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from asterism.choose.peaks import Place, those_apart
from asterism.choose.together import Advanced, Candidate, advance
from asterism.data.source import Source

TELL, LEG, LEGS = 3, 4, 2  # EM steps of all, and of each part of the race
AHEAD = 3.0  # steps' gains by which one may be behind the first


def highest(source: Source, few: Sequence[tuple[Place, Candidate]]) -> dict[Place, Candidate]:
    """The best of every cell."""
    found = _ranked(source, few, TELL)
    for _ in range(LEGS):
        still = {place: hopeful(ends) for place, ends in found.items() if len(ends) > 1}
        found.update({place: ends[:1] for place, ends in still.items()})
        racing = [(place, end.candidate) for place, ends in still.items() if len(ends) > 1 for end in ends]
        found.update(_ranked(source, racing, LEG))
    return {place: ends[0].candidate for place, ends in found.items()}


def hopeful(ends: Sequence[Advanced]) -> list[Advanced]:
    """Of mixtures of one cell, the highest first, that one and those which may pass it.

    Those near each other are on the way to the same end: one will do.
    """
    able = [end for end in ends if end is ends[0] or end.height + AHEAD * end.gain > ends[0].height]
    return [able[i] for i in those_apart([end.candidate for end in able])] if len(able) > 1 else able


def _ranked(
    source: Source, starts: Sequence[tuple[Place, Candidate]], steps: int
) -> dict[Place, list[Advanced]]:
    """What the starts of every cell come to, the highest first."""
    if not starts:
        return {}
    ends: dict[Place, list[Advanced]] = {}
    moved = advance(source, [start for _, start in starts], steps, complete=True, rough=True)
    for (place, _), end in zip(starts, moved, strict=True):
        ends.setdefault(place, []).append(end)
    return {place: sorted(mine, key=lambda end: -end.height) for place, mine in ends.items()}
