"""GaussianMixture as a drop-in, and what it offers besides."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture as Peer

from asterism import GaussianMixture, Mixture
from asterism.errors import ParameterError
from asterism.families.covariance import STRUCTURES

TYPES = ["full", "tied", "diag", "spherical"]


def table(n=400, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n // 2, d)) @ rng.normal(size=(d, d)) + 4 * c for c in (0, 1)])


def given(rows, covariance_type):
    d = rows.shape[1]
    shape = {
        "full": np.repeat(np.eye(d)[None], 2, axis=0),
        "tied": np.eye(d),
        "diag": np.ones((2, d)),
        "spherical": np.ones(2),
    }
    return dict(  # noqa: C408  keyword arguments
        weights_init=[0.4, 0.6], means_init=rows[[5, -5]], precisions_init=shape[covariance_type]
    )


@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize("d", [1, 3])
def test_the_same_start_gives_scikit_learns_fit(covariance_type, d):
    rows = table(d=d)
    settings = {"covariance_type": covariance_type, "reg_covar": 1e-6, **given(rows, covariance_type)}
    ours, theirs = GaussianMixture(2, **settings).fit(rows), Peer(2, **settings).fit(rows)
    assert (ours.n_iter_, ours.converged_) == (theirs.n_iter_, theirs.converged_)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        found, expected = getattr(ours, name), getattr(theirs, name)
        assert found.shape == expected.shape, name
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    for name in ("score", "aic", "bic"):
        assert getattr(ours, name)(rows) == pytest.approx(getattr(theirs, name)(rows), rel=1e-9)


@pytest.mark.parametrize("covariance_type", list(STRUCTURES))
def test_every_structure_predicts_what_it_fitted(covariance_type):
    rows = table()
    rows[::7, 0] = np.nan
    model = GaussianMixture(2, covariance_type=covariance_type, random_state=0)
    np.testing.assert_array_equal(model.fit_predict(rows), model.predict(rows))
    assert model.lower_bound_ == pytest.approx(model.score(rows), rel=1e-9)
    assert not np.isnan(model.impute(rows)).any()


def test_icl_adds_twice_the_surprise():
    rows = table()
    model = GaussianMixture(2, random_state=0).fit(rows)
    surprise = -2.0 * np.log(model.predict_proba(rows).max(axis=1)).sum()
    assert model.icl(rows) == pytest.approx(model.bic(rows) + surprise, rel=1e-10)


def test_weights_weigh_scores_and_criteria():
    rows = table()
    model, w = GaussianMixture(2, random_state=0).fit(rows), np.arange(len(rows)) % 3.0
    copies = np.repeat(rows, w.astype(int), axis=0)
    for name in ("score", "aic", "bic", "icl"):
        assert getattr(model, name)(rows, sample_weight=w) == pytest.approx(
            getattr(model, name)(copies), rel=1e-10
        )


def test_samples_come_back_to_their_components():
    model = GaussianMixture(2, random_state=0).fit(table())
    drawn, labels = model.sample(4000)
    assert drawn.shape == (4000, 3)
    np.testing.assert_allclose(np.bincount(labels) / 4000, model.weights_, atol=0.03)
    again = GaussianMixture(2, random_state=0).fit(drawn)
    order = np.argsort(again.means_[:, 0])[np.argsort(np.argsort(model.means_[:, 0]))]
    np.testing.assert_allclose(again.means_[order], model.means_, atol=0.3)


def test_a_warm_start_goes_on():
    rows = table()
    first = GaussianMixture(2, random_state=0, warm_start=True, max_iter=1, tol=0.0).fit(rows)
    height = first.lower_bound_
    assert first.fit(rows).history_[0] == pytest.approx(height, rel=1e-9)


def test_given_means_keep_their_numbers():
    rows = table()
    for order in ([0, 1], [1, 0]):
        means = np.array([[0.0, 0, 0], [4, 4, 4]])[order]
        model = GaussianMixture(2, means_init=means).fit(rows)
        np.testing.assert_allclose(model.means_, means, atol=1.0)


def test_frozen_means_stay_where_they_were_given():
    means = np.array([[0.0, 0, 0], [4, 4, 4]])
    model = GaussianMixture(2, means_init=means, frozen=["means"]).fit(table())
    np.testing.assert_allclose(model.means_, means, atol=1e-12)


def test_a_prior_pulls_towards_the_table():
    rows = table(12)
    plain = GaussianMixture(2, random_state=0).fit(rows)
    drawn = GaussianMixture(2, random_state=0, prior="conjugate").fit(rows)
    assert np.linalg.det(drawn.covariances_).min() > np.linalg.det(plain.covariances_).min()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"covariance_type": "round"}, "round"),
        ({"reg_covar": -1.0}, "reg_covar"),
        ({"prior": "strong"}, "prior"),
        ({"weights_init": [0.5, 0.6]}, "weights_init"),
        ({"means_init": [[0.0, 0.0]]}, "means_init"),
        ({"precisions_init": -np.ones((2, 3, 3))}, "precisions_init"),
        ({"acceleration": "fast"}, "acceleration"),
        ({"n_components": 0}, "0"),
    ],
)
def test_parameters_that_cannot_work_are_told(settings, words):
    with pytest.raises(ParameterError, match=words):
        GaussianMixture(**{"n_components": 2, **settings}).fit(table())


def test_mixture_takes_a_family_or_its_name():
    from asterism.families.gaussian import GaussianFamily

    rows = table()
    named = Mixture("gaussian", 2, random_state=0).fit(rows)
    given_family = Mixture(GaussianFamily("VVV"), 2, random_state=0).fit(rows)
    assert named.lower_bound_ == given_family.lower_bound_
    with pytest.raises(ParameterError, match="family is 'normal'"):
        Mixture("normal", 2).fit(rows)


@pytest.mark.parametrize("structure", ["full", "tied", "diag", "spherical", "VVE"])
@pytest.mark.parametrize("d", [4, 30])
@pytest.mark.parametrize("filler", [np.inf, -np.inf, np.nan])
def test_what_absent_rows_hold_changes_no_label_of_others_with_missing_cells(structure, d, filler):
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=300)
    X = rng.standard_normal((300, d)) + 6.0 * group[:, None]
    X[rng.random(X.shape) < 0.1 / d] = np.nan
    weights = np.ones(300)
    weights[:10] = 0.0
    plain = GaussianMixture(3, covariance_type=structure, random_state=0).fit(X[10:])
    X[:10] = filler
    found = GaussianMixture(3, covariance_type=structure, random_state=0).fit(X, sample_weight=weights)
    assert found.labels_[10:].tolist() == plain.labels_.tolist() == found.predict(X[10:]).tolist()
