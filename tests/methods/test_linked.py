"""What is known of rows: closure, and errors that name the rows that contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.errors import DataError, ParameterError
from asterism.methods.bound import fewest_groups
from asterism.methods.linked import Known


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=8))
def test_chunks_are_the_transitive_closure(pairs):
    reach = np.eye(8, dtype=bool)
    for i, j in pairs:
        reach[i, j] = reach[j, i] = True
    for through in range(8):
        reach |= reach[:, [through]] & reach[[through], :]
    numbers = Known.of(8, together=pairs).chunks.numbers
    assert ((numbers[:, None] == numbers) == reach).all()


def test_labels_come_from_cells_of_any_kind():
    cells = [None, "", float("nan"), 3.0, "b"]
    known = Known.of(5, labels=cells)
    assert known.names == ("3", "b")
    assert known.labels.tolist() == [-1, -1, -1, 0, 1]


def test_a_chunk_has_the_label_of_its_rows():
    known = Known.of(4, labels=[None, "a", None, None], together=[(0, 1), (1, 3)])
    assert known.chunks.labels[known.chunks.numbers].tolist() == [0, 0, -1, 0]
    assert known.chunks.bound.tolist() == [True, True, False, True]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"together": [(0, 1), (1, 2)], "apart": [(0, 2)]}, "rows 1 and 3 are .* as well: rows 1, 2 and 3 "),
        ({"together": [(4, 1)], "apart": [(1, 4)]}, r"rows 2 and 5 .* apart, .* together as well\."),
        ({"labels": ["a", None, "b"], "together": [(0, 1), (2, 1)]}, r"rows 1, 2 and 3 .*'a' and the last as 'b'"),
        ({"labels": ["a", "b"], "together": [(0, 1)]}, r"rows 1 and 2 .* together, but the first is known as 'a'"),
        ({"labels": ["a", None, "a"], "apart": [(0, 2)]}, r"rows 1 and 3 .* both are known as 'a'"),
        ({"apart": [(3, 3)]}, r"row 4 is to be apart from itself"),
        ({"together": [(0, 9)]}, r"pair 1 of together is \(0, 9\).* 6 rows"),
    ],
)  # fmt: skip
def test_contradictions_name_the_rows_as_a_person_counts_them(what, words):
    if "labels" in what:
        what = {**what, "labels": [*what["labels"], *[None] * (6 - len(what["labels"]))]}
    with pytest.raises(DataError, match=words):
        assert Known.of(6, **what).chunks


@pytest.mark.parametrize(
    "what",
    [
        {"min_size": 3, "max_size": 2},
        {"min_size": 0},
        {"max_size": 2.5},
        {"together": [1, 2]},
        {"labels": ["a"]},
    ],
)
def test_what_cannot_be_meant_is_refused(what):
    with pytest.raises(ParameterError):
        Known.of(6, **what)


def test_labels_of_no_row_are_refused():
    with pytest.raises(DataError, match="No row has a known label"):
        Known.of(2, labels=[None, ""])


@pytest.mark.parametrize(
    ("known", "fewest"),
    [
        ({}, 1),
        ({"apart": [(0, 1)]}, 2),
        (
            {"apart": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]},
            3,
        ),  # a ring of five: no three rows are all apart
        ({"labels": ["a", "b", None, None, None], "apart": [(0, 2), (1, 2)]}, 3),
        ({"labels": ["a", "b", "c", None, None]}, 3),
    ],
)
def test_the_fewest_groups_that_keep_what_is_known(known, fewest):
    assert fewest_groups(Known.of(5, **known), 5) == fewest
