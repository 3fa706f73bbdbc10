"""Every kernel has its test, and the module says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from asterism import _core

PUBLIC = sorted(name for name in dir(_core) if not name.startswith("_") and callable(getattr(_core, name)))
HERE = Path(__file__)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_kernel_is_named_in_a_test_of_kernels(name):
    tests = [path for path in HERE.parent.glob("test_*.py") if path != HERE]
    assert any(name in path.read_text(encoding="utf-8") for path in tests), (
        f"no test in tests/core names {name}"
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_every_kernel_says_what_it_does(name):
    assert (getattr(_core, name).__doc__ or "").strip() or issubclass(getattr(_core, name), Exception)


def test_a_wrong_shape_is_a_value_error():
    assert issubclass(_core.ShapeError, ValueError)


def test_the_variant_is_one_of_those_there_are():
    assert _core.variant in ("base", "v2", "v3", "v4")
