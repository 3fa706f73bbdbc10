"""Moments against NIST's Statistical Reference Datasets: 14 digits of the exact value, however split.

The exact value is that of the float64 numbers a computer is given (``Fraction`` knows it), not of the
decimals in NIST's files: with 13 constant leading digits, reading them already takes the last ones away.
The univariate sets are defined by rule; the others come with SciPy's own tests.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, reduce
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from asterism.data.block import block_of
from asterism.engines.tree import MergeTree
from asterism.stats.moments import ColumnMoments, Moments

DIGITS = 14
FILES = Path(scipy.stats.__file__).parent / "tests" / "data"
ANOVA = ["AtmWtAg", "SiRstv", *(f"SmLs0{i}" for i in range(1, 10))]
UNIVARIATE = {
    "NumAcc1": [10000001.0, 10000003.0, 10000002.0],
    "NumAcc2": [1.2, *[1.1, 1.3] * 500],
    "NumAcc3": [1000000.2, *[1000000.1, 1000000.3] * 500],
    "NumAcc4": [10000000.2, *[10000000.1, 10000000.3] * 500],
}
CERTIFIED = {  # mean, standard deviation (n - 1) of the decimal data: exact by definition
    "NumAcc1": (10000002.0, 1.0),
    "NumAcc2": (1.2, 0.1),
    "NumAcc3": (1000000.2, 0.1),
    "NumAcc4": (10000000.2, 0.1),
}
SPLITS = [10**9, 1000, 97, 7]  # rows of a block

both_statistics = pytest.mark.parametrize("statistic", [ColumnMoments, Moments])
every_split = pytest.mark.parametrize("size", SPLITS)


@cache
def anova(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Groups (n,) and responses (n,) of a one-way analysis of variance."""
    path = FILES / "nist_anova" / f"{name}.dat"
    if not path.exists():
        pytest.skip("this SciPy came without its test data")
    table = np.loadtxt(path, skiprows=60)
    return table[:, 0], table[:, 1]


def certified_anova(name: str) -> tuple[float, float]:
    """Sums of squares between and within groups, as NIST gives them."""
    lines = (FILES / "nist_anova" / f"{name}.dat").read_text().splitlines()[39:47]
    return tuple(
        float(line.split()[-k]) for line, k in ((_row(lines, "Between"), 3), (_row(lines, "Within"), 2))
    )


def _row(lines: list[str], word: str) -> str:
    return next(line for line in lines if line.startswith(word))


def exact_moments(x: np.ndarray, y: np.ndarray | None = None) -> tuple[Fraction, Fraction]:
    """Mean of x, and sum of (x - mean)(y - mean), in rational arithmetic."""
    a = [Fraction(v) for v in x.tolist()]
    b = a if y is None else [Fraction(v) for v in y.tolist()]
    n = len(a)
    return sum(a) / n, sum(u * v for u, v in zip(a, b, strict=True)) - sum(a) * sum(b) / n


def digits(got: float, exact: Fraction) -> float:
    """Correct significant digits of ``got``."""
    error = abs(Fraction(float(got)) - exact)
    if error == 0:
        return math.inf
    return -math.log10(error / abs(exact))


def of_blocks(statistic, rows: np.ndarray, size: int):
    """The statistic of rows cut into blocks of ``size``, merged as the engines merge."""
    tree = MergeTree(-(-len(rows) // size))
    for number, i in enumerate(range(0, len(rows), size)):
        tree.add(number, statistic.of(block_of(rows[i : i + size], None, i)))
    return tree.result()


@both_statistics
@every_split
@pytest.mark.parametrize("name", UNIVARIATE)
def test_univariate_mean_and_sum_of_squares(name, statistic, size):
    x = np.array(UNIVARIATE[name])
    m = of_blocks(statistic, x[:, None], size)
    mean, scatter = exact_moments(x)
    assert digits(m.mean[0], mean) >= DIGITS
    assert digits(m.scatter.flat[0], scatter) >= DIGITS


@pytest.mark.parametrize("name", UNIVARIATE)
def test_univariate_certified_values_to_the_digits_the_input_keeps(name):
    x = np.array(UNIVARIATE[name])
    m = ColumnMoments.of(block_of(x[:, None]))
    mean, deviation = CERTIFIED[name]
    lost = math.log10(abs(mean) / deviation)  # leading digits the deviations do not have
    assert digits(m.mean[0], Fraction(mean)) >= DIGITS
    assert digits(math.sqrt(m.scatter[0] / (len(x) - 1)), Fraction(deviation)) >= 15 - lost


@both_statistics
@every_split
@pytest.mark.parametrize("name", ANOVA)
def test_total_sum_of_squares(name, statistic, size):
    _, x = anova(name)
    m = of_blocks(statistic, x[:, None], size)
    mean, total = exact_anova(name)[:2]
    assert digits(m.mean[0], mean) >= DIGITS
    assert digits(m.scatter.flat[0], total) >= DIGITS


@both_statistics
@every_split
@pytest.mark.parametrize("name", ANOVA)
def test_sums_of_squares_within_and_between_groups(name, statistic, size):
    groups, x = anova(name)
    parts = [of_blocks(statistic, x[groups == g, None], size) for g in np.unique(groups)]
    whole = reduce(lambda a, b: a.merge(b), parts)
    within = math.fsum(part.scatter.flat[0] for part in parts)
    _, total, exact_within = exact_anova(name)
    assert digits(within, exact_within) >= DIGITS
    assert digits(whole.scatter.flat[0], total) >= DIGITS


@cache
def exact_anova(name: str) -> tuple[Fraction, Fraction, Fraction]:
    """Mean, total sum of squares, sum of squares within groups."""
    groups, x = anova(name)
    within = sum(exact_moments(x[groups == g])[1] for g in np.unique(groups))
    return *exact_moments(x), within


@pytest.mark.parametrize("name", ANOVA[:5])  # the others lose their digits when they are read
def test_certified_analysis_of_variance(name):
    groups, x = anova(name)
    parts = [ColumnMoments.of(block_of(x[groups == g, None])) for g in np.unique(groups)]
    within = sum(part.scatter[0] for part in parts)
    between = reduce(lambda a, b: a.merge(b), parts).scatter[0] - within
    assert (between, within) == pytest.approx(certified_anova(name), rel=1e-9)


@every_split
def test_norris_scatter_matrix_and_certified_slope(size):
    path = FILES / "nist_linregress" / "Norris.dat"
    if not path.exists():
        pytest.skip("this SciPy came without its test data")
    table = np.loadtxt(path, skiprows=60)
    m = of_blocks(Moments, table, size)
    for i in range(2):
        for j in range(2):
            assert digits(m.scatter[i, j], exact_moments(table[:, i], table[:, j])[1]) >= DIGITS
    slope = m.scatter[0, 1] / m.scatter[1, 1]
    intercept = m.mean[0] - slope * m.mean[1]
    assert slope == pytest.approx(1.00211681802045, rel=1e-14)  # certified by NIST
    assert intercept == pytest.approx(-0.262323073774029, rel=1e-11)  # certified by NIST; 3 digits cancel
