"""One verdict on a table, by the mixtures of its plan."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from asterism.data.source import ArraySource
from asterism.engines.context import engine
from asterism.engines.journal import journal
from asterism.engines.threads import one_blas_thread
from asterism.errors import InterruptedWarning
from asterism.methods.kmeans import fit_kmeans_path
from asterism.metrics.internal import calinski_harabasz
from asterism.search.task import BY_FORM, Task
from asterism.verdict.choice import Choice
from asterism.verdict.choose import choose_formed
from asterism.verdict.mixed import SAMPLE
from asterism.verdict.rows import draw
from asterism.verdict.sofar import best_so_far
from asterism.verdict.tabulate import Question, Table

ROWS_A_GROUP = 10.0  # with fewer, on the average, chance makes groups as clear as any
GIVEN = "That number was given, so nothing was compared."
BESIDE = ("silhouette", "gap", "stability")  # criteria that are shown beside BIC and ICL


def chosen(task: Task) -> tuple[Choice, bool]:
    """The verdict, and whether the search was stopped: then it is the best that was found so far.

    Mixtures decide how many groups there are, whatever makes them; of one number there is nothing to decide.
    """
    ks, single = task.ks, len(task.ks) == 1
    if single and task.method in ("kmeans", "kmedoids"):
        return _given(ks[0]), False
    beside = () if single else BESIDE  # of one number nothing is compared
    model = "gaussian" if task.method == "gaussian" else "mixed"
    given = ks if task.asked or single else None
    rare = task.method in BY_FORM  # centres of k-means or medoids would not be rare groups'
    question = Question(
        given, frozenset({"bic", "icl", *beside}), model, task.seed, rare=rare, offered=task.offered
    )
    here = journal()
    if here is not None:
        here.found.clear()  # what another search of this table found is no answer to this one
    try:
        with warnings.catch_warnings(), one_blas_thread():
            # A single fit that is interrupted returns its best so far; here many fits would go on after it.
            warnings.simplefilter("error", InterruptedWarning)
            return choose_formed(task.used, task.margins, question, scale=task.settings["scale"]), False
    except (KeyboardInterrupt, InterruptedWarning):
        found = None if here is None else best_so_far(here.found, task.used, question)
        return found or _in_a_hurry(task), True


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


def _in_a_hurry(task: Task) -> Choice:
    ks = task.ks
    with engine():  # no progress, no checkpoint
        drawn = draw(task.encoded, SAMPLE, task.seed)
        table = ArraySource(drawn.x, drawn.weights, task.encoded.columns)
        fits = fit_kmeans_path(table, sorted({1, *ks}), seed=task.seed)
    total = float(drawn.weights.sum())
    index = {k: calinski_harabasz(fits[k].inertia, fits[1].inertia, k, total) for k in ks}
    k = max(ks, key=lambda k: index[k] or 0.0)
    rows = Table({"k": k, "within": fits[k].inertia, "calinski_harabasz": index[k]} for k in ks)
    text = "The search was interrupted before any mixture was fitted: this is k-means on a sample."
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
    return replace(choice, verdict=f"{groups}. {GIVEN}", reasons=(GIVEN,), confidence=1.0)
