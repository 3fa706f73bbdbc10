"""A family of one's own, the gamma of ``examples``, through everything a mixture does."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from asterism import Mixture
from asterism.data.block import block_of

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "gamma_family.py"


@pytest.fixture(scope="module")
def gamma():
    spec = importlib.util.spec_from_file_location("gamma_family", EXAMPLE)
    module = sys.modules["gamma_family"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def times():
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [rng.gamma([2.0, 9.0], [1.0, 1.0], (600, 2)), rng.gamma([50.0, 3.0], [0.4, 1.0], (200, 2))]
    )
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


@pytest.mark.parametrize("assignment", ["soft", "hard", "stochastic"])
def test_every_assignment_finds_the_two_groups(gamma, times, assignment):
    model = Mixture(gamma.GammaFamily(), 2, assignment=assignment, random_state=0).fit(times)
    few = int(np.argmin(model.weights_))
    assert model.weights_[few] == pytest.approx(0.25, abs=0.03)
    assert model.params_.means[few] == pytest.approx([20.0, 3.0], rel=0.1)
    assert model.params_.means[1 - few] == pytest.approx([2.0, 9.0], rel=0.1)
    assert model.n_parameters_ == 2 * 2 * 2 + 1
    assert model.sample(10)[0].shape == (10, 2)
    assert not np.isnan(model.impute(times)).any()
    if assignment != "stochastic":
        assert np.all(np.diff(model.history_) >= -1e-10 * np.abs(model.history_[1:]))


def test_density_is_scipys(gamma):
    params = gamma.Gammas(np.array([[2.0, 0.5]]), np.array([[3.0, 4.0]]))
    x = np.array([[0.1, 2.0], [5.0, 0.3]])
    ours = gamma.GammaFamily().log_density(params, block_of(x))[:, 0]
    theirs = stats.gamma.logpdf(x, params.shapes[0], scale=params.means[0] / params.shapes[0]).sum(axis=1)
    np.testing.assert_allclose(ours, theirs)


def test_estimate_is_scipys(gamma):
    x = np.random.default_rng(1).gamma(3.5, 2.0, (500, 1))
    family = gamma.GammaFamily()
    ours = family.estimate(family.statistic(None, block_of(x), np.ones((500, 1))), None)
    shape, _, scale = stats.gamma.fit(x[:, 0], floc=0)
    np.testing.assert_allclose([ours.shapes[0, 0], ours.means[0, 0]], [shape, shape * scale], rtol=1e-6)


def test_the_example_runs(gamma, capsys):
    gamma.main()
    assert "of the rows: mean 20" in capsys.readouterr().out
