from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture
def penguins() -> Path:
    return ROOT / "examples" / "penguins.csv"
