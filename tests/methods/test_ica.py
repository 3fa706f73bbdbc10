"""Independent components against scikit-learn's, known mixtures and plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import FastICA as Peer

import asterism
from asterism import FastICA
from asterism.data.source import ArraySource
from asterism.errors import DataError, NotConvergedWarning, ParameterError
from asterism.methods.ica import CONTRASTS, fit_ica


def mixed(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    s = np.column_stack([rng.uniform(-1, 1, n), rng.laplace(size=n), np.sign(rng.normal(size=n))])
    s += 0.05 * rng.normal(size=s.shape)
    return s, s @ rng.normal(size=(3, 3)).T + 7.0


def amari(p):
    """0 where p is a scaled permutation, 1 at worst."""
    p, k = np.abs(p), len(p)
    return ((p.sum(1) / p.max(1) - 1).sum() + (p.sum(0) / p.max(0) - 1).sum()) / (2 * k * (k - 1))


def matched(a, b):
    """b's rows in the order and with the signs of a's."""
    cross = np.corrcoef(a, b)[: len(a), len(a) :]
    at = np.abs(cross).argmax(axis=1)
    return b[at] * np.sign(cross[np.arange(len(a)), at])[:, None]


FUNCTIONS = ("logcosh", "exp", "cube")


def test_tanh_saturates_without_a_nan():
    u = np.array([-1e308, -400.0, 400.0, 1e308])
    CONTRASTS["logcosh"](u, np.ones(4), 1.0)
    assert_array_equal(u, [-1, -1, 1, 1])


@pytest.mark.parametrize("fun", FUNCTIONS)
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_same_components_as_scikit_learn(fun, algorithm):
    _, rows = mixed()
    start = np.random.default_rng(1).normal(size=(3, 3))
    settings = {"algorithm": algorithm, "fun": fun, "w_init": start, "tol": 1e-12, "max_iter": 500}
    ours = FastICA(3, **settings).fit(rows)
    theirs = Peer(3, whiten="unit-variance", whiten_solver="eigh", **settings).fit(rows)
    assert_allclose(matched(ours.components_, theirs.components_), ours.components_, rtol=0, atol=2e-6)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_sources_are_found_again(algorithm):
    s, rows = mixed(40_000)
    model = FastICA(algorithm=algorithm, random_state=0).fit(rows)
    true_mixing = np.linalg.lstsq(s - s.mean(0), rows - rows.mean(0), rcond=None)[0].T * s.std(0)
    assert amari(model.components_ @ true_mixing) < 0.02
    sources = model.transform(rows)
    assert_allclose(np.cov(sources.T, bias=True), np.eye(3), atol=1e-9)
    assert_allclose(model.inverse_transform(sources), rows, atol=1e-9)


def test_order_and_signs_do_not_depend_on_the_start():
    _, rows = mixed()
    a, b = (FastICA(random_state=seed, tol=1e-12).fit(rows) for seed in (0, 1))
    assert_allclose(a.components_, b.components_, atol=1e-6)
    assert (np.diff((a.mixing_**2).sum(axis=0)) <= 0).all()


def test_weights_are_copies_and_zero_is_absent():
    _, rows = mixed(500)
    w = np.random.default_rng(2).integers(0, 3, 500)
    spoiled = rows.copy()
    spoiled[w == 0] = np.nan
    start = np.eye(3)
    a = fit_ica(ArraySource(spoiled, w.astype(float)), start=start, tol=1e-10)
    b = fit_ica(ArraySource(np.repeat(rows, w, axis=0)), start=start, tol=1e-10)
    assert_allclose(a.unmixing, b.unmixing, atol=1e-6)


def test_same_bits_for_any_number_of_threads_and_far_from_zero():
    _, rows = mixed(140_000)
    rows = np.round(rows * 1024) / 1024
    found = []
    for n_threads in (1, 2, 5):
        with asterism.engine(n_threads=n_threads):
            found.append(fit_ica(ArraySource(rows), seed=3))
    for other in found[1:]:
        assert_array_equal(other.unmixing, found[0].unmixing)
    far = fit_ica(ArraySource(rows + 1e9), seed=3)
    assert_allclose(far.unmixing, found[0].unmixing, atol=1e-5)


def test_constant_directions_are_left_out_or_refused():
    _, rows = mixed(500)
    flat = np.column_stack([rows, rows[:, 0] + rows[:, 1]])
    assert FastICA(random_state=0).fit(flat).components_.shape == (3, 4)
    with pytest.raises(ParameterError, match="vary in 3 directions"):
        FastICA(4).fit(flat)


def test_wrong_parameters_and_cells_are_named():
    _, rows = mixed(50)
    for wrong in ({"fun": "sin"}, {"algorithm": "both"}, {"w_init": np.ones((2, 2))}, {"max_iter": 0}):
        with pytest.raises(ParameterError):
            FastICA(**wrong).fit(rows)
    with pytest.raises(ParameterError, match="alpha"):
        FastICA(fun_args={"alpha": 3}).fit(rows)
    with pytest.warns(NotConvergedWarning, match="did not settle in 1 steps"):
        FastICA(max_iter=1, random_state=0).fit(rows)
    rows[3, 1] = np.nan
    with pytest.raises(DataError, match="row 4, column 'x1'"):
        FastICA().fit(rows)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_the_history_tells_how_far_every_step_turned(algorithm):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.uniform(size=2000), rng.laplace(size=2000)]) @ [[1.0, 2.0], [3.0, 1.0]]
    found = FastICA(algorithm=algorithm, random_state=0).fit(rows)
    assert len(found.history_) >= found.n_iter_
    assert found.history_[-1] < found.tol <= max(found.history_)
