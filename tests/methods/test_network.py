"""Auto-associative networks: gradients by differences, PCA by linear units, curves by tanh units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from scipy.optimize import check_grad

import asterism
from asterism import PCA, AutoAssociativeNetwork
from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.errors import DataError, NotConvergedWarning, ParameterError
from asterism.methods.network import Network, fit_network, slope_of


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    sizes = (4, 3, 2, 3, 4)
    network = Network(
        sizes, rng.normal(size=4), 1.7, rng.normal(size=4 * 3 + 3 + 3 * 2 + 2 + 2 * 3 + 3 + 3 * 4 + 4)
    )
    block = block_of(rng.normal(size=(30, 4)), rng.uniform(0, 2, 30))
    off = check_grad(
        lambda v: slope_of(network, v, block).loss,
        lambda v: slope_of(network, v, block).gradient,
        network.weights,
    )
    assert off < 1e-4 * np.linalg.norm(slope_of(network, network.weights, block).gradient)


def test_linear_units_find_the_subspace_of_pca():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 6)) * [5, 3, 1, 1, 0.5, 0.2] @ np.linalg.qr(rng.normal(size=(6, 6)))[0] + 4
    model = AutoAssociativeNetwork(2, hidden_layer_sizes=(), alpha=0, tol=1e-9, random_state=0).fit(rows)
    pca = PCA(2).fit(rows)
    decoder = model.inverse_transform(np.eye(2)) - model.inverse_transform(np.zeros((2, 2)))
    assert np.degrees(subspace_angles(decoder.T, pca.components_.T)).max() < 0.01
    assert model.loss_ == pytest.approx(pca.reconstruction_error_, rel=1e-6)
    assert_allclose(
        model.inverse_transform(model.transform(rows)), pca.inverse_transform(pca.transform(rows)), atol=1e-3
    )


def test_tanh_units_follow_a_curve_that_pca_cannot():
    t = np.random.default_rng(0).uniform(-1.5, 1.5, 400)
    rows = np.column_stack([t, t**2, np.sin(2 * t)])
    model = AutoAssociativeNetwork(1, hidden_layer_sizes=(8,), tol=1e-4, random_state=0).fit(rows)
    assert model.explained_ > 0.99
    assert model.explained_ > PCA(1).fit(rows).explained_variance_ratio_[0] + 0.1
    again = model.inverse_transform(model.transform(rows))
    assert ((rows - again) ** 2).sum() == pytest.approx(model.loss_, rel=1e-8)
    assert (np.diff(model.history_) <= 1e-12).all()


def test_weights_are_copies_and_zero_is_absent():
    rng = np.random.default_rng(0)
    rows, w = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    spoiled = rows.copy()
    spoiled[w == 0] = np.nan
    settings = {"hidden": (), "tol": 1e-9, "seed": 1}
    a = fit_network(ArraySource(spoiled, w.astype(float)), 1, **settings)
    b = fit_network(ArraySource(np.repeat(rows, w, axis=0)), 1, **settings)
    assert a.loss == pytest.approx(b.loss, rel=1e-7)


@pytest.mark.filterwarnings("ignore:The network did not settle")
def test_same_bits_for_any_number_of_threads():
    rows = np.random.default_rng(0).normal(size=(150_000, 3))
    found = []
    for n_threads in (1, 2):
        with asterism.engine(n_threads=n_threads):
            found.append(fit_network(ArraySource(rows), 1, hidden=(4,), max_iter=3).network.weights)
    assert_array_equal(found[0], found[1])


def test_impossible_requests_are_refused():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    for wrong in ({"n_components": 4}, {"hidden_layer_sizes": (0,)}, {"alpha": -1}, {"max_iter": 0}):
        with pytest.raises(ParameterError):
            AutoAssociativeNetwork(**wrong).fit(rows)
    with pytest.warns(NotConvergedWarning, match="did not settle in 2 steps"):
        AutoAssociativeNetwork(max_iter=2, random_state=0).fit(rows)
    rows[1, 2] = np.nan
    with pytest.raises(DataError, match="row 2, column 'x2'"):
        AutoAssociativeNetwork().fit(rows)
