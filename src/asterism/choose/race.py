"""Of a few mixtures of every cell, found on a sample, the one the whole table takes for the best.

All take a few steps. Which of two is ahead after so few says little where the other is faster: those that may still
pass the first, and lie elsewhere, go on with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from asterism.choose.peaks import Place, elsewhere
from asterism.choose.together import Advanced, Candidate, advance
from asterism.data.source import Source

TELL, RACE = 3, 8  # EM steps of all, and of those that are not far apart
AHEAD = 3.0  # steps' gains by which one may be behind the first


def highest(source: Source, few: Sequence[tuple[Place, Candidate]]) -> dict[Place, Candidate]:
    """The best of every cell."""
    found = _ranked(source, few, TELL)
    still = {place: hopeful(ends) for place, ends in found.items()}
    racing = [(place, end.candidate) for place, ends in still.items() if len(ends) > 1 for end in ends]
    found.update(_ranked(source, racing, RACE))
    return {place: ends[0].candidate for place, ends in found.items()}


def hopeful(ends: Sequence[Advanced]) -> list[Advanced]:
    """Of mixtures of one cell, the highest first, that one and those which may pass it.

    Those near each other are on the way to the same end: one will do.
    """
    kept = [ends[0]]
    for end in ends[1:]:
        may_pass = end.height + AHEAD * end.gain > ends[0].height
        if may_pass and elsewhere(end.candidate, [other.candidate for other in kept]):
            kept.append(end)
    return kept


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
