"""Text as programs and people write it: encodings, titles above the names, totals below the rows, lines in errors."""

import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import read
from asterism.data.opening import opened
from asterism.errors import DataError, FileError, ParameterError


@pytest.fixture
def write(tmp_path):
    def writer(text, encoding="utf-8", name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return writer


def cells_of(table):
    found = {name: [] for name in table.types}
    for batch in table.batches(list(table.types)):
        for name in found:
            found[name] += batch[name].to_pylist()
    return found


# ---- encodings ------------------------------------------------------------------------------------------

SWEDISH = "namn,längd\nGöteborg,1.5\nMalmö,2.5\nÖrebro – väst,3.5\n"


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", None), ("utf-8-sig", None), ("cp1252", "Windows-1252"),
        ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_the_encoding_is_seen_and_said(write, encoding, said, packed):
    data = SWEDISH.encode(encoding)
    table = opened(write(gzip.compress(data) if packed else data))
    assert cells_of(table) == {"namn": ["Göteborg", "Malmö", "Örebro – väst"], "längd": ["1.5", "2.5", "3.5"]}
    if said is None:
        assert table.notes == ()
    else:
        [note] = table.notes
        assert f"is written in {said}, not UTF-8" in note


def test_a_letter_of_a_legacy_encoding_far_below_is_read(write):
    many = 200_000
    path = write(b"name,x\n" + b"a,1.5\nb,2.5\n" * many + b"G\xf6teborg,1.5\n" + b"a,3.5\n" * 5)
    for memory in (None, "1B"):
        source = read(path, memory=memory)
        assert source.columns[0].levels == ("Göteborg", "a", "b")
        assert "Windows-1252" in source.notes[0]
    table = opened(path)
    [batch] = table.batches(["name"], 2 * many, 2 * many + 1)
    assert batch["name"].to_pylist() == ["Göteborg"]


def test_a_file_of_two_encodings_is_refused_with_its_line(write):
    path = write("name,x\nMalmö,1.5\n".encode() + b"b,2.5\n" * 4 + b"G\xf6teborg,1.5\n")
    with pytest.raises(FileError, match="not written in UTF-8: line 7 holds the byte 0xf6") as error:
        read(path)
    assert "--encoding" in error.value.remedy


def test_the_user_says_the_encoding(write):
    path = write("имя,x\nМосква,1.5\nОмск,2.5\n", "cp1251")
    assert cells_of(opened(path, encoding="cp1251"))["имя"] == ["Москва", "Омск"]
    assert opened(path, encoding="cp1251").notes == ()
    with pytest.raises(FileError, match="not written in UTF-8"):
        read(path, encoding="utf-8")
    with pytest.raises(ParameterError, match="no encoding 'latin-99'"):
        read(path, encoding="latin-99")
    with pytest.raises(ParameterError, match="no encoding 'zip'"):
        read(path, encoding="zip")


# ---- titles and names -----------------------------------------------------------------------------------

ROWS = "Ulm,1.5,2\nBonn,2.5,3\nUlm,3.5,4\nKiel,4.5,1\nBonn,0.5,7\n"


@pytest.mark.parametrize(
    "above",
    [
        "Sales 2024\n",
        "Sales 2024\n\n",
        "Sales 2024,,\nnorth,,\n",
        "\n\nSales 2024\n\n\n",
        "Sales of the north\nby town\n\n",
    ],
)
def test_titles_above_the_names_are_passed_over_and_said(write, above):
    path = write(above + "town,price,size\n" + ROWS)
    source = read(path)
    assert source.names == ("town", "price", "size")
    assert source.n_rows == 5
    assert source.notes[0].startswith(f"Passed over above the names: {above.split()[0]!r}"[:-1])
    with pytest.raises(DataError, match=f"line {above.count(chr(10)) + 3}, column 'town': 'Bonn' is none"):
        read(path, kinds={"town": "categorical:Ulm,Kiel"})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1.5,2\n", ("a", "b")),
        (",x,y\n1,2.5,3\n2,3.5,4\n", ("column_1", "x", "y")),
        ("year,2019,2020\nUlm,1,2\nBonn,3,4\n", ("year", "2019", "2020")),
        ("a,b\nUlm,\nBonn,\nKiel,3\n", ("a", "b")),
        ("x,y\n1,2.5,3\n2,3.5,4\n", ("column_1", "x", "y")),  # as R writes row names
        ("sep=;\na;b\n1,5;2\n", ("a", "b")),
        ("a,,\n1,2,3\n4,5,6\n", ("a", "column_2", "column_3")),
    ],
)
def test_names_that_are_no_titles_stay(write, text, names):
    table = opened(write(text))
    assert tuple(table.types) == names
    assert table.notes == ()


def test_the_user_says_which_line_holds_the_names(write):
    path = write("a,b,c\nx,y,z\n" + ROWS)
    assert tuple(opened(path, header=2).types) == ("x", "y", "z")
    assert tuple(opened(path, header=0).types) == ("x0", "x1", "x2")
    assert len(cells_of(opened(path, header=0))["x0"]) == 7
    with pytest.raises(ParameterError, match="header is 99"):
        read(path, header=99)


def test_repeated_names_are_kept_apart_and_said(write):
    table = opened(write("x,y,x\n1,2,3\n4,5,6\n"))
    assert tuple(table.types) == ("x", "y", "x_2")
    assert table.notes == ("2 columns are called 'x'; they were named 'x', 'x_2'.",)


# ---- totals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("below", "passed_over"),
    [
        ("Total,12.5,17\n", 1),
        ('Summe,"12,5",17\n', 1),
        ("Grand total,,\n", 1),
        (",12.5,17\n", 1),
        ("\nTotal,12.5,17\n\n", 1),
        ("Total,12.5,17\nAverage,2.5,3.4\n", 2),
        ("Total,$12.50,17 pcs\n\nSource: town hall\n", 3),
        ("Total\n", 1),
        ("\nMade on 2024-05-01\n", 1),
        ("Total,11.9,99\n", 0),  # a town called Total
        (",12.4,17\n", 0),  # no sum, so a row whose town is missing
        ("Total Wine,3.5,4\n", 0),
        (",,\n,,\n", 0),  # rows whose cells are missing
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_totals_below_the_rows_are_passed_over_and_said(write, below, passed_over, newline):
    path = write(("town,price,size\n" + ROWS + below).replace("\n", newline))
    table = opened(path)
    kept = sum(bool(line) for line in below.split("\n"))
    found = cells_of(table)["town"]
    if passed_over:
        assert found == ["Ulm", "Bonn", "Ulm", "Kiel", "Bonn"]
        assert table.notes[0].startswith("Passed over below the rows: ")
    else:
        assert len(found) == 5 + kept
        assert table.notes == ()
    if "\n" not in below.strip("\n") and below.count(",") == 2 and below[0] != "\n":
        assert len(cells_of(opened(path, keep_totals=True))["town"]) == 6


def test_sums_without_a_word_are_totals_only_in_two_columns(write):
    rows = np.random.default_rng(0).integers(1, 99, (40, 2))
    text = "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)
    a, b = rows.sum(axis=0)
    assert opened(write(text + f"{a},{b}\n")).notes
    assert not opened(write(text + f"{a},{b + 1}\n")).notes
    assert not opened(write("a\n1\n2\n3\n4\n5\n15\n")).notes


def test_a_total_below_a_long_table_is_found_in_one_more_pass(write):
    x = np.arange(60_000) % 97
    rows = "".join(f"t{v % 7},{v}.25,{v % 3}\n" for v in x)
    total = f"Total,{x.sum() + 0.25 * len(x):.2f},{(x % 3).sum()}\n"
    path = write("town,price,size\n" + rows + total)
    source = read(path, memory="1B")
    assert source.n_rows == len(x)
    assert sum(len(block) for block in source.blocks()) == len(x)
    again = write(gzip.compress(("town,price,size\n" + rows + total).encode()), name="t.csv.gz")
    assert read(again).n_rows == len(x)


# ---- lines ----------------------------------------------------------------------------------------------


def test_rows_are_named_by_their_lines(write):
    path = write('Title\n\nx,y\n1.5,"two\nlines"\n\n2.5,b\n3.5,b\n-,"two\nlines"\nmany,b\n')
    with pytest.raises(DataError, match="line 11, column 'x': 'many'") as error:
        read(path, kinds={"x": "numeric"})
    assert error.value.row == 4


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.text('ab,;"\n|\t x', max_size=6), st.text('ab,"\n', max_size=4)), min_size=4, max_size=10
    )
)
def test_quoted_cells_come_back_as_they_were_written(tmp_path_factory, rows):
    import csv

    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("name", "other"), *rows])
    found = cells_of(opened(path, keep_totals=True))
    missing = ("", "-", "?")
    assert list(found) == ["name", "other"]
    for name, cells in zip(found, zip(*rows, strict=True), strict=True):
        assert found[name] == [None if c.strip() in missing else c.strip() for c in cells]


def test_a_long_file_is_read_in_constant_memory(write):
    path = write("x,y\n" + "1.5,ä\n" * 2_000_000)
    tracemalloc.start()
    assert read(path, memory="1B", ignore=["y"], kinds={"x": "numeric"}).n_rows == 2_000_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30e6
