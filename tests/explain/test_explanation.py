"""The whole explanation: names, rows, sentences."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.explain.effects import Effect
from asterism.explain.groups import explain
from asterism.explain.names import suggested_names
from asterism.explain.rows import FirstRows, group_places, notable_rows
from asterism.explain.words import number_text


def blobs(seed=0, sizes=(50, 40, 30), d=3):
    rng = np.random.default_rng(seed)
    x = np.vstack([rng.normal(6 * g, 1, (n, d)) for g, n in enumerate(sizes)])
    return x, np.repeat(np.arange(len(sizes)), sizes)


def distances(x, labels, k):
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    centers = np.array([z[labels == g].mean(axis=0) for g in range(k)])
    return np.linalg.norm(z[:, None] - centers, axis=2)


def test_typical_rows_are_nearest_to_their_mean_and_borderline_rows_have_the_least_margin() -> None:
    x, labels = blobs()
    source = ArraySource(x)
    typical, borderline = notable_rows(source, labels, group_places(source, labels, 3), 4)
    each = distances(x, labels, 3)
    own = each[np.arange(len(x)), labels]
    others = np.where(np.eye(3, dtype=bool)[labels], np.inf, each)
    margin = 1 - own / others.min(axis=1)
    for g in range(3):
        mine = np.flatnonzero(labels == g)
        assert [row.row for row in typical.of_group(g)] == mine[np.argsort(own[mine])[:4]].tolist()
        first = borderline.of_group(g)
        assert [row.row for row in first] == mine[np.argsort(margin[mine])[:4]].tolist()
        assert [row.second for row in first] == others[[r.row for r in first]].argmin(axis=1).tolist()
        assert [row.margin for row in first] == pytest.approx(margin[[r.row for r in first]].tolist())


def test_given_shares_decide_margins_and_second_choices() -> None:
    x, labels = blobs()
    r = np.random.default_rng(1).dirichlet([1, 1, 1], len(x))
    source = ArraySource(x)

    def shares(block):
        return r[block.start : block.start + len(block)]

    _, borderline = notable_rows(source, labels, group_places(source, labels, 3), 3, shares)
    for g in range(3):
        for row in borderline.of_group(g):
            rest = np.delete(r[row.row], g)
            assert row.margin == pytest.approx(r[row.row, g] - rest.max())
            assert row.second == np.delete(np.arange(3), g)[rest.argmax()]


def test_first_rows_merge_to_the_first_of_all() -> None:
    rng = np.random.default_rng(2)
    group, rank = rng.integers(0, 3, 100), rng.integers(0, 20, 100).astype(float)
    row, second, margin = np.arange(100), np.zeros(100, np.int64), np.zeros(100)
    whole = FirstRows.of(4, group, rank, row, second, margin)
    for cut in (0, 1, 37, 100):
        a, b = (
            FirstRows.of(4, group[at], rank[at], row[at], second[at], margin[at])
            for at in (slice(None, cut), slice(cut, None))
        )
        for merged in (a.merge(b), b.merge(a), FirstRows.zero(4).merge(whole)):
            assert merged.row.tolist() == whole.row.tolist()


def test_rows_of_which_little_is_known_are_not_typical() -> None:
    x, labels = blobs()
    x[3, 1:] = np.nan
    x[3, 0] = x[labels == 0, 0].mean()
    assert 3 not in [row.row for row in explain(ArraySource(x), labels, 3).groups[0].typical]


def test_absent_rows_are_never_named() -> None:
    x, labels = blobs()
    w = np.ones(len(x))
    w[::2] = 0
    labels[1] = -1
    told = explain(ArraySource(x, w), labels, 3)
    named = {row.row for group in told.groups for row in (*group.typical, *group.borderline)}
    assert all(row % 2 for row in named)
    assert 1 not in named
    assert [group.profile.size for group in told.groups] == [24, 20, 15]


def test_well_separated_groups_have_perfect_rules() -> None:
    x, labels = blobs()
    for group in explain(ArraySource(x), labels, 3).groups:
        assert group.rule is not None
        assert min(group.rule.precision, group.rule.recall) > 0.95


def test_blocks_and_threads_change_nothing() -> None:
    import asterism

    x, labels = blobs(sizes=(60_000, 50_000, 40_000))
    told = []
    for threads in (1, 2):
        with asterism.engine(n_threads=threads):
            told.append(explain(ArraySource(x), labels, 3).groups)
    assert told[0] == told[1]


def effect(column, size, kind="numeric", value=1.0, strength=0.8, share=None):
    return Effect(column, kind, size, strength, value, 0.0, share, 0.1)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (effect("flipper_length_mm", 2.0), "long flipper"),
        (effect("body_mass_g", -2.0), "light"),
        (effect("Income (EUR)", 2.0), "high income"),
        (effect("age", -1.0), "young"),
        (effect("island", 0.9, "categorical", "Biscoe", share=0.9), "Biscoe"),
        (effect("cluster", 0.9, "categorical", "3", share=0.9), "cluster 3"),
        (effect("smoker", 0.9, "boolean", "no", share=0.9), "not smoker"),
        (effect("bill_depth_mm", 0.1, strength=0.05), "in between"),
    ],
)
def test_names_come_from_the_leading_column(given, name) -> None:
    assert suggested_names([[given], [effect("x", 1.0)]])[0] == name


def test_no_two_groups_have_one_name() -> None:
    same = [effect("x", 1.0), effect("y", 1.0, strength=0.7), effect("z", 1.0, strength=0.6)]
    names = suggested_names([same, same, [*same[:2], effect("z", -1.0, strength=0.6)]])
    assert len(set(names)) == 3


def test_names_are_short_whatever_columns_are_called() -> None:
    long = [effect("a" * 100_000, 1.0), effect("b" * 100_000, 1.0)]
    assert all(len(name) < 80 for name in suggested_names([long, long]))


def test_one_group_is_all_rows() -> None:
    x, _ = blobs()
    (only,) = explain(ArraySource(x), np.zeros(len(x), int), 1).groups
    assert (only.name, only.rule, only.borderline) == ("all rows", None, ())


def test_sentence_speaks_of_the_tables_own_columns() -> None:
    x, labels = blobs(d=1)
    told = explain(ArraySource(x, columns=(Column("weight_kg"),)), labels, 3).groups[2].sentence
    assert told.startswith("30 rows (25% of the total)")
    assert f"weight_kg is higher ({number_text(x[labels == 2].mean())} against" in told
