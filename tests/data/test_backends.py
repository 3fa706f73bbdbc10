"""One table on every backend: the same blocks, bit for bit."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asterism import read
from asterism.data.block import rows_per_block
from asterism.data.source import ArraySource

N = rows_per_block(3) + 1234  # two blocks, and several row groups in each


def numbers(dtype):
    rng = np.random.default_rng(0)
    table = rng.normal(50, 20, (N, 3))
    table[5, 1] = np.nan
    table[-1, 2] = np.nan
    return table.astype(dtype)


def arrow(array):
    return pa.table({f"x{j}": array[:, j] for j in range(array.shape[1])})


def as_csv(array, folder):
    path = folder / "table.csv"
    pd.DataFrame(array, columns=["x0", "x1", "x2"]).to_csv(path, index=False)  # shortest exact digits
    return path


def as_parquet(rows):
    def write(array, folder):
        pq.write_table(arrow(array), folder / "table.parquet", row_group_size=rows)
        return folder / "table.parquet"

    return write


def as_folder(array, folder):
    for i, (a, b) in enumerate([(0, 11), (11, 11), (11, 40_000), (40_000, N)]):
        pq.write_table(arrow(array[a:b]), folder / f"part-{i}.parquet", row_group_size=5000)
    (folder / "_metadata").write_text("not for us")
    return folder


def as_npy(order):
    def write(array, folder):
        np.save(folder / "table.npy", np.asarray(array, order=order))
        return folder / "table.npy"

    return write


def read_only(array, _):
    array = array.copy()
    array.flags.writeable = False
    return array


BACKENDS = {
    "array": lambda a, _: a,
    "array in F order": lambda a, _: np.asfortranarray(a),
    "array, read-only": read_only,
    "array, every second column of a wider one": lambda a, _: np.repeat(a, 2, axis=1)[:, ::2],
    "list of rows": lambda a, _: a.tolist(),
    "npy": as_npy("C"),
    "npy in F order": as_npy("F"),
    "pandas": lambda a, _: pd.DataFrame(a, columns=["x0", "x1", "x2"]),
    "pandas, a column at a time": lambda a, _: pd.DataFrame({f"x{j}": a[:, j].copy() for j in range(3)}),
    "pandas, nullable": lambda a, _: pd.DataFrame(a, columns=["x0", "x1", "x2"]).convert_dtypes(),
    "pandas on Arrow": lambda a, _: arrow(a).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda a, _: pl.DataFrame(a, schema=["x0", "x1", "x2"]),
    "polars, lazy": lambda a, _: pl.LazyFrame(a, schema=["x0", "x1", "x2"]),
    "pyarrow": lambda a, _: arrow(a),
    "pyarrow in chunks": lambda a, _: pa.concat_tables([arrow(a[:100]), arrow(a[100:])]),
    "csv": as_csv,
    "parquet, groups of 7": lambda a, f: as_parquet(7)(a[:2000], f),
    "parquet, groups of 1000": as_parquet(1000),
    "parquet, one group": as_parquet(N),
    "folder": as_folder,
    "glob": lambda a, f: str(as_folder(a, f) / "part-*.parquet"),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_backend_gives_the_same_blocks(backend, dtype, tmp_path):
    table = numbers(dtype)
    source = read(BACKENDS[backend](table, tmp_path))
    if backend in ("csv", "list of rows"):  # text and Python floats have no float32
        assert source.dtype == np.float64
    else:
        assert source.dtype == dtype
    expected = list(ArraySource(table[: source.n_rows]).blocks())
    got = list(source.blocks())
    assert source.names == ("x0", "x1", "x2")
    assert source.n_rows == (2000 if "of 7" in backend else N)
    assert [len(b) for b in got] == [len(b) for b in expected]
    for mine, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(mine.rows.astype(dtype), other.rows)
        np.testing.assert_array_equal(mine.weights, 1.0)
        assert mine.start == other.start
        assert mine.rows.flags.c_contiguous
        assert not mine.rows.flags.writeable


@pytest.mark.parametrize(
    "backend", ["array", "pandas", "polars", "pyarrow", "csv", "parquet, groups of 1000"]
)
def test_whole_numbers_become_float64(backend, tmp_path):
    table = np.random.default_rng(0).integers(-1000, 1000, (3000, 3))
    source = read(BACKENDS[backend](table, tmp_path))
    assert source.dtype == np.float64
    np.testing.assert_array_equal(next(source.blocks()).rows, table)


@pytest.mark.parametrize("backend", [name for name in BACKENDS if "of 7" not in name])  # which has one block
def test_a_worker_reads_its_own_range(backend, tmp_path):
    table = numbers(np.float64)
    source = read(BACKENDS[backend](table, tmp_path))
    part = pickle.loads(pickle.dumps(source.part(1, 2)))
    (block,) = part.blocks(1, 2)
    assert block.start == source.block_rows
    np.testing.assert_array_equal(block.rows, table[source.block_rows :])


def test_any_range_of_rows_can_be_read(tmp_path):
    table = numbers(np.float64)[:5000]
    source = read(as_parquet(333)(table, tmp_path))
    for start, stop in [(0, 1), (332, 334), (333, 666), (4999, 5000), (100, 100), (7, 4993)]:
        pieces = [rows for rows, _ in source.pieces(start, stop)]
        got = np.concatenate(pieces) if pieces else np.empty((0, 3))
        np.testing.assert_array_equal(got, table[start:stop])


def mixed():
    rng = np.random.default_rng(1)
    n = 500
    frame = pd.DataFrame(
        {
            "weight": rng.normal(4000, 500, n),
            "island": rng.choice(["Dream", "Biscoe", "Torgersen"], n),
            "tagged": rng.choice([True, False], n),
            "year": rng.choice([2007, 2008, 2009], n),
        }
    )
    frame.loc[3, "weight"] = np.nan
    frame["island"] = frame["island"].astype(object).where(np.arange(n) % 50 != 7, None)
    return frame


def mixed_matrix(frame):
    codes = {"Biscoe": 0.0, "Dream": 1.0, "Torgersen": 2.0, None: np.nan}
    islands = [codes[None if cell is None or cell != cell else cell] for cell in frame["island"]]
    return np.column_stack(
        [frame["weight"], islands, frame["tagged"].astype(float), frame["year"].astype(float)]
    )


def mixed_parquet(frame, folder):
    frame.to_parquet(folder / "m.parquet", row_group_size=7)
    return folder / "m.parquet"


def mixed_csv(frame, folder, **how):
    frame.to_csv(folder / "m.csv", index=False, **how)
    return folder / "m.csv"


MIXED = {
    "pandas": lambda f, _: f,
    "pandas, categories": lambda f, _: f.astype({"island": "category"}),
    "polars": lambda f, _: pl.from_pandas(f),
    "polars, categories": lambda f, _: pl.from_pandas(f).with_columns(pl.col("island").cast(pl.Categorical)),
    "pyarrow": lambda f, _: pa.Table.from_pandas(f),
    "pyarrow, chunks with their own codes": lambda f, _: pa.concat_tables(
        pa.Table.from_pandas(part.astype({"island": "category"}), preserve_index=False)
        for part in (f[:8], f[8:100], f[100:])
    ),
    "parquet": mixed_parquet,
    "parquet, categories": lambda f, p: mixed_parquet(f.astype({"island": "category"}), p),
    "csv": mixed_csv,
    "csv, semicolons and decimal commas": lambda f, p: mixed_csv(f, p, sep=";", decimal=","),
    "csv, tabs": lambda f, p: mixed_csv(f, p, sep="\t"),
    "csv, bars, NA": lambda f, p: mixed_csv(f, p, sep="|", na_rep="NA"),
    "csv with a byte order mark": lambda f, p: mixed_csv(f, p, encoding="utf-8-sig"),
}


@pytest.mark.parametrize("backend", MIXED)
def test_every_backend_sees_the_same_kinds_and_codes(backend, tmp_path):
    frame = mixed()
    source = read(MIXED[backend](frame, tmp_path))
    assert [(c.name, c.kind) for c in source.columns] == [
        ("weight", "numeric"),
        ("island", "categorical"),
        ("tagged", "boolean"),
        ("year", "numeric"),
    ]
    assert source.columns[1].levels == ("Biscoe", "Dream", "Torgersen")
    assert [level.lower() for level in source.columns[2].levels] == ["false", "true"]
    assert all(column.reason for column in source.columns)
    np.testing.assert_array_equal(next(source.blocks()).rows, mixed_matrix(frame))


@pytest.mark.parametrize("backend", MIXED)
def test_weights_travel_with_the_rows(backend, tmp_path):
    frame = mixed()
    frame["count"] = np.random.default_rng(2).integers(0, 4, len(frame))
    source = read(MIXED[backend](frame, tmp_path), weights="count")
    assert "count" not in source.names
    assert [(c.name, c.reason) for c in source.ignored] == [("count", "used as row weights")]
    np.testing.assert_array_equal(next(source.blocks()).weights, frame["count"])


@pytest.mark.parametrize("backend", ["csv", "parquet, groups of 1000", "pandas", "npy", "array"])
def test_weights_may_be_an_array(backend, tmp_path):
    table, weights = numbers(np.float64), np.arange(N) % 3
    source = read(BACKENDS[backend](table, tmp_path), weights=weights)
    got = np.concatenate([block.weights for block in source.blocks()])
    np.testing.assert_array_equal(got, weights)


def test_a_numeric_frame_is_not_copied():
    array = np.random.default_rng(0).normal(size=(1000, 4))
    source = read(pd.DataFrame(array, copy=False))
    assert all(np.shares_memory(column, array) for column in source.table.columns.values())


def test_npy_is_mapped_and_travels_as_its_path(tmp_path):
    source = read(as_npy("C")(numbers(np.float64), tmp_path))
    assert isinstance(source.array, np.memmap)
    assert len(pickle.dumps(source)) < 2000


def test_csv_within_the_budget_is_kept_and_beyond_it_streamed(tmp_path):
    table = numbers(np.float64)
    path = as_csv(table, tmp_path)
    kept, streamed = read(path), read(path, memory="1MB")
    assert isinstance(kept, ArraySource)
    assert not isinstance(streamed, ArraySource)
    for mine, other in zip(kept.blocks(), streamed.blocks(), strict=True):
        np.testing.assert_array_equal(mine.rows, other.rows)


def test_parquet_is_kept_only_when_a_budget_is_given(tmp_path):
    path = as_parquet(1000)(numbers(np.float64), tmp_path)
    assert not isinstance(read(path), ArraySource)
    assert isinstance(read(path, memory="1GB"), ArraySource)
    assert not isinstance(read(path, memory="1MB"), ArraySource)


def test_only_needed_columns_of_parquet_are_read(tmp_path, monkeypatch):
    mixed_parquet(mixed(), tmp_path)
    source = read(tmp_path / "m.parquet", ignore=["island", "year"])
    asked = []
    whole = pq.ParquetFile.iter_batches

    def spy(self, *args, columns=None, **rest):
        asked.append(columns)
        return whole(self, *args, columns=columns, **rest)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    list(source.blocks())
    assert asked == [["weight", "tagged"]]


def test_a_source_is_returned_as_it_is():
    source = ArraySource(np.zeros((3, 2)))
    assert read(source) is source


def test_reading_an_array_imports_no_data_frame_library():
    import subprocess
    import sys

    code = (
        "import sys, numpy as np, asterism; asterism.read(np.zeros((3, 2)));"
        "print([m for m in ('pandas', 'polars', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
