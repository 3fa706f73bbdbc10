"""Two labelings beside each other: scikit-learn, SciPy, mpmath and pairs counted one by one."""

from __future__ import annotations

import math
from itertools import combinations

import mpmath
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as peer
from sklearn.metrics.cluster import contingency_matrix as peer_contingency
from sklearn.metrics.cluster import pair_confusion_matrix as peer_pairs

from asterism import metrics
from asterism.errors import DataError, WeightError
from asterism.metrics.external import counts_of

SCORES = [
    "mutual_info_score",
    "normalized_mutual_info_score",
    "adjusted_mutual_info_score",
    "rand_score",
    "adjusted_rand_score",
    "fowlkes_mallows_score",
]
SYMMETRIC = [*SCORES, "variation_of_information", "clustering_distance"]
few = settings(max_examples=60, deadline=None)


@st.composite
def two_labelings(draw: st.DrawFn, least: int = 1) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(least, 30))
    labels = st.lists(st.integers(-2, 5), min_size=n, max_size=n)
    return np.array(draw(labels), int), np.array(draw(labels), int)


def labelings(n: int, k: int, agree: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    a = rng.integers(k, size=n)
    return a, np.where(rng.random(n) < agree, a, rng.integers(k, size=n))


# --- beside scikit-learn ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCORES)
@few
@given(pair=two_labelings())
def test_scores_are_scikit_learns_on_any_small_labelings(name, pair) -> None:
    ours, theirs = getattr(metrics, name)(*pair), getattr(peer, name)(*pair)
    if name == "adjusted_mutual_info_score" and abs(theirs) > 10:
        return  # 0 / 0 there: every labeling of these sizes tells the same
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_scikit_learns_on_larger_labelings(name) -> None:
    for n, k, agree in ((2000, 7, 0.6), (3000, 60, 0.1), (500, 400, 0.9)):
        a, b = labelings(n, k, agree)
        theirs = getattr(peer, name)(a, b)
        assert getattr(metrics, name)(a, b) == pytest.approx(theirs, abs=2e-12, rel=1e-12)


@few
@given(pair=two_labelings())
def test_contingency_v_measure_and_pairs_are_scikit_learns(pair) -> None:
    assert np.array_equal(metrics.contingency_matrix(*pair), peer_contingency(*pair))
    assert (metrics.contingency_matrix(*pair, sparse=True) != peer_contingency(*pair, sparse=True)).nnz == 0
    assert np.array_equal(metrics.pair_confusion_matrix(*pair), peer_pairs(*pair))
    ours = metrics.homogeneity_completeness_v_measure(*pair, beta=0.5)
    assert ours == pytest.approx(peer.homogeneity_completeness_v_measure(*pair, beta=0.5), abs=1e-12)


@pytest.mark.parametrize("how", ["min", "max", "geometric", "arithmetic"])
def test_every_mean_of_entropies(how) -> None:
    a, b = labelings(300, 5, 0.5)
    for name in ("normalized_mutual_info_score", "adjusted_mutual_info_score"):
        theirs = getattr(peer, name)(a, b % 3, average_method=how)
        assert getattr(metrics, name)(a, b % 3, average_method=how) == pytest.approx(theirs, abs=1e-12)


def test_entropy_is_scipys() -> None:
    labels = np.random.default_rng(1).integers(9, size=500)
    assert metrics.entropy(labels) == pytest.approx(scipy.stats.entropy(np.bincount(labels)), abs=1e-14)


# --- chance, to many digits -------------------------------------------------------------------------------------


def expected_by_mpmath(a: list[int], b: list[int]) -> mpmath.mpf:
    """sum_ij sum_n n/N log(N n / (a b)) p(n) with the factorials of Vinh et al., in 40 digits."""
    with mpmath.workdps(40):
        n_all, total = sum(a), mpmath.mpf(0)
        for x in a:
            for y in b:
                for n in range(max(1, x + y - n_all), min(x, y) + 1):
                    p = mpmath.binomial(y, n) * mpmath.binomial(n_all - y, x - n) / mpmath.binomial(n_all, x)
                    total += mpmath.mpf(n) / n_all * mpmath.log(mpmath.mpf(n_all) * n / (x * y)) * p
        return total


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([3, 4, 5], [6, 6]),
        ([500, 500], [300, 700]),
        ([1] * 8, [4, 4]),
        ([90, 5, 5], [2, 98]),
        ([1, 999], [1, 999]),
    ],
)
def test_expected_information_is_mpmaths_to_the_last_digits(a, b) -> None:
    counts = counts_of(np.repeat(np.arange(len(a)), a), np.repeat(np.arange(len(b)), b))
    ours = metrics.expected_mutual_information(counts)
    assert ours == pytest.approx(float(expected_by_mpmath(a, b)), rel=1e-13)


def test_labelings_by_chance_score_nothing_in_the_mean() -> None:
    rng = np.random.default_rng(2)
    a = np.repeat(np.arange(10), 30)
    adjusted = [metrics.adjusted_mutual_info_score(a, rng.permutation(a)) for _ in range(200)]
    rand = [metrics.adjusted_rand_score(a, rng.permutation(a)) for _ in range(200)]
    assert abs(np.mean(adjusted)) < 4 * np.std(adjusted) / np.sqrt(200)
    assert abs(np.mean(rand)) < 4 * np.std(rand) / np.sqrt(200)
    assert metrics.normalized_mutual_info_score(a, rng.permutation(a)) > 0.02  # chance is left in it


# --- pairs, one by one ------------------------------------------------------------------------------------------


@few
@given(pair=two_labelings(2))
def test_pairs_are_those_counted_one_by_one(pair) -> None:
    a, b = pair
    seen = [(a[i] == a[j], b[i] == b[j]) for i, j in combinations(range(len(a)), 2)]
    s = metrics.pair_scores(a, b)
    assert (s.tp, s.fp, s.fn, s.tn) == tuple(
        seen.count(what) for what in ((True, True), (False, True), (True, False), (False, False))
    )
    if s.tp:
        assert s.f1 == pytest.approx(2 / (1 / s.precision + 1 / s.recall))


def test_billions_of_rows_are_counted_without_rounding() -> None:
    w = [3_000_000_019, 2_000_000_011, 1]
    s = metrics.pair_scores([0, 0, 1], [0, 1, 1], sample_weight=w)
    assert (s.tp, s.fp, s.fn) == (w[0] * (w[0] - 1) // 2 + w[1] * (w[1] - 1) // 2, w[1], w[0] * w[1])


# --- laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYMMETRIC)
@few
@given(pair=two_labelings(), names=st.permutations(list("pqrstuvw")))
def test_names_and_order_of_labels_and_of_labelings_do_not_matter(name, pair, names) -> None:
    a, b = pair
    score = getattr(metrics, name)
    assert score(a, b) == pytest.approx(score(np.array(names)[a + 2], b), abs=1e-12)
    assert score(a, b) == pytest.approx(score(a[::-1], b[::-1]), abs=1e-12)
    assert score(a, b) == pytest.approx(score(b, a), abs=1e-12)


@pytest.mark.parametrize("name", SYMMETRIC)
@few
@given(pair=two_labelings(), data=st.data())
def test_weights_count_as_copies_and_zero_as_absent(name, pair, data) -> None:
    a, b = pair
    w = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(a), max_size=len(a))))
    score = getattr(metrics, name)
    if not w.any():
        with pytest.raises(WeightError):
            score(a, b, sample_weight=w)
        return
    assert score(a, b, sample_weight=w) == pytest.approx(score(np.repeat(a, w), np.repeat(b, w)), abs=1e-12)


@few
@given(pair=two_labelings(), other=st.lists(st.integers(0, 4), min_size=30, max_size=30))
def test_variation_of_information_is_a_metric_and_the_entropies_left_over(pair, other) -> None:
    a, b = pair
    c = np.array(other[: len(a)])
    vi = metrics.variation_of_information
    by_entropies = metrics.entropy(a) + metrics.entropy(b) - 2 * metrics.mutual_info_score(a, b)
    assert vi(a, b) == pytest.approx(by_entropies, abs=1e-12)
    assert vi(a, a) == 0.0
    assert vi(a, c) <= vi(a, b) + vi(b, c) + 1e-12
    assert vi(a, b) <= math.log(len(a)) + 1e-12


@few
@given(pair=two_labelings())
def test_bounds(pair) -> None:
    mi = metrics.mutual_info_score(*pair)
    assert 0 <= mi <= min(metrics.entropy(pair[0]), metrics.entropy(pair[1])) + 1e-12
    assert 0 <= metrics.normalized_mutual_info_score(*pair) <= 1 + 1e-12
    assert metrics.adjusted_mutual_info_score(*pair) <= 1 + 1e-12


# --- the worked table -------------------------------------------------------------------------------------------

TABLE = np.array([[0.39, 0.08, 0.02], [0.06, 0.31, 0.01], [0.01, 0.01, 0.11]])  # cat, dog, parrot


def information_of_table(table: np.ndarray) -> float:
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float((table * np.log(table / independent)).sum())


def test_information_of_the_animals_and_of_their_permutation() -> None:
    animal, cluster = np.repeat(["cat", "dog", "parrot"], 3), np.tile([1, 2, 3], 3)
    swapped = np.tile([2, 1, 3], 3)
    ours = metrics.mutual_info_score(animal, cluster, sample_weight=TABLE.ravel())
    assert ours == pytest.approx(information_of_table(TABLE), abs=1e-14)
    assert metrics.mutual_info_score(animal, swapped, sample_weight=TABLE.ravel()) == pytest.approx(ours)
    assert np.allclose(metrics.contingency_matrix(animal, cluster, sample_weight=TABLE.ravel()), TABLE)
    assert np.allclose(
        metrics.contingency_matrix(animal, swapped, sample_weight=TABLE.ravel()), TABLE[:, [1, 0, 2]]
    )


# --- edges ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SCORES if name != "mutual_info_score"])
def test_no_rows_one_label_and_one_row_each_are_perfect_matches(name) -> None:
    score = getattr(metrics, name)
    pairs_together = name == "fowlkes_mallows_score"  # which has none to agree on
    assert score([], []) == (0.0 if pairs_together else 1.0)
    assert score(["x"] * 4, [7] * 4) == 1.0
    assert score([1, 2, 3], ["c", "b", "a"]) == (0.0 if pairs_together else 1.0)


def test_one_cluster_tells_nothing() -> None:
    a = [0, 0, 1, 1]
    assert metrics.mutual_info_score(a, [5] * 4) == 0.0
    assert metrics.adjusted_mutual_info_score(a, [5] * 4) == 0.0
    assert metrics.adjusted_rand_score(a, [5] * 4) == 0.0
    assert metrics.homogeneity_completeness_v_measure(a, [5] * 4) == (0.0, 1.0, 0.0)


def test_labels_of_every_kind_are_the_same_labels() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    a, b = labelings(200, 6, 0.5)
    table = metrics.contingency_matrix(a, b)
    words = np.array(["u", "v", "w", "x", "y", "z"])[a]
    kinds = [a.astype(np.uint8), a.astype(float), words, words.astype(object), list(words), a * 10**12 - 5]
    kinds += [
        pandas.Series(words),
        pandas.Categorical(words),
        polars.Series(words),
        a.astype("datetime64[D]"),
    ]
    for kind in kinds:
        assert np.array_equal(metrics.contingency_matrix(kind, b), table)
    mixed = np.array([None if x == 99 else (x if x < 3 else str(x)) for x in a.tolist()], object)
    assert np.array_equal(metrics.contingency_matrix(mixed, b), table)


def test_booleans_and_few_large_numbers() -> None:
    a, b = np.array([True, False, True]), np.array([2**62, 5, 2**62])
    assert metrics.contingency_matrix(a, b).tolist() == [[1, 0], [0, 2]]


def test_more_labels_than_a_table_could_hold() -> None:
    n = 20_000
    a = np.arange(n)
    assert metrics.adjusted_rand_score(a, a[::-1]) == 1.0
    assert metrics.mutual_info_score(a, a[::-1]) == pytest.approx(math.log(n))
    assert metrics.match_clusters(a, a[::-1]).accuracy == 1.0


def test_missing_labels_and_unequal_lengths_are_named() -> None:
    with pytest.raises(DataError, match=r"row 3.*no label"):
        metrics.mutual_info_score([0, 1, 0], ["a", "b", None])
    with pytest.raises(DataError, match=r"row 2.*no label"):
        metrics.rand_score([0.0, np.nan, 0.0], [1, 1, 1])
    assert metrics.rand_score([0.0, np.nan, 0.0], [1, 1, 1], sample_weight=[1, 0, 1]) == 1.0
    with pytest.raises(DataError, match="3 rows and labels has 2"):
        metrics.rand_score([0, 1, 0], [1, 1])


def test_chance_needs_whole_rows() -> None:
    with pytest.raises(WeightError, match="normalized_mutual_info_score"):
        metrics.adjusted_mutual_info_score([0, 1, 0], [1, 1, 2], sample_weight=[0.5, 1, 1])
