"""Four rows against centres, for widths that end anywhere in a step, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from asterism.kernels.scores import score_four


@pytest.mark.parametrize("width", [16, 17, 24, 31, 32, 50, 783])
@pytest.mark.parametrize("centers", [2, 6, 12])
def test_scores_and_squares_are_those_of_a_product(width, centers):
    rng = np.random.default_rng(width)
    lines = rng.normal(size=(9, width)).astype(np.float32)
    lines.flags.writeable = False
    slopes = rng.normal(size=(centers, width + 1)).astype(np.float32)  # the constants are not theirs to add
    four, coming = np.array([7, 0, 3, 8]), np.array([1, 2, 4, 8])
    scores, norms = np.full((centers, 4), np.nan, np.float32), np.full(4, np.nan, np.float32)
    score_four(lines, four, slopes, scores, norms, lines, coming)
    rows = lines[four].astype(np.float64)
    assert_allclose(scores, slopes[:, :width].astype(np.float64) @ rows.T, rtol=0, atol=1e-5 * width)
    assert_allclose(norms, (rows**2).sum(axis=1), rtol=1e-5)
