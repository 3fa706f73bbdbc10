"""Does clustering help a classifier: where it must, where it cannot, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from asterism import GaussianMixture, KDTreeClustering, KMeans, StudentMixture, metrics
from asterism.errors import DataError, ParameterError


def alternating(n: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """Six groups in a row whose classes alternate: no line tells them apart, a cluster does."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % 6
    return np.c_[10.0 * group, np.zeros(n)] + rng.normal(size=(n, 2)), group % 2


def test_clusters_help_where_classes_follow_them() -> None:
    X, y = alternating()
    found = metrics.extrinsic_score(X, y, KMeans(6, n_init=5, random_state=0))
    assert found["plain"].score < 0.7
    assert found["cluster id"].score > 0.95
    assert found["model per cluster"].score > 0.95
    assert found["cluster id"].helps is True
    assert "helps as cluster id" in found.verdict
    assert found.best.score > 0.95
    assert found.ways[0].name == "plain"


def test_plain_is_scikit_learns_cross_validation() -> None:
    X, y = alternating()
    model = LogisticRegression()
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    theirs = cross_val_score(model, X, y, cv=folds)
    ours = metrics.extrinsic_score(
        X, y, KMeans(3, random_state=0), classifier=model, ways=(), cv=4, random_state=3
    )
    assert ours["plain"].scores == pytest.approx(theirs)
    assert len(ours.ways) == 1


def test_removing_outliers_helps_where_they_mislead() -> None:
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(-2, 1, (100, 1)), rng.normal(2, 1, (100, 1)), rng.normal(300, 40, (10, 1))]
    y = np.r_[np.zeros(100), np.ones(100), np.zeros(10)].astype(int)  # far rows pull the line the wrong way
    found = metrics.extrinsic_score(
        X, y, KMeans(1, random_state=0), ways=("outliers removed",), outliers=0.06, random_state=0
    )
    assert found["outliers removed"].score > found["plain"].score + 0.1


def test_a_classifier_that_ignores_columns_gains_nothing() -> None:
    X, y = alternating()
    found = metrics.extrinsic_score(
        X, y, KMeans(2, random_state=0), classifier=DummyClassifier(), ways=("cluster id", "distances")
    )
    assert all(way.difference == 0 and way.helps is None for way in found.ways)
    assert "No way" in found.verdict


def test_weights_are_heard_and_zero_is_absent() -> None:
    X, y = alternating(120)
    w = np.ones(120)
    wrong = X.copy()
    wrong[:6] = 1e6
    w[:6] = 0
    a = metrics.extrinsic_score(wrong, y, KMeans(6, random_state=0), cv=3, sample_weight=w)
    b = metrics.extrinsic_score(X[6:], y[6:], KMeans(6, random_state=0), cv=3)
    assert [way.scores for way in a.ways] == [way.scores for way in b.ways]
    assert (
        metrics.extrinsic_score(X, y, KMeans(2, random_state=0), cv=3, sample_weight=w + 1)["plain"].score > 0
    )
    with pytest.raises(ParameterError, match="KNeighborsClassifier"):
        metrics.extrinsic_score(
            X, y, KMeans(2, random_state=0), classifier=KNeighborsClassifier(), sample_weight=w + 1 + y
        )


def test_wrong_input_is_named() -> None:
    X, y = alternating(60)
    with pytest.raises(ParameterError, match="Known are"):
        metrics.extrinsic_score(X, y, KMeans(2), ways=("magic",))
    with pytest.raises(ParameterError, match="rarest class"):
        metrics.extrinsic_score(X, np.r_[y[:-1], 7], KMeans(2))
    with pytest.raises(DataError, match="one class a row"):
        metrics.extrinsic_score(X, y[:-1], KMeans(2))


def test_figures_show_tables_matches_and_silhouettes() -> None:
    X, y = alternating(60)
    labels = np.arange(60) % 3
    figure = metrics.contingency_figure(y, labels)
    assert np.array_equal(figure.data[0].z, metrics.contingency_matrix(y, labels))
    assert len(figure.layout.shapes) == 2  # two classes, so two matched clusters
    figure = metrics.silhouette_figure(X, labels)
    values = metrics.silhouette_samples(X, labels)
    assert len(figure.data) == 3
    assert np.array_equal(np.sort(figure.data[1].x), np.sort(values[labels == 1]))
    with pytest.raises(ParameterError, match="cannot be read"):
        metrics.contingency_figure(np.arange(300), np.arange(300))


def test_a_mixture_lends_its_responsibilities() -> None:
    X, y = alternating()
    found = metrics.extrinsic_score(X, y, GaussianMixture(6, covariance_type="EII", random_state=0))
    assert [way.name for way in found.ways] == [
        "plain", "cluster id", "responsibilities", "model per cluster", "outliers removed",
    ]  # fmt: skip
    assert found["responsibilities"].score > 0.95
    assert found["responsibilities"].helps is True


def test_responsibilities_are_columns_by_hand() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(120, 2)), np.arange(120) % 2
    model, classifier = GaussianMixture(2, random_state=0), LogisticRegression()
    found = metrics.extrinsic_score(X, y, model, classifier=classifier, ways=("responsibilities",), cv=3)
    scores = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        shares = clone(model).fit(X[train])
        columns = [np.hstack([rows, shares.predict_proba(rows)]) for rows in (X[train], X[test])]
        scores.append(classifier.fit(columns[0], y[train]).score(columns[1], y[test]))
    assert found["responsibilities"].scores == pytest.approx(scores)


def test_rows_of_little_density_are_outliers_where_there_are_no_distances() -> None:
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(-2, 1, (100, 1)), rng.normal(2, 1, (100, 1)), rng.normal(300, 40, (10, 1))]
    y = np.r_[np.zeros(100), np.ones(100), np.zeros(10)].astype(int)
    found = metrics.extrinsic_score(
        X, y, StudentMixture(1, random_state=0), ways=("outliers removed",), outliers=0.06
    )
    assert found["outliers removed"].score > found["plain"].score + 0.1


def test_any_model_that_predicts_will_do() -> None:
    X, y = alternating(120)
    found = metrics.extrinsic_score(X, y, KDTreeClustering(6))
    assert {"plain", "cluster id", "model per cluster"} <= {way.name for way in found.ways}
    with pytest.raises(ParameterError, match=r"KDTreeClustering has no .*cluster id.* possible"):
        metrics.extrinsic_score(X, y, KDTreeClustering(6), ways=("responsibilities",))
