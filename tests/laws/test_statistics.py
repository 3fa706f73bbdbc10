"""Every statistic keeps the laws written in ``stats/base.py``: every class of the library that has a ``merge``.

How each is made of rows is said in ``statistic_cases.py``, and so is which law does not hold for it, and why.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statistic_cases import CASES, NOT_STATISTICS, Case

import asterism
from asterism.data.block import Block, block_of

few = settings(max_examples=40, deadline=None)


def keeping(law: str) -> Any:
    """All statistics but those that are excused from a law."""
    kept = [case for case in CASES if law not in case.excused]
    return pytest.mark.parametrize("case", kept, ids=lambda case: case.name)


every_statistic = keeping("all of them")


# --- no statistic is left out ------------------------------------------------------------------------------


def classes_that_merge() -> dict[str, type]:
    """By their names below asterism."""
    found = {}
    for module in pkgutil.walk_packages(asterism.__path__, "asterism."):
        if module.name.startswith(("asterism.kernels", "asterism._core")):
            continue  # functions over arrays
        here = importlib.import_module(module.name)
        for cls in vars(here).values():
            if inspect.isclass(cls) and cls.__module__ == module.name and hasattr(cls, "merge"):
                found[f"{module.name}.{cls.__qualname__}".removeprefix("asterism.")] = cls
    return found


def test_every_class_with_a_merge_is_held_to_the_laws():
    found, known = set(classes_that_merge()), {case.statistic for case in CASES} | set(NOT_STATISTICS)
    assert not found - known, f"add a Case to statistic_cases.py for {sorted(found - known)}"
    assert not known - found, f"no longer there, but in statistic_cases.py: {sorted(known - found)}"


@every_statistic
def test_a_case_makes_the_class_it_says(case):
    made = type(case.of(block_of(np.arange(6.0).reshape(3, 2))))
    assert f"{made.__module__}.{made.__qualname__}" == f"asterism.{case.statistic}"


def test_laws_that_a_statistic_may_be_excused_from():
    assert {law for case in CASES for law in case.excused} <= {"split", "copies", "absent"}


# --- tables ------------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn, missing: bool = False) -> np.ndarray:
    """0 to 9 rows of 1 to 3 columns, each column with its own offset and spread."""
    n, d = draw(st.integers(0, 9)), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    cell = st.floats(-100, 100, width=32, allow_subnormal=False)
    if missing:
        cell = cell | st.just(np.nan)
    rows = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d)), np.float64).reshape(n, d)
    offset = [draw(st.sampled_from([0.0, 1e8, -3e5])) for _ in range(d)]
    spread = [draw(st.sampled_from([1.0, 1e-3, 1e4])) for _ in range(d)]
    return (rows * spread + offset).astype(dtype)


def whole_weights(draw: st.DrawFn, n: int) -> np.ndarray:
    return np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), np.float64)


def any_weights(draw: st.DrawFn, n: int) -> np.ndarray:
    weight = st.sampled_from([0.0, 1.0, 0.3, 7.5, 1e-3])
    return np.array(draw(st.lists(weight, min_size=n, max_size=n)), np.float64)


def parts_of(draw: st.DrawFn, rows: np.ndarray, weights: np.ndarray) -> list[Block]:
    """The rows cut anywhere into 1 to 4 blocks, empty ones among them."""
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    edges = [0, *cuts, len(rows)]
    return [block_of(rows[a:b], weights[a:b], a) for a, b in pairwise(edges)]


# --- comparing ---------------------------------------------------------------------------------------------


def values(statistic: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a statistic with the names of their fields."""
    if is_dataclass(statistic):
        for field in fields(statistic):
            yield from values(getattr(statistic, field.name), field.name)
    elif isinstance(statistic, tuple):
        for part in statistic:
            yield from values(part, name)
    else:
        yield name, statistic


def bits(case: Case, statistic: Any) -> list[Any]:
    """Names, types and bits; of 0 and -0, which are equal, those of 0."""
    return [(name, _bits(value)) for name, value in values(case.view(statistic))]


def _bits(value: Any) -> Any:
    if isinstance(value, float | np.ndarray):
        array = np.asarray(value)
        return array.dtype.str, array.shape, (array + 0).tobytes()
    return value


def assert_close(case: Case, a: Any, b: Any, scales: dict[str, Any], but: tuple[str, ...] = ()) -> None:
    for (name, left), (_, right) in zip(values(case.view(a)), values(case.view(b)), strict=True):
        if name in but or name in case.below:
            continue
        if not isinstance(left, float | np.ndarray):
            assert left == right, name
            continue
        left, right = np.asarray(left), np.asarray(right)
        assert left.shape == right.shape, name
        if left.dtype.kind != "f":
            assert np.array_equal(left, right), name
            continue
        scale = np.asarray(scales.get(name, 0.0))
        if right.ndim == 2 and scale.ndim == 1:  # of a product of two columns
            scale = np.sqrt(np.outer(scale, scale))
        with np.errstate(invalid="ignore"):  # inf - inf, where both are inf
            close = np.abs(left - right) <= 1e-12 * (np.abs(right) + scale)
        assert ((left == right) | close).all(), f"{name}: {left} and {right}"


# --- the laws ----------------------------------------------------------------------------------------------


@every_statistic
@few
@given(data=st.data())
def test_merging_with_zero_changes_no_bit(case, data):
    rows = data.draw(tables(case.missing))
    some, zero = case.of(block_of(rows, any_weights(data.draw, len(rows)))), case.zero_of(rows.shape[1])
    assert bits(case, some.merge(zero)) == bits(case, some)
    assert bits(case, zero.merge(some)) == bits(case, some)
    assert bits(case, zero.merge(zero)) == bits(case, zero)


@every_statistic
def test_statistic_of_no_rows_is_zero(case):
    for dtype in (np.float32, np.float64):
        assert bits(case, case.of(block_of(np.empty((0, 3), dtype)))) == bits(case, case.zero_of(3))


@every_statistic
@few
@given(data=st.data())
def test_merge_is_commutative_and_associative(case, data):
    rows = data.draw(tables(case.missing))
    weights = any_weights(data.draw, len(rows))
    cut, cut2 = sorted((data.draw(st.integers(0, len(rows))), data.draw(st.integers(0, len(rows)))))
    a, b, c = (
        case.of(block_of(rows[s], weights[s], s.start))
        for s in (slice(0, cut), slice(cut, cut2), slice(cut2, None))
    )
    scales = case.scales(rows, weights)
    assert_close(case, a.merge(b), b.merge(a), scales)
    assert_close(case, a.merge(b).merge(c), a.merge(b.merge(c)), scales)


@keeping("split")
@few
@given(data=st.data())
def test_any_split_gives_the_statistic_of_the_whole(case, data):
    rows = data.draw(tables(case.missing))
    weights = any_weights(data.draw, len(rows))
    merged = case.zero_of(rows.shape[1])
    for part in parts_of(data.draw, rows, weights):
        merged = merged.merge(case.of(part))
    assert_close(case, merged, case.of(block_of(rows, weights)), case.scales(rows, weights))


@keeping("copies")
@few
@given(data=st.data())
def test_weight_counts_as_copies(case, data):
    rows = data.draw(tables(case.missing))
    weights = whole_weights(data.draw, len(rows))
    weighted = case.of(block_of(rows, weights))
    repeated = case.of(block_of(np.repeat(rows, weights.astype(int), axis=0)))
    assert_close(case, weighted, repeated, case.scales(rows, weights), but=case.counts)


@keeping("absent")
@few
@given(data=st.data())
def test_weight_zero_is_absent_whatever_the_row_holds(case, data):
    rows = data.draw(tables(case.missing))
    weights = any_weights(data.draw, len(rows))
    holed = rows.copy()
    for i in np.flatnonzero(weights == 0):
        holed[i] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 3e30]))
    counted = weights > 0
    absent = case.of(block_of(rows[counted], weights[counted]))
    assert_close(
        case, case.of(block_of(holed, weights)), absent, case.scales(rows, weights), but=case.numbers
    )


@every_statistic
def test_a_statistic_cannot_be_changed_and_leaves_its_rows_alone(case):
    rows = np.random.default_rng(0).normal(size=(50, 3))
    before = rows.copy()
    some, other = case.of(block_of(rows)), case.of(block_of(rows[:7], None, 50))
    kept = bits(case, some), bits(case, other)
    some.merge(other)
    assert (bits(case, some), bits(case, other)) == kept
    assert np.array_equal(rows, before)
    with pytest.raises(
        (FrozenInstanceError, AttributeError, TypeError)
    ):  # the last of a class without fields
        setattr(some, [*(field.name for field in fields(some)), "anything"][0], None)
