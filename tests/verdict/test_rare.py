"""Rare groups: far from everything that a sample of a long table shows, and too small to be in it."""

from __future__ import annotations

import numpy as np
import pytest

import asterism
from asterism import engine
from asterism.data.source import ArraySource
from asterism.families.gaussian import GaussianFamily
from asterism.methods.mixture import Settings, fit_mixture
from asterism.verdict import rare as rare_module
from asterism.verdict.choose import choose_k
from asterism.verdict.rare import Found, rare_groups
from asterism.verdict.rows import Rows, draw

bench = pytest.importorskip("bench.rare")

N = 200_000


def found_in(x: np.ndarray, weights: np.ndarray | None = None, k: int = 2) -> Found:
    """The rare groups beside a mixture of k normal components of a sample."""
    source = ArraySource(x, weights)
    drawn = draw(source, 4000, 0)
    sample = Rows(drawn.x, drawn.weights)
    body = fit_mixture(sample.source, GaussianFamily("VVV"), k, Settings(max_iter=30)).mixture
    return rare_groups(source, body, sample)


def with_groups(d: int, sizes: tuple[int, ...], n: int = N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows, among which are rare groups 15 apart on a line; which rows are theirs."""
    rng = np.random.default_rng(seed)
    x, own = rng.standard_normal((n, d)), np.full(n, -1)
    at = rng.permutation(n)
    for g, size in enumerate(sizes):
        rows, at = at[:size], at[size:]
        x[rows] = 0.7 * rng.standard_normal((size, d)) + 15.0 * (g + 1) / d**0.5
        own[rows] = g
    return x, own


@pytest.mark.parametrize("d", [1, 2, 6, 12])
def test_every_far_group_of_a_hundred_rows_or_more_is_found(d):
    x, own = with_groups(d, (100, 500, 200))
    found = found_in(x)
    assert [round(group.weight, -1) for group in found.groups] == [500, 200, 100]
    for group, g in zip(found.groups, (1, 2, 0), strict=True):
        rows = x[own == g]
        spread = np.cov(rows.T, bias=True).reshape(d, d)
        assert np.abs(group.mean - rows.mean(axis=0)).max() < 0.05
        assert np.abs(group.covariance - spread).max() < 0.1


def test_groups_of_fewer_rows_are_left_alone():
    assert not found_in(with_groups(3, (80, 60))[0]).groups


@pytest.mark.filterwarnings("ignore::asterism.errors.CollapsedComponentWarning")
@pytest.mark.parametrize("name", [name for name, _, _ in bench.WITHOUT])
def test_tables_without_rare_groups_have_none(name):
    [(body, d)] = [(body, d) for own, body, d in bench.WITHOUT if own == name]
    assert not found_in(body(np.random.default_rng(7), N, d)).groups


def test_a_rare_group_in_a_heavy_tail_is_found_where_rows_thin_out():
    rng = np.random.default_rng(3)
    x = bench.student(3.0)(rng, N, 3)
    x[:300] = 0.4 * rng.standard_normal((300, 3)) + np.array([40.0, -30.0, 35.0])
    found = found_in(x)
    assert [round(group.weight, -1) for group in found.groups] == [300]


def test_copies_of_a_row_are_a_group_where_they_are_far_and_many():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((N, 2))
    x[:150] = (20.0, -20.0)
    x[150:650] = (3.0, 3.0)  # in the tail
    x[650:740] = (-25.0, 0.0)  # too few
    found = found_in(x, k=1)
    assert [group.weight for group in found.groups] == [150.0]
    assert found.groups[0].mean.tolist() == [20.0, -20.0]


def test_a_row_of_weight_two_is_two_rows():
    x, own = with_groups(2, (60, 60))
    weights = np.where(own == 0, 2.0, 1.0)
    found = found_in(x, weights)
    assert [round(group.weight, -1) for group in found.groups] == [120]


def test_where_more_rows_are_far_than_can_be_kept_it_goes_deeper(monkeypatch):
    monkeypatch.setattr(rare_module, "MOST_DRAWN", 200)
    rng = np.random.default_rng(5)
    x = bench.student(4.0)(rng, N, 2)
    x[:110] = rng.standard_normal((110, 2)) + 400.0
    found = found_in(x, k=1)
    assert [round(group.weight, -1) for group in found.groups] == [110]


def test_units_and_the_order_of_columns_do_not_matter():
    x, _ = with_groups(4, (150, 300))
    plain = found_in(x)
    turned = found_in(np.ascontiguousarray(x[:, ::-1] * [1e6, 1e-3, 50.0, 1.0] + 1000.0))
    assert [group.weight for group in turned.groups] == [group.weight for group in plain.groups]


def test_the_same_bits_on_any_number_of_threads():
    x, _ = with_groups(5, (150, 300))
    with engine(n_threads=1):
        one = found_in(x)
    with engine(n_threads=3):
        three = found_in(x)
    for a, b in zip(one.groups, three.groups, strict=True):
        assert np.array_equal(a.mean, b.mean)
        assert np.array_equal(a.covariance, b.covariance)


# --- the verdict ------------------------------------------------------------------------------------------------


def test_the_verdict_counts_rare_groups_and_names_their_rows():
    x, own = with_groups(3, (130, 410), n=60_000)
    choice = choose_k(x, criteria=["bic"])
    assert choice.k == 3
    assert "1 large group and 2 rare groups of 4" in choice.verdict
    assert "found in all rows" in choice.verdict
    labels = [np.unique(choice.labels[own == g]).tolist() for g in (-1, 1, 0)]
    assert labels == [[0], [1], [2]]


def test_numbers_that_were_asked_for_are_kept():
    x, _ = with_groups(3, (130, 410))
    choice = choose_k(x, k=[1, 2], criteria=["bic"])
    assert choice.k == 1
    assert "rare" not in choice.verdict


@pytest.mark.parametrize("name", ["ring, 2", "three normals, 10", "three normals, 2, two categories"])
def test_find_shows_rare_groups_beside_others_of_any_shape_and_kind(name, tmp_path):
    places = [own for own, _, _ in (*bench.BODIES, *bench.MIXED)]
    table = bench.tables(N, seed=3)[places.index(name)]()
    finding = asterism.find(table.table, outliers="none")
    there, found, false = bench.score(table, finding.labels)
    assert (found, false) == (there, 0)
    finding.save(tmp_path / "model.asterism")
    again = asterism.load(tmp_path / "model.asterism").assign(table.table)
    assert np.array_equal(again.labels, finding.labels)


def test_a_rare_group_within_a_ring_is_its_own():
    rng = np.random.default_rng(9)
    angle = rng.uniform(0, 2 * np.pi, 100_000)
    x = 30 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.standard_normal((100_000, 2))
    x[:150] = rng.standard_normal((150, 2))
    choice = choose_k(x, criteria=["bic"])
    assert choice.k == 2
    assert np.flatnonzero(choice.labels == 1).tolist() == list(range(150))


def test_a_rare_group_in_a_column_that_no_view_shows_is_found():
    rng = np.random.default_rng(10)
    x = rng.standard_normal((100_000, 20))
    x[:, :3] += rng.choice([-8.0, 8.0], (100_000, 1))
    x[:120, :3] = rng.standard_normal((120, 3)) + 8.0
    x[:120, 15] += 18.0
    choice = choose_k(x, criteria=["bic"])
    assert choice.k == 3
    assert np.flatnonzero(choice.labels == 2).tolist() == list(range(120))


def test_components_of_rare_groups_do_not_drift_into_a_tail():
    rng = np.random.default_rng(8)
    x = rng.exponential(size=(N, 2))
    x[:130] = 0.3 * rng.standard_normal((130, 2)) + [12.0, -8.0]
    choice = choose_k(x, criteria=["bic"])
    assert choice.k == 2
    assert np.flatnonzero(choice.labels == 1).tolist() == list(range(130))
