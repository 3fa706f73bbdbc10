"""Mixed columns as comparable numbers, and back."""

import pickle

import numpy as np
import pandas as pd
import pytest

from asterism import read
from asterism.data.columns import Column
from asterism.data.encode import EncodedSource, Encoding
from asterism.data.source import ArraySource, in_memory
from asterism.errors import DataError
from asterism.methods.encoding import standard_encoding

LEVELS = ("low", "mid", "high")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 400
    table = pd.DataFrame(
        {
            "mass": rng.normal(4000, 500, n),
            "size": pd.Categorical(rng.choice(LEVELS, n), LEVELS, ordered=True),
            "tagged": rng.random(n) < 0.3,
            "island": rng.choice(["Biscoe", "Dream", "Torgersen"], n, p=[0.6, 0.3, 0.1]),
        }
    )
    table.loc[::17, "mass"] = np.nan
    table.loc[::23, "island"] = None
    return table


def rows_of(source):
    return np.concatenate([block.rows for block in source.blocks()])


def encoded(frame, **more):
    source = read(frame, **more)
    return EncodedSource(source, standard_encoding(source))


def test_every_column_has_mean_zero_and_total_variance_one(frame):
    source = encoded(frame)
    assert source.names == (
        "mass",
        "size",
        "tagged=true",
        "island=Biscoe",
        "island=Dream",
        "island=Torgersen",
    )
    z = rows_of(source)
    np.testing.assert_allclose(np.nanmean(z, axis=0), 0, atol=1e-12)
    variance = np.nanvar(z, axis=0)
    np.testing.assert_allclose(variance[:3], 1)
    np.testing.assert_allclose(variance[3:].sum(), 1)


def test_two_random_rows_differ_by_two_in_every_column(frame):
    source = encoded(frame.dropna())
    z = rows_of(source)
    pairs = ((z[:, None] - z[None]) ** 2).mean(axis=(0, 1))
    by_column = np.bincount(source.encoding.origins, weights=pairs)
    np.testing.assert_allclose(by_column, 2)


def test_a_missing_name_is_missing_in_all_its_columns(frame):
    z = rows_of(encoded(frame))
    np.testing.assert_array_equal(
        np.isnan(z[:, 3:]), np.repeat(frame["island"].isna().to_numpy()[:, None], 3, 1)
    )
    np.testing.assert_array_equal(np.isnan(z[:, 0]), frame["mass"].isna())


def test_ranks_are_evenly_spaced():
    column = Column("size", "ordinal", LEVELS)
    plain = Encoding.plain((column,)).encode(np.array([[0.0], [1.0], [2.0]]))
    np.testing.assert_array_equal(plain[:, 0], [0, 0.5, 1])


def test_centers_come_back_in_the_users_units(frame):
    source = encoded(frame)
    z, half = rows_of(source), np.arange(len(frame)) < 200
    centers = np.array([np.nanmean(z[half], axis=0), np.nanmean(z[~half], axis=0)])
    back = source.encoding.decode_centers(centers)
    for g, part in enumerate((frame[half], frame[~half])):
        assert back["mass"][g] == pytest.approx(part["mass"].mean())
        assert back["size"][g] == pytest.approx(part["size"].cat.codes.mean())
        assert back["tagged"][g] == pytest.approx(part["tagged"].mean())
        shares = part["island"].value_counts(normalize=True).sort_index()
        np.testing.assert_allclose(back["island"][g], shares)


def test_weights_count_in_the_moments(frame):
    weights = np.random.default_rng(1).integers(0, 4, len(frame))
    weighted = standard_encoding(read(frame, weights=weights))
    repeated = standard_encoding(read(frame.iloc[np.repeat(np.arange(len(frame)), weights)]))
    np.testing.assert_allclose(weighted.center, repeated.center)
    np.testing.assert_allclose(weighted.scale, repeated.scale)


def test_unscaled_numbers_stay_as_they_are():
    array = np.random.default_rng(0).normal(5, 2, (50, 3))
    source = ArraySource(array)
    np.testing.assert_array_equal(
        rows_of(EncodedSource(source, standard_encoding(source, scale=False))), array
    )


def test_a_column_that_does_not_vary_becomes_zeros():
    array = np.column_stack([np.full(10, 1e9 + 0.1), np.arange(10.0)])
    z = rows_of(EncodedSource(source := ArraySource(array), standard_encoding(source)))
    np.testing.assert_array_equal(z[:, 0], 0)


def test_float32_keeps_its_digits_beside_a_large_mean():
    array = (16_000_000 + np.arange(100.0)[:, None] % 7).astype(np.float32)
    z = rows_of(EncodedSource(source := ArraySource(array), standard_encoding(source)))
    exact = array.astype(np.float64)
    assert z.dtype == np.float32
    np.testing.assert_allclose(z, (exact - exact.mean()) / exact.std(), rtol=1e-6)


def test_a_worker_gets_the_rows_of_its_blocks_alone():
    n = 70_000
    codes = np.arange(n) % 40
    columns = (Column("x"), Column("c", "categorical", tuple(f"{i:02d}" for i in range(40))))
    source = ArraySource(np.column_stack([np.arange(n) ** 0.5, codes]), np.arange(n) % 5, columns)
    whole = EncodedSource(source, standard_encoding(source))
    assert whole.block_rows < source.block_rows  # it is wider, so its blocks are shorter
    for first, last in [(0, 1), (3, 9), (whole.n_blocks - 1, whole.n_blocks)]:
        part = pickle.loads(pickle.dumps(whole.part(first, last)))
        for mine, other in zip(part.blocks(first, last), whole.blocks(first, last), strict=True):
            np.testing.assert_array_equal(mine.rows, other.rows)
            np.testing.assert_array_equal(mine.weights, other.weights)
            assert mine.start == other.start
        assert len(list(part.blocks(first, last))) == last - first


def test_infinite_and_huge_cells_are_refused():
    with pytest.raises(DataError, match="infinite") as error:
        standard_encoding(ArraySource(np.array([[1.0, 2.0], [3.0, np.inf]])))
    assert (error.value.row, error.value.column) == (1, "x1")
    with pytest.raises(DataError, match="squares are infinite") as error:
        standard_encoding(ArraySource(np.array([[1.0, 1e200], [3.0, -1e200]])))
    assert error.value.column == "x1"


def test_in_memory_keeps_weights_columns_and_reasons(frame):
    source = encoded(frame.assign(count=1), weights=np.arange(len(frame)))
    kept = in_memory(source, 10**9)
    assert (kept.columns, kept.ignored) == (source.columns, source.ignored)
    for mine, other in zip(kept.blocks(), source.blocks(), strict=True):
        np.testing.assert_array_equal(mine.rows, other.rows)
        np.testing.assert_array_equal(mine.weights, other.weights)
