"""Families against SciPy's distributions, its optimisers, and sums written out."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit

from asterism.data.block import block_of
from asterism.errors import DataError, ParameterError
from asterism.families.bernoulli import BernoulliFamily, Chances
from asterism.families.categorical import CategoricalFamily, LevelShares
from asterism.families.covariance import Covariances
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import GaussianParams
from asterism.families.multinomial import CountShares, MultinomialFamily
from asterism.families.ordinal import OrdinalFamily, Steps
from asterism.families.poisson import PoissonFamily, Rates
from asterism.families.product import ProductFamily
from asterism.families.student import StudentFamily, StudentParams


def one(family, rows, previous=None):
    """The estimate of one component from these rows."""
    block = block_of(np.asarray(rows, np.float64))
    return family.estimate(family.statistic(previous, block, np.ones((len(rows), 1))), previous)


# --- categorical ---


def test_two_dice():
    """All 36 throws: the sums 2 .. 12 have the shares 1/36, 2/36, ..., 6/36, ..., 1/36."""
    sums = [[a + b - 2.0] for a, b in product(range(1, 7), repeat=2)]
    p = one(CategoricalFamily(levels=(11,)), sums).probabilities[0]
    np.testing.assert_allclose(p * 36, [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1])


def test_dirichlet_prior_adds_its_observations():
    family = CategoricalFamily(levels=(4,), prior=2.0)
    np.testing.assert_allclose(one(family, [[0.0], [0.0]]).probabilities[0], [0.625, 0.125, 0.125, 0.125])


def test_numbers_of_parameters():
    def at(family, d):
        return ProductFamily(((family, tuple(range(d))),)).prepared(facts_of(np.ones((2, d)))).n_parameters(3)

    assert CategoricalFamily(levels=(3, 2, 4)).n_parameters(5) == 5 * (2 + 1 + 3)
    assert at(BernoulliFamily(), 4) == 12
    assert at(PoissonFamily(), 4) == 12
    assert at(MultinomialFamily(), 4) == 9
    assert OrdinalFamily(levels=(2, 3, 7)).n_parameters(2) == 2 * (1 + 2 + 2)
    for structure, total in {
        "VVV": 44,
        "EEE": 24,
        "VVI": 26,
        "EII": 15,
    }.items():  # k = 3, d = 4, of normal ones
        normal = GaussianFamily(structure).at(np.zeros(4))
        assert StudentFamily(normal).n_parameters(3) == total - 2 + 3
        assert StudentFamily(normal, degrees=4.0).n_parameters(3) == total - 2
    # one column with one variance for each of K components: 2 K, and K - 1 proportions make 3 K - 1
    assert GaussianFamily("V").at(np.zeros(1)).n_parameters(5) + 5 - 1 == 3 * 5 - 1


def facts_of(rows):
    from asterism.data.source import ArraySource
    from asterism.methods.frame import survey
    from asterism.methods.mixture import facts_of

    source = ArraySource(np.asarray(rows, np.float64))
    return facts_of(source, CategoricalFamily(), *survey(source))


# --- counts ---


def test_bernoulli_is_scipys():
    x = np.array([[0.0, 1.0], [1.0, 1.0]])
    p = np.array([[0.2, 0.7], [1.0, 0.5]])
    ours = BernoulliFamily().log_density(Chances(p), block_of(x))
    np.testing.assert_allclose(ours[:, 0], stats.bernoulli.logpmf(x, p[0]).sum(axis=1))
    assert ours[1, 1] == pytest.approx(np.log(0.5))
    assert ours[0, 1] < -700  # a 0 where only 1 can be


def test_poisson_is_scipys():
    x = np.array([[0.0, 3.0], [12.0, 1.0]])
    rates = np.array([[2.0, 0.5], [7.5, 3.0]])
    ours = PoissonFamily().log_density(Rates(rates), block_of(x))
    np.testing.assert_allclose(ours, stats.poisson.logpmf(x[:, None, :], rates).sum(axis=2))


def test_poisson_prior_is_a_gamma():
    family = PoissonFamily(prior=3.0).prepared(facts_of([[2.0], [4.0]]))
    usual = (6.0 + 0.5) / (2.0 + 1.0)
    rates = np.array([[0.5], [2.0]])
    ours = np.diff([family.log_prior(Rates(rates[[c]])) for c in (0, 1)])
    theirs = np.diff(stats.gamma.logpdf(rates.ravel(), 1 + 3.0 * usual, scale=1 / 3.0))
    np.testing.assert_allclose(ours, theirs)


def test_multinomial_is_scipys():
    x = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    p = np.array([[0.2, 0.3, 0.5]])
    ours = MultinomialFamily().log_density(CountShares(p), block_of(x))[:, 0]
    np.testing.assert_allclose(ours, stats.multinomial.logpmf(x, x.sum(axis=1).astype(int), p[0]))


def test_a_missing_count_leaves_a_multinomial_of_the_others():
    p = np.array([[0.2, 0.3, 0.5]])
    ours = MultinomialFamily().log_density(CountShares(p), block_of(np.array([[1.0, np.nan, 3.0]])))[0, 0]
    assert ours == pytest.approx(stats.multinomial.logpmf([1, 3], 4, [0.2 / 0.7, 0.5 / 0.7]))


def test_shares_with_missing_counts_maximise_their_likelihood():
    x = np.array([[4.0, 2.0, np.nan], [3.0, np.nan, 9.0], [1.0, 1.0, 5.0], [np.nan, 3.0, 6.0]])
    block, family = block_of(x), MultinomialFamily()

    def height(logits):
        p = np.exp(logits - np.logaddexp.reduce(logits))
        return -family.log_density(CountShares(p[None]), block).sum()

    params = one(family, x)
    for _ in range(200):
        params = one(family, x, params)
    best = optimize.minimize(height, np.zeros(3), tol=1e-12)
    assert height(np.log(params.probabilities[0])) == pytest.approx(best.fun, abs=1e-9)


# --- ordinal ---


def test_ordinal_estimate_is_the_best_of_a_fine_grid():
    rng = np.random.default_rng(0)
    family = OrdinalFamily(levels=(5,))
    for _ in range(20):
        rows = rng.choice(5, (12, 1), p=rng.dirichlet(np.ones(5))).astype(float)
        block = block_of(rows)
        ours = family.log_density(one(family, rows), block).sum()
        for typical in np.arange(9) / 2:
            for decay in np.linspace(0.005, 1.0, 60):
                steps = Steps(np.array([[typical]]), np.array([[decay]]))
                assert family.log_density(steps, block).sum() <= ours + 1e-9


def test_ordinal_limits_are_one_level_and_no_order():
    family = OrdinalFamily(levels=(4,))
    certain = one(family, [[2.0]] * 3)
    assert (certain.typical, certain.decay) == (2.0, 0.0)
    np.testing.assert_allclose(np.exp(family.log_probabilities(certain)), [[0, 0, 1, 0]], atol=1e-300)
    between = one(family, [[1.0], [2.0]])
    assert (between.typical, between.decay) == (1.5, 0.0)
    even = one(family, [[0.0], [1.0], [2.0], [3.0]])
    np.testing.assert_allclose(np.exp(family.log_probabilities(even)), 0.25)


def test_ordinal_probabilities_fall_with_every_step_from_the_typical_level():
    family = OrdinalFamily(levels=(7,))
    p = np.exp(family.log_probabilities(Steps(np.array([[2.0]]), np.array([[0.6]]))))[0]
    np.testing.assert_allclose(p / p[2], 0.6 ** np.array([4, 1, 0, 1, 4, 9, 16]))
    assert p.sum() == pytest.approx(1.0)


# --- student ---


def student(structure="VVV", degrees=(3.0, 9.0)):
    means = np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 0.5]])
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(2, 3, 3))
    matrices = roots @ roots.transpose(0, 2, 1) + np.eye(3)
    family = StudentFamily(GaussianFamily(structure).at(np.zeros(3)))
    return family, StudentParams(
        GaussianParams(means, Covariances.given(structure, matrices)), np.array(degrees)
    )


def test_student_density_is_scipys():
    family, params = student()
    x = np.random.default_rng(1).normal(size=(20, 3)) * 4
    ours = family.log_density(params, block_of(x))
    for c in (0, 1):
        t = stats.multivariate_t(
            params.normal.means[c], params.normal.covariances.full()[c], params.degrees[c]
        )
        np.testing.assert_allclose(ours[:, c], t.logpdf(x), rtol=1e-11)


def test_missing_cells_leave_a_t_of_the_others():
    family, params = student()
    x = np.array([[0.5, np.nan, -2.0]])
    known = [0, 2]
    for c in (0, 1):
        scale = params.normal.covariances.full()[c][np.ix_(known, known)]
        t = stats.multivariate_t(params.normal.means[c, known], scale, params.degrees[c])
        assert family.log_density(params, block_of(x))[0, c] == pytest.approx(t.logpdf(x[0, known]))


def test_student_ends_where_a_general_optimiser_ends():
    x = stats.t(df=3, loc=2, scale=0.5).rvs(300, random_state=0)[:, None]
    family = StudentFamily(GaussianFamily("full").at(np.zeros(1)))
    params = one(family, x)
    for _ in range(400):
        params = one(family, x, params)

    def height(theta):
        return -stats.t.logpdf(x[:, 0], np.exp(theta[2]), theta[0], np.exp(theta[1])).sum()

    best = optimize.minimize(height, [2.0, -0.7, 1.0], tol=1e-10, method="Nelder-Mead")
    ours = -family.log_density(params, block_of(x)).sum()
    assert ours == pytest.approx(best.fun, abs=1e-6)
    assert params.degrees[0] == pytest.approx(np.exp(best.x[2]), rel=1e-3)


def test_many_degrees_of_freedom_are_normal():
    family, params = student(degrees=(1e8, 1e8))
    x = np.random.default_rng(1).normal(size=(5, 3))
    normal = family.normal.log_density(params.normal, block_of(x))
    np.testing.assert_allclose(family.log_density(params, block_of(x)), normal, rtol=1e-5)


def test_degrees_of_freedom_out_of_reach_are_refused():
    with pytest.raises(ParameterError, match="degrees of freedom"):
        StudentFamily(degrees=0.0).prepared(facts_of([[1.0], [2.0]]))


# --- cells that cannot be ---


@pytest.mark.parametrize("value", [0.5, -1.0, np.inf])
@pytest.mark.parametrize(
    "family",
    [PoissonFamily(), MultinomialFamily(), BernoulliFamily(), CategoricalFamily((3, 3))],
    ids=lambda f: f.name,
)
def test_a_cell_that_cannot_be_is_named_with_row_and_column(family, value):
    family = family.prepared(facts_of([[0.0, 0.0], [1.0, 1.0]]))
    rows = np.array([[0.0, 1.0], [1.0, value]])
    with pytest.raises(DataError) as told:
        family.statistic(None, block_of(rows, start=100), np.ones((2, 1)))
    assert (told.value.row, told.value.column) == (101, "x1")
    absent = family.statistic(None, block_of(rows, np.array([1.0, 0.0])), np.array([[1.0], [0.0]]))
    present = family.statistic(None, block_of(rows[:1]), np.ones((1, 1)))
    np.testing.assert_array_equal(absent.merge(present).mass, 2 * present.mass)


def test_a_code_beyond_the_levels_is_named():
    with pytest.raises(DataError, match=r"row 2, column 'x0'.*codes of 2 levels"):
        CategoricalFamily((2,)).log_density(
            LevelShares(np.full((1, 2), 0.5)), block_of(np.array([[1.0], [2.0]]))
        )


def test_the_choice_of_a_column_twice_is_refused():
    with pytest.raises(ParameterError, match="every column"):
        ProductFamily(((BernoulliFamily(), (0, 1)), (PoissonFamily(), (1,))))


# --- what the ordinal family is for ---


def test_ordinal_needs_fewer_rows_than_free_shares():
    """Ratings of a latent normal: held-out likelihood of two numbers is better than of six, from few rows."""
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(60):
        centre, spread = rng.uniform(1, 5), rng.uniform(0.4, 1.2)
        cuts = expit((np.arange(6) + 0.5 - centre) / spread)
        p = np.diff(np.concatenate([[0.0], cuts, [1.0]]))
        train = rng.choice(7, (30, 1), p=p).astype(float)
        ordinal = OrdinalFamily(levels=(7,), prior=1.0)
        free = CategoricalFamily(levels=(7,), prior=1.0)
        log_o = ordinal.log_probabilities(one(ordinal, train))[0]
        log_f = np.log(one(free, train).probabilities[0])
        gains.append(p @ (log_o - log_f))
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(len(gains))


def test_brute_force_likelihood_of_a_binomial_table():
    """Two coins thrown three times: the mixture density of all 8 rows adds up, by counts, to two binomials."""
    p = np.array([0.2, 0.7])
    rows = np.array(list(product([0.0, 1.0], repeat=3)))
    density = np.exp(BernoulliFamily().log_density(Chances(np.repeat(p[:, None], 3, axis=1)), block_of(rows)))
    heads = rows.sum(axis=1)
    for h in range(4):
        expected = [comb(3, h) * q**h * (1 - q) ** (3 - h) for q in p]
        np.testing.assert_allclose(density[heads == h].sum(axis=0), expected)
