"""GaussianMixture from a hard start, against R's mclust 6.0.0 (tests/oracles/mclust).

mclust's VVE does not maximise its Q (see tests/families/test_covariance_mclust.py): there ours must end no lower.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "families"))
from mclust_values import cases, oracle

from asterism import GaussianMixture
from asterism.errors import NotConvergedWarning
from asterism.families.covariance import STRUCTURES


def fitted(data, name):
    """Twenty M-steps: the one that makes a model of the responsibilities, and nineteen steps of EM."""
    model = GaussianMixture(
        data.k,
        covariance_type=name,
        responsibilities_init=data.responsibilities,
        max_iter=19,
        tol=0.0,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return model.fit(data.x)


@pytest.mark.parametrize("name", [*STRUCTURES, "E", "V"])
def test_estimator_agrees_with_mclust_from_a_hard_start(name):
    for data, _, found in cases("plain", (name,)):
        n = len(data.x)
        model = fitted(data, name)
        assert model.n_parameters_ == found["parameters"]
        total = n * model.score(data.x)
        assert model.bic(data.x) == pytest.approx(-2 * total + model.n_parameters_ * np.log(n), rel=1e-12)
        if name == "VVE":
            assert total >= found["loglik"][-1] - 1e-6 * abs(found["loglik"][-1])
            continue
        history = n * np.array(
            model.history_
        )  # of the model after each M-step; it may have settled before the end
        reached = [history[min(step, len(history)) - 1] for step in oracle()[1]]
        np.testing.assert_allclose(reached, found["loglik"], rtol=1e-6)
        assert total == pytest.approx(found["loglik"][-1], rel=1e-6)
        assert model.bic(data.x) == pytest.approx(-found["bic"], rel=1e-6)


def test_iris_is_two_groups_of_one_shape():
    """mclust's own example: VEV with 2 groups, BIC 561.73 in our sign, from its hierarchical start; we start ours."""
    from sklearn.datasets import load_iris

    X = load_iris().data
    bics = {
        (name, k): GaussianMixture(k, covariance_type=name, n_init=1, tol=1e-6, max_iter=300, random_state=0)
        .fit(X)
        .bic(X)
        for name in STRUCTURES
        for k in (1, 2, 3)
    }
    assert min(bics, key=bics.__getitem__) == ("VEV", 2)
    assert bics["VEV", 2] == pytest.approx(561.73, abs=0.05)
