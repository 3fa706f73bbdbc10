"""The main job: a table in, a ``Finding`` out.

read  ->  plan by the columns (``search.plan``)  ->  choose (``choose``)  ->  settle on all rows  ->  describe
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.choose.choose import Choice
from asterism.data.columns import Column
from asterism.data.encode import EncodedSource
from asterism.data.like import Match, read_like
from asterism.engines.context import current
from asterism.engines.context import engine as engine_settings
from asterism.engines.progress import Progress
from asterism.engines.reduce import map_rows
from asterism.explain.groups import Explanation, Group, explain
from asterism.explain.profiles import Profile, group_profiles
from asterism.groups.model import GroupModel
from asterism.methods.encoding import standard_encoding
from asterism.modelfile import save
from asterism.search.choosing import asked_for, chosen, with_few_rows
from asterism.search.retold import restored_choice, told_of
from asterism.search.rows import holes_of, rows_to_use
from asterism.search.second import SecondOpinion, second_opinion
from asterism.search.settle import settle, told
from asterism.search.task import Task, task_of


@dataclass(frozen=True, eq=False)
class Finding:
    """The groups of a table: how many, which row belongs where and how surely, and what each group is."""

    k: int
    labels: NDArray[np.int32]  # (n,) groups are numbered 0 .. k-1 from the largest down; -1: left out
    choice: Choice  # every criterion against k
    profiles: tuple[Profile, ...]  # one per group
    columns: tuple[Column, ...]  # used
    ignored: tuple[Column, ...]  # not used, each with its reason
    missing: dict[str, int]  # missing cells of each used column
    settings: dict[str, Any]  # method, scale, seed, missing: what it takes to get the same again
    encoded: EncodedSource  # the rows that took part, scaled; ``encoded.source`` has them in the user's units
    model: GroupModel  # can assign new rows
    certainty: float  # mean probability of a row's own group
    second: SecondOpinion | None = None  # of medoids, where there is more than one group
    interrupted: bool = False  # the search was stopped: this is the best so far

    @property
    def n_left_out(self) -> int:
        """Rows that belong to no group: those with missing cells under ``missing="drop"``."""
        return int(np.count_nonzero(self.labels < 0))

    @property
    def confidence(self) -> float:
        """How sure the number of groups is, 0 to 1."""
        return float(self.choice.confidence)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why that number, in sentences."""
        more = (str(self.second),) if self.second else ()
        return (*self.choice.reasons, *more)

    @cached_property
    def verdict(self) -> str:
        """How many groups, how sure and why, in plain words."""
        return " ".join([self.choice.verdict, *([str(self.second)] if self.second else [])])

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """(n, k) of every group, row by row; NaN for rows that were left out."""
        found = self.model.probabilities(self.encoded.source)
        if self.n_left_out:
            found[self.labels < 0] = np.nan
        return found

    @cached_property
    def explanation(self) -> Explanation:
        """What each group is: suggested name, sentence, effects, rule, typical and borderline rows.

        >>> import asterism
        >>> rows = [[1.0, 5.0], [2.0, 7.0], [1.5, 6.5], [8.0, 6.0], [9.0, 5.0], [8.5, 5.5], [9.5, 7.0]]
        >>> str(asterism.find(rows, k=2).explanation.groups[0].rule)
        'x0 > 5'
        """
        return explain(
            self.encoded.source, self.labels, self.k, shares=self.model.shares, seed=self.settings["seed"]
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that ``asterism.load`` reads and ``asterism assign`` uses; never half."""
        save(self.model, path)

    def report(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the report, one HTML file; see ``asterism.report.page.write_report`` for the options."""
        from asterism.report.page import write_report

        write_report(self, path, **options)

    def to_frame(self) -> Any:
        """A ``pyarrow.Table`` with one row per row of the input; ``.to_pandas()`` takes it on.

        ``row`` (from 0), ``group``, its ``probability``, ``next_group`` and ``next_probability``: a row whose two
        probabilities are nearly the same lies on a border. Cells of rows that were left out are null.
        """
        ranked = self.model.ranked(self.encoded.source)
        return ranked_table(ranked, self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the labels; ``version`` is raised when a field changes its meaning."""
        return {
            "version": 2,
            "k": self.k,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "reasons": list(self.reasons),
            "certainty": self.certainty,
            "interrupted": self.interrupted,
            "rows": len(self.labels),
            "rows_left_out": self.n_left_out,
            **self.settings,
            "choice": {
                "picks": self.choice.picks,
                "structure": self.choice.structure,
                "components": self.choice.components,
                "table": [dict(row) for row in self.choice.table],
            },
            "second_opinion": asdict(self.second) if self.second else None,
            "groups": [_told_of_group(group) for group in self.explanation.groups],
            "carriers": [asdict(carrier) for carrier in self.explanation.carriers],
            "columns": [{**asdict(c), "missing": self.missing[c.name]} for c in self.columns],
            "ignored": [asdict(c) for c in self.ignored],
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


def ranked_table(ranked: NDArray[np.float64], labels: NDArray[np.int32]) -> Any:
    """Labels and the two likeliest groups of rows as a ``pyarrow.Table``."""
    import pyarrow as pa

    out = labels < 0
    lonely = out | (ranked[:, 2] < 0)  # with one group there is no next one
    return pa.table(
        {
            "row": pa.array(np.arange(len(labels))),
            "group": pa.array(labels, mask=out),
            "probability": pa.array(ranked[:, 1], mask=out),
            "next_group": pa.array(ranked[:, 2].astype(np.int32), mask=lonely),
            "next_probability": pa.array(ranked[:, 3], mask=lonely),
        }
    )


def find(
    table: Any,
    *,
    k: int | Iterable[int] | None = None,
    method: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    weights: Any = None,
    scale: bool = True,
    seed: int = 0,
    engine: AbstractContextManager[Any] | None = None,
    progress: Progress | None = None,
    missing: Literal["keep", "drop", "refuse"] = "keep",
) -> Finding:
    """Find the groups of a table.

    ``table``    path, glob, ``Source``, data frame or array
    ``k``        number of groups, or the numbers to choose from; None: 1 to 10, less where rows are few
    ``method``   "auto": mixtures that suit the columns; or "gaussian", "mixed", "kmeans", "kmedoids"
    ``kinds``    what columns are, where the guess is wrong: ``{"size": "ordinal:S,M,L", "note": "ignored"}``
    ``weights``  a column's name, or one number a row
    ``scale``    give every column the same spread first
    ``engine``   ``asterism.engine(...)`` to run in; None: the one in force
    ``missing``  "keep" rows with missing cells, "drop" them (label -1) or "refuse" the table

    >>> import numpy as np, asterism
    >>> rng = np.random.default_rng(0)
    >>> finding = asterism.find(np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))]))
    >>> finding.k, np.bincount(finding.labels).tolist()
    (2, [60, 40])
    """
    with _running(engine, progress):
        task = task_of(
            table, k=k, method=method, kinds=kinds, weights=weights, scale=scale, seed=seed, missing=missing
        )
        return _found(task)


@contextmanager
def _running(engine: AbstractContextManager[Any] | None, progress: Progress | None) -> Iterator[None]:
    """In an engine, or in the one in force; with its progress told to somebody."""
    with ExitStack() as stack:
        if engine is not None:
            stack.enter_context(engine)
        if progress is not None:
            stack.enter_context(engine_settings(**vars(current()) | {"progress": progress}))
        yield


def _found(task: Task) -> Finding:
    """What the search of a table finds."""
    source, used, encoded, ks, plan = task.source, task.used, task.encoded, task.ks, task.plan
    settings, seed = task.settings, task.settings["seed"]
    choice, plan, stopped = chosen(used, encoded, plan, ks, seed)
    if task.asked and len(ks) == 1 and not stopped:
        choice = asked_for(choice)
    elif len(ks) == 1 and not choice.verdict:  # a table of one row, or of equal rows
        choice = replace(asked_for(choice), verdict="There are no groups. All rows are equal.", reasons=())
    view, judge, method = settle(used, encoded, plan, choice, seed)
    model = GroupModel(source.columns, view, judge)
    labels, doubt = model.labels_and_doubt(used)
    if len(ks) > 1 and not stopped:
        choice = with_few_rows(choice, float(doubt.mass.sum()))
    order = sorted(range(model.k), key=lambda g: (-doubt.mass[g], g))
    labels = np.argsort(order).astype(np.int32)[labels]
    if used is not source:
        labels = np.where(map_rows(source, holes_of), np.int32(-1), labels)
    profiles = group_profiles(used, labels, model.k)
    settings = {**settings, "method": method, "plan": told(plan, method, len(ks) > 1)}
    about = {**settings, "choice": told_of(choice)}
    return Finding(
        k=model.k,
        labels=labels,
        choice=choice if choice.k == model.k else replace(choice, k=model.k),
        profiles=profiles,
        columns=source.columns,
        ignored=source.ignored,
        missing=dict(zip(source.names, task.holes, strict=True)),
        settings=settings,
        encoded=encoded,
        model=replace(model.reordered(order), about=about),
        certainty=doubt.certainty,
        second=None if stopped or method == "kmedoids" else second_opinion(used, labels, model.k, seed),
        interrupted=stopped,
    )


def finding_again(model: GroupModel, table: Any, *, missing_columns: str = "refuse") -> tuple[Finding, Match]:
    """What a saved model says of a table, as a finding: for a report of old groups in new rows."""
    source, match = read_like(table, model.columns, absent=missing_columns, memory=current().memory)
    used, holes = rows_to_use(source, "keep")
    labels, doubt = model.labels_and_doubt(used)
    usual = {
        "method": "saved",
        "scale": True,
        "seed": 0,
        "missing": "keep",
        "plan": "Groups of a saved model.",
    }
    settings = {name: model.about.get(name, value) for name, value in usual.items()}
    finding = Finding(
        k=model.k,
        labels=labels,
        choice=restored_choice(model.about.get("choice"), model.k),
        profiles=group_profiles(used, labels, model.k),
        columns=source.columns,
        ignored=tuple(Column(name, "ignored", reason="not a column of the model") for name in match.extra),
        missing=dict(zip(source.names, holes, strict=True)),
        settings=settings,
        encoded=EncodedSource(used, standard_encoding(used)),
        model=model,
        certainty=doubt.certainty,
    )
    return finding, match
