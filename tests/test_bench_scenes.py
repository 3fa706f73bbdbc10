"""Random labelled tables: labels, sizes, shares of the kinds, and the gap between groups of a scene."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, islice

import numpy as np
import pytest
from scipy.spatial.distance import cdist

pytest.importorskip("bench")
from bench.choose_scenes import ROWS, SHARES, _gapped, draw_scene, scenes


def test_labels_count_the_groups_and_a_table_without_groups_has_one() -> None:
    kinds: Counter[str] = Counter()
    for table in scenes(seed=5, count=300):
        groups, sizes = np.unique(table.labels[table.labels > 0], return_counts=True)
        assert table.rows.ndim == 2
        assert len(table.rows) == len(table.labels)
        assert np.isfinite(table.rows).all()
        assert groups.tolist() == list(range(1, len(groups) + 1)), table.name
        assert sizes.min() >= 6, table.name
        assert (len(groups) == 1) == (table.kind == "none"), table.name
        kinds[table.kind] += 1
    for kind, share in SHARES.items():
        deviation = np.sqrt(300 * share * (1 - share))
        assert abs(kinds[kind] - 300 * share) < 4 * deviation


def test_a_table_depends_on_its_seed_and_place_only() -> None:
    few, many = list(scenes(seed=9, count=4)), list(islice(scenes(seed=9, count=50), 4))
    for a, b in zip(few, many, strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)
        np.testing.assert_array_equal(a.labels, b.labels)
    other = draw_scene(np.random.default_rng([10, 0]))
    assert other.rows.shape != few[0].rows.shape or (other.rows != few[0].rows).any()


@pytest.mark.parametrize("d", [2, 3])
def test_groups_keep_a_gap_over_the_spacing_of_their_rows(d: int) -> None:
    for seed in range(12):
        _, groups = _gapped(np.random.default_rng([seed, d]), d)
        spacing = []
        for rows in groups:
            distances = cdist(rows, rows)
            np.fill_diagonal(distances, np.inf)
            spacing.append(np.median(distances.min(axis=1)))
        assert 2 <= len(groups) <= 9
        assert all(len(rows) <= 1.2 * ROWS[1] for rows in groups)
        for i, j in combinations(range(len(groups)), 2):
            assert cdist(groups[i], groups[j]).min() >= 1.19 * max(spacing[i], spacing[j])
