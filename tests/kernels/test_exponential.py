"""exp and log in vector lanes against NumPy's and, where the last bit matters, against many digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from numba import njit

from asterism.kernels.exponential import lane_exp, lane_log


@njit
def exps(x, out):
    for i in range(len(x)):
        out[i] = lane_exp(x[i])


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


@pytest.mark.parametrize(("dtype", "least"), [(np.float64, -700.0), (np.float32, -86.0)])
def test_exp_is_within_one_unit_in_the_last_place(dtype, least):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(least, 0, 800), rng.uniform(-1, 1, 800), [0.0, -45.0]]).astype(dtype)
    with localcontext() as digits:
        digits.prec = 40
        assert off_by(applied(exps, x), [Decimal(float(v)).exp() for v in x]) < 1.0


def test_log_is_within_two_units_in_the_last_place():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(1, 50, 800), 2.0 ** rng.uniform(-1000, 1000, 800), [math.sqrt(2.0)]])
    with localcontext() as digits:
        digits.prec = 40
        assert off_by(applied(logs, x), [Decimal(float(v)).ln() for v in x]) < 2.0
    assert applied(logs, np.ones(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exp_of_what_is_no_usual_number(dtype):
    got = applied(exps, np.array([-np.inf, -1e30, np.nan, 0.0], dtype))
    assert got[[0, 1, 3]].tolist() == [0.0, 0.0, 1.0]
    assert np.isnan(got[2])
