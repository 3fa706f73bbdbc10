"""Contrast functions of independent components are their formulas, for every length and place in memory."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import assert_refused, assert_same_anywhere, lengths, numbers, weights
from hypothesis import given
from hypothesis import strategies as st

from asterism import _core

FORMULAS = {  # name -> g(u), g'(u), of the slope a
    "contrast_logcosh": lambda u, a: (np.tanh(a * u), a / np.cosh(np.clip(a * u, -350, 350)) ** 2),
    "contrast_bell": lambda u, a: (u * np.exp(-(u**2) / 2), (1 - u**2) * np.exp(-(u**2) / 2)),
    "contrast_cube": lambda u, a: (u**3, 3 * u**2),
}


def run(name, u, w, a=1.0):
    """g of a copy of u, and the sum of slopes."""
    out = np.array(u)
    total = getattr(_core, name)(out, w, a)
    return out, total


@st.composite
def rows(draw):
    n = draw(lengths())
    return draw(numbers(n, scale=draw(st.sampled_from([1e-9, 1.0, 30.0, 1e4])))), draw(weights(n))


@pytest.mark.parametrize("name", FORMULAS)
@given(table=rows(), a=st.sampled_from([1.0, 1.5, 2.0]))
def test_contrasts_are_their_formulas(name, table, a):
    u, w = table
    g, total = run(name, u, w, a)
    expected, slopes = FORMULAS[name](u, a)
    assert g == pytest.approx(w * expected, rel=1e-12, abs=1e-15)
    assert total == pytest.approx((w * slopes).sum(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
@given(table=rows())
def test_bits_do_not_depend_on_the_place_in_memory(name, table):
    assert_same_anywhere(lambda u, w: run(name, u, w), *table)


@pytest.mark.parametrize("name", FORMULAS)
def test_weights_may_be_read_only_and_rows_may_not(name):
    u, w = np.ones(5), np.ones(5)
    w.flags.writeable = False
    run(name, u, w)
    u.flags.writeable = False
    with pytest.raises(TypeError):
        getattr(_core, name)(u, w, 1.0)


@pytest.mark.parametrize("name", FORMULAS)
def test_other_types_and_layouts_are_refused(name):
    kernel = getattr(_core, name)
    assert_refused(lambda u, w: kernel(u, w, 1.0), np.ones(5), np.ones(5))


@pytest.mark.parametrize("name", FORMULAS)
def test_lengths_must_agree(name):
    with pytest.raises(_core.ShapeError, match="of one length"):
        run(name, np.ones(5), np.ones(4))
