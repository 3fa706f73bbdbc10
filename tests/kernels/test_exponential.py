"""exp and log in vector lanes against NumPy's and, where the last bit matters, against many digits."""

from __future__ import annotations

import math
import runpy
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from asterism.kernels import exponential
from asterism.kernels.exponential import exp64, lane_log, lane_share


@njit
def exps(x, out):
    for i in range(len(x)):
        out[i] = exp64(x[i])


@njit
def shares(x, out):
    for i in range(len(x)):
        out[i] = lane_share(x[i])


@njit
def logs(x, out):
    for i in range(len(x)):
        out[i] = lane_log(x[i])


def applied(function, x):
    out = np.empty_like(x)
    function(x, out)
    return out


def off_by(got: np.ndarray, exact: list[Decimal]) -> float:
    """The largest error, in units of the last place."""
    spacing = np.spacing(np.abs(np.array([float(e) for e in exact])).astype(got.dtype))
    return max(
        abs(float((Decimal(float(g)) - e) / Decimal(float(s))))
        for g, e, s in zip(got, exact, spacing, strict=True)
    )


@pytest.mark.parametrize(
    ("function", "dtype", "least", "most"),
    [(exps, np.float64, -700.0, 700.0), (shares, np.float64, -40.0, 0.0), (shares, np.float32, -25.0, 0.0)],
)
def test_exp_is_within_one_unit_in_the_last_place(function, dtype, least, most):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(least, most, 1200), rng.uniform(-1, 0, 800), [0.0, least]]).astype(dtype)
    with localcontext() as digits:
        digits.prec = 40
        assert off_by(applied(function, x), [Decimal(float(v)).exp() for v in x]) < 1.0


def test_log_is_within_two_units_in_the_last_place():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(1, 50, 800), 2.0 ** rng.uniform(-1000, 1000, 800), [math.sqrt(2.0)]])
    with localcontext() as digits:
        digits.prec = 40
        assert off_by(applied(logs, x), [Decimal(float(v)).ln() for v in x]) < 2.0
    assert applied(logs, np.ones(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("function", "dtype", "below"),
    [(exps, np.float64, -709.0), (shares, np.float64, -40.01), (shares, np.float32, -25.01)],
)
def test_exp_of_what_is_no_usual_number(function, dtype, below):
    got = applied(function, np.array([-np.inf, -1e30, below, 0.0, np.nan], dtype))
    assert got[:4].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert np.isnan(got[4])


def test_polynomials_are_those_that_many_digits_give():
    made = runpy.run_path(str(Path(__file__).parents[1] / "oracles" / "exponential.py"))["polynomials"]()
    double, single = made["float64"], made["float32"]
    assert [getattr(exponential, f"Q{i}") for i in range(len(double))] == double
    assert [float(getattr(exponential, f"R{i}")) for i in range(len(single))] == single
