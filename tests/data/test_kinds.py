"""What a column is: profiles that merge, kinds inferred from them, and the user's word against the guess."""

import functools
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import read
from asterism.data import profile as profile_module
from asterism.data.cells import numbers_in_text
from asterism.data.profile import Profile
from asterism.errors import DataError, ParameterError

CELLS = st.lists(
    st.one_of(
        st.none(),
        st.integers(-50, 50).map(str),
        st.floats(-1e3, 1e3).map(repr),
        st.sampled_from(["abc", "+1", "1.", ".5", "1e3", "inf", "-", "1 2", "x1", "nan"]),
    ),
    max_size=30,
)


def of(cells, start=0):
    return Profile.of(pa.array(cells, pa.string()), start, parse=True)


@settings(deadline=None)
@given(CELLS, st.lists(st.integers(0, 30), max_size=4))
def test_a_profile_does_not_depend_on_how_the_column_is_split(cells, cuts):
    edges = [0, *sorted(min(c, len(cells)) for c in cuts), len(cells)]
    parts = [of(cells[a:b], a) for a, b in itertools.pairwise(edges)]
    whole = of(cells)
    assert functools.reduce(Profile.merge, parts, Profile()) == whole
    assert functools.reduce(Profile.merge, reversed(parts), Profile()) == whole
    assert Profile().merge(Profile()) == Profile()


@settings(deadline=None)
@given(CELLS, CELLS)
def test_levels_beyond_the_cap_are_forgotten_in_any_order(a, b):
    cap, profile_module.MOST_LEVELS = profile_module.MOST_LEVELS, 5
    try:
        assert of(a).merge(of(b, len(a))) == of(a + b)
    finally:
        profile_module.MOST_LEVELS = cap


@given(CELLS)
def test_numbers_are_found_one_by_one_as_python_finds_them(cells):
    values, words = numbers_in_text(pa.array(cells, pa.string()))
    for cell, value, word in zip(cells, values, words, strict=True):
        try:
            expected = np.nan if cell is None else float(cell)
            assert not word
            np.testing.assert_equal(value, expected)
        except ValueError:
            assert word


@pytest.mark.parametrize("shift", [0, 1, -5, 10**9])
def test_consecutive_numbers_are_told_in_any_order(shift):
    rng = np.random.default_rng(0)
    rows = rng.permutation(100_000) + shift
    assert Profile.of(pa.array(rows)).consecutive
    rows[0] = rows[1]  # one twice, one missing
    assert not Profile.of(pa.array(rows)).consecutive
    drawn = rng.integers(0, 100_000, 100_000)
    assert not Profile.of(pa.array(drawn)).consecutive


def kind_of(cells, name="c", **more):
    """Kind, levels and reason of one column, beside another that is surely used."""
    frame = cells if isinstance(cells, pa.Table) else pa.table({name: cells})
    frame = frame.append_column("other", pa.array(np.random.default_rng(0).normal(size=len(frame))))
    source = read(frame, **more)
    (column,) = [c for c in (*source.columns, *source.ignored) if c.name == name]
    return column


@pytest.mark.parametrize(
    ("cells", "kind", "reason"),
    [
        ([1.5, 2.5] * 10, "numeric", "numbers"),
        ([1, 2, 3, 4, 5] * 10, "numeric", "whole numbers, 5 different"),
        ([2007, 2008, 2009] * 10, "numeric", "categorical if"),
        (["a", "b"] * 10, "categorical", "2 different words"),
        (["yes", "no"] * 10, "boolean", "truth values"),
        (["T", "F", None] * 10, "boolean", "truth values"),
        ([True, False] * 10, "boolean", "truth values"),
        ([7] * 20, "ignored", "every cell is 7"),
        (["x", None] * 10, "ignored", "every cell is 'x'"),
        ([None] * 20, "ignored", "every cell is missing"),
        ([float("nan")] * 20, "ignored", "every cell is missing"),
        (list(range(1, 31)), "ignored", "consecutive numbers 1 to 30"),
        ([f"A{i}" for i in range(30)], "ignored", "an identifier: every row has its own"),
        ([f"A{i % 25}" for i in range(30)], "ignored", "names: 25 different words in 30 rows"),
        (["so long a text that it is none " * 2 + str(i) for i in range(30)], "ignored", "free text"),
        ([f"L{i % 300}" for i in range(900)], "ignored", "300 different words"),
        ([f"L{i % 200}" for i in range(900)], "ignored", "200 different words, of which 0 come often"),
        ([f"L{i % 40}" for i in range(900)], "categorical", "40 different words"),
        (pa.array([1, 2, 3] * 4, pa.date32()), "numeric", "dates and times"),
        (pa.array([{"a": 1}, {"a": 2}] * 6), "ignored", "neither numbers nor names"),
        (pa.array([1, 2, 3] * 4, pa.duration("s")), "ignored", "durations"),
        (pa.array([1, 2, 3, 7] * 4, pa.decimal128(5, 2)), "numeric", "whole numbers"),
    ],
)
def test_kinds_are_inferred_with_a_reason(cells, kind, reason):
    column = kind_of(cells)
    assert column.kind == kind
    assert reason in column.reason


def test_infinity_beside_words_is_a_level_and_that_is_said(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("c,x\n" + "1,0.5\ninf,2.5\nhigh,1.5\n" * 10)
    column = read(path).columns[0]
    assert (column.kind, column.levels) == ("categorical", ("1", "high", "inf"))
    assert "an infinite number is a word here" in column.reason


def test_unlike_integers_are_numbers_unless_their_name_says_identifier():
    cells = (np.random.default_rng(0).permutation(5000)[:300] * 7).tolist()
    assert kind_of(cells, "income").kind == "numeric"
    for name in ("customer_id", "ID", "customerId", "row number".replace(" ", "_")):
        assert kind_of(cells, name).kind == "ignored", name
    for name in ("acid", "humid", "paid", "monkey"):
        assert kind_of(cells, name).kind == "numeric", name
    store = kind_of([1, 2, 3] * 100, "store_id")
    assert (store.kind, store.levels) == ("categorical", ("1", "2", "3"))


def test_a_few_consecutive_numbers_are_still_numbers():
    assert kind_of([1, 2, 3, 4]).kind == "numeric"


def test_ordered_categories_are_ordinal_in_their_own_order():
    levels = ["small", "mid", "large", "giant"]
    cells = ["mid", "small", "large"] * 4
    by_pandas = pd.DataFrame(
        {"c": pd.Categorical(cells, levels, ordered=True), "other": np.arange(12) ** 0.5}
    )
    by_polars = pl.DataFrame({"c": pl.Series(cells, dtype=pl.Enum(levels)), "other": np.arange(12) ** 0.5})
    for frame in (by_pandas, by_polars):
        source = read(frame)
        assert source.columns[0].kind == "ordinal"
        assert source.columns[0].levels == tuple(levels)
        np.testing.assert_array_equal(next(source.blocks()).rows[:3, 0], [1, 0, 2])


def test_unordered_categories_are_categorical_and_sorted():
    frame = pd.DataFrame({"c": pd.Categorical(["b", "a"] * 9, ["b", "a", "z"]), "x": np.arange(18) ** 0.5})
    assert read(frame).columns[0].levels == ("a", "b")  # only those in use


def test_categories_that_are_numbers_are_sorted_by_value():
    column = kind_of([10, 9, 100] * 5, kinds={"c": "categorical"})
    assert column.levels == ("9", "10", "100")


def test_missing_whole_numbers_make_the_same_levels_as_present_ones():
    frame = pd.DataFrame({"c": [1.0, 2.0, np.nan] * 5, "x": np.arange(15) ** 0.5})
    source = read(frame, kinds={"c": "categorical"})
    assert source.columns[0].levels == ("1", "2")
    np.testing.assert_array_equal(next(source.blocks()).rows[:3, 0], [0, 1, np.nan])


@pytest.mark.parametrize("wish", ["ordinal:low,mid,high", ("ordinal", ["low", "mid", "high"])])
def test_ordinal_levels_may_be_named(wish):
    column = kind_of(["mid", "low", "high"] * 4, kinds={"c": wish})
    assert (column.kind, column.levels) == ("ordinal", ("low", "mid", "high"))


def test_a_table_is_read_as_another_was():
    first = read(pa.table({"c": ["b", "a", "c"] * 4, "n": [1, 2, 5] * 4, "id": list(range(12))}))
    again = read(pa.table({"n": [7, 7], "new": [0, 1], "c": ["c", None]}), kinds=first.columns)
    assert [(c.name, c.kind, c.levels) for c in again.columns] == [
        ("c", "categorical", ("a", "b", "c")),
        ("n", "numeric", ()),
    ]
    assert [c.name for c in again.ignored] == ["new"]
    np.testing.assert_array_equal(next(again.blocks()).rows, [[2, 7], [np.nan, 7]])
    with pytest.raises(DataError, match="column 'c': the data frame has no such column"):
        read(pa.table({"n": [7, 7]}), kinds=first.columns)
    with pytest.raises(DataError, match="row 2, column 'c': 'd' is none of the levels 'a', 'b', 'c'"):
        read(pa.table({"n": [7, 7], "c": ["a", "d"]}), kinds=first.columns)


def test_numbers_in_a_text_column_of_a_frame_are_names_unless_said_otherwise():
    cells = ["01", "02", "10"] * 5
    assert kind_of(cells).levels == ("01", "02", "10")
    assert kind_of(cells, kinds={"c": "numeric"}).kind == "numeric"


def test_objects_of_several_makes_are_names():
    frame = pd.DataFrame({"c": pd.Series([1, "a", None, 2.0] * 4, dtype=object), "x": np.arange(16) ** 0.5})
    column = read(frame).columns[0]
    assert (column.kind, column.levels) == ("categorical", ("1", "2", "a"))


def test_an_array_with_kinds_has_codes():
    array = np.array([[1.0, 5.0], [2.0, 3.0], [1.0, np.nan]])
    source = read(array, kinds={"x1": "categorical"})
    assert [(c.kind, c.levels) for c in source.columns] == [("numeric", ()), ("categorical", ("3", "5"))]
    np.testing.assert_array_equal(next(source.blocks()).rows, [[1, 1], [2, 0], [1, np.nan]])


def test_an_array_of_objects_is_looked_at():
    source = read(np.array([["a", 1.5], ["b", 2.5], ["a", None]], dtype=object))
    assert [c.kind for c in source.columns] == ["categorical", "numeric"]


def test_empty_names_are_replaced_and_repeated_ones_refused():
    frame = pd.DataFrame([[1.5, 2.5], [2.5, 3.5]], columns=["x", ""])
    assert read(frame).names == ("x", "column_2")
    array = pa.array([1.5, 2.5])
    for frame in (
        pd.DataFrame([[1.5, 2.5]], columns=["x", "x"]),
        pa.Table.from_arrays([array, array], ["x", "x"]),
    ):
        with pytest.raises(DataError, match=r"columns of the same name: .*'x'"):
            read(frame)


# ---- the user's word ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"kinds": {"colour": "numeric"}}, r"kinds names the column 'colour'.*Close to it: 'color'"),
        ({"ignore": ["colr"]}, r"ignore names the column 'colr'.*'color'"),
        ({"weights": "wieght"}, r"weights names the column 'wieght'.*'weight'"),
        ({"kinds": {"color": "nominal"}}, r"The kind of column 'color' is 'nominal'.*Kinds are numeric"),
        ({"kinds": {"color": "numerical"}}, r"Did you mean 'numeric'"),
        ({"kinds": {"color": "ordinal"}}, r"order of its levels is not known: 'blue', 'red'"),
        ({"kinds": {"color": "ordinal:red,red"}}, "Name each level once"),
        ({"kinds": {"color": "numeric:1,2"}}, "Only the other kinds have levels"),
        ({"kinds": ["numeric"]}, "Give a dict"),
        ({"kinds": {"color": "categorical"}, "ignore": "color"}, "Say one of the two"),
        ({"memory": "much"}, "Write it like '2GB'"),
    ],
)
def test_impossible_wishes_are_refused(more, said):
    frame = pa.table({"color": ["red", "blue"] * 5, "weight": [1.5, 2.5] * 5})
    with pytest.raises(ParameterError, match=said):
        read(frame, **more)


@pytest.mark.parametrize(
    ("cells", "wish", "row", "said"),
    [
        (["1", "2", "x", "y"], "numeric", 2, "'x' is not a number"),
        (["a", "b", "a", "z"], "categorical:a,b", 3, "'z' is none of the levels 'a', 'b'"),
        (["low", "hi", None, "hi"], "ordinal:low,high", 1, "'hi' is none of the levels 'low', 'high'"),
        (["a", "b", "c", "a"], "boolean", None, "a boolean column has two levels, this one 3"),
        ([None, None, None, None], "numeric", None, "every cell is missing"),
        ([None, None, None, None], "categorical", None, "every cell is missing"),
        (pa.array([1, 2, 3, 4], pa.date32()), "numeric", None, "are not numbers"),
    ],
)
def test_cells_that_contradict_the_user_are_named(cells, wish, row, said):
    array = cells if isinstance(cells, pa.Array) else pa.array(cells, pa.string())
    with pytest.raises(DataError, match=said) as error:
        kind_of(pa.table({"c": array}), kinds={"c": wish})
    assert (error.value.row, error.value.column) == (row, "c")
    assert error.value.remedy


def test_a_source_takes_no_kinds():
    source = read(np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="too late"):
        read(source, ignore=["x0"])


# --- counts -----------------------------------------------------------------------------------------------------


def test_counts_are_whole_numbers_with_holes():
    source = read(
        pa.table({"visits": [3, 0, None, 12], "kg": [1.0, 2.5, 3.5, 4.0]}), kinds={"visits": "count"}
    )
    visits = source.columns[0]
    assert (visits.name, visits.kind, visits.reason) == ("visits", "count", "as asked")
    [block] = source.blocks()
    np.testing.assert_array_equal(block.rows[:, 0], [3, 0, np.nan, 12])


def test_counts_in_a_text_file_are_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("visits,kg\n3,1.5\n0,2.5\n,3.5\n12,4.5\n")
    source = read(tmp_path / "t.csv", kinds={"visits": "count"})
    assert source.columns[0].kind == "count"


@pytest.mark.parametrize("cell", [-1.0, 2.5, np.inf])
def test_a_cell_that_is_no_count_is_named_with_a_remedy(cell):
    table = pd.DataFrame({"visits": [3.0, 0.0, cell, 12.0], "kg": [1.0, 2.5, 3.5, 4.0]})
    with pytest.raises(DataError, match="is no count") as caught:
        read(table, kinds={"visits": "count"})
    assert (caught.value.row, caught.value.column) == (2, "visits")
    assert "visits=numeric" in str(caught.value)


def test_a_count_is_never_guessed_and_has_no_levels():
    assert read(pa.table({"visits": [3, 0, 7, 12]})).columns[0].kind == "numeric"
    with pytest.raises(ParameterError, match="has levels"):
        read(pa.table({"visits": [3, 0, 7, 12]}), kinds={"visits": "count:0,1"})


def test_words_are_no_counts():
    with pytest.raises(DataError, match="not a number") as caught:
        read(pa.table({"visits": ["3", "many", "7"], "kg": [1.0, 2.0, 3.0]}), kinds={"visits": "count"})
    assert caught.value.row == 1
