"""How often groups come back, and what could not have been seen."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asterism
from asterism.groups.stability import best_overlaps
from asterism.verdict.unseen import enough_apart, unseen_in


def blobs(gap=9.0, n=80, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(gap * g, 1.0, (n, 2)) for g in range(k)])


@given(st.integers(1, 4), st.integers(1, 40), st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_overlaps_are_those_of_sets(k, n, seed) -> None:
    rng = np.random.default_rng(seed)
    labels, again = rng.integers(0, k, n), rng.integers(0, 5, n)
    found = best_overlaps(labels, again, k)
    for g in range(k):
        mine = set(np.flatnonzero(labels == g).tolist())
        others = [set(np.flatnonzero(again == c).tolist()) for c in set(again.tolist())]
        best = max(len(mine & other) / max(len(mine | other), 1) for other in others)
        assert found[g] == pytest.approx(best)


@pytest.mark.parametrize("method", ["auto", "kmeans"])
def test_clear_groups_come_back_and_halves_of_one_do_not(method) -> None:
    assert asterism.find(blobs(), k=3, method=method).stability.min() > 0.97
    cut = asterism.find(blobs(), k=5, method=method).stability
    assert np.nanmin(cut) < 0.6  # NaN: a group of few rows


def test_groups_of_any_shape_come_back() -> None:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * 8 + rng.normal(0, 0.2, (300, 2))
    finding = asterism.find(np.concatenate([ring, rng.normal(0, 0.7, (150, 2))]))
    assert finding.k == 2
    assert finding.stability.min() > 0.9


def test_the_same_seed_gives_the_same_stability_for_any_number_of_threads() -> None:
    one, two = (asterism.find(blobs(gap=4.0), k=3, engine=asterism.engine(n_threads=n)) for n in (1, 2))
    np.testing.assert_array_equal(one.stability, two.stability)


def test_one_group_medoids_and_long_tables_have_none(monkeypatch) -> None:
    from asterism.groups import stability

    assert asterism.find(blobs(k=1), k=1).stability is None
    assert asterism.find(blobs(), k=3, method="kmedoids").stability is None
    monkeypatch.setattr(stability, "MOST_ROWS", 100)
    finding = asterism.find(blobs(), k=3)
    assert finding.stability is None
    assert json.loads(json.dumps(finding.to_dict()))["stability"] is None


def test_what_could_not_be_seen_follows_from_the_rows_compared() -> None:
    assert unseen_in(100, 2, 4000, numbers=True).rows == 4
    assert unseen_in(4000, 2, 4000, numbers=True).rows == 16  # sqrt(4000) / 4 = 15.8
    long = unseen_in(1_000_000, 2, 4000, numbers=True)
    assert long.rows == 16 * 250
    assert long.sampled == 4000
    assert "100 rows" in long.sentence
    assert unseen_in(300, 5, 2000, numbers=False).apart is None


def test_more_rows_show_nearer_groups_and_more_columns_hide_them() -> None:
    by_rows = [enough_apart(n, 2) for n in (30, 50, 120, 800, 4000)]
    assert by_rows == sorted(by_rows, reverse=True)
    by_columns = [enough_apart(200, d) for d in (1, 2, 4, 6, 50, 500)]
    assert by_columns == sorted(by_columns)
    assert enough_apart(200, 2000) == pytest.approx(2 * np.sqrt((1 + np.sqrt(10)) ** 2 - 1), abs=0.06)


def test_summary_and_report_say_both(tmp_path) -> None:
    from asterism.cli.summary import summary_text

    finding = asterism.find(blobs(), k=3)
    said = " ".join(summary_text(finding, "t.csv").split())
    assert finding.unseen.sentence in said
    assert "Come back when half of the rows are looked at: 0 100%" in said
    finding.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "comes back when half of the rows are looked at" in page
    assert finding.unseen.sentence in page
