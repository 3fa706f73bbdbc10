"""Longer blocks hold the same rows, whatever they are made from."""

import pickle

import numpy as np
import pytest

from asterism.data.formats.npy import NpySource
from asterism.data.longer import in_longer_blocks
from asterism.data.reblocked import Reblocked
from asterism.data.source import ArraySource

N, D = 40_000, 90  # blocks of 4096 rows, so 10 of them


def table(kind, tmp_path):
    rows = np.random.default_rng(0).integers(-9, 9, (N, D))
    weights = np.random.default_rng(1).uniform(0, 2, N)
    match kind:
        case "array":
            return ArraySource(rows.astype(np.float32)), rows, np.ones(N)
        case "weighted":
            return ArraySource(rows.astype(float), weights), rows, weights
        case "whole numbers":
            return ArraySource(rows, weights), rows, weights
        case "columns first":
            return ArraySource(np.asfortranarray(rows, np.float64)), rows, np.ones(N)
        case _:
            np.save(tmp_path / "rows.npy", rows.astype(np.float32))
            return NpySource(tmp_path / "rows.npy"), rows, np.ones(N)


@pytest.mark.parametrize("kind", ["array", "weighted", "whole numbers", "columns first", "file"])
def test_longer_blocks_hold_the_rows_and_weights_of_the_table_in_order(kind, tmp_path):
    source, rows, weights = table(kind, tmp_path)
    longer = Reblocked(source, 4 * source.block_rows)
    blocks = list(longer.blocks())
    assert [block.start for block in blocks] == [0, 16384, 32768]
    assert all(block.rows.dtype == source.dtype and block.rows.flags.c_contiguous for block in blocks)
    np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), rows)
    np.testing.assert_array_equal(np.concatenate([block.weights for block in blocks]), weights)


@pytest.mark.parametrize("kind", ["array", "weighted", "whole numbers", "file"])
def test_a_part_sent_to_a_worker_holds_its_own_blocks(kind, tmp_path):
    source, rows, weights = table(kind, tmp_path)
    longer = Reblocked(source, 4 * source.block_rows)
    for first, last in [(0, 1), (1, 2), (2, 3), (1, 3)]:
        part = pickle.loads(pickle.dumps(longer.part(first, last)))
        blocks = list(part.blocks(first, last))
        assert [block.start for block in blocks] == [16384 * i for i in range(first, last)]
        here = slice(16384 * first, min(16384 * last, N))
        np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), rows[here])
        np.testing.assert_array_equal(np.concatenate([block.weights for block in blocks]), weights[here])


def test_an_array_that_needs_no_converting_is_not_copied():
    rows = np.zeros((N, D), np.float32)
    for block in Reblocked(ArraySource(rows), 16384).blocks():
        assert np.shares_memory(block.rows, rows)


@pytest.mark.parametrize(
    ("n", "d", "rows"),
    [(200_000, 100, 8192), (30_000, 100, 2048), (8_000_000, 2, 1 << 17), (10**6, 784, 2048)],
)
def test_blocks_are_longer_only_where_many_are_left_and_they_stay_small(n, d, rows):
    source = ArraySource(np.broadcast_to(np.float32(0), (n, d)))
    assert in_longer_blocks(source).block_rows == rows
