"""Scenes: tables with columns of every kind, put together at random from parts of the older and the fresh half.

The judge of mixed proposals is fitted to them beside the kinds that have names: a kind is one arrangement of columns,
scenes are as many arrangements as are asked for. Two in five have no groups: one group of the same parts, ranks that
common traits move under any margins, or one population that is bent, scaled, capped or rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bench import mixed_makers as of
from bench.choose_pieces import Array, Rng
from bench.choose_scenes import draw_scene
from bench.mixed_draft import digits
from bench.mixed_fresh_draft import FreshDraft
from bench.mixed_none import MARGINS, category, linked, poisson, rows, shaped, yes_no
from bench.mixed_tables import DrawnTable, MixedTable, can_be_found, none

NO_GROUPS = 0.4  # convention: share of the scenes
TRIES = 20  # of a scene, until Bayes' rule tells its groups apart
LADDERS = (
    (1, 2, 3, 4, 5),
    ("low", "normal", "high"),
    (1, 2, 3, 4, 5, 6, 7),
    ("never", "sometimes", "often", "always"),
)

# --- parts ------------------------------------------------------------------------------------------------------


def maker(rng: Rng) -> of.Maker:
    """A distribution of numbers."""
    size = float(np.exp(rng.uniform(0, 6)))
    return [
        of.normal(size, 0.2 * size), of.log_normal(size, rng.uniform(0.2, 0.9)), of.gamma(size, rng.uniform(1, 6)),
        of.weibull(size, rng.uniform(1, 3)), of.tails(size, 0.2 * size, rng.uniform(2.5, 6)),
        of.skewed(size, 0.2 * size), of.peaked(size, 0.2 * size),
        of.bounded(rng.uniform(0.2, 0.8), rng.uniform(5, 15)),
    ][rng.integers(8)]  # fmt: skip


def one_number(t: FreshDraft, name: str, gap: float) -> None:
    children: dict[str, of.Child] = {}
    if t.rng.random() < 0.25:
        children = {f"{name}_next": of.line(0.0, t.rng.uniform(-1, 1), 5.0, gap * (t.rng.random() < 0.5))}
    t.number(name, maker(t.rng), gap, step=float(t.rng.choice([0, 0, 0, 1, 5])), children=children)


def several_numbers(t: FreshDraft, name: str, gap: float) -> None:
    columns = {f"{name}_{j}": maker(t.rng) for j in range(int(t.rng.integers(2, 5)))}
    low = t.rng.uniform(0, 0.5)
    t.related(columns, gap, (low, low + 0.3))


def normals(t: FreshDraft, name: str, gap: float) -> None:
    columns = {
        f"{name}_{j}": (t.rng.uniform(-20, 200), t.rng.uniform(1, 20))
        for j in range(int(t.rng.integers(1, 4)))
    }
    t.normal(columns, gap, related=float(t.rng.choice([0.0, 0.3, 0.6])))


def spend(t: FreshDraft, name: str, gap: float) -> None:
    t.gamma(
        name,
        float(np.exp(t.rng.uniform(1, 6))),
        t.rng.uniform(0.8, 4),
        gap,
        zeros=(t.rng.uniform(0.1, 0.7), gap),
    )


def counts(t: FreshDraft, name: str, gap: float) -> None:
    names = [f"{name}_{j}" for j in range(int(t.rng.integers(1, 4)))]
    zeros = (t.rng.uniform(0.1, 0.4), 0.5 * gap) if t.rng.random() < 0.3 else None
    t.counts(
        names, float(np.exp(t.rng.uniform(-0.3, 2.8))), gap, float(t.rng.choice([np.inf, 1.5, 4.0])), zeros
    )


def levels(t: FreshDraft, name: str, gap: float) -> None:
    t.levels(name, int(t.rng.integers(2, 10)), 0.8 * gap, rare=float(t.rng.choice([0.0, 0.2])))


def truths(t: FreshDraft, name: str, gap: float) -> None:
    t.yes_no([f"{name}_{j}" for j in range(int(t.rng.integers(1, 6)))], 1.2 * gap)


def answers(t: FreshDraft, name: str, gap: float) -> None:
    names, ladder = (
        [f"{name}_{j}" for j in range(int(t.rng.integers(2, 7)))],
        LADDERS[t.rng.integers(len(LADDERS))],
    )
    if t.rng.random() < 0.25 and gap:
        t.loved_or_hated(names, t.rng.uniform(0.7, 1.5), ladder)
    else:
        t.ratings(names, gap, ladder, trait=float(t.rng.choice([0.0, 0.0, 0.7, 1.2])))


def pairs(t: FreshDraft, name: str, gap: float) -> None:
    a, b = t.rng.integers(2, 6, 2)
    t.pair(
        (f"{name}_a", [f"a{i}" for i in range(a)]),
        (f"{name}_b", [f"b{i}" for i in range(b)]),
        gap,
        t.rng.uniform(0, 1.5),
    )


def seasons(t: FreshDraft, name: str, gap: float) -> None:
    t.months(name, 0.8 * gap)


def out_of(t: FreshDraft, name: str, gap: float) -> None:
    t.binomial([name], int(t.rng.integers(5, 40)), t.rng.uniform(0.2, 0.8), gap)


def totals(t: FreshDraft, name: str, gap: float) -> None:
    names = [f"{name}_{j}" for j in range(int(t.rng.integers(3, 6)))]
    if t.rng.random() < 0.5:
        t.shared(names, t.rng.uniform(8, 40), gap)
    else:
        t.percentages(names, gap)


PARTS: tuple[Callable[[FreshDraft, str, float], None], ...] = (
    one_number, one_number, several_numbers, normals, spend, counts, counts, levels, levels, truths, answers, answers,
    pairs, seasons, out_of, totals,
)  # fmt: skip


def one_count(t: FreshDraft, name: str, gap: float) -> None:
    t.counts([name], float(np.exp(t.rng.uniform(0.5, 2.8))), gap, float(t.rng.choice([np.inf, 4.0])))


def one_answer(t: FreshDraft, name: str, gap: float) -> None:
    t.ratings([name], gap, LADDERS[t.rng.integers(len(LADDERS))])


SINGLE: tuple[Callable[[FreshDraft, str, float], None], ...] = (
    one_number, one_number, one_count, one_count, levels, one_answer, spend
)  # fmt: skip

# --- tables -----------------------------------------------------------------------------------------------------


def composed(rng: Rng, groups: tuple[int, int]) -> DrawnTable:
    """Some parts, of which a share carries the groups."""
    t = FreshDraft(rng, groups, (150, 3000), least=float(rng.choice([0.03, 0.08])))
    carrying, gap = rng.uniform(0.4, 1.0), rng.uniform(1.2, 2.4)
    for j in range(int(rng.integers(2, 9))):
        strength = gap * rng.uniform(0.7, 1.3) if rng.random() < carrying else 0.0
        PARTS[rng.integers(len(PARTS))](t, f"c{j}", strength)
    if rng.random() < 0.3:
        t.missing(rng.uniform(0.01, 0.15), by_group=float(rng.choice([0.0, 0.6])))
    return t.table()


def of_traits(rng: Rng) -> DrawnTable:
    """Ranks that common traits move, under any margins."""
    d = int(rng.integers(3, 14))
    u = linked(
        rng, rows(rng, 150, 3000), d, int(rng.integers(1, min(d, 4) + 1)), (0.0, rng.uniform(0.1, 0.85))
    )
    return none(shaped(rng, u, [MARGINS[rng.integers(len(MARGINS))] for _ in range(d)]))


def one_population(rng: Rng) -> DrawnTable:
    """Numbers that are bent, scaled by a common factor, capped or rounded, beside a few names."""
    n, d = rows(rng, 150, 3000), int(rng.integers(2, 6))
    z = linked(rng, n, d, int(rng.integers(1, d + 1)), (0.0, 0.7))
    x: Array = np.sqrt(12) * (z - 0.5) if rng.random() < 0.3 else rng.normal(size=(n, d)) + 2.0 * z
    if rng.random() < 0.4:
        x = x * np.sqrt(4.0 / rng.chisquare(rng.uniform(3, 8), (n, 1)))  # one scale a row
    if rng.random() < 0.4:
        x[:, 1] = x[:, 1] + rng.uniform(0.2, 0.8) * x[:, 0] ** 2
    if rng.random() < 0.3:
        x[:, 0] = np.clip(x[:, 0], *np.quantile(x[:, 0], [rng.uniform(0, 0.2), rng.uniform(0.8, 1)]))
    if rng.random() < 0.4:
        x = np.exp(rng.uniform(0.2, 0.6) * x)
    if rng.random() < 0.3:
        x = np.round(x * rng.uniform(1, 4)) + 0.0
    frame: dict[str, Any] = {f"x{j}": digits(x[:, j]) for j in range(d)}
    for j in range(int(rng.integers(1, 4))):
        rank = np.clip(z[:, j % d] + rng.uniform(0, 1) * rng.normal(size=n), None, None)
        by = rank.argsort().argsort() / n if rng.random() < 0.5 else rng.uniform(size=n)
        frame[f"name_{j}"] = (category if rng.random() < 0.6 else yes_no)(rng)(by)
    return none(pd.DataFrame(frame))


def scene(seed: int, number: int) -> MixedTable:
    """One table."""
    rng = np.random.default_rng([seed, number])
    name = f"scene {seed}-{number}"
    if rng.random() < NO_GROUPS:
        style = rng.integers(4)
        found = of_traits(rng) if style == 0 else one_population(rng) if style == 1 else composed(rng, (1, 1))
        found = none(found.frame)
        return MixedTable(name, "none", found.frame, found.labels, "scenes", found.oracle)
    for _ in range(TRIES):
        found = composed(rng, (2, 7))
        if can_be_found(found.labels, found.oracle):
            order = rng.permutation(len(found.labels))
            frame = found.frame.iloc[order].reset_index(drop=True)
            return MixedTable(name, "groups", frame, found.labels[order], "scenes", found.oracle[order])
    return replace(scene(seed, number + 1_000_000), name=name)


def beside_names(seed: int, number: int) -> MixedTable:
    """A scene of numbers (``choose_scenes``), groups of any shape or none, beside names that seldom go along."""
    rng = np.random.default_rng([seed, number, 1])
    drawn = draw_scene(rng)
    kept = np.flatnonzero(drawn.labels > 0)[: rows(rng, 200, 1500)]
    x, labels = drawn.rows[kept], np.unique(drawn.labels[kept], return_inverse=True)[1]
    frame: dict[str, Any] = {f"x{j}": digits(x[:, j]) for j in range(x.shape[1])}
    for j in range(int(rng.integers(1, 4))):
        idle = (category, yes_no, poisson)[rng.integers(3)](rng)
        frame[f"name_{j}"] = idle(rng.uniform(size=len(x)))
    if rng.random() < 0.25:
        along = np.where(
            rng.random(len(x)) < rng.uniform(0.3, 0.9), labels, rng.integers(0, labels.max() + 2, len(x))
        )
        frame["along"] = [f"level {level}" for level in along]
    groups = labels.astype(np.int64) + 1
    kind = "groups" if labels.max() > 0 else "none"
    return MixedTable(f"beside names {seed}-{number}", kind, pd.DataFrame(frame), groups, "scenes", groups)


def few_columns(seed: int, number: int) -> MixedTable:
    """A table of two to four columns, all of which groups differ in, or one group."""
    rng = np.random.default_rng([seed, number, 2])
    for _ in range(TRIES):
        t = FreshDraft(rng, (1, 1) if number % 5 < 2 else (2, 4), (100, 1500))
        gap = rng.uniform(1.8, 3.2)
        for j in range(int(rng.integers(2, 5))):
            SINGLE[rng.integers(len(SINGLE))](t, f"c{j}", gap * rng.uniform(0.8, 1.2))
        found = t.table()
        if t.k == 1 or can_be_found(found.labels, found.oracle):
            kind = "none" if t.k == 1 else "groups"
            return MixedTable(
                f"few columns {seed}-{number}", kind, found.frame, found.labels, "scenes", found.oracle
            )
    return few_columns(seed, number + 1_000_000)


def scenes(seed: int, count: int, beside: int = 0, few: int = 0) -> Iterator[MixedTable]:
    """So many tables, so many of numbers beside names, and so many of few columns."""
    yield from (scene(seed, number) for number in range(count))
    yield from (beside_names(seed, number) for number in range(beside))
    yield from (few_columns(seed, number) for number in range(few))
