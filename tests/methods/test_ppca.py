"""Probabilistic PCA against SciPy's normal density, PCA, and brute force over missing cells."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import asterism
from asterism import Mixture, ProbabilisticPCA
from asterism.data.source import ArraySource
from asterism.errors import DataError, NotConvergedWarning, ParameterError
from asterism.families.ppca import PPCAFamily
from asterism.methods.pca import fit_pca
from asterism.methods.posterior import imputed, told
from asterism.methods.ppca import fit_ppca, latent_of, rows_of
from asterism.methods.ppca_order import choose_order


def table(n=600, d=8, m=3, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    w = np.linalg.qr(rng.normal(size=(d, m)))[0] * np.linspace(5, 2, m)
    return rng.normal(size=(n, m)) @ w.T + noise * rng.normal(size=(n, d)) + 10 * rng.normal(size=d)


def holed(rows, share=0.3, seed=1):
    rows = rows.copy()
    rows[np.random.default_rng(seed).random(rows.shape) < share] = np.nan
    return rows


def covariance(fit):
    return fit.loadings @ fit.loadings.T + fit.noise * np.eye(len(fit.mean))


def observed_height(rows, mean, cov, weights=None):
    """sum w log N(x_o; mean_o, C_oo), row by row."""
    total = 0.0
    for i, x in enumerate(rows):
        o = ~np.isnan(x)
        if o.any():
            height = multivariate_normal(mean[o], cov[np.ix_(o, o)]).logpdf(x[o])
            total += height * (1.0 if weights is None else weights[i])
    return total


# ---- complete rows


@pytest.mark.parametrize("noise", [2.0, 0.5, 0.01])
def test_em_and_the_closed_form_agree(noise):
    source = ArraySource(table(noise=noise))
    closed, em = fit_ppca(source, 3), fit_ppca(source, 3, method="em")
    assert em.converged
    assert_allclose(em.loadings, closed.loadings, atol=1e-9)
    assert em.noise == pytest.approx(closed.noise, rel=1e-8)
    assert em.log_likelihood == pytest.approx(closed.log_likelihood, rel=1e-9)
    assert (np.diff(em.history) >= -1e-9 * np.abs(em.history[1:])).all()


def test_the_likelihood_is_that_of_scipys_normal():
    rows = table()
    fit = fit_ppca(ArraySource(rows), 3)
    expected = multivariate_normal(fit.mean, covariance(fit)).logpdf(rows)
    assert fit.log_likelihood == pytest.approx(expected.sum(), rel=1e-12)
    assert_allclose(ProbabilisticPCA(3).fit(rows).score_samples(rows), expected, rtol=1e-10)


def test_no_other_noise_or_loadings_are_likelier():
    rows = table(100, 4, 1)
    fit = fit_ppca(ArraySource(rows), 1)
    mean = rows.mean(axis=0)

    def height(v):
        return (
            -multivariate_normal(mean, np.outer(v[:4], v[:4]) + np.exp(v[4]) * np.eye(4)).logpdf(rows).sum()
        )

    best = minimize(height, [1.0, 1, 1, 1, 0], method="BFGS")
    assert fit.log_likelihood == pytest.approx(-best.fun, rel=1e-8)


def test_the_posterior_is_the_regression_of_z_on_x():
    rows = table()
    fit = fit_ppca(ArraySource(rows), 3)
    direct = (rows - fit.mean) @ np.linalg.solve(covariance(fit), fit.loadings)  # W' C^-1 (x - mean)
    assert_allclose(latent_of(fit, ArraySource(rows)), direct, atol=1e-10)


def test_without_noise_the_posterior_is_whitened_pca():
    rows = table(noise=0.3)
    fit, pca = fit_ppca(ArraySource(rows), 3), fit_pca(ArraySource(rows), 3)
    white = (rows - pca.mean) @ pca.directions.T / np.sqrt(pca.eigenvalues / pca.weight)
    apart = []
    for noise in (1e-2, 1e-4, 1e-8):
        lengths = np.sqrt(np.maximum(pca.eigenvalues / pca.weight - noise, 0))
        params = replace(
            fit.mixture.params, noise=np.array([noise]), loadings=(pca.directions.T * lengths)[None]
        )
        z = latent_of(replace(fit, mixture=replace(fit.mixture, params=params)), ArraySource(rows))
        apart.append(np.abs(z - white).max())
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 1e-7


def test_inverse_transform_is_the_reconstruction_of_pca():
    rows = table()
    fit = fit_ppca(ArraySource(rows), 2)
    ours = rows_of(fit, latent_of(fit, ArraySource(rows)))
    pca = asterism.PCA(2).fit(rows)
    assert_allclose(ours, pca.inverse_transform(pca.transform(rows)), atol=1e-10)


def test_wide_tables_have_the_closed_form_too():
    rows = table(30, 200, 3)
    fit = fit_ppca(ArraySource(rows), 3)
    values = np.linalg.eigvalsh(np.cov(rows.T, bias=True))[::-1]
    assert fit.noise == pytest.approx(values[3:].sum() / 197, rel=1e-9)
    assert_allclose((fit.loadings**2).sum(axis=0) + fit.noise, values[:3], rtol=1e-9)


def test_precision_is_the_inverse_of_the_covariance():
    model = ProbabilisticPCA(3).fit(table())
    assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(8), atol=1e-10)
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)


def test_samples_have_the_covariance_of_the_model():
    model = ProbabilisticPCA(2, random_state=0).fit(table())
    drawn = model.sample(200_000)
    assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.15)
    assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.05)


# ---- missing cells


def test_the_likelihood_of_missing_cells_is_that_of_the_cells_that_are_there():
    rows = holed(table(60))
    fit = fit_ppca(ArraySource(rows), 2)
    assert fit.log_likelihood == pytest.approx(observed_height(rows, fit.mean, covariance(fit)), rel=1e-10)


def test_em_over_missing_cells_ends_at_a_maximum():
    rows = holed(table(80, 4, 1), 0.25)
    fit = fit_ppca(ArraySource(rows), 1, tol=1e-13)

    def height(v):
        return -observed_height(rows, v[:4], np.outer(v[4:8], v[4:8]) + np.exp(v[8]) * np.eye(4))

    start = np.concatenate([fit.mean, fit.loadings[:, 0], [np.log(fit.noise)]])
    slopes = [
        (height(start + 1e-5 * e) - height(start - 1e-5 * e)) / 2e-5 for e in np.eye(9)
    ]  # central differences
    assert np.abs(slopes).max() < 1e-3
    curved = [height(start + 1e-2 * e) + height(start - 1e-2 * e) - 2 * height(start) for e in np.eye(9)]
    assert min(curved) > 0


def test_a_third_of_the_cells_missing_hardly_turns_the_subspace():
    rows = table(2000, 20, 5, noise=0.25)
    whole, part = fit_ppca(ArraySource(rows), 5), fit_ppca(ArraySource(holed(rows)), 5)
    assert np.degrees(subspace_angles(whole.loadings, part.loadings)).max() < 5
    gone = np.isnan(holed(rows))
    filled = imputed(part.mixture, ArraySource(holed(rows)))
    means = np.broadcast_to(np.nanmean(holed(rows), axis=0), rows.shape)
    ours, theirs = (np.sqrt(((x - rows)[gone] ** 2).mean()) for x in (filled, means))
    assert theirs > 3 * ours
    assert_array_equal(filled[~gone], rows[~gone])


def test_imputed_cells_are_conditional_means():
    rows = holed(table(50))
    fit = fit_ppca(ArraySource(rows), 2)
    cov, filled = covariance(fit), imputed(fit.mixture, ArraySource(rows))
    for x, f in zip(rows, filled, strict=True):
        o = ~np.isnan(x)
        expected = fit.mean[~o] + cov[np.ix_(~o, o)] @ np.linalg.solve(cov[np.ix_(o, o)], x[o] - fit.mean[o])
        assert_allclose(f[~o], expected, atol=1e-8)


@pytest.mark.parametrize("gaps", [False, True])
def test_weights_are_copies_and_zero_is_absent(gaps):
    rows = holed(table(120, 5, 2)) if gaps else table(120, 5, 2)
    w = np.random.default_rng(3).integers(0, 4, 120)
    spoiled = rows.copy()
    spoiled[w == 0] = np.inf
    a = fit_ppca(ArraySource(spoiled, w.astype(float)), 2, tol=1e-12)
    b = fit_ppca(ArraySource(np.repeat(rows, w, axis=0)), 2, tol=1e-12)
    assert_allclose(covariance(a), covariance(b), rtol=1e-5, atol=1e-5)
    assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=1e-9)


def test_an_offset_of_1e9_changes_nothing():
    rows = np.round(holed(table(200, 5, 2)) * 64) / 64
    a, b = (fit_ppca(ArraySource(rows + far), 2) for far in (0.0, 1e9))
    assert_allclose(a.loadings, b.loadings, atol=1e-6)
    assert a.noise == pytest.approx(b.noise, rel=1e-6)


def test_same_bits_for_any_number_of_threads():
    rows = holed(table(66_000, 9, 3))
    assert len(rows) > 2 * ArraySource(rows).block_rows
    found = []
    for n_threads in (1, 3):
        with asterism.engine(n_threads=n_threads):
            found.append(fit_ppca(ArraySource(rows), 3, tol=1e-3))
    for other in found[1:]:
        assert_array_equal(other.loadings, found[0].loadings)
        assert other.log_likelihood == found[0].log_likelihood


def test_rows_of_exact_rank_keep_a_little_noise():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 6))
    for method in ("closed", "em"):
        fit = fit_ppca(ArraySource(rows), 2, method=method)
        assert 0 < fit.noise < 1e-6
        assert np.isfinite(fit.log_likelihood)
        assert told(fit.mixture, ArraySource(rows)).log_likelihood == pytest.approx(
            fit.log_likelihood, rel=1e-6
        )


# ---- errors


def test_impossible_requests_are_refused():
    rows = table(20, 3, 1)
    for m in (0, 3, 2.5):
        with pytest.raises(ParameterError, match="whole number from 1 to 2"):
            fit_ppca(ArraySource(rows), m)
    with pytest.raises(ParameterError, match="method"):
        fit_ppca(ArraySource(rows), 1, method="svd")
    with pytest.raises(ParameterError, match="no closed form"):
        fit_ppca(ArraySource(holed(rows)), 1, method="closed")
    rows[4, 1] = np.inf
    with pytest.raises(DataError, match="row 5, column 'x1'"):
        fit_ppca(ArraySource(rows), 1)


def test_too_few_steps_are_told():
    with pytest.warns(NotConvergedWarning, match="did not settle in 2 steps"):
        fit_ppca(ArraySource(table()), 3, method="em", max_iter=2)


# ---- how many


@pytest.mark.parametrize("criterion", ["bic", "cv"])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_number_of_directions_is_found(criterion, gaps):
    rows = table(400, 7, 3)
    order = choose_order(ArraySource(holed(rows, 0.1) if gaps else rows), criterion, most=6)
    assert order.m == 3


def test_bic_from_moments_is_that_of_the_fits():
    rows = table(300, 6, 2)
    order = choose_order(ArraySource(rows))
    assert_allclose(order.bic, [fit_ppca(ArraySource(rows), m).bic for m in order.tried], rtol=1e-10)


def test_held_out_likelihood_from_moments_is_that_of_the_rows():
    rows = table(100, 5, 2)
    order = choose_order(ArraySource(rows), "cv", folds=3, seed=4)
    fold = np.random.default_rng([4, 0]).integers(3, size=100)
    for m in (1, 4):
        fits = [fit_ppca(ArraySource(rows[fold != f]), m) for f in range(3)]
        heights = [
            multivariate_normal(fit.mean, covariance(fit)).logpdf(rows[fold == f]).mean()
            for f, fit in enumerate(fits)
        ]
        assert order.held_out[m - 1] == pytest.approx(np.mean(heights), rel=1e-9)
        assert order.error[m - 1] == pytest.approx(np.std(heights, ddof=1) / np.sqrt(3), rel=1e-8)


# ---- mixtures


def test_a_mixture_of_planes_is_taken_apart():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(400, 2)) @ (4 * rng.normal(size=(2, 6))) for _ in range(2)]
    rows = np.vstack(parts) + 0.1 * rng.normal(size=(800, 6))
    model = Mixture(PPCAFamily(2), 2, n_init=5, random_state=0).fit(rows)
    truth = np.repeat([0, 1], 400)
    agree = (model.labels_ == truth).mean()
    assert max(agree, 1 - agree) > 0.97
    assert model.n_parameters_ == 2 * (6 + 11 + 1) + 1
    holes = holed(rows, 0.2)
    assert np.isfinite(model.impute(holes)).all()
    assert_allclose(model.params_.noise, 0.01, rtol=0.3)
