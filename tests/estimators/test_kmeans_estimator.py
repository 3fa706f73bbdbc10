"""KMeans as people use it: the same bits everywhere, results that agree with each other, errors that help."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import pickle
import warnings

import numpy as np
import pytest
import sklearn.base
from scipy.spatial.distance import cdist

import asterism
from asterism import KMeans
from asterism.errors import (
    AsterismError,
    DataError,
    InterruptedWarning,
    ParameterError,
    TooFewRowsError,
    WeightError,
)


def blobs(n: int = 300, d: int = 2, k: int = 3, seed: int = 0, spread: float = 8.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(k, d)) * spread)[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def fingerprint(km: KMeans) -> str:
    """SHA-256 of everything a fit gives."""
    digest = hashlib.sha256(km.cluster_centers_.tobytes())
    digest.update(np.ascontiguousarray(km.labels_).tobytes())
    digest.update(np.array([km.inertia_, *km.history_]).tobytes())
    return digest.hexdigest()


# --- the same bits ----------------------------------------------------------------------------------------------

N_ROWS = 21 * 4096 - 100  # 40 columns: blocks of 4096 rows


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    x = blobs(N_ROWS, 40, 6, spread=1.0)
    x *= 10.0 ** np.random.default_rng(1).integers(-3, 3, size=40)  # another order of additions would show
    return x


@pytest.fixture(scope="module")
def expected(table: np.ndarray) -> str:
    return fingerprint(_fit(table))


def _fit(x) -> KMeans:
    return KMeans(7, max_iter=4, random_state=3).fit(x)


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_any_number_of_threads_gives_the_same_bits(table, expected, n_threads):
    with asterism.engine(n_threads=n_threads):
        assert fingerprint(_fit(table)) == expected


def test_fortran_order_and_read_only_arrays_give_the_same_bits(table, expected):
    fixed = table.copy()
    fixed.flags.writeable = False
    assert fingerprint(_fit(fixed)) == expected
    assert fingerprint(_fit(np.asfortranarray(table))) == expected


def test_a_memory_map_gives_the_same_bits(table, expected, tmp_path):
    np.save(tmp_path / "table.npy", table)
    assert fingerprint(_fit(np.load(tmp_path / "table.npy", mmap_mode="r"))) == expected


@pytest.mark.parametrize("rows", [1_000, 100_000])
def test_parquet_of_any_row_groups_gives_the_same_bits(table, expected, tmp_path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"x{j}": table[:, j] for j in range(40)}
    pq.write_table(pa.table(columns), tmp_path / "table.parquet", row_group_size=rows)
    assert fingerprint(_fit(str(tmp_path / "table.parquet"))) == expected


def test_fitting_again_gives_the_same_bits(table, expected):
    km = KMeans(7, max_iter=4, random_state=3)
    assert fingerprint(km.fit(table)) == expected
    assert fingerprint(km.fit(table)) == expected


# --- results that agree with each other -------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("max_iter", [1, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_are_those_of_the_returned_centres(dtype, max_iter, missing):
    for d, k in [(1, 3), (5, 8), (60, 30)]:
        x = np.random.default_rng(d).normal(size=(500, d)).astype(dtype)
        if missing:
            x[np.random.default_rng(0).random(x.shape) < 0.15] = np.nan
        km = KMeans(k, max_iter=max_iter, random_state=0).fit(x)
        assert np.array_equal(km.predict(x), km.labels_)
        assert np.array_equal(KMeans(k, max_iter=max_iter, random_state=0).fit_predict(x), km.labels_)
        y = np.nan_to_num(x[:, None].astype(float) - km.cluster_centers_)
        squares = (y * y).sum(axis=2)
        chosen = squares[np.arange(500), km.labels_]
        assert (chosen <= squares.min(axis=1) * (1 + 1e-9)).all()
        assert km.inertia_ == pytest.approx(chosen.sum(), rel=1e-10)
        assert km.score(x) == pytest.approx(-km.inertia_, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_gives_euclidean_distances(dtype):
    x = blobs(400, 7, 3).astype(dtype)
    km = KMeans(5, random_state=0).fit(x)
    got = km.transform(x)
    assert got.dtype == dtype
    assert np.allclose(
        got, cdist(x.astype(float), km.cluster_centers_), rtol=1e-6 if dtype == np.float32 else 1e-12
    )
    assert list(km.get_feature_names_out()) == [f"kmeans{c}" for c in range(5)]


def test_missing_cells_can_be_predicted_though_there_were_none_when_fitting():
    x = blobs(300, 3, 3)
    km = KMeans(3, random_state=0).fit(x)
    new = x.copy()
    new[:, 1] = np.where(np.arange(300) % 2, np.nan, new[:, 1])
    squares = np.where(np.isnan(new)[:, None], 0.0, (new[:, None] - km.cluster_centers_) ** 2).sum(axis=2)
    assert np.array_equal(km.predict(new), squares.argmin(axis=1))
    assert np.allclose(km.transform(new), np.sqrt(squares), rtol=1e-12)
    assert km.score(new) == pytest.approx(-squares.min(axis=1).sum(), rel=1e-12)


def test_float32_rows_can_be_predicted_by_a_model_of_float64_rows_far_from_zero():
    x = blobs(2000, 3, 5, spread=1.0) + np.array([1e6, -3e6 + 1 / 3, 0.1])
    km = KMeans(12, random_state=0).fit(x)
    rows = x.astype(np.float32)
    assert np.array_equal(km.predict(rows), cdist(rows.astype(float), km.cluster_centers_).argmin(axis=1))


def test_score_takes_weights():
    x, w = blobs(), np.random.default_rng(0).exponential(size=300)
    km = KMeans(3, random_state=0).fit(x, sample_weight=w)
    assert km.score(x, sample_weight=w) == pytest.approx(-km.inertia_, rel=1e-12)
    assert km.score(x, sample_weight=2 * w) == pytest.approx(-2 * km.inertia_, rel=1e-12)


def test_a_fitted_model_survives_pickling_and_cloning_forgets_it():
    x = blobs()
    km = KMeans(3, random_state=0).fit(x)
    assert np.array_equal(pickle.loads(pickle.dumps(km)).predict(x), km.labels_)
    assert not hasattr(sklearn.base.clone(km), "cluster_centers_")


def test_verbose_prints_the_objective_of_every_step(capsys):
    km = KMeans(3, verbose=1, random_state=0).fit(blobs())
    assert len(capsys.readouterr().out.splitlines()) == len(km.history_) == km.n_iter_ + 1


# --- small and odd tables ---------------------------------------------------------------------------------------


def test_one_row_is_its_own_centre():
    km = KMeans(1).fit([[3.0, 4.0]])
    assert km.cluster_centers_.tolist() == [[3.0, 4.0]]
    assert km.inertia_ == 0.0
    assert km.converged_


def test_one_column_is_split_at_its_gap():
    km = KMeans(2, random_state=0).fit([[1.0], [2.0], [11.0], [12.0], [13.0]])
    assert sorted(km.cluster_centers_[:, 0]) == [1.5, 12.0]
    assert km.inertia_ == 2.5


def test_constant_columns_and_duplicated_rows_do_no_harm():
    x = np.hstack([np.repeat(blobs(50, 1, 2), 4, axis=0), np.full((200, 2), 1e9)])
    km = KMeans(2, random_state=0).fit(x)
    assert np.array_equal(km.cluster_centers_[:, 1:], np.full((2, 2), 1e9))
    assert np.array_equal(km.labels_.reshape(50, 4), np.repeat(km.labels_[::4, None], 4, axis=1))


def test_a_table_of_one_value_has_one_group():
    km = KMeans(1).fit(np.full((10, 3), 5.0))
    assert (km.cluster_centers_.tolist(), km.inertia_) == ([[5.0, 5.0, 5.0]], 0.0)
    with pytest.raises(TooFewRowsError, match="n_samples=1"):
        KMeans(2).fit(np.full((10, 3), 5.0))


def test_whole_numbers_and_booleans_are_numbers():
    x = np.array([[0, 1], [0, 1], [9, 8], [9, 9]])
    for kind in (np.int8, np.int64, np.uint16, np.float32):
        assert sorted(KMeans(2, random_state=0).fit(x.astype(kind)).cluster_centers_.tolist()) == [
            [0, 1],
            [9, 8.5],
        ]
    assert len(set(KMeans(2, random_state=0).fit_predict(x > 5))) == 2


# --- bad input --------------------------------------------------------------------------------------------------

SEVEN = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 1.0], [2.0, 2.0], [4.0, 4.0]]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": 0}, "groups is 0"),
        ({"n_clusters": -3}, "groups is -3"),
        ({"n_clusters": 2.5}, "2.5"),
        ({"n_clusters": "3"}, "'3'"),
        ({"n_clusters": None}, "None"),
        ({"n_init": 0}, "n_init is 0"),
        ({"n_init": "many"}, "'many'"),
        ({"n_init": 1.5}, "1.5"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"max_iter": 1.5}, "1.5"),
        ({"tol": -1e-9}, "tol is -1e-09"),
        ({"tol": np.nan}, "nan"),
        ({"tol": "small"}, "'small'"),
        ({"init": "kmeans"}, "'kmeans'.*k-means"),
        ({"init": [[1.0, 2.0]]}, r"\(1, 2\).*2 groups of 2 columns"),
        ({"init": [[1.0], [2.0]]}, r"\(2, 1\)"),
        ({"init": [1.0, 2.0]}, r"\(2,\)"),
        ({"init": None}, "initial centers"),
        ({"init": print}, "not a table of numbers"),
        ({"init": [[1.0, 2.0], [3.0]]}, "not a table of numbers"),
    ],
)
def test_a_setting_that_cannot_work_is_named(settings, words):
    with pytest.raises(ParameterError, match=words) as caught:
        KMeans(**{"n_clusters": 2, **settings}).fit(SEVEN)
    assert caught.value.remedy


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_given_centre_must_be_finite(bad):
    with pytest.raises(DataError, match="row 2, column 'x0'"):
        KMeans(2, init=[[1.0, 2.0], [bad, 3.0]]).fit(SEVEN)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 3, 70_000])
def test_an_infinite_cell_is_named_by_row_and_column(bad, row):
    x = blobs(70_001, 2, 2)
    km = KMeans(2, max_iter=1, random_state=0).fit(x)
    x[row, 1] = bad
    for act in (KMeans(2, random_state=0).fit, km.predict, km.transform, km.score):
        with pytest.raises(DataError, match="infinite") as caught:
            act(x)
        assert (caught.value.row, caught.value.column) == (row, "x1")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 1, -1, 1, 1, 1, 1], "row 3.*-1"),
        ([1, 1, 1, np.nan, 1, 1, 1], "row 4.*nan"),
        ([1, 1, 1, np.inf, 1, 1, 1], "row 4.*inf"),
        ([0] * 7, "All weights are zero"),
        ([1, 1], "2 weights .* 7 rows"),
        ([[1.0]] * 7, "1D"),
        (["a"] * 7, "numbers"),
    ],
)
def test_bad_weights_are_refused(weights, words):
    with pytest.raises(WeightError, match=words):
        KMeans(2).fit(SEVEN, sample_weight=weights)


def test_a_column_without_a_value_is_named():
    x = np.array(SEVEN)
    x[:, 1] = np.nan
    with pytest.raises(DataError, match="column 'x1': every cell is missing"):
        KMeans(2).fit(x)
    x[0, 1] = 4.0
    with pytest.raises(DataError, match="column 'x1': every cell is missing"):
        KMeans(2).fit(x, sample_weight=[0, 1, 1, 1, 1, 1, 1])


def test_more_groups_than_distinct_rows_that_count_are_refused():
    x = np.repeat(SEVEN, 3, axis=0)
    with pytest.raises(TooFewRowsError, match=r"8 groups .*n_samples=7"):
        KMeans(8).fit(x)
    with pytest.raises(TooFewRowsError, match=r"7 groups .*n_samples=6"):
        KMeans(7).fit(SEVEN, sample_weight=[0, 1, 1, 1, 1, 1, 1])


@pytest.mark.parametrize("x", [np.empty((0, 2)), np.empty((5, 0))])
def test_an_empty_table_is_refused(x):
    with pytest.raises(DataError, match=r"0 sample\(s\)|0 feature\(s\)"):
        KMeans(1).fit(x)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_values_whose_squares_do_not_fit_are_refused(size):
    with pytest.raises(DataError, match=r"column 'x1': the values range over .* squares"):
        KMeans(2).fit(np.array(SEVEN) * [0.0, size])


def test_predicting_with_other_columns_is_refused():
    km = KMeans(2, random_state=0).fit(SEVEN)
    with pytest.raises(DataError, match="3 features, but KMeans is expecting 2"):
        km.predict(np.ones((4, 3)))


def test_every_error_has_one_base_and_is_a_value_error_for_scikit_learn():
    for kind in (DataError, ParameterError, TooFewRowsError, WeightError):
        assert issubclass(kind, AsterismError)
        assert issubclass(kind, ValueError)
    for bad in ([1.0, 2.0], [["a", "b"]], [[1.0, 2.0], [3.0]]):
        with pytest.raises(AsterismError):
            KMeans(1).fit(bad)


# --- stopping early ---------------------------------------------------------------------------------------------


def test_a_time_limit_returns_a_usable_model():
    x = np.random.default_rng(0).random((60_000, 3))
    with asterism.engine(time_limit=1e-4):
        km = KMeans(40, tol=0.0, random_state=0).fit(x)
    assert not km.converged_
    assert km.n_iter_ == 1
    assert np.array_equal(km.predict(x[:100]), km.labels_[:100])
    assert len(np.unique(km.labels_)) == 40


def test_ctrl_c_returns_the_best_so_far_and_says_so():
    def stop(event) -> None:
        if event.step == 3:
            raise KeyboardInterrupt

    x = np.random.default_rng(0).random((5_000, 3))
    with asterism.engine(progress=stop), pytest.warns(InterruptedWarning, match="after 3 steps"):
        km = KMeans(30, tol=0.0, random_state=0).fit(x)
    assert (km.n_iter_, km.converged_) == (3, False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        three = KMeans(30, tol=0.0, max_iter=3, random_state=0).fit(x)
    assert fingerprint(km) == fingerprint(three)


def test_stopping_at_max_iter_is_told_by_converged():
    x = np.random.default_rng(0).random((2_000, 3))
    assert not KMeans(20, max_iter=2, tol=0.0, random_state=0).fit(x).converged_
    assert KMeans(20, random_state=0).fit(x).converged_


@pytest.mark.parametrize("page", ["kmeans", "softkmeans"])
def test_the_examples_of_the_page_work(root, page):
    failed, tried = doctest.testfile(str(root / "docs" / "methods" / f"{page}.md"), module_relative=False)
    assert tried > 4
    assert failed == 0


@pytest.mark.parametrize("module", ["estimators.kmeans", "estimators.softkmeans"])
def test_the_examples_of_the_docstring_work(module):
    failed, tried = doctest.testmod(importlib.import_module(f"asterism.{module}"))
    assert tried > 3
    assert failed == 0
