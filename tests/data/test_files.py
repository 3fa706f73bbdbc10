"""Text and Parquet files as people write them, and every way in which they can be bad."""

import gzip
import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asterism import read
from asterism.data.source import ArraySource
from asterism.errors import DataError, FileError, ParameterError, WeightError


@pytest.fixture
def write(tmp_path):
    def writer(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return writer


def rows_of(source):
    return np.concatenate([block.rows for block in source.blocks()])


# ---- text as people write it ----------------------------------------------------------------------------


def test_all_spellings_of_missing_are_missing(write):
    spelled = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", "  ", '""']
    text = "x,y\n1.5,a\n2.5,b\n" + "".join(f"{cell},{cell}\n" for cell in spelled)
    source = read(write(text))
    assert [(c.kind, c.levels) for c in source.columns] == [("numeric", ()), ("categorical", ("a", "b"))]
    np.testing.assert_array_equal(rows_of(source), [[1.5, 0], [2.5, 1]] + [[np.nan, np.nan]] * len(spelled))


def test_a_late_decimal_changes_nothing_above_it(write):
    whole = np.random.default_rng(0).integers(0, 10**6, 120_000)
    path = write("x,y\n" + "".join(f"{v},{v % 7}\n" for v in whole) + "3.5,1\n")
    source = read(path, memory="1kB")  # streamed
    np.testing.assert_array_equal(rows_of(source)[:, 0], [*whole, 3.5])
    assert source.columns[0].reason == "numbers"


def test_a_late_word_among_numbers_is_named(write):
    path = write("x,y\n" + "".join(f"{i * 7 % 1001},{i % 5}\n" for i in range(120_000)) + "abc,1\n")
    with pytest.raises(DataError, match="'abc' is not a number") as error:
        read(path)
    assert (error.value.row, error.value.column) == (120_000, "x")
    assert "x=categorical" in error.value.remedy
    with pytest.raises(DataError, match="line 120002, column 'x'"):
        read(path, kinds={"x": "numeric"})
    assert read(path, ignore=["x"]).names == ("y",)


def test_few_numbers_of_which_the_last_is_open_are_levels_in_order(write):
    path = write("dependents,x\n" + "0,1.5\n1,2.5\n2,1.5\n3+,9.5\n" * 5)
    column = read(path).columns[0]
    assert (column.kind, column.levels) == ("ordinal", ("0", "1", "2", "3+"))
    assert "ranges in order" in column.reason


def test_codes_of_digits_and_letters_are_set_aside(write):
    tickets = [f"PC {i}" if i % 4 == 0 else str(i * 31) for i in range(100)]
    source = read(write("ticket,x\n" + "".join(f"{t},{i % 7}.5\n" for i, t in enumerate(tickets))))
    assert [c.name for c in source.ignored] == ["ticket"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_guessed(write, delimiter):
    path = write(f"a{delimiter}b c\n1.5{delimiter}2\n2.5{delimiter}7\n")
    source = read(path)
    assert source.names == ("a", "b c")
    np.testing.assert_array_equal(rows_of(source), [[1.5, 2], [2.5, 7]])


def test_decimal_commas_are_read_between_semicolons(write):
    source = read(write("a;b\n1,5;-2,25\n2;7,5e3\n"))
    np.testing.assert_array_equal(rows_of(source), [[1.5, -2.25], [2, 7500]])


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends(write):
    path = write('name,x\n"a, b",1.5\n"c ""d""\ne",2.5\n"a, b",3.5\n"a, b",4.5\n')
    source = read(path)
    assert source.columns[0].levels == ("a, b", 'c "d"\ne')
    np.testing.assert_array_equal(rows_of(source)[:, 1], [1.5, 2.5, 3.5, 4.5])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blank_lines_are_no_rows(write, newline):
    path = write(newline.join(["", "a,b", "1.5,2", "", "2.5,7", "", ""]))
    np.testing.assert_array_equal(rows_of(read(path)), [[1.5, 2], [2.5, 7]])


def test_a_first_line_of_numbers_is_data(write):
    source = read(write("5.1,3.5\n4.9,3.0\n"))
    assert source.names == ("x0", "x1")
    np.testing.assert_array_equal(rows_of(source), [[5.1, 3.5], [4.9, 3.0]])
    assert read(write("2007,2008\n4.9,3.0\n5.9,7.0\n")).names == ("2007", "2008")


def test_names_are_stripped_numbered_and_given(write):
    source = read(write("x, y ,x,\n1.5,2.5,3.5,4.5\n2.5,4.5,1.5,0.5\n"))
    assert source.names == ("x", "y", "x_2", "column_4")


def test_one_column_is_a_table(write):
    np.testing.assert_array_equal(rows_of(read(write("x\n1.5\n2.5\nNA\n"))), [[1.5], [2.5], [np.nan]])


def test_a_thousand_columns_of_long_names(write):
    names = [f"{'long' * 100}{j}" for j in range(1000)]
    path = write(",".join(names) + "\n" + ",".join(["1.5"] * 1000) + "\n" + ",".join(["2.5"] * 1000) + "\n")
    assert read(path).names == tuple(names)


def test_packed_files_are_unpacked(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1.5,2\n2.5,7\n"))
    np.testing.assert_array_equal(rows_of(read(path)), [[1.5, 2], [2.5, 7]])


@pytest.mark.parametrize("memory", [None, "1B"])
def test_standard_input_is_a_text_file(monkeypatch, memory, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    class Stdin:
        buffer = io.BytesIO(b"a,b\n1.5,2\n2.5,7\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    source = read("-", memory=memory)
    np.testing.assert_array_equal(rows_of(source), [[1.5, 2], [2.5, 7]])
    assert isinstance(source, ArraySource) == (memory is None)
    del source
    assert list(tmp_path.iterdir()) == []


def test_penguins_are_understood(penguins):
    source = read(penguins)
    kinds = {c.name: c.kind for c in source.columns}
    assert kinds["species"] == kinds["island"] == "categorical"
    assert all(kinds[name] == "numeric" for name in kinds if name.endswith(("_mm", "_g")))


# ---- bad files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (b"", "t.csv", "'t.csv' is empty"),
        (b"\n\n  \n", "t.csv", "'t.csv' is empty"),
        (b"a,b\n", "t.csv", "'t.csv' has no rows"),
        (b"a,b", "t.csv", "'t.csv' has no rows"),
        (b"a,b\n1,\0\n", "t.csv", "is not text"),
        (b"PK\x03\x04 and so on", "t.csv", "is a zip archive"),
        (b"", "t.parquet", "is not a Parquet file, or is damaged"),
        (b"a,b\n1,2\n", "t.parquet", "is not a Parquet file, or is damaged"),
        (b"PAR1 and then nothing", "t.parquet", "is not a Parquet file, or is damaged"),
        (b"\x93NUMPY\x01\x00", "t.npy", "is not a NumPy file, or is damaged"),
        (b"junk", "t.npy", "is not a NumPy file, or is damaged"),
    ],
)
def test_files_that_are_not_what_they_seem(write, text, name, said):
    with pytest.raises(DataError, match=said) as error:
        read(write(text, name))
    assert error.value.remedy
    assert error.value.exit_code == 3


@pytest.mark.parametrize("many", [2, 300_000])
@pytest.mark.parametrize(("bad", "cells"), [("9", 1), ("7,8,9", 3)])
def test_a_ragged_row_is_named(write, many, bad, cells):
    path = write("\n" * (many == 2) + "a,b\n" + "1.5,2\n" * many + bad + "\n3.5,4\n")
    line = many + 2 + (many == 2)
    with pytest.raises(DataError, match=f"line {line}: {cells} cells instead of 2.*{bad}") as error:
        read(path)
    assert error.value.row == many


def test_an_open_quote_is_suspected(write):
    path = write('a,b\n1.5,"x\n' + "2.5,y\n" * 2_000_000)
    with pytest.raises(FileError, match=r"cell of more than .* MB.*quote is opened and not closed"):
        read(path)


def test_a_missing_file_suggests_its_neighbour(write):
    path = write("a,b\n1,2\n", "penguins.csv")
    with pytest.raises(FileError, match=r"pengins.csv' is not there. Did you mean 'penguins.csv'\?"):
        read(path.with_name("pengins.csv"))
    with pytest.raises(FileError, match="nor is its folder"):
        read(path.parent / "nowhere" / "t.csv")


def test_a_folder_or_glob_without_tables_is_refused(write, tmp_path):
    write("Dear Sir,", "letter.txt")
    with pytest.raises(FileError, match="holds no table"):
        read(tmp_path)
    with pytest.raises(FileError, match="No file matches"):
        read(str(tmp_path / "*.parquet"))
    write("a,b\n1,2\n", "a.csv")
    write('{"a": 1}\n', "b.jsonl")
    with pytest.raises(FileError, match=r"files of several kinds: .csv, .jsonl"):
        read(tmp_path)
    with pytest.raises(ParameterError, match=r"'a.csv' is a text file, 'b.jsonl' is JSON"):
        read(str(tmp_path / "[ab].*"))


def test_an_unreadable_file_is_said_to_be(write, monkeypatch):
    path = write("a,b\n1,2\n")

    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match="may not be read by you"):
        read(path)


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": np.random.default_rng(0).normal(size=10_000)}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"'t.parquet' is not a Parquet file, or is damaged"):
        read(path)


def test_a_damaged_page_of_parquet_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({"x": np.random.default_rng(0).normal(size=10_000)})
    pq.write_table(table, path, write_page_checksum=True, compression="snappy")
    data = bytearray(path.read_bytes())
    data[4:2000] = bytes(1996)
    path.write_bytes(bytes(data))
    with pytest.raises(FileError, match="is damaged"):
        read(path)


def test_parquet_files_of_different_columns_are_refused(tmp_path):
    pq.write_table(pa.table({"x": [1.5, 2.5], "y": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1.5, 2.5]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"column 'y': 'b.parquet' has no such column, 'a.parquet' has"):
        read(tmp_path)
    pq.write_table(pa.table({"x": [1.5, 2.5], "y": ["1", "2"]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"column 'y': 'b.parquet' holds string, 'a.parquet' holds int64"):
        read(tmp_path)


def test_columns_in_another_order_and_all_missing_ones_are_joined(tmp_path):
    pq.write_table(pa.table({"x": [1.5, 2.5], "y": pa.nulls(2)}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": ["u", "v"], "x": [3.5, 4.5]}), tmp_path / "b.parquet")
    source = read(tmp_path)
    assert [c.kind for c in source.columns] == ["numeric", "categorical"]
    np.testing.assert_array_equal(rows_of(source), [[1.5, np.nan], [2.5, np.nan], [3.5, 0], [4.5, 1]])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_that_changes_under_our_hands_is_refused(tmp_path, name):
    path = tmp_path / name
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5], "y": [1.5, 2.5, 9.5]})
    save = frame.to_csv if name.endswith("csv") else frame.to_parquet
    save(path, index=False)
    source = read(path, memory="1B")
    list(source.blocks())
    save(path, index=False)
    os.utime(path, ns=(1, 1))
    with pytest.raises(FileError, match="was changed while it was in use"):
        list(source.blocks())


def test_a_table_without_a_usable_column_says_why(write):
    path = write("id,lab,note\n" + "".join(f"{i},x,\n" for i in range(20)))
    with pytest.raises(DataError, match="no usable column") as error:
        read(path)
    for why in (
        "'id': consecutive numbers 0 to 19",
        "'lab': every cell is 'x'",
        "'note': every cell is missing",
    ):
        assert why in str(error.value)


def test_tables_without_rows_or_columns_are_refused():
    with pytest.raises(DataError, match="has no rows"):
        read(pd.DataFrame({"x": pd.Series([], dtype=float)}))
    with pytest.raises(DataError, match="has no columns"):
        read(pd.DataFrame(index=range(3)))
    with pytest.raises(DataError, match="has no rows"):
        read(pa.table({"x": pa.array([], pa.timestamp("us"))}))


def test_arrays_that_are_no_tables_are_refused(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    with pytest.raises(FileError, match="holds Python objects"):
        read(tmp_path / "objects.npy")
    np.save(tmp_path / "line.npy", np.zeros(5))
    with pytest.raises(DataError, match="Expected 2D array"):
        read(tmp_path / "line.npy")
    np.save(tmp_path / "records.npy", np.zeros(5, dtype=[("a", float), ("b", int)]))
    with pytest.raises(FileError, match="holds records"):
        read(tmp_path / "records.npy")
    with pytest.raises(DataError, match="different lengths"):
        read([[1, 2], [3]])
    with pytest.raises(ParameterError, match="cannot be a int"):
        read(3)


# ---- weights --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "row", "said"),
    [
        (["1", "-2", "1"], 1, "the weight is -2"),
        (["1", "1", ""], 2, "the weight is missing"),
        (["inf", "1", "1"], 0, "the weight is inf"),
        (["1", "many", "1"], 1, "the weight is not a number"),
        (["0", "0", "0"], None, "all weights are zero"),
    ],
)
@pytest.mark.parametrize("memory", [None, "1B"])
def test_a_bad_weight_is_named(write, cells, row, said, memory):
    path = write("x,w\n" + "".join(f"{i}.5,{cell}\n" for i, cell in enumerate(cells)))
    with pytest.raises(WeightError, match=said) as error:
        read(path, weights="w", memory=memory)
    assert (error.value.row, error.value.column) == (row, "w")


def test_weights_of_another_length_are_refused(write):
    with pytest.raises(WeightError, match="2 weights were given for 3 rows"):
        read(write("x\n1.5\n2.5\n3.5\n"), weights=[1, 2])
