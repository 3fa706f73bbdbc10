"""What type checkers are told of the core is what was built."""

from __future__ import annotations

import ast
from importlib.metadata import version
from pathlib import Path

import pytest

import asterism
from asterism import _core

STUB = Path(asterism.__file__).parent / "_core.pyi"
MADE_BY = "3.1"  # nanobind; another version may spell types in another way
REMEDY = "make it anew: python -m nanobind.stubgen -m asterism._core -o src/asterism/_core.pyi"


def test_the_stub_is_that_of_the_module():
    stubgen = pytest.importorskip("nanobind.stubgen", reason="nanobind makes stubs, and is not installed")
    made = stubgen.StubGen(_core)
    made.put(_core)
    new, old = made.get(), STUB.read_text(encoding="utf-8")
    assert _signatures(new) == _signatures(old), REMEDY
    if version("nanobind").startswith(f"{MADE_BY}."):
        assert _told(new) == _told(old), REMEDY


def _signatures(stub: str) -> list[tuple[str, list[str]]]:
    """Functions, methods and their arguments."""
    functions = [node for node in ast.walk(ast.parse(stub)) if isinstance(node, ast.FunctionDef)]
    return [(f.name, [argument.arg for argument in f.args.args]) for f in functions]


def _told(stub: str) -> list[str]:
    """Its lines, but for the variant, which is that of the machine it was made on."""
    return [line for line in stub.splitlines() if line.strip() and not line.startswith("variant:")]


def test_type_checkers_are_told_that_there_are_types():
    assert (STUB.parent / "py.typed").exists()
