"""What the user knows of the groups: taken from the table and from pairs, checked, and told in words.

The verdict says how many groups a table has; labels, pairs and sizes say which numbers cannot be. Where only
labels and rows that are together are known, the verdict stands: there is a group for every label, and beside them
those that no label is in. Where rows are apart, sizes are to be kept, or the number is given, the verdict is asked
for the numbers that can be, and each label is one of its groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.cells_of import cells_of
from asterism.data.source import Source
from asterism.engines.reduce import map_rows
from asterism.errors import DataError, ParameterError
from asterism.groups.held import Held
from asterism.groups.judges import Judge
from asterism.groups.outliers import Outliers
from asterism.methods.bound import Bound, fewest_groups
from asterism.methods.linked import Known
from asterism.search.choosing import GIVEN
from asterism.search.refit import refitted
from asterism.search.task import Task
from asterism.verdict.choice import Choice
from asterism.verdict.view import View

MOST = 50  # convention: groups that pairs may ask for where no number was given


@dataclass(frozen=True, eq=False)
class Said:
    """What the user says is known, before the table has been read."""

    labels: Any = None  # a column's name, or one label a row
    together: Any = ()
    apart: Any = ()
    min_size: int | None = None
    max_size: int | None = None

    @property
    def column(self) -> str | None:
        """The column of labels, which takes no part in the groups."""
        return self.labels if isinstance(self.labels, str) else None

    @property
    def says_something(self) -> bool:
        """Whether anything is known."""
        pairs = len(self.together) + len(self.apart) > 0
        return self.labels is not None or pairs or self.min_size is not None or self.max_size is not None

    def kinds(self, kinds: Any) -> Any:
        """Kinds of columns with that of labels left out."""
        return kinds if self.column is None else {**(kinds or {}), self.column: "ignored"}

    def of(self, table: Any, n_rows: int) -> Known:
        """The facts, checked: an error names the first rows that contradict each other."""
        labels = self.labels if self.column is None else cells_of(table, self.column, "known")
        known = Known.of(
            n_rows, labels=labels, together=self.together, apart=self.apart,
            min_size=self.min_size, max_size=self.max_size,
        )  # fmt: skip
        assert known.chunks is not None  # refuses what contradicts itself
        return known


def knowing(task: Task, said: Said, table: Any) -> Task:
    """The task with what is known, and with the numbers of groups in which that can be."""
    if not said.says_something:
        return task
    require_read(task.source, said)
    known = said.of(table, task.source.n_rows)
    told = {"known": told_of_known(said, known)}
    return _in_numbers(replace(task, settings={**task.settings, **told}), known)


def knowing_again(task: Task, before: Task) -> Task:
    """A task on other columns of the same rows, with what was known."""
    if before.known is None:
        return task
    told = {"known": before.settings["known"]}
    return _in_numbers(replace(task, settings={**task.settings, **told}), before.known)


def _in_numbers(task: Task, known: Known) -> Task:
    absent = map_rows(task.used, lambda block: block.weights) <= 0
    if absent.any():  # rows that do not count may have labels, but make no group
        known = replace(known, labels=np.where(absent, np.int32(-1), known.labels))
        known = _with_labels_there(known)
    if not exact(task, known):
        return replace(task, known=known)
    n, labels = int(np.count_nonzero(~absent)), len(known.names)
    most = known.most or n
    fewest = fewest_groups(known, max(task.ks[-1], MOST))
    ks = [k for k in task.ks if k >= fewest and (not known.sized or k * known.least <= n <= k * most)]
    if not ks and task.asked:
        raise _not_in(task, known, n, labels, fewest)
    if not ks:
        ks = [max(fewest, -(-n // most))]
        if known.sized and ks[0] * known.least > n:
            raise _sizes_of(known, n, ks[0])
    return replace(task, known=known, ks=ks, asked=task.asked or ks != task.ks)


def exact(task: Task, known: Known) -> bool:
    """Whether groups must be of the number that the verdict gives: it knows then what is known."""
    return task.asked or known.sized or len(known.apart) > 0


def _with_labels_there(known: Known) -> Known:
    there = np.unique(known.labels[known.labels >= 0])
    place = np.full(len(known.names) + 1, -1, np.int32)
    place[there] = np.arange(len(there))
    return replace(known, labels=place[known.labels], names=tuple(known.names[i] for i in there))


def _not_in(task: Task, known: Known, n: int, labels: int, fewest: int) -> Exception:
    k = task.ks[-1]
    if labels > k:
        names = ", ".join(map(repr, known.names[:8])) + (", ..." if labels > 8 else "")
        return ParameterError(
            f"{labels} labels are known ({names}), but at most {k} groups were asked for.",
            f"Ask for {labels} groups or more, or leave labels out.",
        )
    if fewest > k:
        alone = Bound.alone(known, k)
        try:
            alone.best(np.zeros((len(alone.rows), k)))
        except DataError as bad:
            return bad
    return _sizes_of(known, n, k if k * known.least > n else task.ks[0])


def _sizes_of(known: Known, n: int, k: int) -> ParameterError:
    short = k * known.least > n
    limit = f"at least {known.least:,}" if short else f"at most {known.most:,}"
    return ParameterError(
        f"{k} group{'s' * (k > 1)} of {limit} rows cannot be made of {n:,} rows.",
        "Ask for fewer groups, or a smaller min_size."
        if short
        else "Ask for more groups, or a larger max_size.",
    )


def keeping(task: Task, view: View, judge: Judge) -> tuple[Judge, Held | None]:
    """The judge that keeps what is known, and the groups of rows of which something is."""
    if task.known is None:
        return judge, None
    source = judge.ready(view.of(task.used))
    return refitted(judge, task.known, source, exact=exact(task, task.known))


def known_names(task: Task, number: NDArray[np.int32]) -> dict[int, str]:
    """Labels of groups by the numbers these get; of those that are known, label g is group g."""
    names = () if task.known is None else task.known.names
    return {int(number[g]): name for g, name in enumerate(names)}


def outliers_beside(said: Said, outliers: Outliers) -> Outliers:
    """Whether rows may belong to no group: not where that is not asked for, and sizes of groups leave no row out."""
    if not said.says_something or outliers == "none":
        return outliers
    if outliers == "auto":
        return "none"
    if said.min_size is not None or said.max_size is not None:
        raise ParameterError(
            f"outliers is {outliers!r}, and groups have sizes to keep.",
            "Give one of the two: every row counts.",
        )
    return outliers


# --- in words ---------------------------------------------------------------------------------------------------


def told_of_known(said: Said, known: Known) -> dict[str, Any]:
    """What was known, as plain data for the settings of a finding."""
    return {
        "column": said.column,
        "labels": list(known.names),
        "rows": int(np.count_nonzero(known.labels >= 0)),
        "together": len(known.together),
        "apart": len(known.apart),
        "min_size": said.min_size,
        "max_size": said.max_size,
    }


def with_known(choice: Choice, known: Known, k: int) -> Choice:
    """The verdict, and what is known beside it."""
    groups = "1 group" if k == 1 else f"{k} groups"
    parts = []
    if known.names:
        beside = k - len(known.names)
        labels = f"{len(known.names)} with a known label" + (f" and {beside} beside" if beside else "")
        parts.append(f"{labels} ({np.count_nonzero(known.labels >= 0):,} rows are known)")
    pairs = [(len(known.together), "together"), (len(known.apart), "apart")]
    said = [f"{count:,} pair{'s' * (count > 1)} {what}" for count, what in pairs if count]
    if said:
        parts.append(f"{' and '.join(said)} kept")
    if known.sized:
        limits = [f"at least {known.least:,}"] if known.least else []
        limits += [] if known.most is None else [f"at most {known.most:,}"]
        parts.append(f"each of {' and '.join(limits)} rows")
    text = f"{groups}: {'; '.join(parts)}."
    alone = "" if not choice.verdict or GIVEN in choice.verdict else f" Of the rows alone: {choice.verdict}"
    return replace(choice, k=k, verdict=f"{text}{alone}", reasons=(text, *choice.reasons))


def require_read(source: Source, said: Said) -> None:
    """A table that was read already has its columns: one of them cannot be left out any more."""
    if said.column in source.names:
        raise ParameterError(
            f"The column {said.column!r} of known labels is used for the groups: the table was read already.",
            "Give the file, frame or array itself, or one label a row.",
        )
