"""exp and log in vector lanes against NumPy's and, where the last bit matters, against many digits."""

from __future__ import annotations

import math
import re
import runpy
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest

from asterism import _core

ROOT = Path(__file__).parents[2]
both_types = pytest.mark.parametrize(
    ("dtype", "least", "most"), [(np.float64, -700, 700), (np.float32, -87, 88)]
)


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


@both_types
def test_exp_is_within_one_unit_in_the_last_place(dtype, least, most):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(least, most, 1200), rng.uniform(-1, 0, 800), [0.0, least]]).astype(dtype)
    with localcontext() as digits:
        digits.prec = 40
        assert off_by(applied(_core.exponential, x), [Decimal(float(v)).exp() for v in x]) < 1.0


@pytest.mark.parametrize(("dtype", "powers"), [(np.float64, 1000), (np.float32, 120)])
def test_log_is_within_two_units_in_the_last_place(dtype, powers):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(1, 50, 800), 2.0 ** rng.uniform(-powers, powers, 800), [math.sqrt(2.0)]])
    x = x.astype(dtype)
    with localcontext() as digits:
        digits.prec = 40
        assert off_by(applied(_core.logarithm, x), [Decimal(float(v)).ln() for v in x]) < 2.0
    assert applied(_core.logarithm, np.ones(3, dtype)).tolist() == [0.0, 0.0, 0.0]


@both_types
def test_exp_of_what_is_no_usual_number(dtype, least, most):
    got = applied(_core.exponential, np.array([-np.inf, -1e30, 1.02 * least, 0.0, np.nan, np.inf], dtype))
    assert got[:4].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert np.isnan(got[4])
    assert np.isfinite(got[5])


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 17, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_element_is_done_and_no_other(n, dtype):
    x = np.linspace(0.5, 2.0, n).astype(dtype)
    room = np.full(n + 40, 7.0, dtype)
    _core.exponential(x, room[:n])
    np.testing.assert_allclose(room[:n], np.exp(x), rtol=1e-6)
    assert (room[n:] == 7.0).all()


def test_polynomials_are_those_that_many_digits_give():
    made = runpy.run_path(str(ROOT / "tests" / "oracles" / "exponential.py"))["polynomials"]()
    header = (ROOT / "src" / "core" / "simd.hpp").read_text()
    for kind, coefficients in (("float64", "double"), ("float32", "float")):
        found = re.search(rf"constexpr {coefficients} q\[TERMS\] = {{([^}}]*)}}", header)
        assert found is not None
        assert [float.fromhex(c.strip().rstrip("f")) for c in found[1].split(",")] == made[kind]
