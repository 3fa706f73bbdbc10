"""Rows to groups of given sizes at the least cost, beside all ways there are and beside a linear programme."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from asterism.errors import ParameterError
from asterism.methods.transport import transport

few = settings(max_examples=60, deadline=None)


@st.composite
def problems(draw):
    n, k = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    cell = st.sampled_from([0.0, 1.0, 2.0, -3.0, 0.1, 0.7, np.inf])
    costs = np.array(draw(st.lists(cell, min_size=n * k, max_size=n * k))).reshape(n, k)
    least = np.array(draw(st.lists(st.integers(0, 3), min_size=k, max_size=k)))
    room = np.array(draw(st.lists(st.integers(0, 4), min_size=k, max_size=k)))
    return costs, least, least + room


def cheapest_of_all(costs, least, most):
    n, k = costs.shape
    best = np.inf
    for labels in product(range(k), repeat=n):
        sizes = np.bincount(labels, minlength=k)
        if (sizes >= least).all() and (sizes <= most).all():
            best = min(best, costs[np.arange(n), labels].sum())
    return best


@few
@given(problems())
def test_no_way_within_the_sizes_costs_less(problem):
    costs, least, most = problem
    best = cheapest_of_all(costs, least, most)
    if np.isinf(best):
        with pytest.raises(ParameterError):
            transport(costs, least, most)
        return
    labels = transport(costs, least, most)
    sizes = np.bincount(labels, minlength=costs.shape[1])
    assert (sizes >= least).all()
    assert (sizes <= most).all()
    assert costs[np.arange(len(costs)), labels].sum() == pytest.approx(best)


def test_as_cheap_as_the_linear_programme():
    rng = np.random.default_rng(3)
    n, k = 400, 4
    costs = rng.normal(size=(n, k)) ** 2 + np.arange(k)
    least, most = np.array([20, 90, 120, 0]), np.array([60, 400, 150, 70])
    one = np.kron(np.eye(n), np.ones(k))
    each = np.tile(np.eye(k), n)
    found = linprog(
        costs.ravel(), A_eq=one, b_eq=np.ones(n), A_ub=np.vstack([each, -each]), b_ub=np.append(most, -least)
    )
    labels = transport(costs, least, most)
    assert costs[np.arange(n), labels].sum() == pytest.approx(found.fun)
    sizes = np.bincount(labels, minlength=k)
    assert (sizes >= least).all()
    assert (sizes <= most).all()


def test_sizes_that_hold_anyway_change_nothing():
    costs = np.random.default_rng(0).normal(size=(50, 3))
    assert (transport(costs, np.zeros(3, int), np.full(3, 50)) == costs.argmin(axis=1)).all()


def test_rows_that_are_too_many_are_refused():
    with pytest.raises(ParameterError, match="5 rows cannot fill groups of 0 to 2 rows"):
        transport(np.zeros((5, 2)), np.zeros(2, int), np.full(2, 2))
