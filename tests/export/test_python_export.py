"""The Python file of a model: what it says of rows is what ``assign`` says, and it needs only NumPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from exported_models import CASES, SHAPELESS, case, cells_of

import asterism

EVERY = {**CASES, **SHAPELESS}


@cache
def module(name: str) -> dict:
    found = {"__name__": "groups"}
    exec(compile(asterism.to_python(case(name)[0]), f"{name}.py", "exec"), found)
    return found


@pytest.mark.parametrize("name", EVERY)
def test_labels_and_probabilities_are_those_of_assign(name) -> None:
    model, table = case(name)
    expected = model.assign(table)
    found = module(name)["place"](cells_of(table))
    np.testing.assert_array_equal(found["labels"], expected.labels)
    np.testing.assert_allclose(found["probabilities"], expected.probabilities, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["typicality"], expected.typicality, rtol=1e-7)
