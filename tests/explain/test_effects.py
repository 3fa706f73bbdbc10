"""Effects against SciPy, scikit-learn and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.explain.effects import carriers, effects, group_cells

COLUMNS = (
    Column("size"),
    Column("colour", "categorical", ("blue", "green", "red")),
    Column("grade", "ordinal", ("low", "mid", "high")),
    Column("alive", "boolean", ("no", "yes")),
)


def table(n=300, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    x = np.column_stack(
        [
            rng.normal(50 + 5 * labels, 9),
            (labels + rng.integers(0, 2, n)) % 3,
            np.clip(labels + rng.integers(-1, 2, n), 0, 2),
            rng.random(n) < 0.3 + 0.2 * labels,
        ]
    ).astype(float)
    x[rng.random(x.shape) < missing] = np.nan
    return x, labels


def found(x, labels, group, weights=None):
    cells = group_cells(ArraySource(x, weights, COLUMNS), labels, 3)
    return {effect.column: effect for effect in effects(cells, group)}


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("group", [0, 2])
def test_numbers_by_the_pooled_standardised_difference_and_point_biserial_correlation(group, missing) -> None:
    x, labels = table(missing=missing)
    effect = found(x, labels, group)["size"]
    seen = ~np.isnan(x[:, 0])
    a, b = x[seen & (labels == group), 0], x[seen & (labels != group), 0]
    pooled = np.sqrt((a.var() * len(a) + b.var() * len(b)) / (len(a) + len(b)))
    assert effect.size == pytest.approx((a.mean() - b.mean()) / pooled)
    r = stats.pointbiserialr((labels == group)[seen], x[seen, 0]).statistic
    assert effect.strength == pytest.approx(abs(r))
    assert (effect.value, effect.elsewhere) == (pytest.approx(a.mean()), pytest.approx(b.mean()))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_levels_by_cramers_v(missing) -> None:
    x, labels = table(missing=missing)
    effect = found(x, labels, 1)["colour"]
    seen = ~np.isnan(x[:, 1])
    counts = np.zeros((2, 3), int)
    np.add.at(counts, ((labels[seen] == 1).astype(int), x[seen, 1].astype(int)), 1)
    assert effect.strength == pytest.approx(stats.contingency.association(counts, "cramer"))
    gaps = counts[1] / counts[1].sum() - counts[0] / counts[0].sum()
    assert effect.value == COLUMNS[1].levels[int(gaps.argmax())]
    assert effect.size == pytest.approx(gaps.max())


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_ranks_by_cliffs_delta_and_the_correlation_of_ranks(missing) -> None:
    x, labels = table(missing=missing)
    effect = found(x, labels, 2)["grade"]
    seen = ~np.isnan(x[:, 2])
    a, b = x[seen & (labels == 2), 2], x[seen & (labels != 2), 2]
    assert effect.size == pytest.approx(np.sign(a[:, None] - b[None]).mean())
    rho = stats.spearmanr(labels[seen] == 2, x[seen, 2]).statistic
    assert effect.strength == pytest.approx(abs(rho))
    assert effect.value == COLUMNS[2].levels[int(np.median(a))]


def test_a_column_of_two_levels_has_one_strength_whatever_it_is_called() -> None:
    x, labels = table()
    one = np.column_stack([x[:, 3]] * 3)
    columns = (
        Column("number"),
        Column("rank", "ordinal", ("no", "yes")),
        Column("name", "boolean", ("no", "yes")),
    )
    cells = group_cells(ArraySource(one, columns=columns), labels, 3)
    assert np.ptp([effect.strength for effect in effects(cells, 0)]) < 1e-12


def test_strongest_columns_come_first() -> None:
    x, labels = table()
    cells = group_cells(ArraySource(x, columns=COLUMNS), labels, 3)
    strengths = [effect.strength for effect in effects(cells, 0)]
    assert strengths == sorted(strengths, reverse=True)


def test_carriers_are_shares_of_variance_between_groups() -> None:
    x, labels = table()
    told = {c.column: c.share for c in carriers(group_cells(ArraySource(x, columns=COLUMNS), labels, 3))}
    f = stats.f_oneway(*(x[labels == g, 0] for g in range(3))).statistic
    assert told["size"] == pytest.approx(2 * f / (2 * f + len(x) - 3))  # eta^2 from F
    ranks = stats.rankdata(x[:, 2])
    h = stats.kruskal(*(x[labels == g, 2] for g in range(3))).statistic
    ties = stats.tiecorrect(ranks)
    assert ties > 0
    assert told["grade"] == pytest.approx(h / (len(x) - 1))  # Kruskal and Wallis' H is (n - 1) eta^2 of ranks
    gini = 1 - sum((x[:, 1] == c).mean() ** 2 for c in range(3))
    inside = sum(
        (labels == g).mean() * (1 - sum((x[labels == g, 1] == c).mean() ** 2 for c in range(3)))
        for g in range(3)
    )
    assert told["colour"] == pytest.approx((gini - inside) / gini)  # Goodman and Kruskal's tau


def test_weighted_equals_repeated() -> None:
    x, labels = table(80, missing=0.1)
    w = np.arange(80) % 4
    weighted = found(x, labels, 1, w)
    repeated = found(np.repeat(x, w, axis=0), np.repeat(labels, w), 1)
    for name, effect in weighted.items():
        assert effect.size == pytest.approx(repeated[name].size)
        assert effect.strength == pytest.approx(repeated[name].strength)


def test_a_column_that_never_varies_tells_nothing_and_one_that_decides_tells_all() -> None:
    labels = np.repeat([0, 1, 2], 5)
    x = np.column_stack([np.ones(15), labels == 0, labels, labels == 0]).astype(float)
    told = found(x, labels, 0)
    assert (told["size"].strength, told["size"].size) == (0.0, 0.0)
    assert told["colour"].strength == pytest.approx(1.0)
    assert told["grade"].size == pytest.approx(-1.0)


def test_a_group_without_a_cell_has_no_effect() -> None:
    x, labels = table()
    x[labels == 0] = np.nan
    assert {(e.strength, e.value) for e in found(x, labels, 0).values()} == {(0.0, None)}
