"""What the mixtures of each family find, through tables of every make."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import asterism
from asterism import BernoulliMixture, CategoricalMixture, MixedMixture, PoissonMixture, StudentMixture
from asterism.errors import DataError, ParameterError


def agreement(labels, truth):
    """The share of rows that two groups have in common with the truth, whichever way round."""
    same = np.mean(labels == truth)
    return max(same, 1 - same)


@pytest.fixture(scope="module")
def survey():
    """Two groups that differ in every column, a kind each, with holes."""
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 400)
    kg = np.where(z == 0, rng.normal(5, 1, 400), rng.normal(8, 2, 400))
    color = np.where(rng.random(400) < 0.8, np.array(["red", "blue"])[z], "green")
    size = np.array(["S", "M", "L"])[np.clip(z + rng.integers(0, 2, 400), 0, 2)]
    smokes = rng.random(400) < np.where(z == 0, 0.1, 0.8)
    holes = rng.random((400, 4)) < 0.1
    columns = {"kg": kg, "color": color, "size": size, "smokes": smokes}
    return z, pa.table(
        {name: pa.array(values, mask=holes[:, j]) for j, (name, values) in enumerate(columns.items())}
    )


KINDS = {"size": "ordinal:S,M,L"}


def test_mixed_columns_together_find_what_none_finds_alone(survey):
    z, table = survey
    mixed = MixedMixture(2, kinds=KINDS, random_state=0).fit(table)
    assert [column.kind for column in mixed.columns_] == ["numeric", "categorical", "ordinal", "boolean"]
    assert agreement(mixed.labels_, z) > 0.93
    np.testing.assert_array_equal(mixed.predict(table), mixed.labels_)
    heavy = int(np.argmax(mixed.parameters_["kg"]["mean"]))
    assert mixed.parameters_["smokes"]["probability"][heavy] == pytest.approx(0.8, abs=0.1)
    assert mixed.parameters_["size"]["typical"][heavy] > mixed.parameters_["size"]["typical"][1 - heavy]
    assert mixed.n_parameters_ == 2 * (2 + 2 + 2 + 1) + 1


def test_frames_of_every_make_give_the_same(survey):
    _, table = survey
    arrow = MixedMixture(2, kinds=KINDS, random_state=0).fit(table)
    pandas = MixedMixture(2, kinds=KINDS, random_state=0).fit(table.to_pandas())
    np.testing.assert_array_equal(arrow.labels_, pandas.labels_)
    np.testing.assert_array_equal(
        arrow.predict_proba(table.select([3, 2, 1, 0])), arrow.predict_proba(table)
    )  # by name, in any order


def test_imputed_rows_come_back_in_the_tables_own_words(survey):
    _, table = survey
    mixed = MixedMixture(2, kinds=KINDS, random_state=0).fit(table)
    whole = mixed.to_frame(mixed.impute(table))
    assert whole.column_names == table.column_names
    assert sum(column.null_count for column in whole.columns) == 0
    assert set(whole["color"].to_pylist()) <= {"red", "blue", "green"}
    assert mixed.to_frame(mixed.sample(5)[0]).num_rows == 5


def test_weights_count_as_copies(survey):
    _, table = survey
    w = np.random.default_rng(1).integers(0, 3, 400)
    share = np.random.default_rng(2).dirichlet([1, 1], 400)
    settings = {"kinds": KINDS, "max_iter": 5, "tol": 0.0}
    weighted = MixedMixture(2, responsibilities_init=share, **settings).fit(table, sample_weight=w)
    copied = MixedMixture(2, responsibilities_init=np.repeat(share, w, axis=0), **settings).fit(
        table.take(np.repeat(np.arange(400), w))
    )
    assert weighted.lower_bound_ == pytest.approx(copied.lower_bound_, rel=1e-9)


@pytest.mark.parametrize("prior", [None, "conjugate"])
def test_a_level_that_was_never_seen_is_possible_with_a_prior(prior):
    X = np.array([[0.0], [0.0], [2.0]])
    model = CategoricalMixture(1, prior=prior).fit(X)
    assert (model.score_samples([[1.0]])[0] > -5) == (prior == "conjugate")
    assert np.isfinite(model.predict_proba([[1.0]])).all()


def test_latent_classes_are_found_in_names():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 2, 500)
    words = np.array([["a", "b", "c"], ["c", "a", "b"]])
    cells = np.where(rng.random((500, 6)) < 0.7, words[z][:, [0] * 6], words[z][:, [1] * 6])
    table = pa.table({f"q{j}": cells[:, j] for j in range(6)})
    model = CategoricalMixture(2, random_state=0).fit(table)
    assert agreement(model.labels_, z) > 0.9
    assert [p.shape for p in model.probabilities_] == [(2, 3)] * 6


def test_the_first_bad_cell_is_named_with_its_own_row():
    X = np.ones((3000, 2))
    X[::2] = 3.0
    X[2500, 1] = 2.5
    with pytest.raises(DataError) as told:
        PoissonMixture(2).fit(X)
    assert (told.value.row, told.value.column) == (2500, "x1")
    with pytest.raises(DataError, match="row 2501"):
        PoissonMixture(2).fit(X, sample_weight=np.r_[np.zeros(1000), np.ones(2000)])


def test_cells_above_a_threshold_are_ones():
    X = np.array([[0.2, 5.0], [0.1, 7.0], [3.0, 0.0], [np.nan, 0.4]])
    model = BernoulliMixture(1, binarize=1.0).fit(X)
    np.testing.assert_allclose(model.probabilities_, [[1 / 3, 0.5]])


def test_an_outlier_moves_a_normal_mean_and_not_a_t():
    x = np.concatenate([np.random.default_rng(0).normal(size=(200, 2)), [[500.0, -500.0]]])
    t = StudentMixture(1).fit(x)
    assert np.abs(t.means_).max() < 0.3
    assert np.abs(asterism.GaussianMixture(1).fit(x).means_).max() > 2
    assert t.degrees_of_freedom_[0] < 5


@pytest.mark.parametrize(
    "estimator", [StudentMixture(prior=1), MixedMixture(prior=1), PoissonMixture(prior="x")]
)
def test_a_prior_that_is_none_is_refused(estimator):
    with pytest.raises(ParameterError, match="prior"):
        estimator.fit(np.array([[1.0], [2.0], [3.0]]))
