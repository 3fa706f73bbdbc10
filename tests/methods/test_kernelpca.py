"""Kernel PCA against scikit-learn's, and PCA where the kernel is linear."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import KernelPCA as Peer

import asterism
from asterism import PCA, KernelPCA
from asterism.errors import MemoryBudgetError, ParameterError


def rows(n=80, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * [3, 2, 1, 0.5]


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "cosine"])
def test_same_as_scikit_learn(kernel):
    x, new = rows(), rows(20, seed=1)
    settings = {"kernel": kernel, "gamma": 0.05, "degree": 2, "coef0": 0.5}
    ours = KernelPCA(3, **settings, fit_inverse_transform=True, alpha=0.1).fit(x)
    theirs = Peer(3, **settings, fit_inverse_transform=True, alpha=0.1, eigen_solver="dense").fit(x)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    a, b = ours.transform(new), theirs.transform(new)
    signs = np.sign((a * b).sum(axis=0))
    assert_allclose(a, b * signs, atol=1e-8)
    assert_allclose(ours.inverse_transform(a), theirs.inverse_transform(b), atol=1e-6)


def test_a_linear_kernel_is_pca():
    x = rows()
    assert_allclose(np.abs(KernelPCA(2).fit_transform(x)), np.abs(PCA(2).fit_transform(x)), atol=1e-10)


def test_precomputed_and_own_kernels_are_the_same():
    x = rows(40)
    direct = KernelPCA(2, kernel="rbf", gamma=0.1).fit_transform(x)
    own = KernelPCA(2, kernel=lambda a, b: np.exp(-0.1 * ((a - b) ** 2).sum())).fit_transform(x)
    squares = ((x[:, None] - x) ** 2).sum(axis=2)
    given = KernelPCA(2, kernel="precomputed").fit_transform(np.exp(-0.1 * squares))
    assert_allclose(own, direct, atol=1e-10)
    assert_allclose(given, direct, atol=1e-10)


def test_weights_are_copies_and_zero_is_absent():
    x, w = rows(40), np.random.default_rng(2).integers(0, 3, 40)
    spoiled = x.copy()
    spoiled[w == 0] = np.nan
    a = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(spoiled, sample_weight=w)
    b = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(np.repeat(x, w, axis=0))
    assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-9)
    za, zb = a.transform(x), b.transform(x)
    assert_allclose(np.abs(za), np.abs(zb), atol=1e-8)
    assert_allclose(a.inverse_transform(za), b.inverse_transform(zb), atol=1e-6)


def test_pre_images_take_the_noise_out_of_a_circle():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 200)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = circle + 0.15 * rng.normal(size=circle.shape)
    model = KernelPCA(4, kernel="rbf", gamma=1.0, alpha=0.1, fit_inverse_transform=True).fit(noisy)
    back = model.inverse_transform(model.transform(noisy))

    def off(x):
        return np.abs(np.sqrt((x**2).sum(axis=1)) - 1).mean()

    assert off(back) < 0.7 * off(noisy)


def test_impossible_requests_are_refused():
    x = rows(30)
    with pytest.raises(ParameterError, match="kernel"):
        KernelPCA(kernel="round").fit(x)
    with pytest.raises(ParameterError, match="way back"):
        KernelPCA(2).fit(x).inverse_transform(np.ones((1, 2)))
    with asterism.engine(memory="1KB"), pytest.raises(MemoryBudgetError, match="kernel matrix of 30 rows"):
        KernelPCA(2).fit(x)
