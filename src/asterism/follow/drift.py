"""Has a table drifted from the one a model was made of?

Every question of ``follow.comparisons`` has a probability of an answer as far off by chance. Held to each other by
Holm's rule they make one decision that is wrong for at most 5% of fresh tables of the same source. Rows of the fit
stand in the comparison as rows that took no part in it would (``groups.held_out``), so that a model fitted to few
rows raises no alarm by itself.

In long tables differences that mean nothing are certain, too: one counts from ``NEGLIGIBLE`` on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from asterism.data.complete import CompleteRows
from asterism.data.like import Match, read_like
from asterism.data.source import Source
from asterism.engines.context import current
from asterism.errors import ParameterError
from asterism.follow.comparisons import Answer, compared, group_text
from asterism.groups.baseline import figures_of, standing_of
from asterism.groups.figures import Figures
from asterism.groups.model import GroupModel
from asterism.modelfile import load
from asterism.stats.two_samples import Comparison, holm, in_any_order

ALARMS = 0.03  # convention: of fresh tables of the same source; 5% are promised
NEGLIGIBLE = 0.05  # convention: standard deviations; a smaller difference is none
OLD = (
    "The model is of an earlier version and does not know the rows it was fitted to: only shares and columns "
    "can be checked. Find the groups again to have the rest."
)


@dataclass(frozen=True)
class Difference:
    """One question, answered, and whether the answer is beyond chance."""

    about: str  # "shares", "density", "untypical", "mean", "spread", "within", "missing", "new levels", "columns"
    column: str | None
    p: float  # by itself
    p_of_all: float  # held to the others
    size: float  # standard deviations
    counts: bool  # beyond chance, and not negligible
    sentence: str


@dataclass(frozen=True)
class Share:
    """One group of the model in the table."""

    group: int  # -1: rows of none
    name: str
    before: float  # share of the rows of the fit
    now: float


@dataclass(frozen=True, eq=False)
class Check:
    """A table beside the one a model was made of."""

    drifted: bool
    rows: int
    rows_before: float | None  # weight of the rows of the fit; None: not known
    differences: tuple[Difference, ...]  # those that count first, the surest first
    shares: tuple[Share, ...]
    notes: tuple[str, ...]  # what a user should know beside, in sentences

    @property
    def verdict(self) -> str:
        """The decision, in words."""
        asked, found = len(self.differences), [d for d in self.differences if d.counts]
        if not found:
            return f"The table has not drifted: none of {asked} comparisons differs beyond chance."
        return f"The table has drifted: {len(found)} of {asked} comparisons differ beyond chance."

    def to_dict(self) -> dict[str, Any]:
        """Everything; ``version`` is raised when a field changes its meaning or goes."""
        return {
            "version": 1,
            "drifted": self.drifted,
            "verdict": self.verdict,
            "rows": self.rows,
            "rows_before": self.rows_before,
            "shares": [asdict(share) for share in self.shares],
            "differences": [asdict(difference) for difference in self.differences],
            "notes": list(self.notes),
        }


def check(model: Any, table: Any) -> Check:
    """Whether a table has drifted from the one that a model was made of.

    ``model``  path of a model file, a model, or a finding
    ``table``  path, glob, frame, array or Source; its columns are matched by name

    >>> import asterism
    >>> rng = np.random.default_rng(0)
    >>> month = lambda shift: np.vstack([rng.normal(0, 1, (150, 2)), rng.normal(9, 1, (100, 2))]) + [0, shift]
    >>> model = asterism.find(month(0.0), k=2).model
    >>> asterism.check(model, month(0.0)).drifted, asterism.check(model, month(0.5)).drifted
    (False, True)
    """
    known = model_of(model)
    source, match = read_like(table, known.columns, absent="missing", memory=current().memory)
    used: Source = CompleteRows(source) if known.about.get("missing") == "drop" else source
    answers, shares, before = _answers(known, used, match)
    gone = [
        Difference("columns", name, 0.0, 0.0, 1.0, True, f"{name!r}: the table has no such column.")
        for name in match.absent
    ]
    ranked = sorted([*gone, *_judged(answers)], key=lambda d: (not d.counts, d.p_of_all, d.p))
    extra = match.notes()[-1:] if match.extra else []
    notes = [*([OLD] if known.baseline is None else []), *extra]
    return Check(drifted(ranked), source.n_rows, before, tuple(ranked), shares, tuple(notes))


def differences(model: GroupModel, now: Figures, match: Match) -> list[Difference]:
    """All questions, answered, for rows counted by the ruler of the model's baseline."""
    assert model.baseline is not None, "a model without a baseline"
    return _judged(list(compared(model, model.baseline, now, match)))


def drifted(found: Sequence[Difference]) -> bool:
    """Whether any difference counts."""
    return any(difference.counts for difference in found)


def _judged(answers: list[Answer]) -> list[Difference]:
    adjusted = holm([answer.found.p for answer in answers])
    return [
        Difference(
            answer.about, answer.column, answer.found.p, p, answer.found.size,
            p <= ALARMS and abs(answer.found.size) >= NEGLIGIBLE, answer.sentence,
        )
        for answer, p in zip(answers, adjusted, strict=True)
    ]  # fmt: skip


def model_of(model: Any) -> GroupModel:
    """A model, from a file, from a finding, or as it is."""
    if isinstance(model, str | PathLike):
        return load(model)
    model = getattr(model, "model", model)
    if isinstance(model, GroupModel):
        return model
    raise ParameterError(
        f"A {type(model).__name__} is no model of groups.",
        "Give the path of a groups.asterism file, or what asterism.load or asterism.find returned.",
    )


def counted(model: GroupModel, source: Source) -> Figures:
    """The rows of a table with the model's own columns, by the ruler of its baseline."""
    assert model.baseline is not None, "a model without a baseline"
    return figures_of(model.view.formed(source), model.baseline.ruler, standing_of(model, source))


def _answers(
    model: GroupModel, source: Source, match: Match
) -> tuple[list[Answer], tuple[Share, ...], float | None]:
    if model.baseline is not None:
        figures = counted(model, source)
        answers = list(compared(model, model.baseline, figures, match))
        masses = model.baseline.figures.mass, figures.mass
    elif model.typicality is not None:
        labels = model.labels(source)
        masses = (
            np.append(model.typicality.weights, 0.0),
            np.bincount(np.where(labels < 0, model.k, labels), minlength=model.k + 1).astype(np.float64),
        )
        answers = [_old_shares(model, *masses)]
    else:
        return [], (), None
    before, now = (mass / mass.sum() for mass in masses)
    shares = [
        Share(-1 if g == model.k else g, model.name_of(g), float(before[g]), float(now[g]))
        for g in range(model.k + 1)
        if g < model.k or before[g] or now[g]
    ]
    return answers, tuple(shares), float(masses[0].sum())


def _old_shares(model: GroupModel, before: Any, now: Any) -> Answer:
    found: Comparison = in_any_order(before[:-1], now[:-1])
    a, b = before[:-1] / before[:-1].sum(), now[:-1] / max(now[:-1].sum(), 1.0)
    most = int(np.abs(a - b).argmax())
    return Answer(
        "shares", None, found, f"Shares: {group_text(model, most)}, {a[most]:.1%} before, {b[most]:.1%} now."
    )
