"""The page on tables of tomorrow is run as it is written."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_examples_of_the_page_run() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "methods" / "tomorrow.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 8
    assert failed == 0
