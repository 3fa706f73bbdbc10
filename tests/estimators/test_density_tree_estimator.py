"""DensityTree: groups of any shape, weights, order of rows, new rows, tables too small and too large, refusals."""

import doctest

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import asterism
from asterism import DensityTree
from asterism.errors import CompressedWarning, DataError, ParameterError


def rings(n=600, seed=0):
    rng = np.random.default_rng(seed)
    z = np.arange(n) % 2
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.where(z, 2.0, 6.0) + rng.normal(0, 0.2, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None], z


def moons(n=500, seed=0):
    return make_moons(n, noise=0.08, random_state=seed)


def blobs(n=300, seed=0):
    rng = np.random.default_rng(seed)
    z = np.arange(n) % 3
    return rng.standard_normal((n, 3)) + 9 * np.eye(3)[z], z


@pytest.mark.parametrize("table", [rings, moons, blobs])
def test_groups_of_any_shape_are_found_and_new_rows_join_them(table):
    X, z = table()
    tree = DensityTree().fit(X)
    assert tree.n_groups_ == len(set(z.tolist()))
    assert adjusted_rand_score(tree.labels_, z) > 0.98
    assert tree.labels_.dtype == np.int32
    assert (np.diff(np.bincount(tree.labels_)) <= 0).all()
    new, z_new = table(seed=1)
    assert adjusted_rand_score(tree.predict(new), z_new) > 0.95
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)


@pytest.mark.parametrize("scale", ["auto", 10])
def test_the_order_of_rows_does_not_matter(scale):
    X = np.round(np.vstack([moons(300)[0], 3 + moons(300, 1)[0]]), 2)  # ties of every kind
    order = np.random.default_rng(0).permutation(600)
    w = np.random.default_rng(1).uniform(0.5, 2.0, 600)
    one = DensityTree(scale, evidence=0.7).fit(X, sample_weight=w)
    other = DensityTree(scale, evidence=0.7).fit(X[order], sample_weight=w[order])
    assert one.scale_ == other.scale_
    np.testing.assert_array_equal(one.labels_[order], other.labels_)
    np.testing.assert_array_equal(one.probabilities_[order], other.probabilities_)
    assert one.layers_ == other.layers_


@pytest.mark.parametrize("unit", [1e-9, 0.3, 1e12])
def test_units_and_offsets_do_not_matter_but_levels_are_in_them(unit):
    X, _ = rings(400)
    one, other = DensityTree().fit(X), DensityTree().fit((X + 50.0) * unit)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.probabilities_, other.probabilities_, atol=1e-6)
    for ours, theirs in zip(one.layers_, other.layers_, strict=True):
        assert theirs.log_level == pytest.approx(ours.log_level + np.log(unit), abs=1e-6)


def test_weights_are_copies():
    X, _ = rings(300)
    w = np.random.default_rng(0).integers(0, 4, 300)
    weighted = DensityTree().fit(X, sample_weight=w)
    copies = DensityTree().fit(np.repeat(X, w, axis=0))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, w), copies.labels_)
    np.testing.assert_array_equal(np.repeat(weighted.probabilities_, w), copies.probabilities_)
    assert weighted.layers_ == copies.layers_
    assert weighted.layers_[-1].size == pytest.approx(w.sum())


@pytest.mark.parametrize("times", [0.01, 2.0, 1000.0])
def test_a_table_of_many_copies_is_the_same_table(times):
    X, _ = moons()
    np.testing.assert_array_equal(
        DensityTree().fit(X).labels_, DensityTree().fit(X, sample_weight=np.full(len(X), times)).labels_
    )


@pytest.mark.parametrize("seed", range(5))
def test_rounded_and_repeated_rows_make_no_groups(seed):
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((100, 2))
    for X in (
        rng.integers(18, 80, (1000, 1)),
        np.round(rng.normal(0, 3, (500, 2))),
        normal[rng.integers(0, 100, 300)],
    ):
        assert DensityTree().fit(X).n_groups_ == 1


def test_weights_of_zero_are_no_rows_and_may_hold_anything():
    X, _ = rings(300)
    everything, w = np.vstack([X, np.full((2, 2), np.nan), X[:1] + 0.01]), np.r_[np.ones(300), 0, 0, 0]
    tree = DensityTree().fit(everything, sample_weight=w)
    alone = DensityTree().fit(X)
    np.testing.assert_array_equal(tree.labels_[:300], alone.labels_)
    assert tree.labels_[302] == alone.labels_[0]


def test_probabilities_are_high_within_groups_and_low_between_them():
    X, _ = blobs(600)
    tree = DensityTree().fit(X)
    centres = 9 * np.eye(3)
    out = np.linalg.norm(X[:, None] - centres, axis=2).min(axis=1)
    assert tree.probabilities_.min() >= 0.0
    assert tree.probabilities_.max() == 1.0
    assert tree.probabilities_[out < 1.0].mean() > tree.probabilities_[out > 3.0].mean() + 0.2
    for group in range(3):
        assert tree.probabilities_[tree.labels_ == group].max() == 1.0


def test_rows_no_higher_than_the_saddle_are_noise_only_if_asked_for():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.3, (200, 2)), rng.normal(5, 0.3, (200, 2)), rng.uniform(-4, 9, (60, 2))])
    whole, noisy = DensityTree(20).fit(X), DensityTree(20, noise=True).fit(X)
    assert whole.labels_.min() == 0
    none = noisy.labels_ < 0
    np.testing.assert_array_equal(none, whole.probabilities_ == 0.0)
    np.testing.assert_array_equal(noisy.labels_[~none], whole.labels_[~none])
    assert none[400:].mean() > 0.5 > 0.02 > none[:400].mean()
    np.testing.assert_array_equal(noisy.predict(X), noisy.labels_)
    assert noisy.predict([[100.0, -100.0]]).tolist() == [-1]
    assert (DensityTree(noise=True).fit(X[:200]).labels_ == 0).all()


def test_evidence_asks_for_clearer_valleys():
    X, _ = moons()
    numbers = [DensityTree(evidence=limit).fit(X).n_groups_ for limit in (0.3, 1.0, np.inf)]
    assert numbers[0] >= numbers[1] == 2 > numbers[2] == 1


def test_groups_are_no_smaller_than_asked_for():
    X = np.vstack([blobs(300)[0], np.random.default_rng(9).normal(-9, 0.5, (20, 3))])
    assert DensityTree().fit(X).n_groups_ == 4
    assert DensityTree(min_size=30).fit(X).n_groups_ == 3
    twice = DensityTree(min_size=30).fit(X, sample_weight=np.full(320, 2.0))
    assert twice.n_groups_ == 4  # 40 by weight


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_too_few_rows_are_one_group(n):
    X = np.random.default_rng(n).standard_normal((n, 2)) + 50.0 * (np.arange(n) % 2)[:, None]
    for tree in (DensityTree().fit(X), DensityTree(50).fit(X)):
        assert tree.n_groups_ == 1
        assert tree.labels_.tolist() == [0] * n
        assert len(tree.layers_) == 1
        assert tree.layers_[0].size == n
        assert ((tree.probabilities_ >= 0) & (tree.probabilities_ <= 1)).all()


def test_equal_rows_are_one_group():
    tree = DensityTree().fit(np.ones((40, 3)))
    assert tree.n_groups_ == 1
    assert (tree.probabilities_ == 1.0).all()
    assert tree.predict([[5.0, 5.0, 5.0]]).tolist() == [0]


def test_large_tables_are_sampled_with_a_warning_and_all_rows_get_a_group():
    X, z = rings(3000)
    with pytest.warns(CompressedWarning, match="500 of 3000"):
        tree = DensityTree(max_rows=500).fit(X)
    assert adjusted_rand_score(tree.labels_, z) > 0.98
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)
    order = np.random.default_rng(0).permutation(3000)
    with pytest.warns(CompressedWarning):
        other = DensityTree(max_rows=500).fit(X[order])
    np.testing.assert_array_equal(tree.labels_[order], other.labels_)
    assert adjusted_rand_score(DensityTree(max_rows=None).fit(X).labels_, z) > 0.98


def test_missing_and_infinite_cells_are_refused_with_their_place_and_a_remedy():
    X, _ = moons()
    X[7, 1] = np.nan
    with pytest.raises(DataError, match=r"row 8, column 'x1'.*Impute"):
        DensityTree().fit(X)
    X[7, 1] = np.inf
    with pytest.raises(DataError, match="row 8, column 'x1'"):
        DensityTree().fit(X)
    tree = DensityTree().fit(moons()[0])
    with pytest.raises(DataError, match="row 1, column 'x0'"):
        tree.predict([[np.nan, 1.0]])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("scale", 1),
        ("scale", 2.5),
        ("scale", "large"),
        ("scale", True),
        ("evidence", -1.0),
        ("evidence", np.nan),
        ("evidence", None),
        ("min_size", 0),
        ("min_size", "small"),
        ("max_rows", 1),
        ("max_rows", "all"),
    ],
)
def test_parameters_that_cannot_work_are_refused_by_name(parameter, value):
    with pytest.raises(ParameterError, match=parameter):
        DensityTree(**{parameter: value}).fit(np.eye(9))


def test_new_rows_may_be_anywhere():
    tree = DensityTree().fit(rings()[0])
    assert set(tree.predict([[1e300, 0.0], [-1.7e308, 1.7e308]]).tolist()) <= {0, 1}


def test_tables_with_names_and_files_are_taken(tmp_path):
    X, _ = rings()
    np.save(tmp_path / "rings.npy", X)
    frame = pa.table({"a": X[:, 0], "b": X[:, 1]})
    from_frame = DensityTree().fit(asterism.read(frame))
    assert from_frame.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(DensityTree().fit(tmp_path / "rings.npy").labels_, from_frame.labels_)
    np.testing.assert_array_equal(DensityTree().fit(X).labels_, from_frame.labels_)


def test_the_number_of_threads_does_not_matter():
    X, _ = moons(2000)
    found = []
    for n_threads in (1, 2):
        with asterism.engine(n_threads=n_threads):
            tree = DensityTree().fit(X)
            found.append((tree.labels_.tobytes(), tree.probabilities_.tobytes(), tree.layers_))
    assert found[0] == found[1]


def test_examples_of_the_page_are_true(root):
    failed, tried = doctest.testfile(str(root / "docs" / "methods" / "density.md"), module_relative=False)
    assert tried > 8
    assert failed == 0
