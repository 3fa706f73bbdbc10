"""What becomes of groups, from rows that both models place."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.follow.matching import Overlap, match
from asterism.groups.figures import Standing


def overlap(explained, new, expected):
    table = np.array(explained, float)
    return Overlap(table, table, np.array(new, float), np.array(expected, float), 0.01)


def test_groups_that_are_still_there_are_matched_whatever_their_order():
    found = match(overlap([[0, 99, 0], [0, 0, 48], [30, 0, 1]], [30, 100, 50], [100, 50, 30]))
    assert found.heirs == {0: 1, 1: 2, 2: 0}
    assert (found.gone, found.merged, found.split, found.born) == ((), {}, {}, ())


def test_a_stranger_in_the_place_of_a_vanished_group_is_born_and_not_matched():
    """Its likeliest old group is the vanished one, but hardly a row of it is typical of that."""
    found = match(overlap([[99, 0], [0, 2]], [100, 80], [100, 70]))
    assert found.heirs == {0: 0}
    assert found.gone == (1,)
    assert found.born == (1,)


def test_a_group_that_moved_a_little_is_the_same_group():
    assert match(overlap([[99, 0], [0, 12]], [100, 80], [100, 70])).heirs == {0: 0, 1: 1}


def test_parts_of_one_group_are_a_split():
    found = match(overlap([[60, 38, 0], [0, 0, 50]], [61, 39, 50], [100, 50]))
    assert found.heirs == {0: 0, 1: 2}
    assert found.split == {0: (1,)}
    assert found.born == ()


def test_two_groups_in_one_have_merged_but_a_few_rows_of_a_vanished_one_do_not_make_it_so():
    both = match(overlap([[60, 0], [55, 0], [0, 40]], [118, 40], [60, 60, 40]))
    assert both.heirs == {0: 0, 2: 1}
    assert both.merged == {0: (1,)}
    few = match(overlap([[99, 0], [5, 0], [0, 40]], [105, 40], [60, 60, 40]))
    assert few.merged == {}
    assert few.gone == (1,)


def test_a_vacant_number_is_not_gone_again():
    found = match(overlap([[99], [0]], [100], [100, 0]))
    assert found.gone == ()


def test_rows_are_counted_by_both_groups_where_they_are_typical():
    standing = Standing(
        np.array([0, 0, 1, 1], np.int32), np.array([0, 0, 1, -1], np.int32),
        np.array([0.5, 0.001, np.nan, 0.3]), np.zeros(4),
    )  # fmt: skip
    labels, weights = np.array([0, 1, 1, -1], np.int32), np.array([2.0, 1.0, 3.0, 1.0])
    found = Overlap.of(standing, labels, weights, np.array([0.25, 0.75]), 2, 0.01)
    assert found.explained.tolist() == [[2, 0], [0, 3]]
    assert found.nearest.tolist() == [[2, 1], [0, 3]]
    assert found.new.tolist() == [2, 4]
    assert found.expected == pytest.approx([7 / 4, 21 / 4])
