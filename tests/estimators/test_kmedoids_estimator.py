"""KMedoids as people use it."""

from __future__ import annotations

import doctest
import runpy

import numpy as np
import pandas
import pytest
from scipy.spatial.distance import cdist

from asterism import KMeans, KMedoids, SoftKMeans
from asterism.distances.mixed import Gower
from asterism.errors import DataError
from asterism.estimators.base import Taxonomy


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(40, 2)) + center for center in ([0, 0], [8, 0], [0, 8])])


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    young = np.arange(60) < 30
    frame = pandas.DataFrame(
        {
            "age": np.where(young, 20, 60) + rng.integers(-5, 6, 60).astype(float),
            "home": np.where(young, "flat", "house"),
            "fitness": pandas.Categorical(
                np.where(young, "high", "low"), categories=["low", "middle", "high"], ordered=True
            ),
        }
    )
    frame.loc[[3, 40], "age"] = np.nan
    frame.loc[[5], "home"] = None
    return frame


def test_outliers_move_means_but_not_medoids(X):
    spoiled = np.vstack([X, [[2000.0, 2000.0]], [[2000.0, 2100.0]]])
    truth = np.repeat([0, 1, 2], 40)

    def keeps_the_groups(labels):
        pairs = {(a, b) for a, b in zip(truth, labels[:120], strict=True)}
        return len(pairs) == 3 and len({b for _, b in pairs}) == 3

    # One group would go to the outliers if there were one to spare: the cost of leaving them is 2 * 2,800,
    # so weigh the rows of the table instead, as a large table would.
    weights = np.r_[np.full(120, 50.0), 1.0, 1.0]
    medoids = KMedoids(3, metric="euclidean", random_state=0).fit(spoiled, sample_weight=weights)
    means = KMeans(3, n_init=10, random_state=0).fit(spoiled, sample_weight=weights)
    assert keeps_the_groups(medoids.labels_)
    assert not keeps_the_groups(means.labels_)


def test_example_of_outliers_shows_medoids_keeping_what_means_lose(root, capsys):
    runpy.run_path(str(root / "examples" / "outliers.py"), run_name="__main__")
    means, medoids = (float(line.split()[-1]) for line in capsys.readouterr().out.splitlines())
    assert medoids == 1.0
    assert means < 0.7


def test_attributes_agree_with_each_other(X):
    km = KMedoids(3, random_state=0).fit(X)
    D = cdist(X, X[km.medoid_indices_])
    np.testing.assert_array_equal(km.cluster_centers_, X[km.medoid_indices_])
    np.testing.assert_array_equal(km.labels_, D.argmin(axis=1))
    np.testing.assert_allclose(km.transform(X), D, rtol=1e-12)
    assert km.inertia_ == pytest.approx(D.min(axis=1).sum())
    assert km.score(X) == pytest.approx(-km.inertia_)
    assert km.converged_
    assert km.n_iter_ >= 1
    assert "All 120 rows" in km.quality_
    np.testing.assert_array_equal(km.fit_predict(X), km.predict(X))


def test_heaviest_group_comes_first(X):
    km = KMedoids(3, random_state=0).fit(X[:100])
    assert (np.diff(np.bincount(km.labels_)) <= 0).all()


def test_mixed_frames_with_missing_cells_work_directly(people):
    km = KMedoids(2, metric="gower", random_state=0).fit(people)
    assert [column.kind for column in km.columns_] == ["numeric", "categorical", "ordinal"]
    assert len(set(km.labels_[:30])) == len(set(km.labels_[30:])) == 1
    assert km.labels_[0] != km.labels_[59]
    np.testing.assert_array_equal(km.predict(people), km.labels_)
    assert km.predict(people.iloc[[59, 0]]).tolist() == [km.labels_[59], km.labels_[0]]
    shuffled = people[["home", "fitness", "age"]]
    np.testing.assert_array_equal(km.predict(shuffled), km.labels_)


def test_kinds_and_column_weights_can_be_given(people):
    metric = Gower(column_weights={"age": 0.0, "fitness": 0.0})
    km = KMedoids(2, metric=metric, kinds={"home": "categorical"}, random_state=0).fit(people)
    assert km.inertia_ == pytest.approx(1.0)  # the row without a home cannot be compared: a table apart


def test_frames_of_names_need_a_metric_for_them(people):
    with pytest.raises((DataError, ValueError), match="could not convert"):
        KMedoids(2).fit(people)


def test_new_rows_of_a_precomputed_matrix_go_by_its_columns(X):
    train, new = X[::2], X[1::2]
    km = KMedoids(3, metric="precomputed", random_state=0).fit(cdist(train, train))
    plain = KMedoids(3, random_state=0).fit(train)
    assert set(km.medoid_indices_) == set(plain.medoid_indices_)
    found = km.medoid_indices_[km.predict(cdist(new, train))]
    np.testing.assert_array_equal(found, plain.medoid_indices_[plain.predict(new)])
    with pytest.raises(DataError, match="features"):
        km.predict(cdist(new, new[:5]))


def test_functions_of_two_rows_are_metrics(X):
    by_function = KMedoids(3, metric=lambda x, y: np.abs(x - y).max(), random_state=0).fit(X)
    by_name = KMedoids(3, metric="chebyshev", random_state=0).fit(X)
    np.testing.assert_array_equal(by_function.labels_, by_name.labels_)
    np.testing.assert_array_equal(by_function.predict(X), by_name.labels_)


@pytest.mark.parametrize("page", ["kmedoids", "distances"])
def test_examples_of_the_page_work(root, page):
    failed, tried = doctest.testfile(str(root / "docs" / "methods" / f"{page}.md"), module_relative=False)
    assert tried > 4
    assert failed == 0


def test_estimators_state_their_taxonomy():
    assert KMedoids.taxonomy == KMeans.taxonomy == Taxonomy("polythetic", "hard", "flat")
    assert SoftKMeans.taxonomy.assignment == "soft"
