"""One verdict on a table, by the mixtures of its plan."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from asterism.data.encode import EncodedSource
from asterism.data.source import ArraySource, Source
from asterism.engines.context import engine
from asterism.engines.threads import one_blas_thread
from asterism.errors import InterruptedWarning
from asterism.methods.kmeans import fit_kmeans_path
from asterism.metrics.internal import calinski_harabasz
from asterism.verdict.choice import Choice
from asterism.verdict.choose import choose_numbers
from asterism.verdict.mixed import choose_mixed
from asterism.verdict.plan import SAMPLE, Plan
from asterism.verdict.rows import draw
from asterism.verdict.tabulate import Question, Table

ROWS_A_GROUP = 10.0  # with fewer, on the average, chance makes groups as clear as any
BESIDE = ("silhouette", "gap", "stability")  # criteria that are shown beside BIC and ICL


def chosen(
    used: Source, encoded: EncodedSource, plan: Plan, ks: Sequence[int], asked: bool, seed: int
) -> tuple[Choice, Plan, bool]:
    """The verdict, the plan it is of, and whether somebody stopped the search: then k-means says what it can.

    Mixtures decide how many groups there are, whoever makes them; of one number there is nothing to decide.
    """
    if len(ks) == 1 and plan.method in ("kmeans", "kmedoids"):
        return _given(ks[0]), plan, False
    try:
        with warnings.catch_warnings():
            # A single fit that is interrupted returns its best so far; here many fits would go on after it.
            warnings.simplefilter("error", InterruptedWarning)
            if not plan.families:
                return *_by_normal_groups(used, encoded, plan, ks, asked or len(ks) == 1, seed), False
            return choose_mixed(used, plan, ks, seed), plan, False
    except (KeyboardInterrupt, InterruptedWarning):
        return _in_a_hurry(encoded, ks, seed), plan, True


def _by_normal_groups(
    used: Source, encoded: EncodedSource, plan: Plan, ks: Sequence[int], asked: bool, seed: int
) -> tuple[Choice, Plan]:
    beside = BESIDE if len(ks) > 1 else ()  # of one number nothing is compared
    holds_rare = plan.method == "gaussian"  # centres of k-means or medoids would not be rare groups'
    question = Question(ks if asked else None, frozenset({"bic", "icl", *beside}), seed=seed, rare=holds_rare)
    with one_blas_thread():
        choice = choose_numbers(used, encoded, plan.view, question)
    if choice.view.axes is None and plan.view.axes is not None:
        return choice, plan.in_all_columns()
    return choice, replace(plan, view=choice.view)


def with_few_rows(choice: Choice, rows: float) -> Choice:
    """The same number, less surely and with a word on it, where the rows are too few to tell groups from chance."""
    confidence = round(min(choice.confidence, rows / (ROWS_A_GROUP * choice.k)), 2)
    if confidence == choice.confidence:
        return choice
    few = (
        f"{rows:g} rows are {'too ' if confidence < 0.5 else ''}few to tell {_groups(choice.k)} from chance."
    )
    before, after = (f"(confidence {number:.0%})" for number in (choice.confidence, confidence))
    return replace(
        choice,
        confidence=confidence,
        reasons=(*choice.reasons, few),
        verdict=f"{choice.verdict.replace(before, after)} {few}",
    )


def _groups(k: int) -> str:
    return "groups" if k == 1 else f"{k} groups"


def _in_a_hurry(encoded: EncodedSource, ks: Sequence[int], seed: int) -> Choice:
    with engine():  # no progress, no checkpoint
        drawn = draw(encoded, SAMPLE, seed)
        table = ArraySource(drawn.x, drawn.weights, encoded.columns)
        fits = fit_kmeans_path(table, sorted({1, *ks}), seed=seed)
    total = float(drawn.weights.sum())
    index = {k: calinski_harabasz(fits[k].inertia, fits[1].inertia, k, total) for k in ks}
    k = max(ks, key=lambda k: index[k] or 0.0)
    rows = Table({"k": k, "within": fits[k].inertia, "calinski_harabasz": index[k]} for k in ks)
    text = "The search was interrupted: this is the best so far, by k-means on a sample."
    groups = "1 group" if k == 1 else f"{k} groups"
    return Choice(
        k=k, confidence=0.3, reasons=(text,), verdict=f"{groups}. {text}", table=rows, picks={}, structure=None,
        components=k, group_of=np.arange(k), model=fits[k], labels=np.zeros(0, np.int32),
    )  # fmt: skip


def _given(k: int) -> Choice:
    """One number, before anything was looked at."""
    return Choice(
        k=k, confidence=1.0, reasons=(), verdict="", table=Table([{"k": k}]), picks={}, structure=None, components=k,
        group_of=np.arange(k), model=None, labels=np.zeros(0, np.int32),
    )  # fmt: skip


def asked_for(choice: Choice) -> Choice:
    """The choice of one number that the user gave: nothing was compared, and the words say so."""
    groups = "1 group" if choice.k == 1 else f"{choice.k} groups"
    said = "That number was given, so nothing was compared."
    return replace(choice, verdict=f"{groups}. {said}", reasons=(said,), confidence=1.0)
