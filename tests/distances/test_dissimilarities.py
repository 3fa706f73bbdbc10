"""Dissimilarities against SciPy, scikit-learn and R, and their laws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import nan_euclidean_distances

from asterism.data.read import read
from asterism.data.source import ArraySource
from asterism.distances.base import dissimilarity
from asterism.distances.mixed import Gower, Mismatch, WeightedSum
from asterism.distances.numeric import Mahalanobis, PNorm
from asterism.distances.pairwise import condensed, square
from asterism.errors import DataError, ParameterError

ORACLE = Path(__file__).parent.parent / "oracles" / "cluster"
TABLES = json.loads((ORACLE / "tables.json").read_text())
VALUES = json.loads((ORACLE / "values.json").read_text())

NUMERIC = {
    "euclidean": "euclidean",
    "sqeuclidean": "sqeuclidean",
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
    "cosine": "cosine",
}


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("d", [1, 3, 8, 21])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numeric_dissimilarities_equal_scipys(name, d, dtype):
    X = np.random.default_rng(d).normal(size=(300, d)).astype(dtype)
    expected = cdist(X.astype(np.float64), X.astype(np.float64), NUMERIC[name])
    tolerance = 1e-6 if name == "cosine" and dtype == np.float32 else 1e-13
    np.testing.assert_allclose(square(ArraySource(X), name), expected, rtol=1e-12, atol=tolerance)


def test_p_norms_and_mahalanobis_equal_scipys():
    X = np.random.default_rng(0).normal(size=(50, 5)) @ np.diag([1, 10, 0.1, 3, 1])
    source = ArraySource(X)
    for p in (1.0, 1.5, 2.0, 3.0, 7.5):
        np.testing.assert_allclose(square(source, PNorm(p)), cdist(X, X, "minkowski", p=p), rtol=1e-12)
    covariance = np.cov(X.T, bias=True)
    expected = cdist(X, X, "mahalanobis", VI=np.linalg.inv(covariance))
    np.testing.assert_allclose(square(source, "mahalanobis"), expected, atol=1e-10)
    np.testing.assert_allclose(square(source, Mahalanobis(np.eye(5))), cdist(X, X), rtol=1e-12)


def test_missing_cells_are_rescaled_as_in_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    X[rng.random(X.shape) < 0.3] = np.nan
    found, expected = square(ArraySource(X)), nan_euclidean_distances(X)
    np.fill_diagonal(expected, np.where(np.isnan(X).all(axis=1), np.nan, 0.0))
    np.testing.assert_allclose(found, expected, atol=1e-7)  # scikit-learn's own cancellation
    assert np.isnan(found[np.isnan(expected)]).all()


@pytest.mark.parametrize("case", range(5))
@pytest.mark.parametrize("name", ["euclidean", "manhattan"])
def test_missing_cells_are_rescaled_as_in_daisy(case, name):
    X = np.array(TABLES["numbers"][case]["rows"])[:12]
    X[1, 0] = X[6, 2] = X[8, 0] = np.nan
    np.testing.assert_allclose(
        condensed(ArraySource(X), name), VALUES["numbers"][case][name], rtol=1e-12, atol=1e-12
    )


def r_source(case: int, last: int):
    columns = dict(list(TABLES["mixed"][case].items())[:last])
    kinds = {"size": "ordinal:S,M,L,XL", "color": "categorical", "smokes": "boolean", "rare": "boolean"}
    return read(pyarrow.table(columns), kinds={name: kinds[name] for name in columns if name in kinds})


@pytest.mark.parametrize("case", range(3))
def test_gower_equals_daisy_on_mixed_tables_with_missing_cells(case):
    found = condensed(r_source(case, 5), "gower")
    np.testing.assert_allclose(found, VALUES["mixed"][case]["plain"], atol=1e-12)


@pytest.mark.parametrize("case", range(3))
def test_gower_with_weights_and_asymmetric_binary_equals_daisy(case):
    names = list(TABLES["mixed"][case])
    metric = Gower(dict(zip(names, TABLES["weights"], strict=True)), asymmetric=("rare",))
    found = condensed(r_source(case, 6), metric)
    np.testing.assert_allclose(found, VALUES["mixed"][case]["weighted"], atol=1e-12)


def test_weighted_sum_adds_columns_each_by_its_kind():
    table = pyarrow.table({"x": [1.0, 4.0, None], "size": ["S", "L", "M"], "color": ["red", "blue", "red"]})
    source = read(table, kinds={"size": "ordinal:S,M,L", "color": "categorical"})
    found = square(source, WeightedSum({"x": 2.0, "size": 4.0}))
    assert found[0, 1] == 2.0 * 3.0 + 4.0 * 1.0 + 1.0
    assert found[0, 2] == pytest.approx(
        (4.0 * 0.5 + 0.0) * 7.0 / 5.0
    )  # x is missing: the others stand for it


def test_mismatch_is_the_share_of_columns_that_differ():
    X = np.array([[1, 2, 3, 4], [1, 2, 0, 0]], float)
    assert square(ArraySource(X), Mismatch())[0, 1] == 0.5
    assert square(ArraySource(X), "hamming")[0, 1] == 0.5


def test_ordinal_ranks_are_normalised():
    X = np.array([[0.0, 0.0], [4.0, 1.0], [2.0, 1.0]])
    np.testing.assert_allclose(square(ArraySource(X), "ordinal")[0], [0.0, 2.0, 1.5])


def test_functions_and_given_matrices_are_used_as_they_are():
    X = np.random.default_rng(0).normal(size=(30, 3))
    by_function = square(ArraySource(X), lambda x, y: float(np.abs(x - y).max()))
    np.testing.assert_array_equal(by_function, cdist(X, X, "chebyshev"))
    np.testing.assert_array_equal(square(ArraySource(by_function), "precomputed"), by_function)


cells = st.one_of(st.floats(-1e6, 1e6), st.just(np.nan), st.sampled_from([0.0, 1.0]))


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 5)), elements=cells),
    st.sampled_from(["euclidean", "sqeuclidean", "manhattan", "chebyshev", "mismatch", "weighted"]),
)
def test_symmetric_not_negative_and_zero_between_equal_rows(X, name):
    X = np.vstack([X, X[:1]])
    D = square(ArraySource(X), name)
    known = ~np.isnan(D)
    np.testing.assert_array_equal(D, D.T)
    assert (D[known] >= 0).all()
    equal = (X[:, None] == X).all(axis=2)
    assert (D[equal] == 0).all()


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(3, 10), st.integers(1, 4)), elements=st.floats(-1e3, 1e3)),
    st.sampled_from(["euclidean", "manhattan", "chebyshev", "mismatch", "gower"]),
)
def test_triangle_inequality_of_metrics(X, name):
    D = square(ArraySource(X), name)
    assert (D[:, None, :] <= (D[:, :, None] + D[None, :, :]) * (1 + 1e-12) + 1e-12).all()


@pytest.mark.parametrize("name", ["euclidean", "cosine", "mahalanobis"])
def test_equal_rows_far_from_the_origin_are_at_distance_zero(name):
    X = np.random.default_rng(0).normal(size=(20, 4)) + 1e9
    D = square(ArraySource(np.vstack([X, X])), name)
    assert (D[np.arange(20), np.arange(20) + 20] == 0).all()


def test_what_cannot_be_measured_is_refused_with_its_place():
    with pytest.raises(ParameterError, match="Did you mean 'euclidean'"):
        dissimilarity("euclidian")
    with pytest.raises(ParameterError, match=r"p is 0\.5"):
        PNorm(0.5)
    with pytest.raises(DataError, match="row 2, column 'x1': the value is infinite"):
        square(ArraySource(np.array([[1.0, 2.0], [3.0, np.inf]])))
    with pytest.raises(DataError, match="no direction"):
        square(ArraySource(np.array([[1.0, 2.0], [0.0, 0.0]])), "cosine")
    with pytest.raises(DataError, match="row 1, column 'x1': the value is missing"):
        square(ArraySource(np.array([[1.0, np.nan], [0.0, 0.0]])), "cosine")
    with pytest.raises(DataError, match="'x1': the column does not vary"):
        square(ArraySource(np.array([[1.0, 2.0], [0.0, 2.0]])), "mahalanobis")
    with pytest.raises(DataError, match="follow from one another"):
        square(ArraySource(np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 6.0]])), "mahalanobis")
    with pytest.raises(DataError, match="row 2: the dissimilarity to row 1 is -1"):
        square(ArraySource(np.array([[0.0, 1.0], [-1.0, 0.0]])), "precomputed")
    with pytest.raises(DataError, match="must be square"):
        square(ArraySource(np.zeros((2, 3))), "precomputed")
    with pytest.raises(DataError, match="gave nan"):
        square(ArraySource(np.eye(2)), lambda x, y: np.nan)
    with pytest.raises(ParameterError, match="asymmetric names the column 'rare'"):
        square(ArraySource(np.eye(2)), Gower(asymmetric=("rare",)))
    with pytest.raises(ParameterError, match="column_weights"):
        square(ArraySource(np.eye(2)), Gower([1.0, -1.0]))
