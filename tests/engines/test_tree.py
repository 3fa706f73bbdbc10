"""The merge tree: its shape depends on the number of blocks alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import Trace

from asterism.engines.gather import Parts, Stacked, StackedAndMerged, merged
from asterism.engines.tree import MergeTree


def written_out(first: int, last: int) -> str:
    """The tree over blocks first..last-1 as the definition has it: the left child is the largest full one."""
    if last - first == 1:
        return str(first)
    half = 1 << ((last - first - 1).bit_length() - 1)
    return f"({written_out(first, first + half)} {written_out(first + half, last)})"


@given(n=st.integers(1, 70), data=st.data())
def test_any_order_of_arrival_gives_the_same_tree(n, data):
    tree = MergeTree(n)
    for i in data.draw(st.permutations(range(n))):
        tree.add(i, Trace(str(i)))
    assert tree.result().shape == written_out(0, n)


@given(n=st.integers(1, 70), level=st.integers(0, 5), data=st.data())
def test_a_tree_of_aligned_trees_is_the_same_tree(n, level, data):
    run = 1 << level
    parts = Parts(n, run)
    tree = merged(parts)
    for number in data.draw(st.permutations(range(parts.count))):
        first, last = number * run, min((number + 1) * run, n)
        small = MergeTree(last - first)
        for i in data.draw(st.permutations(range(first, last))):
            small.add(i - first, Trace(str(i)))
        tree.add(number, small.result())
    assert tree.result().shape == written_out(0, n)


def test_blocks_in_order_leave_few_statistics_waiting():
    tree = MergeTree(1000)
    waiting = []
    for i in range(1000):
        tree.add(i, Trace(""))
        waiting.append(len(tree._waiting))
    assert max(waiting) <= 11


@given(n=st.integers(1, 50), size=st.integers(1, 20), data=st.data())
def test_rows_out_stand_where_their_rows_stood(n, size, data):
    parts = Parts(n, size)
    rows = np.arange(2.0 * n).reshape(n, 2)
    stacked, both = Stacked(parts), StackedAndMerged(parts)
    for i in data.draw(st.permutations(range(parts.count))):
        piece = rows[i * size : (i + 1) * size]
        stacked.add(i, piece)
        both.add(i, (piece, Trace(str(i))))
    assert np.array_equal(stacked.result(), rows)
    assert np.array_equal(both.result()[0], rows)
    assert both.result()[1].shape == written_out(0, parts.count)


def test_a_map_that_loses_rows_is_told():
    with pytest.raises(ValueError, match="broadcast"):
        Stacked(Parts(10, 5)).add(0, np.zeros(4))
