"""What is known of a column besides its cells, and what of its cells stands for "not known"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from asterism.data.profile import Profile
from asterism.data.unknown import Absent


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of a column besides its cells."""

    decimal: str = "."  # how the file writes numbers, where cells do not decide
    absent: Absent = field(default_factory=Absent)  # what the user says stands for "not known"


def known_cells(profile: Profile, hints: Hints) -> int:
    """Cells that are not missing, in whatever spelling."""
    return profile.observed - sum(unknown_words(profile, hints).values())


def unknown_words(profile: Profile, hints: Hints) -> Mapping[str, int]:
    """Words for "not known", and their cells."""
    return {} if hints.absent.alone else profile.words.unknown or {}


def said_missing(profile: Profile, hints: Hints, numbers: tuple[float, ...] = ()) -> str:
    """What is taken for missing, for the reason of a column."""
    listed = [*map(repr, sorted(unknown_words(profile, hints))), *(f"{value:g}" for value in numbers)]
    listed += [repr(word) for word in hints.absent.words]
    more = ", ..." if len(listed) > 4 else ""
    return f"; {', '.join(listed[:4])}{more} taken for missing" if listed else ""


def listed(names: Iterable[str], most: int = 10) -> str:
    """The first of some names."""
    some = list(names)
    return ", ".join(map(repr, some[:most])) + (", ..." if len(some) > most else "")
