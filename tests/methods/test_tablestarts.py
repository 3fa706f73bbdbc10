"""Starts on tables whose sample is too small for the family; groups by way of many."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from asterism import GaussianMixture, MultinomialMixture, engine
from asterism.data.source import ArraySource
from asterism.errors import ParameterError
from asterism.methods.coarse import coarse_centers
from asterism.methods.kmeans import nearest

N, D, K = 12_000, 64, 14  # 30,000 parameters, and 4,096 rows in a sample


@pytest.fixture(scope="module")
def wide() -> tuple[np.ndarray, np.ndarray]:
    """Rows in normal groups with axes of their own, and the groups."""
    rng = np.random.default_rng(7)
    centers = rng.normal(scale=4.5 / np.sqrt(2.0 * D), size=(K, D))
    axes = np.linalg.qr(rng.standard_normal((K, D, D)))[0] * 2.0 ** rng.uniform(-1, 1, size=(K, 1, D))
    group = rng.integers(K, size=N)
    noise = rng.standard_normal((N, D))
    return centers[group] + np.einsum("nij,nj->ni", axes[group], noise), group


@pytest.fixture(scope="module")
def reachable(wide: tuple[np.ndarray, np.ndarray]) -> float:
    """The log-likelihood a row that EM reaches from the true groups."""
    X, group = wide
    return GaussianMixture(K, responsibilities_init=np.eye(K)[group], tol=1e-6).fit(X).score(X)


@pytest.mark.parametrize("seed", range(4))
def test_many_wide_groups_are_found_from_any_seed(
    wide: tuple[np.ndarray, np.ndarray], reachable: float, seed: int
) -> None:
    assert (
        GaussianMixture(K, random_state=seed).fit(wide[0]).score(wide[0]) > reachable - 0.01
    )  # two groups in one cost 0.5


def test_columns_in_other_units_give_the_same_groups(wide: tuple[np.ndarray, np.ndarray]) -> None:
    X, group = wide
    found = GaussianMixture(K, random_state=0).fit(X * 10.0 ** np.arange(-D // 2, D - D // 2))
    assert adjusted_rand_score(group, found.labels_) > 0.98


@pytest.mark.parametrize("init", ["kmeans", "ward"])
def test_a_chosen_way_to_start_finds_most_of_the_groups(
    wide: tuple[np.ndarray, np.ndarray], reachable: float, init: str
) -> None:
    # One group in two and two in one cost 0.5.
    assert GaussianMixture(K, init_params=init, random_state=0).fit(wide[0]).score(wide[0]) > reachable - 1.2


def test_an_unknown_way_to_start_is_named(wide: tuple[np.ndarray, np.ndarray]) -> None:
    with pytest.raises(ParameterError, match="'guesswork'"):
        GaussianMixture(K, init_params="guesswork").fit(wide[0])


def test_components_are_numbered_along_the_first_column(wide: tuple[np.ndarray, np.ndarray]) -> None:
    # Group means of the start are in order; a few steps later the first column still shows it.
    found = GaussianMixture(K, random_state=0, max_iter=1, tol=0).fit(wide[0])
    assert np.corrcoef(np.arange(K), found.means_[:, 0])[0, 1] > 0.9


def test_given_means_start_from_rows_of_the_whole_table(
    wide: tuple[np.ndarray, np.ndarray], reachable: float
) -> None:
    X, group = wide
    means = np.array([X[group == c].mean(axis=0) for c in range(K)])
    found = GaussianMixture(K, means_init=means).fit(X)
    assert found.score(X) > reachable - 0.01  # two groups in one cost 0.5
    assert found.n_iter_ <= 10


def test_gaps_and_several_starts_are_no_obstacle(wide: tuple[np.ndarray, np.ndarray]) -> None:
    X, group = wide
    holes = X.copy()
    holes[:300][np.random.default_rng(1).random((300, D)) < 0.003] = np.nan
    found = GaussianMixture(K, n_init=2, random_state=0).fit(holes)
    assert adjusted_rand_score(group, found.labels_) > 0.97


def test_threads_do_not_change_the_start(wide: tuple[np.ndarray, np.ndarray]) -> None:
    found = []
    for n_threads in (1, 2):
        with engine(n_threads=n_threads):
            found.append(GaussianMixture(K, random_state=0, max_iter=2, tol=0).fit(wide[0]))
    assert (found[0].means_ == found[1].means_).all()
    assert found[0].history_ == found[1].history_


def test_a_checkpoint_holds_steps_of_em_and_not_of_the_start(
    wide: tuple[np.ndarray, np.ndarray], tmp_path: object
) -> None:
    plain = GaussianMixture(K, random_state=0, max_iter=3, tol=0).fit(wide[0])
    with engine(checkpoint=str(tmp_path)):
        kept = GaussianMixture(K, random_state=0, max_iter=3, tol=0).fit(wide[0])
    assert kept.history_ == plain.history_


def test_counts_are_compared_by_their_shares() -> None:
    """Texts on five subjects, of sixty words or of three thousand: length must not be taken for a subject."""
    rng = np.random.default_rng(2)
    n, words, k = 6000, 400, 5
    subject, shares = rng.integers(k, size=n), rng.dirichlet(np.full(words, 0.5), size=k)
    length = np.exp(rng.uniform(np.log(60), np.log(3000), n)).astype(int)
    counts = np.array([rng.multinomial(m, shares[c]) for m, c in zip(length, subject, strict=True)])
    for seed in range(2):
        found = MultinomialMixture(k, random_state=seed).fit(counts.astype(float))
        assert adjusted_rand_score(subject, found.labels_) > 0.95


@pytest.mark.parametrize("seed", range(10))
def test_by_way_of_many_every_group_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sites = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    group = rng.integers(25, size=2500)
    table = ArraySource(sites[group] + 0.08 * rng.standard_normal((2500, 2)))
    assert adjusted_rand_score(group, nearest(coarse_centers(table, 25, seed), table)) == 1.0


def test_as_many_groups_as_rows_is_possible() -> None:
    table = ArraySource(np.arange(4.0)[:, None])
    assert sorted(coarse_centers(table, 4, 0).positions.ravel().tolist()) == [0.0, 1.0, 2.0, 3.0]


def test_a_row_of_weight_w_is_w_rows_for_ward() -> None:
    X = np.array([[0.0], [1.0], [2.5], [3.5], [7.0]])
    w = np.array([5.0, 1.0, 1.0, 4.0, 2.0])
    copies = np.repeat(X, w.astype(int), axis=0)
    a, b = (
        np.sort(coarse_centers(table, 2, 0).positions, axis=0)
        for table in (ArraySource(X, w), ArraySource(copies))
    )
    assert np.allclose(a, b, rtol=1e-12)
