"""What is known before a search begins: the rows that take part, and how they are to be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from asterism.data.encode import EncodedSource
from asterism.data.margins import Margins
from asterism.data.read import read
from asterism.data.source import Source, places_in
from asterism.engines.context import current
from asterism.engines.journal import digest_of, ends_of
from asterism.errors import ParameterError
from asterism.methods.encoding import standard_encoding
from asterism.methods.linked import Known
from asterism.search.ranks import with_ranks
from asterism.search.rows import numbers_to_try, rows_to_use
from asterism.search.vectors import with_directions
from asterism.verdict.margins import margins_of
from asterism.verdict.offered import Offered
from asterism.verdict.repeated import without_repeated

METHODS = ("auto", "gaussian", "mixed", "kmeans", "kmedoids")
BY_FORM = ("auto", "gaussian", "mixed")  # methods that see columns in the forms that evidence gives them
MISSING = ("keep", "drop", "refuse")


@dataclass(frozen=True, eq=False)
class Task:
    """A table whose groups are to be found."""

    source: Source  # all rows
    used: Source  # those that take part
    encoded: EncodedSource  # the same, scaled
    margins: Margins | None  # the form of each column; None: as they are
    holes: list[int]  # missing cells of each column
    ks: list[int]  # numbers of groups to try
    asked: bool  # whether these were given
    settings: dict[str, Any]  # method, scale, seed, missing
    notes: tuple[str, ...] = ()  # what the user should know of how the table was read
    known: Known | None = None  # of the groups
    offered: Offered | None = None  # groups of an earlier table

    @property
    def method(self) -> str:
        """One of METHODS."""
        return str(self.settings["method"])

    @property
    def seed(self) -> int:
        """The user's."""
        return int(self.settings["seed"])


def task_from(
    whole: Source,
    *,
    k: str | int | Iterable[int] | None,
    method: str,
    kinds: Mapping[str, Any] | None,
    scale: bool,
    seed: int,
    missing: str,
) -> Task:
    """What is to be done with a table that has been read; parameters as those of ``asterism.find``."""
    settings = {"method": method, "scale": scale, "seed": seed, "missing": missing}
    with places_in(whole):
        source = looked_over(whole, kinds)
        used, holes = rows_to_use(source, missing)
        encoded = EncodedSource(used, standard_encoding(used, scale=scale))
        ks = numbers_to_try(k, encoded)
        margins = None
        if scale and method in BY_FORM:
            found = margins_of(used, kinds or (), numbers_only=method == "gaussian")
            margins = None if found.is_plain else found
    return Task(source, used, encoded, margins, holes, ks, k is not None, settings, whole.notes)


def job_of(task: Task) -> str:
    """By which a checkpoint knows its search: the table and what is asked of it."""
    return digest_of(ends_of(task.used), task.settings, task.ks, task.asked, repr(task.margins))


def looked_over(whole: Source, kinds: Mapping[str, Any] | None) -> Source:
    """A table that has been read, with levels in order, vectors as directions, and repeated columns once."""
    source = without_repeated(with_ranks(with_directions(whole), kinds or ()), kinds or ())
    if source is not whole:
        source.origin = whole
    return source


def looked_at(table: Any, *, kinds: Mapping[str, Any] | None, weights: Any, na: Any = None) -> Source:
    """A table read and looked over, every column as what it is."""
    whole = read(table, kinds=kinds, weights=weights, memory=current().memory, na=na)
    with places_in(whole):
        return looked_over(whole, kinds)


def check_choices(method: str, missing: str) -> None:
    """A ``ParameterError`` for a method or a policy that does not exist."""
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}.", f"Methods there are: {', '.join(METHODS)}.")
    if missing not in MISSING:
        raise ParameterError(f"missing is {missing!r}.", f"Give one of {', '.join(MISSING)}.")
