from __future__ import annotations

import signal
from pathlib import Path

import pytest

# A shell lets what it starts in the background ignore Ctrl-C; tests that send one would wait in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture
def penguins() -> Path:
    return ROOT / "examples" / "penguins.csv"
