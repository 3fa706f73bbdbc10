"""Scores in whole numbers: against whole-number arithmetic, and never trusted beyond what they are good for."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.kernels.wholes import quick_here, whole_panels
from asterism.methods.frame import survey
from asterism.methods.lloyd import centers_at, label_rows

PRODUCTS = """
import numpy as np
from numba import njit
from asterism.kernels.wholes import nearest_of_wholes, quick_here

@njit
def nearest(lines, units, listed, panel, constants, scores, names):
    for four in range(len(listed) // 4):
        nearest_of_wholes(lines, units, listed, 4 * four, panel, constants, scores, names)

rng = np.random.default_rng(0)
for pairs in (1, 2, 7, 64):
    lines = rng.integers(-3000, 3000, size=(20, 2 * pairs)).astype(np.int16)
    slopes = rng.integers(-3000, 3000, size=(16, 2 * pairs)).astype(np.int16)
    constants, units = rng.normal(size=16).astype(np.float32), rng.random(20).astype(np.float32)
    listed = rng.permutation(20)[:12]
    panel = np.ascontiguousarray(slopes.reshape(16, pairs, 2).transpose(1, 0, 2).reshape(pairs, 32))
    scores, names = np.zeros((2, 12), np.float32), np.zeros(12, np.int32)
    nearest(lines, units, listed, panel, constants, scores, names)
    products = lines[listed].astype(np.int64) @ slopes.T.astype(np.int64)
    wanted = products * units[listed, None].astype(float) + constants
    assert np.array_equal(names, wanted.argmin(axis=1))
    assert np.allclose(scores.T, np.sort(wanted, axis=1)[:, :2], rtol=1e-6, atol=1e-3)
print(quick_here())
"""


@pytest.mark.parametrize("processor", ["host", "generic"])
def test_products_are_those_of_whole_numbers_on_any_processor(processor, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    if processor == "generic":
        environment["NUMBA_CPU_NAME"] = "generic"
    done = subprocess.run([sys.executable, "-c", PRODUCTS], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert processor == "host" or done.stdout == "False\n"


def test_what_rounding_left_of_slopes_is_known():
    rng = np.random.default_rng(1)
    slopes = rng.normal(size=(40, 61)).astype(np.float32)
    panels, (unit, longest, rest) = whole_panels(slopes, missing=False)
    if not quick_here():
        assert len(panels) == 0
        return
    lines = panels.reshape(3, 30, 16, 2).transpose(0, 2, 1, 3).reshape(48, 60)
    assert not lines[40:].any()
    lengths = np.linalg.norm(slopes[:, :60].astype(float), axis=1)
    left = np.linalg.norm(slopes[:, :60] - lines[:40] * float(unit), axis=1)
    assert np.isclose(longest, lengths.max(), rtol=1e-6)
    assert left.max() <= rest * (1 + 1e-5)
    assert np.linalg.norm(lines.astype(float), axis=1).max() * 32_767 < 2**31


def test_slopes_that_are_no_numbers_are_left_to_others():
    slopes = np.ones((30, 60), np.float32)
    slopes[3, 5] = np.inf
    assert len(whole_panels(slopes, missing=False)[0]) == 0
    assert len(whole_panels(np.zeros((30, 60), np.float32), missing=False)[0]) == 0


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "kind", ["one huge cell", "one huge column", "two scales", "rows of zeros", "far from 0"]
)
def test_labels_are_exact_where_whole_numbers_tell_little(kind, missing):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(700, 60))
    if kind == "one huge cell":
        x[:, 7] *= np.where(rng.random(700) < 0.5, 1e4, 1.0)
    elif kind == "one huge column":
        x[:, 7] *= 1e6
    elif kind == "two scales":
        x[::2] += 1e7
    elif kind == "rows of zeros":
        x[::3] = 0.0
    else:
        x += 1e9
    centers = x[rng.choice(700, 40, replace=False)].copy()
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
    frame, _ = survey(ArraySource(x))
    model = centers_at(frame, centers)
    labels = np.full(700, -1, np.int32)
    label_rows(model, block_of(x), labels)
    y = (x - frame.reference)[:, None] - model.offsets
    squares = np.nansum(y**2, axis=2)
    mine = squares[np.arange(700), labels]
    assert (mine <= squares.min(axis=1) * (1 + 1e-12)).all()
