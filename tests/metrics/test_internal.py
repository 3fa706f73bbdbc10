"""Internal metrics: scikit-learn, brute force over pairs, laws; arrays, frames and files alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as peer

import asterism
from asterism import metrics
from asterism.data.source import ArraySource
from asterism.errors import DataError, ParameterError

few = settings(max_examples=40, deadline=None)


def table(
    n: int = 300, d: int = 3, k: int = 4, seed: int = 0, shift: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return rng.normal(size=(n, d)) + 2.0 * labels[:, None] + shift, labels


@st.composite
def small(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and whole weights."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    cells = draw(st.lists(st.integers(-5, 5), min_size=n * d, max_size=n * d))
    labels = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    return np.array(cells, float).reshape(n, d), np.array(labels), np.array(weights)


# --- beside scikit-learn ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_scikit_learns(dtype) -> None:
    X, labels = table()
    X = X.astype(dtype)
    for name in ("silhouette_score", "calinski_harabasz_score", "davies_bouldin_score"):
        theirs = getattr(peer, name)(X.astype(np.float64), labels)
        assert getattr(metrics, name)(X, labels) == pytest.approx(theirs, rel=1e-12)
    ours, theirs = (
        metrics.silhouette_samples(X, labels),
        peer.silhouette_samples(X.astype(np.float64), labels),
    )
    assert np.abs(ours - theirs).max() < 1e-12


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "sqeuclidean"])
def test_silhouettes_of_other_dissimilarities_are_scikit_learns(metric) -> None:
    X, labels = table(150)
    theirs = peer.silhouette_samples(X, labels, metric=metric)
    assert np.abs(metrics.silhouette_samples(X, labels, metric=metric) - theirs).max() < 1e-9
    D = peer.pairwise_distances(X, metric=metric)
    np.fill_diagonal(D, 0.0)
    given_matrix = metrics.silhouette_samples((D + D.T) / 2, labels, metric="precomputed")
    assert np.abs(given_matrix - theirs).max() < 1e-9


def test_many_tiny_groups_and_more_rows_than_a_tile() -> None:
    X, _ = table(2500)
    labels = np.random.default_rng(1).integers(900, size=2500)
    theirs = peer.silhouette_samples(X, labels)
    assert np.abs(metrics.silhouette_samples(X, labels) - theirs).max() < 1e-12


def test_a_large_shift_costs_no_digits() -> None:
    X, labels = table()
    X = np.round(X * 1024) / 1024
    far = X + 2.0**30  # exact
    for name in ("calinski_harabasz_score", "davies_bouldin_score", "silhouette_score"):
        score = getattr(metrics, name)
        assert score(far, labels) == pytest.approx(score(X, labels), rel=1e-12)


# --- the scatter ------------------------------------------------------------------------------------------------


def scatter_by_hand(X: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean = X.mean(axis=0)
    within, between = np.zeros((2, X.shape[1], X.shape[1]))
    for g in np.unique(labels):
        own = X[labels == g]
        m = own.mean(axis=0)
        within += (own - m).T @ (own - m)
        between += len(own) * np.outer(m - mean, m - mean)
    return within, between, (X - mean).T @ (X - mean)


def test_scatter_matrices_and_their_traces() -> None:
    X, labels = table()
    ours, by_hand = metrics.scatter_matrices(X, labels), scatter_by_hand(X, labels)
    for a, b in zip(ours, by_hand, strict=True):
        assert np.allclose(a, b, rtol=1e-12)
    within, between, _ = (np.trace(s) for s in by_hand)
    assert metrics.sum_of_squares(X, labels) == pytest.approx(within)
    assert metrics.scatter_ratio(X, labels) == pytest.approx(between / within)
    n, k = len(X), 4
    assert metrics.calinski_harabasz_score(X, labels) == pytest.approx(between / within * (n - k) / (k - 1))


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "manhattan"])
@few
@given(rows=small())
def test_within_and_between_add_up_to_the_total_over_all_pairs(metric, rows) -> None:
    X, labels, w = rows
    found = metrics.within_between_total(X, labels, metric=metric, sample_weight=w)
    pairs = peer.pairwise_distances(X, metric=metric) * np.outer(w, w)
    same = labels[:, None] == labels
    assert found.total == pytest.approx(pairs.sum() / 2, abs=1e-6)
    assert found.within == pytest.approx((pairs * same).sum() / 2, abs=1e-6)
    assert found.between == pytest.approx((pairs * ~same).sum() / 2, abs=1e-6)


# --- laws -------------------------------------------------------------------------------------------------------

ALL = {
    "silhouette": metrics.silhouette_score,
    "centroid": lambda X, z, **more: metrics.silhouette_score(X, z, form="centroid", **more),
    "ch": metrics.calinski_harabasz_score,
    "db": metrics.davies_bouldin_score,
    "ss": metrics.sum_of_squares,
    "ratio": metrics.scatter_ratio,
    "within": lambda X, z, **more: metrics.within_between_total(X, z, metric="euclidean", **more).within,
    "trace": lambda X, z, **more: float(np.trace(metrics.scatter_matrices(X, z, **more).between)),
}
every_metric = pytest.mark.parametrize("score", ALL.values(), ids=ALL)


@every_metric
@few
@given(rows=small())
def test_weights_count_as_copies_and_zero_as_absent(score, rows) -> None:
    X, labels, w = rows
    X = X.copy()
    copies = score(np.repeat(X, w, axis=0), np.repeat(labels, w))
    X[w == 0] = 1e3
    assert score(X, labels, sample_weight=w) == pytest.approx(copies, rel=1e-9, abs=1e-9, nan_ok=True)


@every_metric
def test_names_and_order_of_rows_do_not_matter(score) -> None:
    X, labels = table(60)
    order = np.random.default_rng(3).permutation(60)
    words = np.array(["d", "a", "c", "b"])[labels]
    assert score(X[order], words[order]) == pytest.approx(score(X, labels), rel=1e-12)


@every_metric
def test_arrays_frames_lists_and_sources_give_the_same(score, tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    X, labels = table(80)
    whole = np.round(X)  # few values: a frame of them is still numbers
    np.save(tmp_path / "rows.npy", whole)
    wanted = score(whole, labels)
    frame = pandas.DataFrame(whole.astype(int))
    for other in (
        frame,
        whole.tolist(),
        ArraySource(whole),
        asterism.read(tmp_path / "rows.npy"),
        np.asfortranarray(whole),
    ):
        assert score(other, labels) == wanted
    weighted = score(ArraySource(whole), labels, sample_weight=np.full(80, 2.0))
    assert weighted == pytest.approx(score(np.repeat(whole, 2, axis=0), np.repeat(labels, 2)), rel=1e-12)


@every_metric
def test_same_bits_on_any_number_of_threads(score) -> None:
    X, labels = table(3000, 40)
    found = set()
    for n in (1, 2, 3):
        with asterism.engine(n_threads=n):
            found.add(score(X, labels))
    assert len(found) == 1


# --- forms of the silhouette ------------------------------------------------------------------------------------


def test_centroid_form_by_hand() -> None:
    X, labels = table(100)
    centers = np.array([X[labels == g].mean(axis=0) for g in range(4)])
    distance = np.linalg.norm(X[:, None] - centers, axis=2)
    a = distance[np.arange(100), labels]
    distance[np.arange(100), labels] = np.inf
    b = distance.min(axis=1)
    s = (b - a) / np.maximum(a, b)
    assert np.allclose(metrics.silhouette_samples(X, labels, form="centroid"), s, rtol=1e-12)
    assert metrics.silhouette_score(X, labels, form="centroid", centers=centers) == pytest.approx(s.mean())
    scores = metrics.internal_scores(X, labels, centers=centers)
    assert scores.silhouette == pytest.approx(s.mean())
    assert scores.davies_bouldin == pytest.approx(peer.davies_bouldin_score(X, labels))
    assert scores.calinski_harabasz == pytest.approx(peer.calinski_harabasz_score(X, labels))
    assert metrics.internal_scores(X, labels).sum_of_squares == scores.sum_of_squares


class CountedSource(ArraySource):
    """Counts how often its rows are read."""

    rows_read = 0

    def pieces(self, start, stop):
        CountedSource.rows_read += stop - start
        return super().pieces(start, stop)


def test_known_centres_make_it_one_pass() -> None:
    X, labels = table(200_000, 10)
    centers = np.array([X[labels == g].mean(axis=0) for g in range(4)])
    for call in (
        lambda s: metrics.internal_scores(s, labels, centers=centers),
        lambda s: metrics.silhouette_score(s, labels, form="centroid", centers=centers),
        lambda s: metrics.calinski_harabasz_score(s, labels),
    ):
        CountedSource.rows_read = 0
        source = CountedSource(X)
        call(source)
        assert (
            CountedSource.rows_read <= len(X) + source.block_rows
        )  # the first block tells where numbers are safe


def test_estimate_of_the_silhouette_covers_the_truth() -> None:
    X, labels = table(3000, 2, 3)
    w = np.random.default_rng(5).integers(0, 4, size=3000).astype(float)
    truth, weighted = (
        metrics.silhouette_score(X, labels),
        metrics.silhouette_score(X, labels, sample_weight=w),
    )
    inside = inside_weighted = 0
    for seed in range(60):
        found = metrics.silhouette_interval(X, labels, sample_size=100, confidence=0.9, random_state=seed)
        inside += found.low <= truth <= found.high
        found = metrics.silhouette_interval(
            X, labels, sample_size=100, confidence=0.9, random_state=seed, sample_weight=w
        )
        inside_weighted += found.low <= weighted <= found.high
    assert inside >= 47  # 54 in the mean; fewer than 47 once in 300 times
    assert inside_weighted >= 47
    assert metrics.silhouette_score(X, labels, sample_size=10_000) == pytest.approx(truth)
    assert metrics.silhouette_interval(X, labels, sample_size=10_000).error == pytest.approx(0.0, abs=1e-12)


def test_exact_silhouettes_of_a_huge_table_are_not_started_by_accident() -> None:
    with pytest.raises(ParameterError, match="sample_size"):
        metrics.silhouette_score(np.zeros((200_000, 1)), np.zeros(200_000, int))


# --- edges ------------------------------------------------------------------------------------------------------


def test_one_group() -> None:
    X, _ = table(20)
    labels = np.zeros(20, int)
    assert metrics.silhouette_score(X, labels) == 0.0
    assert metrics.silhouette_score(X, labels, form="centroid") == 0.0
    assert (metrics.silhouette_samples(X, labels, form="centroid") == 0).all()
    assert math.isnan(metrics.calinski_harabasz_score(X, labels))
    assert math.isnan(metrics.davies_bouldin_score(X, labels))
    assert metrics.scatter_ratio(X, labels) == pytest.approx(0.0, abs=1e-12)


def test_groups_of_one_row_count_as_zero() -> None:
    X, _ = table(6)
    for form in ("full", "centroid"):
        assert (metrics.silhouette_samples(X, np.arange(6), form=form) == 0).all()
    one = metrics.silhouette_samples(X, [0, 0, 0, 1, 1, 2])
    assert one[-1] == 0.0
    assert np.allclose(one, peer.silhouette_samples(X, [0, 0, 0, 1, 1, 2]))


def test_rows_that_are_all_the_same() -> None:
    X, labels = np.ones((6, 2)), [0, 0, 0, 1, 1, 1]
    assert metrics.silhouette_score(X, labels) == 0.0
    assert metrics.sum_of_squares(X, labels) == 0.0
    assert metrics.calinski_harabasz_score(X, labels) == math.inf
    assert metrics.davies_bouldin_score(X, labels) == 0.0


def test_missing_cells_are_left_out_of_sums_of_squares() -> None:
    X, labels = table(50)
    holed = X.copy()
    holed[3, 1] = np.nan
    by_hand = sum(
        np.nansum((holed[labels == g] - np.nanmean(holed[labels == g], axis=0)) ** 2) for g in range(4)
    )
    assert metrics.sum_of_squares(holed, labels) == pytest.approx(by_hand, rel=1e-12)
    with pytest.raises(DataError, match=r"row 4, column 'x1'"):
        metrics.scatter_matrices(holed, labels)


def test_wrong_input_is_named() -> None:
    X, labels = table(10)
    with pytest.raises(DataError, match="9 labels for 10 rows"):
        metrics.sum_of_squares(X, labels[:9])
    X[4, 2] = np.inf
    with pytest.raises(DataError, match=r"row 5, column 'x2'"):
        metrics.calinski_harabasz_score(X, labels)
    with pytest.raises(ParameterError, match="centers has the shape"):
        metrics.davies_bouldin_score(np.ones((10, 3)), labels, centers=np.ones((2, 2)))
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="color"):
        metrics.sum_of_squares(pandas.DataFrame({"color": ["red", "blue"]}), [0, 1])
