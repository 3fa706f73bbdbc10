"""What is frozen keeps its value, counts for no parameter, and has a name that is known."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from asterism import BernoulliMixture, GaussianMixture, MixedMixture, Mixture
from asterism.errors import ParameterError


def table(n=120, d=3):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(0, 1, (n, d)), rng.normal(4, 2, (n, d))])


# k = 2, d = 3: proportions 1, means 6, full covariances 2 * 6
@pytest.mark.parametrize(
    ("frozen", "free"),
    [
        ((), 19), (["weights"], 18), (["means"], 13), (["covariances"], 7), ("means", 13),
        (["weights", "means"], 12), (["weights", "means", "covariances"], 0),
    ],
)  # fmt: skip
def test_what_is_frozen_is_no_free_parameter(frozen, free):
    model = GaussianMixture(2, frozen=frozen, random_state=0).fit(table())
    assert model.n_parameters_ == free
    told = model.score_samples(table()).sum()
    assert model.aic(table()) == pytest.approx(-2 * told + 2 * free)
    assert model.bic(table()) == pytest.approx(-2 * told + free * np.log(240))


def test_structures_count_what_is_left():
    model = GaussianMixture(2, covariance_type="EEI", frozen=["means"], random_state=0).fit(table())
    assert model.n_parameters_ == 3 + 1


def test_frozen_proportions_stay_and_are_not_counted():
    x = (table() > 2).astype(float)
    shares = np.repeat(np.eye(2), 120, axis=0)
    free = BernoulliMixture(2, responsibilities_init=shares).fit(x)
    held = BernoulliMixture(2, responsibilities_init=shares, frozen=["weights"]).fit(x)
    assert held.n_parameters_ == free.n_parameters_ - 1
    assert held.weights_.tolist() == [0.5, 0.5]
    assert free.weights_.tolist() != [0.5, 0.5]


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(2, frozen=["mean"]),
        Mixture("poisson", 2, frozen=["rates"]),
        Mixture("gaussian", 2, frozen="means"),
        BernoulliMixture(2, frozen=["probabilities"]),
        MixedMixture(2, frozen=("weight",)),
    ],
)
def test_unknown_names_are_refused(model):
    with pytest.raises(ParameterError, match=r"frozen has '.*'weights'"):
        model.fit(np.abs(np.round(table())))


# --- hard EM ----------------------------------------------------------------------------------------------------


def classification_likelihood(model, x, w):
    parts = [
        np.log(p) + multivariate_normal(m, c).logpdf(x)
        for p, m, c in zip(model.weights_, model.means_, model.covariances_, strict=True)
    ]
    return float(w @ np.max(parts, axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_hard_em_climbs_the_classification_likelihood(seed):
    x, w = table(), np.random.default_rng(seed).integers(0, 3, 240)
    model = GaussianMixture(4, assignment="hard", random_state=seed, tol=0).fit(x, sample_weight=w)
    assert model.history_[-1] * w.sum() == pytest.approx(classification_likelihood(model, x, w), rel=1e-9)
    assert model.lower_bound_ == model.history_[-1]
    assert (np.diff(model.history_) >= -1e-9).all()
    assert model.history_[-1] < model.score(x, sample_weight=w)  # log p(x) is a sum over components


def test_every_step_of_hard_em_is_a_classification_likelihood():
    """A fit of so many steps ends where the history of a longer one says."""
    x = table()
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 240)
    whole = GaussianMixture(3, assignment="hard", responsibilities_init=shares, tol=0).fit(x)
    short = GaussianMixture(3, assignment="hard", responsibilities_init=shares, tol=0, max_iter=2).fit(x)
    assert whole.history_[2] == pytest.approx(short.history_[2], rel=1e-12)
    assert short.history_[2] * 240 == pytest.approx(
        classification_likelihood(short, x, np.ones(240)), rel=1e-9
    )
