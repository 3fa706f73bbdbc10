"""Even blocks hold the same rows, whatever they are made from."""

import pickle

import numpy as np
import pytest

from asterism.data.even import in_even_blocks
from asterism.data.formats.npy import NpySource
from asterism.data.reblocked import Reblocked
from asterism.data.source import ArraySource

N, D = 10_000, 90  # blocks of 4096 rows, so 3 of them; or 4 of 2560


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
        case _:
            np.save(tmp_path / "rows.npy", rows.astype(np.float32))
            return NpySource(tmp_path / "rows.npy"), rows, np.ones(N)


KINDS = pytest.mark.parametrize("kind", ["array", "weighted", "whole numbers", "file"])


@KINDS
def test_even_blocks_hold_the_rows_and_weights_of_the_table_in_order(kind, tmp_path):
    source, rows, weights = table(kind, tmp_path)
    even = in_even_blocks(source)
    blocks = list(even.blocks())
    assert [len(block) for block in blocks] == [2560, 2560, 2560, 2320]
    assert [block.start for block in blocks] == [0, 2560, 5120, 7680]
    assert even.names == source.names
    np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), rows)
    np.testing.assert_array_equal(np.concatenate([block.weights for block in blocks]), weights)


@KINDS
def test_a_part_for_a_worker_holds_its_own_even_blocks(kind, tmp_path):
    source, rows, weights = table(kind, tmp_path)
    even = in_even_blocks(source)
    for first, last in [(0, 1), (1, 2), (2, 4), (3, 4), (0, 4)]:
        part = pickle.loads(pickle.dumps(even.part(first, last)))
        blocks = list(part.blocks(first, last))
        here = slice(2560 * first, min(2560 * last, N))
        assert [block.start for block in blocks] == [2560 * i for i in range(first, last)]
        np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), rows[here])
        np.testing.assert_array_equal(np.concatenate([block.weights for block in blocks]), weights[here])


@pytest.mark.parametrize(
    ("n", "d", "count"),
    [
        (100_000, 32, 16),
        (20_000, 100, 8),
        (500_000, 2, 4),
        (200_000, 8, 8),
        (8_000_000, 8, 256),
        (100, 3, 1),
    ],
)
def test_there_is_a_power_of_two_of_them_and_none_is_long(n, d, count):
    source = ArraySource(np.broadcast_to(np.float32(0), (n, d)))
    even = in_even_blocks(source)
    assert even.n_blocks == count
    assert even.block_rows <= 1.5 * source.block_rows


def test_an_array_that_needs_no_converting_is_not_copied():
    rows = np.zeros((N, D), np.float32)
    for block in Reblocked(ArraySource(rows), 2560).blocks():
        assert np.shares_memory(block.rows, rows)
