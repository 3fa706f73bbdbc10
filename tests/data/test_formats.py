"""Spreadsheets, databases, JSON, Feather, several files: each read as the same table, or refused with a reason."""

import bz2
import datetime
import doctest
import gzip
import json
import pickle
import re
import sqlite3
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asterism
from asterism import read
from asterism.data.formats.base import all_formats
from asterism.data.opening import opened
from asterism.errors import DataError, FileError, ParameterError

NAMES = ("city", "price", "size")
ROWS = [("Ulm", 10.5, 3), ("Bonn", 20.25, 5), ("Ulm", 12.0, None), ("Kiel", 8.5, 4), ("Bonn", 21.5, 6)] * 4


def cells_of(table):
    """All cells of a table as lists, numbers in text as numbers."""
    found = {name: [] for name in table.types}
    for batch in table.batches(list(table.types)):
        for name in found:
            found[name] += batch[name].to_pylist()
    return found


def rows_of(source):
    return np.concatenate([block.rows for block in source.blocks()])


def expected():
    columns = list(zip(*ROWS, strict=True))
    levels = sorted(set(columns[0]))
    return np.array([[levels.index(c), p, np.nan if s is None else s] for c, p, s in ROWS])


def save_parquet(path):
    import pyarrow.parquet as pq

    pq.write_table(frame(), path)


def frame():
    return pa.table(dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True)))


def csv_text():
    return "\n".join([",".join(NAMES), *(",".join("" if c is None else str(c) for c in row) for row in ROWS)])


def save_json_lines(path):
    path.write_text("\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in ROWS))


def save_json_array(path):
    path.write_text(json.dumps([dict(zip(NAMES, row, strict=True)) for row in ROWS], indent=2))


def save_feather(path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, frame().schema) as writer:
        writer.write_table(frame(), max_chunksize=7)


def save_stream(path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, frame().schema) as writer:
        writer.write_table(frame(), max_chunksize=7)


def save_sqlite(path, more=()):
    with sqlite3.connect(path) as database:
        database.execute("create table visits (city text, price real, size)")
        database.executemany("insert into visits values (?, ?, ?)", ROWS)
        for statement in more:
            database.execute(statement)
    database.close()


def save_duckdb(path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as database:
        database.execute("create table visits (city text, price double, size int)")
        database.executemany("insert into visits values (?, ?, ?)", ROWS)


def save_xlsx(path, sheets=None):
    """A spreadsheet as its format describes it: a zip archive of one XML file a sheet, text within the cells."""
    sheets = sheets or {"visits": [NAMES, *ROWS]}
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    rels = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r" Type="{rels}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{rels}"><sheets>'
        + "".join(f'<sheet name="{n}" sheetId="{j}" r:id="r{j}"/>' for j, n in enumerate(sheets, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        'relationships">'
        + "".join(
            f'<Relationship Id="r{j}" Type="{rels}/worksheet" Target="worksheets/sheet{j}.xml"/>'
            for j in range(1, len(sheets) + 1)
        )
        + "</Relationships>",
    }
    for j, rows in enumerate(sheets.values(), 1):
        cells = "".join(
            f'<row r="{i}">{"".join(xlsx_cell(i, k, cell) for k, cell in enumerate(row))}</row>'
            for i, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/sheet{j}.xml"] = f"<worksheet {main}><sheetData>{cells}</sheetData></worksheet>"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)


def xlsx_cell(row, column, cell):
    place = f"{chr(65 + column)}{row}"
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{place}"><v>{cell}</v></c>'
    if isinstance(cell, datetime.date):
        return f'<c r="{place}" t="d"><v>{cell.isoformat()}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{cell}</t></is></c>'


def save_text(packed):
    return lambda path: path.write_bytes(packed(csv_text().encode()))


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


WRITERS = {
    "t.csv": save_text(bytes),
    "t.csv.gz": save_text(gzip.compress),
    "t.csv.bz2": save_text(bz2.compress),
    "t.csv.zst": save_text(zstd),
    "packed.csv": save_text(gzip.compress),  # known by its first bytes, not by its name
    "t.parquet": save_parquet,
    "t.feather": save_feather,
    "t.arrows": save_stream,
    "t.jsonl": save_json_lines,
    "t.json": save_json_array,
    "lines.csv": save_json_lines,  # what a file is decides, not what it is called
    "t.sqlite": save_sqlite,
    "t.db": save_sqlite,
    "t.duckdb": save_duckdb,
    "t.xlsx": save_xlsx,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(tmp_path, name):
    if name.endswith("xlsx"):
        pytest.importorskip("python_calamine")
    path = tmp_path / name
    WRITERS[name](path)
    source = read(path)
    assert [c.kind for c in source.columns] == ["categorical", "numeric", "numeric"]
    np.testing.assert_array_equal(rows_of(source), expected())
    streamed = read(path, memory="1B")
    np.testing.assert_array_equal(rows_of(streamed), expected())
    table = opened(path)
    for start, stop in [(0, 3), (5, 11), (13, None), (19, 20), (7, 7)]:
        found = [
            cell for batch in table.batches(["price"], start, stop) for cell in batch["price"].to_pylist()
        ]
        assert [float(cell) for cell in found] == [row[1] for row in ROWS[start:stop]]
    again = pickle.loads(pickle.dumps(table))
    assert cells_of(again) == cells_of(table)


def test_a_format_is_one_file_that_the_registry_finds():
    assert {format.name for format in all_formats()} >= {
        "CSV",
        "Parquet",
        "NumPy",
        "Feather",
        "JSON",
        "Excel",
    }
    assert [format.name for format in all_formats() if format.last] == ["CSV"]


# ---- what is no table -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "name", "said", "remedy"),
    [
        (b"<!DOCTYPE html><html><body>1,2</body></html>", "t.csv", "a web page", "spreadsheet"),
        (b"\xef\xbb\xbf\n <table><tr><td>1</td></tr></table>", "t.xls", "a web page", "read_html"),
        (b"<?xml version='1.0'?><rows/>", "t.xml", "an XML document", "read_xml"),
        (b"%PDF-1.7\n1,2\n", "t.csv", "a PDF document", "spreadsheet"),
        (b"\x89PNG\r\n\x1a\n....", "t.csv", "a picture", "asterism compress"),
        (b"\xff\xd8\xff\xe0..", "t.jpg", "a picture", "asterism compress"),
        (pickle.dumps({"a": [1, 2]}), "t.csv", "a pickle", "not loaded"),
        (b"(dp0\nS'a'\n", "t.pkl", "a pickle", "not loaded"),
        (gzip.compress(b"RDX3\nX\n\0\0\0\3"), "t.rda", "an R data file", "write.csv"),
        (gzip.compress(b"X\n\0\0\0\3\0\4"), "t.rds", "an R data file", "write.csv"),
        (b"\x89HDF\r\n\x1a\n", "t.h5", "an HDF5 file", "read_hdf"),
        (b"$FL2@(#) SPSS", "t.sav", "an SPSS file", "read_spss"),
        (b"7z\xbc\xaf\x27\x1c", "t.csv", "a 7z archive", "Unpack"),
        (b"a,b\n1,\x00\x01\x02\x03\x04\x05\x06\n", "t.csv", "not text", "CSV"),
        (b"\x12\x00\x00\x00\x00\x00\x00\x00{\"model\"", "t.asterism", "a model of Asterism", "assign"),
        (b'{"type": "x", "features": [\n{"a": 1}\n]}\n', "t.json", "neither a record a line", "a line"),
        (b"[[1, 2], [3, 4]]", "t.json", "no names", "array of them"),
        (b"3\n", "t.json", "no names", "array of them"),
        (b"[1, 2", "t.json", "no names|no JSON", "array|file again"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_with_a_remedy(tmp_path, start, name, said, remedy):
    path = tmp_path / name
    path.write_bytes(start)
    with pytest.raises(DataError, match=said) as error:
        read(path)
    assert error.value.exit_code == 3
    assert re.search(remedy, error.value.remedy)


def test_a_zip_archive_is_no_spreadsheet(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", csv_text())
    with pytest.raises(FileError, match="is a zip archive"):
        read(tmp_path / "t.zip")


def test_packed_files_that_are_packed_inside_are_refused(tmp_path):
    save_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.parquet.gz").write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    with pytest.raises(FileError, match="is a Parquet file, packed by gzip"):
        read(tmp_path / "t.parquet.gz")


# ---- spreadsheets ---------------------------------------------------------------------------------------


def test_the_table_is_found_on_its_sheet(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "book.xlsx"
    total = (None, sum(row[1] for row in ROWS), sum(row[2] or 0 for row in ROWS))
    sheet = [
        ["Visits 2024"], [], [None, None, None, None, "see the annex"], NAMES, *ROWS[:10], [], *ROWS[10:],
        [], ("Total", *total[1:]), [], ["Source: town hall"],
    ]  # fmt: skip
    save_xlsx(path, {"about": [], "visits": sheet, "other": [["x"], [1], [2]]})
    source = read(path)
    assert source.names == NAMES
    np.testing.assert_array_equal(rows_of(source), expected())
    said = " ".join(source.notes)
    for part in (
        "Sheet 'visits' was taken",
        "'other'",
        "'Visits 2024' and 1 more",
        "totals 'Total",
        "'Source: town hall'",
    ):
        assert part in said
    assert read(path, sheet="other").names == ("x",)
    assert len(rows_of(read(path, keep_totals=True))) == len(ROWS) + 2
    with pytest.raises(ParameterError, match=r"no sheet 'Visits'. Did you mean 'visits'\?"):
        read(path, sheet="Visits")
    with pytest.raises(DataError, match=r"sheet 'about' of 'book.xlsx' is empty"):
        read(path, sheet="about")


def test_rows_of_a_sheet_are_counted_as_the_sheet_does(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "book.xlsx"
    save_xlsx(path, {"a": [["A title"], [], ["x", "y"], [1.5, 1], [2.5, 2], [], ["many", 3], [0.5, 7]]})
    with pytest.raises(DataError, match=r"row 7, column 'x': 'many' is not a number") as error:
        read(path, kinds={"x": "numeric"})
    assert error.value.row == 2


def test_sheets_hold_dates_truth_values_and_numbers_written_as_text(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "book.xlsx"
    rows = [[datetime.date(2024, 5, 1 + j), bool(j % 2), str(j * j), 2019 + j % 3] for j in range(12)]
    save_xlsx(path, {"a": [["day", "member", "points", 2024], *rows]})
    table = opened(path)
    assert pa.types.is_temporal(table.types["day"])
    assert pa.types.is_boolean(table.types["member"])
    assert list(table.types)[3] == "2024"
    kinds = {c.name: c.kind for c in read(path).columns}
    assert (kinds["member"], kinds["points"]) == ("boolean", "numeric")


def test_a_sheet_without_names_has_numbered_columns(tmp_path):
    pytest.importorskip("python_calamine")
    save_xlsx(tmp_path / "t.xlsx", {"a": [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5], [6.5, 7.5]]})
    assert read(tmp_path / "t.xlsx").names == ("x0", "x1")
    assert read(tmp_path / "t.xlsx", header=2).names == ("2.5", "3.5")


def test_other_spreadsheets_are_known_by_what_they_hold(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for row in [NAMES, *ROWS]:
        book.active.append(row)
    book.save(tmp_path / "t.csv")
    np.testing.assert_array_equal(rows_of(read(tmp_path / "t.csv")), expected())


def test_a_damaged_spreadsheet_is_refused(tmp_path):
    pytest.importorskip("python_calamine")
    save_xlsx(tmp_path / "t.xlsx")
    data = (tmp_path / "t.xlsx").read_bytes()
    (tmp_path / "t.xlsx").write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match="is not a spreadsheet, or is damaged"):
        read(tmp_path / "t.xlsx")


# ---- databases ------------------------------------------------------------------------------------------

MORE = ("create table staff (name text)", "create view big as select * from visits where price > 11")


def test_a_database_of_several_tables_lists_them(tmp_path):
    save_sqlite(tmp_path / "t.db", MORE)
    with pytest.raises(ParameterError, match="holds 3 tables: 'big', 'staff', 'visits'") as error:
        read(tmp_path / "t.db")
    assert "--sql" in error.value.remedy
    np.testing.assert_array_equal(rows_of(read(tmp_path / "t.db", sql="visits")), expected())
    assert read(tmp_path / "t.db", sql="big").n_rows == sum(row[1] > 11 for row in ROWS)
    with pytest.raises(ParameterError, match=r"no table 'visit'. Did you mean 'visits'\?"):
        read(tmp_path / "t.db", sql="visit")
    with pytest.raises(DataError, match="has no rows"):
        read(tmp_path / "t.db", sql="staff")


@pytest.mark.parametrize("name", ["t.db", "t.duckdb"])
def test_a_query_gives_its_rows_and_cannot_write(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    source = read(path, sql="select price, price * size as worth from visits where size is not null;")
    assert source.names == ("price", "worth")
    np.testing.assert_allclose(rows_of(source), [[p, p * s] for _, p, s in ROWS if s is not None])
    for query in ("select cost from visits", "delete from visits", "drop table visits"):
        with pytest.raises((ParameterError, DataError)):
            read(path, sql=query)
    assert read(path).n_rows == len(ROWS)
    with pytest.raises(ParameterError, match=r"cost|Cost.*Its tables are 'visits'"):
        read(path, sql="select cost from visits")


def test_a_database_reaches_no_other_file(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "secret.csv").write_text("a\n1\n2\n")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute(f"create view leak as select * from read_csv('{tmp_path / 'secret.csv'}')")
    with pytest.raises((ParameterError, DataError)):
        read(tmp_path / "t.duckdb")
    save_sqlite(tmp_path / "t.db")
    with pytest.raises(ParameterError):
        read(tmp_path / "t.db", sql=f"attach '{tmp_path / 'other.db'}' as other")


def test_cells_of_sqlite_may_be_of_any_type(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as database:
        database.execute("create table t (a, b)")
        database.executemany(
            "insert into t values (?, ?)", [(1, "x"), ("2", "y"), (2.5, None), ("n/a", "x")] * 5
        )
    database.close()
    source = read(tmp_path / "t.db")
    assert [c.kind for c in source.columns] == ["numeric", "categorical"]
    np.testing.assert_array_equal(rows_of(source)[:4, 0], [1, 2, 2.5, np.nan])


# ---- JSON -----------------------------------------------------------------------------------------------


def test_nested_records_have_dotted_names_and_lists_are_vectors(tmp_path):
    path = tmp_path / "t.jsonl"
    records = [
        {"a": {"b": j, "c": {"d": j % 3 + 0.5}}, "v": [j, j / 2], "tags": ["x"] * (j % 3)} for j in range(20)
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    table = opened(path)
    assert list(table.types) == ["a.b", "a.c.d", "v", "tags"]
    assert table.types["v"] == pa.list_(pa.float64(), 2)
    assert pa.types.is_list(table.types["tags"])
    assert cells_of(table)["a.c.d"] == [j % 3 + 0.5 for j in range(20)]
    assert cells_of(table)["v"][3] == [3.0, 1.5]


def test_keys_that_come_late_are_columns_with_missing_cells(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(
        "".join(f'{{"x": {j}.5}}\n' for j in range(20_000)) + '{"x": 0.5, "y": 7}\n\n{"y": null}\n'
    )
    found = cells_of(opened(path))
    assert found["y"] == [None] * 20_000 + [7, None]
    assert len(found["x"]) == 20_002


def test_a_bad_record_is_named_by_its_line(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2\n{"a": 3}\n')
    with pytest.raises(DataError, match=r"line 3 of 't.jsonl': no JSON") as error:
        read(path)
    assert error.value.row == 1
    path.write_text('{"a": 1}\n[2]\n')
    with pytest.raises(DataError, match=r"line 2 of 't.jsonl': a record is \[2\]"):
        read(path)
    path.write_text('{"a": 1, "b": "x"}\n' * 9 + '\n{"a": "one", "b": "y"}\n')
    with pytest.raises(DataError, match="line 11, column 'a': 'one' is not a number"):
        read(path, kinds={"a": "numeric"})
    path.write_text('[{"a": 1}, {"a": 2}, {"a": ]')
    with pytest.raises(DataError, match=r"record 3 of 't.jsonl': no JSON"):
        read(path)


@pytest.mark.parametrize("as_array", [False, True])
def test_long_json_is_read_piece_by_piece(tmp_path, as_array, monkeypatch):
    monkeypatch.setattr("asterism.data.objects.KEPT_BYTES", 1000)  # read again, not kept
    rows = [{"x": j / 8, "s": "a" * (j % 50)} for j in range(30_000)]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(rows) if as_array else "\n".join(map(json.dumps, rows)))
    table = opened(path)
    assert table._kept is None
    assert cells_of(table) == {"x": [r["x"] for r in rows], "s": [r["s"] or None for r in rows]}
    [batch] = table.batches(["x"], 20_000, 20_002)
    assert batch["x"].to_pylist() == [2500.0, 2500.125]


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)  # fmt: skip
TEXTS = st.text("xyz ,;\"'\n", max_size=5)
RECORDS = st.fixed_dictionaries({"a": SCALARS, "b": st.floats(-1e6, 1e6), "c": TEXTS})


@settings(max_examples=60, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=12), st.booleans())
def test_json_comes_back_as_it_was_written(tmp_path_factory, records, as_array):
    path = tmp_path_factory.mktemp("json") / "t.json"
    path.write_text(
        json.dumps(records) if as_array else "\n".join(map(json.dumps, records)), encoding="utf-8"
    )
    found = cells_of(opened(path))
    assert found["b"] == [r["b"] for r in records]
    texts = [r["c"].strip() for r in records]
    assert found["c"] == [text or None for text in texts]
    assert len(found["a"]) == len(records)


# ---- several files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.feather", "t.parquet", "t.csv.gz"])
def test_files_of_the_same_columns_are_one_table(tmp_path, name):
    for part in ("a", "b", "c"):
        WRITERS[name](tmp_path / name.replace("t", part, 1))
    for name_of_all in (tmp_path, str(tmp_path / ("*" + name[1:]))):
        source = read(name_of_all, memory="1B")
        np.testing.assert_array_equal(rows_of(source), np.vstack([expected()] * 3))
    table = opened(tmp_path)
    for start, stop in [(0, 3), (19, 22), (38, 45), (59, None)]:
        found = [
            float(c) for batch in table.batches(["price"], start, stop) for c in batch["price"].to_pylist()
        ]
        assert found == [row[1] for row in ROWS * 3][start:stop]


def test_a_bad_cell_in_one_of_several_files_is_named_with_its_file(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1.5,2\n2.5,3\n")
    (tmp_path / "b.csv").write_text("y,x\n2,3.5\n\n3,many\n")
    with pytest.raises(DataError, match=r"line 4 of 'b.csv', column 'x': 'many' is not a number") as error:
        read(tmp_path, kinds={"x": "numeric"})
    assert error.value.row == 3
    (tmp_path / "b.csv").write_text("y,z\n2,3.5\n")
    with pytest.raises(DataError, match=r"column 'x': 'b.csv' has no such column, 'a.csv' has"):
        read(tmp_path)


# ---- options --------------------------------------------------------------------------------------------


def test_columns_get_new_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(csv_text())
    source = read(path, rename={"city": "town"}, kinds={"town": "ignored"})
    assert source.names == ("price", "size")
    assert read(frame(), rename={"price": "cost"}).names == ("city", "cost", "size")
    with pytest.raises(
        ParameterError, match="rename names the column 'prise', which the table does not have"
    ):
        read(path, rename={"prise": "x"})
    with pytest.raises(ParameterError, match="2 columns are called 'size'"):
        read(path, rename={"price": "size"})


def test_options_that_say_nothing_of_a_table_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(csv_text())
    with pytest.raises(ParameterError, match=r"sheet says nothing of 't.csv', which is a text file"):
        read(path, sheet="May")
    with pytest.raises(ParameterError, match=r"no option 'shet'. Did you mean 'sheet'\?"):
        read(path, shet="May")
    with pytest.raises(ParameterError, match="sql says nothing of an array"):
        read(np.zeros((3, 2)), sql="x")
    with pytest.raises(ParameterError, match="too late"):
        read(read(path), header=1)
    with pytest.raises(ParameterError, match="header is -1"):
        read(path, header=-1)


def test_find_takes_the_options_and_keeps_the_notes(tmp_path):
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(8, 1, (40, 2))])
    lines = [f"{a:.3f};{b:.3f}" for a, b in rows]
    path.write_text("\n".join(["Größen", "", "länge;höhe", *lines]), encoding="latin-1")
    finding = asterism.find(path, k=2, rename={"länge": "length"})
    assert [c.name for c in finding.columns] == ["length", "höhe"]
    assert "Windows-1252" in finding.notes[0]
    assert "'Größen'" in finding.notes[1]
    assert finding.to_dict()["notes"] == list(finding.notes)


def test_examples_of_the_page_are_true(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(
        str(root / "docs" / "methods" / "sources.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried > 9
    assert failed == 0
