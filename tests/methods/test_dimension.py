"""The dimension of tables whose dimension is known."""

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.spatial.distance import pdist

import asterism
from asterism.data.source import ArraySource
from asterism.errors import DataError
from asterism.methods.dimension import dimensions_of, noise_scree, two_neighbours


def test_noise_screes_are_those_of_tables_of_noise():
    """Drawn as whole tables by NumPy; ours are drawn as triangles."""
    rng = np.random.default_rng(0)
    for n, d in [(50, 8), (10, 20)]:
        drawn = [
            np.sort(np.linalg.eigvalsh(np.corrcoef(rng.normal(size=(n, d)).T)))[::-1] for _ in range(300)
        ]
        np.testing.assert_allclose(noise_scree(n, d), np.quantile(drawn, 0.95, axis=0), rtol=0.08, atol=0.02)


@pytest.mark.parametrize("m", [0, 1, 3])
def test_parallel_analysis_counts_the_factors(m):
    rng = np.random.default_rng(m)
    rows = rng.normal(size=(500, m)) @ rng.normal(size=(m, 12)) * 2 + rng.normal(size=(500, 12))
    assert dimensions_of(ArraySource(rows)).parallel == m


@pytest.mark.parametrize("d", [2, 10, 50])
def test_independent_normal_columns_concentrate_as_the_formula_says(d):
    rows = np.random.default_rng(0).normal(size=(4000, d))
    found = dimensions_of(ArraySource(rows))
    assert found.concentration == pytest.approx(d, rel=0.08)
    assert found.participation == pytest.approx(d, rel=0.05)
    assert found.spread == pytest.approx(found.expected_spread, rel=0.05)


def test_the_spread_of_distances_is_that_of_all_pairs():
    rows = np.random.default_rng(0).uniform(size=(400, 3))
    all_pairs = pdist(rows / rows.std(axis=0))
    found = dimensions_of(ArraySource(rows))
    assert found.spread == pytest.approx(all_pairs.std() / all_pairs.mean(), rel=0.02)


def test_a_curved_surface_counts_by_its_own_dimension():
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(1.5, 4.5, 3000) * np.pi, rng.uniform(0, 20, 3000)
    roll = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    found = dimensions_of(ArraySource(roll))
    assert abs(found.neighbours - 2) < 3 * found.neighbours_error + 0.1
    assert found.parallel <= 3


@pytest.mark.parametrize("d", [1, 3, 5])
def test_two_neighbours_find_the_dimension_of_a_cube(d):
    estimate, error = two_neighbours(np.random.default_rng(1).uniform(size=(4000, d)))
    assert abs(estimate - d) < 4 * error + 0.06 * d


def test_repeated_rows_constant_columns_and_weights_do_no_harm():
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(300, 2)), 4, axis=0)
    flat = np.column_stack([rows, np.ones(1200)])
    found = dimensions_of(ArraySource(flat))
    assert found.columns == 2
    assert found.neighbours == pytest.approx(2, abs=0.5)
    weighted = dimensions_of(ArraySource(flat[::4], np.full(300, 4.0)))
    np.testing.assert_allclose(weighted.scree, found.scree, rtol=1e-10)
    assert weighted.parallel == found.parallel


def test_a_table_without_variation_has_no_dimension():
    with pytest.raises(DataError, match="No column varies"):
        dimensions_of(ArraySource(np.ones((5, 2))))
    with pytest.raises(DataError, match="row 2, column 'x0'"):
        dimensions_of(ArraySource(np.array([[1.0, 2.0], [np.nan, 3.0], [2.0, 5.0]])))


@pytest.mark.parametrize("d", [3, 30])
def test_squared_distances_of_normal_columns_follow_the_gamma_law(d):
    """SciPy's Gamma of shape d/2 and scale 4/d: mean 2, variance 8/d."""
    law = stats.gamma(d / 2, scale=4 / d)
    assert (law.mean(), law.var()) == (pytest.approx(2), pytest.approx(8 / d))
    rows = np.random.default_rng(0).normal(size=(3000, d))
    found = asterism.dimension(rows)
    assert found.expected_variance == pytest.approx(law.var())
    assert found.distance_mean == pytest.approx(law.mean(), rel=0.01)
    assert found.distance_variance == pytest.approx(law.var(), rel=0.08)
    pairs = pdist(rows[:500] / rows.std(axis=0), "sqeuclidean") / d
    assert stats.kstest(np.random.default_rng(1).choice(pairs, 400), law.cdf).pvalue > 1e-3
    assert found.concentration == pytest.approx(2 * found.distance_mean**2 / found.distance_variance)


def test_dimension_takes_any_table_and_weights():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 2)) @ rng.normal(size=(2, 6)) + 0.05 * rng.normal(size=(600, 6))
    frame = pl.DataFrame(rows, schema=list("abcdef"))
    whole, same = asterism.dimension(rows), asterism.dimension(frame)
    assert (whole.parallel, whole.concentration) == (same.parallel, same.concentration)
    w = np.repeat([1.0, 0.0], 300)
    assert asterism.dimension(rows, sample_weight=w).participation == pytest.approx(
        asterism.dimension(rows[:300]).participation
    )
    assert asterism.dimension(rows, random_state=3).concentration == pytest.approx(
        whole.concentration, rel=0.05
    )
