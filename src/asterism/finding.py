"""The main job: a table in, a ``Finding`` out.

read  ->  forms of columns (``verdict.margins``)  ->  choose (``verdict.choose``)  ->  all rows  ->  describe
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from asterism.data.aside import headline
from asterism.data.block import Block
from asterism.data.columns import Column
from asterism.data.encode import EncodedSource
from asterism.data.like import Match, read_like
from asterism.data.one_column import cells_as_column, one_column
from asterism.data.opening import opened
from asterism.data.options import ReadKeywords
from asterism.data.read import read
from asterism.data.select import SelectedColumns
from asterism.data.source import places_in
from asterism.engines.bar import moving_bar
from asterism.engines.context import current
from asterism.engines.context import engine as engine_settings
from asterism.engines.journal import searching
from asterism.engines.progress import Progress
from asterism.engines.reduce import map_rows
from asterism.errors import ParameterError
from asterism.explain.groups import Explanation, Group, explain, names_of, renumbered
from asterism.explain.headline import three_lines
from asterism.explain.labelled import with_columns, with_names
from asterism.explain.outcome import Method, Outcome, outcome_of
from asterism.explain.profiles import Profile, group_profiles, renumbered_profiles
from asterism.explain.relevance import Relevance
from asterism.explain.rows import Shares
from asterism.explain.typicality import UNUSUAL
from asterism.follow.events import Event, summary_of
from asterism.follow.like import Past, follow
from asterism.groups.baseline import with_baseline
from asterism.groups.held import Held
from asterism.groups.judges import MixtureJudge
from asterism.groups.layers import Layers, layers_table
from asterism.groups.membership import Weights, membership_of
from asterism.groups.model import GroupModel
from asterism.groups.numbered import numbers_of
from asterism.groups.numbering import numbered, unnumbered
from asterism.groups.outliers import Outliers, checked_outliers, with_outliers
from asterism.groups.stability import group_stability, is_cheap
from asterism.groups.without import relevance_of
from asterism.methods.encoding import standard_encoding
from asterism.modelfile import save
from asterism.search.choosing import asked_for, chosen, with_few_rows
from asterism.search.known import (
    Said,
    keeping,
    knowing,
    knowing_again,
    known_names,
    outliers_beside,
    with_known,
)
from asterism.search.retold import restored_choice, told_of
from asterism.search.rows import holes_of, rows_to_use
from asterism.search.settle import described, settle
from asterism.search.task import Task, check_choices, job_of, task_from
from asterism.verdict.choice import Choice
from asterism.verdict.mixed import SAMPLE
from asterism.verdict.unseen import Unseen, unseen_in
from asterism.verdict.view import COMPARED_ROWS

MOST_SEARCHES = 3  # convention: after the first, without columns that carry nothing


@dataclass(frozen=True, eq=False, repr=False)
class Finding:
    """The groups of a table: how many, which row belongs where and how surely, and what each group is."""

    k: int
    labels: NDArray[
        np.int32
    ]  # (n,) groups are numbered 0 .. k-1 from the largest down; -1: none, or left out
    choice: Choice  # every criterion against k
    profiles: tuple[Profile, ...]  # one per group
    columns: tuple[Column, ...]  # used
    ignored: tuple[Column, ...]  # not used, each with its reason
    missing: dict[str, int]  # missing cells of each used column
    settings: dict[str, Any]  # method, scale, seed, missing: what it takes to get the same again
    encoded: EncodedSource  # the rows that took part, scaled; ``encoded.source`` has them in the user's units
    model: GroupModel  # can assign new rows
    certainty: float  # mean probability of a row's own group
    interrupted: bool = False  # the search was stopped: this is the best so far
    typicality: NDArray[np.float64] = field(
        default_factory=lambda: np.zeros(0)
    )  # (n,) how usual a row is in its group
    left_out: NDArray[np.bool_] | None = None  # (n,) rows that took no part; None: all did
    events: tuple[Event, ...] = ()  # what became of the groups of an earlier model (``like``)
    table: Any = None  # as it was given, for columns that took no part; None: not known
    notes: tuple[str, ...] = ()  # what the user should know of how the table was read
    held: Held | None = None  # rows of which something was known
    known_names: Mapping[int, str] = field(default_factory=dict)  # groups with a known label

    def __repr__(self) -> str:
        return three_lines(self.verdict, [p.size for p in self.profiles], len(self.labels))

    @property
    def n_left_out(self) -> int:
        """Rows that took no part: those with missing cells under ``missing="drop"``."""
        return 0 if self.left_out is None else int(np.count_nonzero(self.left_out))

    @cached_property
    def outliers(self) -> NDArray[np.bool_]:
        """(n,) rows that took part and belong to no group."""
        found = self.labels < 0
        return found if self.left_out is None else found & ~self.left_out

    @property
    def confidence(self) -> float:
        """How sure the number of groups is, 0 to 1."""
        return float(self.choice.confidence)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why that number, in sentences."""
        return self.choice.reasons

    @cached_property
    def verdict(self) -> str:
        """How many groups, how sure and why, in plain words."""
        said = [self.choice.verdict]
        if self.model.background is not None and self.outliers.any():
            said.append(
                f"{self.outliers.mean():.0%} of the rows belong to none: they are spread evenly over the table."
            )
        if self.events:
            said.append(summary_of(self.events))
        return " ".join([*said, *([self.headline] if self.headline else [])])

    @property
    def headline(self) -> str:
        """How many columns of the table are used, and what the others look like; empty where none is set aside."""
        return headline(self.columns, self.ignored)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """(n, k) of every group, row by row; NaN for rows that were left out. Vacant numbers have columns of 0.

        A row adds up to 1, less the probability that it is of the background where there is one.
        """
        found = self.model.probabilities(self.encoded.source)
        if self.held is not None:
            found = self.held.in_probabilities(found)
        if self.left_out is not None:
            found[self.left_out] = np.nan
        return found

    @cached_property
    def explanation(self) -> Explanation:
        """What each group is: suggested name, sentence, effects, rule, typical and borderline rows.

        >>> import asterism
        >>> rows = [[1.0, 5.0], [2.0, 7.0], [1.5, 6.5], [8.0, 6.0], [9.0, 5.0], [8.5, 5.5], [9.5, 7.0]]
        >>> str(asterism.find(rows, k=2).explanation.groups[0].rule)
        'x0 > 5'
        """
        found = self.explained(self.positions, self.model_shares)
        return replace(found, groups=renumbered(found.groups, self.numbers))

    def explained(self, positions: NDArray[np.int32], shares: Shares) -> Explanation:
        """The explanation of groups 0 .. k - 1, under the names they have."""
        found = explain(self.encoded.source, positions, self.k, shares=shares, seed=self.settings["seed"])
        names = {i: self.model.name_of(g) for i, g in enumerate(self.numbers)}
        return found.named({i: name for i, name in names.items() if name})

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """(k,) the numbers of the groups: 0 .. k - 1, unless groups of an earlier model have gone."""
        return numbers_of(self.model.judge)

    @cached_property
    def positions(self) -> NDArray[np.int32]:
        """(n,) labels without vacant numbers: 0 .. k - 1, or -1."""
        if self.numbers == tuple(range(self.k)):
            return self.labels
        place = np.searchsorted(np.array(self.numbers), self.labels).astype(np.int32)
        return np.where(self.labels < 0, np.int32(-1), place)

    def model_shares(self, block: Block) -> NDArray[np.float64]:
        """(n, k) responsibilities of the rows of a block, without vacant numbers."""
        found = self.model.shares(block)
        return found if found.shape[1] == self.k else np.ascontiguousarray(found[:, list(self.numbers)])

    @cached_property
    def unusual_shares(self) -> list[float | None]:
        """(k,) the share of rows of each group with a typicality below 1%; about 0.01 in the rows of the fit."""
        known = ~np.isnan(self.typicality)
        mine = [self.typicality[(self.labels == g) & known] for g in self.numbers]
        return [float((values < UNUSUAL).mean()) if len(values) else None for values in mine]

    @property
    def layers(self) -> Layers:
        """Groups of groups and parts of groups; ``model.assign(table, level=2)`` gives the labels of a layer."""
        return self.model.layers

    @cached_property
    def relevance(self) -> tuple[Relevance, ...]:
        """What each column carries of the groups given the others, those that carry most first; noise is about 0."""
        return relevance_of(unnumbered(self.model), self.encoded.source)

    def outcome(
        self, column: Any, *, method: Method = "bch", weights: Weights = "auto", kind: str | None = None
    ) -> Outcome:
        """Whether a column that took no part differs between groups, corrected for uncertain membership.

        ``column``   name of an ignored column of the table; or the cells themselves, one a row
        ``method``   "bch", which assumes nothing of the outcome, or "ml": numbers are normal in each group
        ``weights``  what row weights are: "copies" of rows, "sampling" weights; "auto": copies where all are whole
        ``kind``     what the column is, where the guess is wrong: "numeric", "categorical", ...

        >>> import asterism
        >>> rng = np.random.default_rng(0)
        >>> X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(4, 1, (40, 2))])
        >>> asterism.find(X, k=2).outcome(np.r_[np.zeros(60), np.ones(40)] + rng.normal(0, 1, 100)).test.p < 0.01
        True
        """
        if not isinstance(column, str):
            found, cells = cells_as_column(column, len(self.labels), kind=kind)
        elif column in {used.name for used in self.columns}:
            raise ParameterError(
                f"The groups were made of {column!r}, so that they differ in it anyway.",
                f"Leave it out of the search: kinds={{{column!r}: 'ignored'}}.",
            )
        elif self.table is None:
            raise ParameterError("The table itself is not known here.", "Give the cells of the column.")
        else:
            names = [c.name for c in (*self.columns, *self.ignored)]
            found, cells = one_column(self.table, column, names, kind)
        known, here = membership_of(self.model, self.encoded.source, self.labels, weights)
        return outcome_of(known, cells[here], found, method)

    @cached_property
    def stability(self) -> NDArray[np.float64] | None:
        """(k,) how much of each group comes back when half of the rows are looked at, 0 to 1 (Hennig 2007).

        NaN for a group of too few rows; None for one group, for medoids and where it would take long.
        """
        rows = self.model.rows_of(self.encoded.source)
        if not is_cheap(self.model.judge, rows.n_rows, rows.n_columns):
            return None
        return group_stability(self.model.judge, rows, int(self.settings["seed"]))

    @cached_property
    def unseen(self) -> Unseen:
        """What could not have been seen in so many rows: how small a group, how near another."""
        judge = self.model.judge
        names = isinstance(judge, MixtureJudge) and self.model.view.encoding is None
        rows = len(self.labels) - self.n_left_out
        return unseen_in(rows, len(self.columns), SAMPLE if names else COMPARED_ROWS, numbers=not names)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that ``asterism.load`` reads and ``asterism assign`` uses; never half."""
        save(self.model, path)

    def report(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the report, one HTML file; see ``asterism.report.page.write_report`` for the options."""
        from asterism.report.page import write_report

        write_report(self, path, **options)

    def to_frame(self, *, columns: bool = False) -> Any:
        """A ``pyarrow.Table`` with one row per row of the input; ``.to_pandas()`` takes it on.

        ``row`` (from 0), ``group``, its ``probability``, ``next_group`` and ``next_probability``: a row whose two
        probabilities are nearly the same lies on a border. ``typicality`` is the share of its group that is as
        unusual or more. A row that belongs to none has the group -1, the probability of that, and its likeliest group
        for the next. Cells of rows that were left out are null. ``group_name`` is the name that is suggested for the
        group (``explanation``).

        ``columns``  add the columns that were used, as the table has them
        """
        table = self.encoded.source
        ranked = self.model.ranked(table)
        if self.held is not None:
            ranked = self.held.in_ranked(ranked, self.typicality)
        frame = ranked_table(ranked, self.left_out)
        names = {group.profile.group: group.name for group in self.explanation.groups}
        frame = with_names(frame, [names.get(g, "") for g in range(self.model.k)])
        return with_columns(frame, table) if columns else frame

    def to_dict(self) -> dict[str, Any]:
        """Everything but the labels; ``version`` is raised when a field changes its meaning or goes."""
        return {
            "version": 3,
            "k": self.k,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "reasons": list(self.reasons),
            "certainty": self.certainty,
            "interrupted": self.interrupted,
            "rows": len(self.labels),
            "rows_left_out": self.n_left_out,
            "rows_outliers": int(np.count_nonzero(self.outliers)),
            "background_share": None if self.model.background is None else self.model.background.share,
            **self.settings,
            "choice": {
                "picks": self.choice.picks,
                "structure": self.choice.structure,
                "components": self.choice.components,
                "table": [dict(row) for row in self.choice.table],
            },
            "groups": [
                {**_told_of_group(group), "unusual": unusual}
                for group, unusual in zip(self.explanation.groups, self.unusual_shares, strict=True)
            ],
            "events": [event.to_dict() for event in self.events],
            "layers": layers_table(self.layers),
            "stability": None if self.stability is None else self.stability.tolist(),
            "unseen": {**asdict(self.unseen), "sentence": self.unseen.sentence},
            "carriers": [asdict(carrier) for carrier in self.explanation.carriers],
            "relevance": [asdict(one) for one in self.relevance],
            "columns": [{**c.to_dict(), "missing": self.missing[c.name]} for c in self.columns],
            "ignored": [c.to_dict() for c in self.ignored],
            "notes": list(self.notes),
        }


def _told_of_group(group: Group) -> dict[str, Any]:
    rule = group.rule
    return {
        **asdict(group.profile),
        "name": group.name,
        "sentence": group.sentence,
        "rule": None if rule is None else str(rule),
        "rule_precision": None if rule is None else rule.precision,
        "rule_recall": None if rule is None else rule.recall,
        "typical": [asdict(row) for row in group.typical],
        "borderline": [asdict(row) for row in group.borderline],
    }


def ranked_table(ranked: NDArray[np.float64], left_out: NDArray[np.bool_] | None = None) -> Any:
    """Groups of rows, the likeliest two (``GroupModel.ranked``), as a ``pyarrow.Table``; null: not known."""
    import pyarrow as pa

    n = len(ranked)
    out = np.zeros(n, bool) if left_out is None else left_out
    lonely = out | (ranked[:, 2] < 0)  # with one group there is no next one

    def numbers(j: int, unknown: NDArray[np.bool_]) -> Any:
        return pa.array(ranked[:, j], mask=unknown | np.isnan(ranked[:, j]))

    return pa.table(
        {
            "row": pa.array(np.arange(n)),
            "group": pa.array(ranked[:, 0].astype(np.int32), mask=out),
            "probability": numbers(1, out),
            "next_group": pa.array(ranked[:, 2].astype(np.int32), mask=lonely),
            "next_probability": numbers(3, lonely),
            "typicality": numbers(4, out),
        }
    )


def find(
    table: Any,
    *,
    k: str | int | Iterable[int] | None = None,
    method: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    weights: Any = None,
    scale: bool = True,
    seed: int = 0,
    engine: AbstractContextManager[Any] | None = None,
    progress: bool | Progress | None = None,
    missing: Literal["keep", "drop", "refuse"] = "keep",
    outliers: str | float = "auto",
    known: Any = None,
    together: Any = (),
    apart: Any = (),
    min_size: int | None = None,
    max_size: int | None = None,
    select: bool = False,
    like: Any = None,
    na: Any = None,
    **reading: Unpack[ReadKeywords],
) -> Finding:
    """Find the groups of a table.

    ``table``    path, glob, ``Source``, data frame or array
    ``k``        number of groups, or the numbers to choose from (``"2:6"`` is 2 to 6); None: 1 to 10, less where rows
                 are few
    ``method``   "auto": mixtures that suit the columns; or "gaussian", "mixed", "kmeans", "kmedoids"
    ``kinds``    what columns are, where the guess is wrong: ``{"size": "ordinal:S,M,L", "note": "ignored"}``;
                 a column that repeats another is ignored unless it stands here
    ``weights``  a column's name, or one number a row
    ``scale``    give every column the same spread first
    ``engine``   ``asterism.engine(...)`` to run in; None: the one in force. With ``checkpoint="folder"`` a
                 search that was interrupted goes on from there when it is asked for again
    ``progress`` True: a moving bar where stderr is a terminal; or a function that is called with an ``Event``
    ``missing``  "keep" rows with missing cells, "drop" them (label -1) or "refuse" the table
    ``outliers`` rows that belong to none (label -1): "auto", those of a background of evenly spread rows where there
                 is evidence of one; "none"; or a share such as 0.02, the least typical rows
    ``known``    labels of some rows: a column's name, or one a row (None: not known). Their groups are fixed
    ``together``, ``apart``  pairs of row numbers, from 0, that are of one group, or of two
    ``min_size``, ``max_size``  rows of a group, at least and at most
    ``select``   leave out the columns that carry nothing of the groups (``finding.relevance``), and search again
    ``like``     an earlier model, or its file: groups that are still there keep their numbers and names, and
                 ``finding.events`` says what became of the others
    ``na``       cells that stand for "not known", ``{"q1": [99]}`` or ``["nix", -5]``: see ``asterism.read``
    ``reading``  how a file is written, where the guess is wrong: ``sheet``, ``sql``, ``encoding``, ... as in ``read``

    >>> import numpy as np, asterism
    >>> rng = np.random.default_rng(0)
    >>> finding = asterism.find(np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))]))
    >>> finding.k, np.bincount(finding.labels).tolist()
    (2, [60, 40])
    """
    said = Said(known, together, apart, min_size, max_size)
    belong_to_none = outliers_beside(said, checked_outliers(outliers))
    with _running(engine, progress):
        once = table == "-" if isinstance(table, str) else False  # standard input can be read once
        rows = opened(table, **reading) if reading or once else table
        check_choices(method, missing)
        whole = read(rows, kinds=said.kinds(kinds), weights=weights, memory=current().memory, na=na)
        task = task_from(
            whole, k=k, method=method, kinds=said.kinds(kinds), scale=scale, seed=seed, missing=missing
        )
        task = knowing(task, said, rows)
        folder = current().checkpoint
        folder = None if folder is None or folder.suffix else folder  # a file is that of one fit alone
        past = None if like is None else Past.of(like, rows, task.used)
        job = f"{job_of(task)} select={select} like={past and past.key}" if folder else ""
        with places_in(task.source), searching(folder, job) as search:
            found = _found(task, belong_to_none, past)
            if select:
                found = _without_noise(found, task, {"k": k, "kinds": kinds}, belong_to_none, past)
            if found.interrupted:
                search.write()
            else:
                search.remove()
        return replace(found, table=rows)


def _without_noise(
    found: Finding, task: Task, asked: dict[str, Any], outliers: Outliers, past: Past | None
) -> Finding:
    """Searches without the columns that carry nothing, until all that are left carry groups."""
    for _ in range(MOST_SEARCHES):
        noise = [one.column for one in found.relevance if not one.carries]
        if found.k == 1 or found.interrupted or not 0 < len(noise) < len(found.columns):
            return found
        source = SelectedColumns(task.source, dict.fromkeys(noise, "noise: it carries nothing of the groups"))
        settings = {name: value for name, value in task.settings.items() if name != "known"}
        task = knowing_again(replace(task_from(source, **asked, **settings), notes=task.notes), task)
        again = _found(task, outliers, past)
        if again.k == 1:  # columns that made the groups together: better some noise than none of them
            return found
        found = again
    return found


@contextmanager
def _running(engine: AbstractContextManager[Any] | None, progress: bool | Progress | None) -> Iterator[None]:
    """In an engine, or in the one in force; with its progress told to somebody."""
    with ExitStack() as stack:
        if engine is not None:
            stack.enter_context(engine)
        if progress is True:
            progress = stack.enter_context(moving_bar())
        if progress is not None and progress is not False:
            if not callable(progress):
                raise ParameterError(f"progress is {progress!r}.", "Give True, or a function of an event.")
            stack.enter_context(engine_settings(**vars(current()) | {"progress": progress}))
        yield


def _found(task: Task, outliers: Outliers, past: Past | None = None) -> Finding:
    """What the search of a table finds."""
    if past is not None:
        task = replace(task, offered=past.offered)
    source, used, ks = task.source, task.used, task.ks
    settings, seed = task.settings, task.settings["seed"]
    choice, stopped = chosen(task)
    if task.asked and len(ks) == 1 and not stopped:
        choice = asked_for(choice)
    elif len(ks) == 1 and not choice.verdict:  # a table of one row, or of equal rows
        choice = replace(asked_for(choice), verdict="There are no groups. All rows are equal.", reasons=())
    view, judge, method = settle(task, choice)
    judge, held = keeping(task, view, judge)
    columns = view.described(source.columns)
    # What is known may part groups otherwise than the search had seen them.
    seen = choice.seen if method in ("gaussian", "mixed") and held is None else None
    model = GroupModel(columns, view, judge, seen=seen)
    labels, doubt = model.labels_and_doubt(used)
    labels = labels if held is None else held.in_labels(labels)
    if len(ks) > 1 and not stopped:
        choice = with_few_rows(choice, float(doubt.mass.sum()))
    judged = with_outliers(model, used, labels, outliers, seed)
    judged = judged if held is None else held.in_judged(judged)
    model = judged.model
    order = sorted(range(model.k), key=lambda g: (-judged.mass[g], g))
    number = np.append(np.argsort(order), -1).astype(np.int32)  # -1 stays -1
    left_out = None if used is source else map_rows(source, holes_of)
    labels = _numbered(judged.labels, number, left_out)
    held, given = None if held is None else held.reordered(order), known_names(task, number)
    choice = choice if task.known is None else with_known(choice, task.known, model.k)
    profiles, k = group_profiles(used, labels, model.k), model.k
    settings = {
        **settings, "method": method, "plan": described(choice, method, len(ks) > 1), "outliers": outliers,
    }  # fmt: skip
    about = {**settings, "choice": told_of(choice)}
    model, names = model.reordered(order), names_of(used, labels, k)
    names = tuple(given.get(g, name) for g, name in enumerate(names))
    events: tuple[Event, ...] = ()
    if past is not None:
        followed = follow(past, labels, names, given)
        events, names = followed.events, followed.names
        model = numbered(model, followed.numbers, followed.places)
        labels = _numbered(labels, np.append(followed.numbers, -1).astype(np.int32), None)
        profiles = renumbered_profiles(profiles, followed.numbers)
        held = None if held is None else held.numbered(followed.numbers, followed.places)
        given = {followed.numbers[g]: name for g, name in given.items()}
    return Finding(
        k=k,
        labels=labels,
        choice=choice if choice.k == k else replace(choice, k=k),
        profiles=profiles,
        columns=columns,
        ignored=source.ignored,
        missing=dict(zip(source.names, task.holes, strict=True)),
        settings=settings,
        encoded=task.encoded,
        model=with_baseline(replace(model, about=about, names=names), used),
        certainty=doubt.certainty,
        interrupted=stopped,
        typicality=judged.typicality,
        left_out=left_out,
        notes=task.notes,
        held=held,
        known_names=given,
        events=events,
    )


def _numbered(labels: NDArray[np.int32], number: NDArray[np.int32], left_out: Any) -> NDArray[np.int32]:
    found = number[labels]
    return found if left_out is None else np.where(left_out, np.int32(-1), found)


def finding_again(model: GroupModel, table: Any, *, missing_columns: str = "refuse") -> tuple[Finding, Match]:
    """What a saved model says of a table, as a finding: for a report of old groups in new rows."""
    source, match = read_like(table, model.columns, absent=missing_columns, memory=current().memory)
    used, holes = rows_to_use(source, "keep")
    _, doubt = model.labels_and_doubt(used)
    ranked = model.ranked(used)
    labels = ranked[:, 0].astype(np.int32)
    profiles = group_profiles(used, labels, model.k)
    usual = {
        "method": "saved",
        "scale": True,
        "seed": 0,
        "missing": "keep",
        "outliers": "none",
        "plan": "Groups of a saved model.",
    }
    settings = {name: model.about.get(name, value) for name, value in usual.items()}
    finding = Finding(
        k=len(numbers_of(model.judge)),
        labels=labels,
        choice=restored_choice(model.about.get("choice"), len(numbers_of(model.judge))),
        profiles=tuple(profiles[g] for g in numbers_of(model.judge)),
        columns=model.view.described(source.columns),
        ignored=tuple(Column(name, "ignored", reason="not a column of the model") for name in match.extra),
        missing=dict(zip(source.names, holes, strict=True)),
        settings=settings,
        encoded=EncodedSource(used, standard_encoding(used)),
        model=model,
        certainty=doubt.certainty,
        typicality=ranked[:, 4].copy(),
        notes=source.notes,
    )
    return finding, match
