"""Columns that repeat or determine each other are found, and near misses are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import asterism
from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.engines.reduce import reduce
from asterism.stats.moments import Moments
from asterism.verdict.choose import choose_k
from asterism.verdict.repeated import MOST_PAIRED, repeated_columns, without_repeated

N = 300
RNG = np.random.default_rng(0)


def names(levels: int) -> tuple[str, ...]:
    return tuple(f"level {i}" for i in range(levels))


def found(weights=None, fixed=(), **cells):
    """Of columns by name: numbers, or codes with how many levels they have."""
    columns, rows = [], []
    for name, value in cells.items():
        x, levels = value if isinstance(value, tuple) else (value, 0)
        columns.append(Column(name, "categorical" if levels else "numeric", names(levels)))
        rows.append(np.asarray(x, np.float64))
    rows = np.column_stack(rows)
    weights = np.ones(len(rows)) if weights is None else weights
    return repeated_columns(columns, rows, weights, fixed)


def holey(x, share, seed):
    x = np.array(x, np.float64)
    x[np.random.default_rng(seed).random(len(x)) < share] = np.nan
    return x


KG = RNG.normal(70, 10, N)


# --- numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("copy", "reason"),
    [
        (KG, "repeats 'kg'"),
        (2.20462 * KG, "'kg' in other units: 2.2046 x"),
        (1.8 * KG + 32, "'kg' in other units: 1.8 x + 32"),
        (5 - KG, "'kg' in other units: -1 x + 5"),
        (np.exp(KG / 10), "grows with 'kg', in every row"),
        (1 / KG**3, "falls as 'kg' grows, in every row"),
    ],
)
def test_a_monotone_copy_is_set_aside_with_what_it_is(copy, reason):
    assert found(kg=KG, copy=copy) == {"copy": reason}


def test_a_rounded_copy_is_the_one_that_is_set_aside():
    assert list(found(rounded=np.round(KG), kg=KG)) == ["rounded"]
    assert list(found(pounds=np.round(2.20462 * KG), kg=np.round(KG, 1))) == ["pounds"]


def test_a_copy_with_little_noise_counts_and_a_high_correlation_does_not():
    noise = np.random.default_rng(1).normal(0, 10, N)
    assert list(found(kg=KG, other=2 * KG + 5e-4 * noise)) == ["other"]
    assert found(kg=KG, other=KG + 0.005 * noise) == {}
    assert found(kg=KG, other=KG + 0.2 * noise) == {}  # a correlation of 0.98


def test_columns_that_agree_in_far_groups_or_outliers_only_are_no_copies():
    rng = np.random.default_rng(2)
    group = np.repeat([0.0, 1e6], N // 2)
    x, y = rng.normal(size=(2, N)) + group
    assert np.corrcoef(x, y)[0, 1] > 1 - 1e-9
    assert found(x=x, y=y) == {}
    x, y = rng.normal(size=(2, N))
    x[0] = y[0] = 1e9
    assert found(x=x, y=y) == {}


def test_copies_with_holes_in_different_places_are_found_and_the_fuller_one_stays():
    assert found(a=holey(KG, 0.3, 1), b=holey(3 * KG, 0.1, 2)) == {"a": "'b' in other units: 0.33333 x"}
    half = np.where(np.arange(N) < 150, KG, np.nan)
    assert found(a=half, b=np.where(np.arange(N) >= 145, KG, np.nan)) == {}  # 5 rows in common


def test_few_rows_or_few_values_prove_nothing():
    x = np.arange(6.0)
    assert found(x=x, y=x**2) == {}
    assert found(x=RNG.permutation(np.resize(x, N)), y=RNG.permutation(np.resize(x, N))) == {}


# --- levels -----------------------------------------------------------------------------------------------------

CITY = RNG.integers(0, 8, N)
REGION = CITY // 3


def test_two_names_for_one_category_count_once():
    code = np.array([3, 1, 0, 2, 7, 6, 5, 4])[CITY]
    assert found(city=(CITY, 8), code=(code, 8)) == {"code": "repeats 'city'"}
    assert found(code=(code, 8), city=(CITY, 8)) == {"city": "repeats 'code'"}
    assert found(city=(CITY, 8), number=10.0 * code) == {"number": "repeats 'city'"}


def test_what_follows_from_another_category_is_set_aside():
    reason = {"region": "follows from 'city'"}
    assert found(city=(CITY, 8), region=(REGION, 3)) == reason
    assert found(region=(REGION, 3), city=(CITY, 8)) == reason
    assert found(region=(holey(REGION, 0.2, 1), 3), city=(holey(CITY, 0.2, 2), 8)) == reason
    assert found(city=(CITY, 8), latitude=np.array([50.1, 48.2, 53.6])[REGION]) == {
        "latitude": "follows from 'city'"
    }


def test_one_wrong_cell_in_a_hundred_is_a_slip_and_four_are_not():
    for wrong, expected in ((3, ["region"]), (12, [])):
        region = REGION.copy()
        region[:wrong] = (region[:wrong] + 1) % 3
        assert list(found(city=(CITY, 8), region=(region, 3))) == expected


def test_a_rare_level_must_follow_as_well():
    """A column that is nearly always "no" is known to one in a hundred cells whatever the other is."""
    rare = np.zeros(2000)
    rare[:19] = 1
    assert found(city=(np.random.default_rng(3).integers(0, 8, 2000), 8), rare=(rare, 2)) == {}


@pytest.mark.parametrize("seed", range(20))
def test_a_category_with_few_rows_a_level_determines_nothing_by_chance(seed):
    rng = np.random.default_rng(seed)
    street, answer = rng.integers(0, 250, 60), rng.integers(0, 2, 60)
    assert found(street=(street, 250), answer=(answer, 2)) == {}


def test_a_category_that_only_leans_on_another_stays():
    island = np.where(RNG.random(N) < 0.95, REGION, (REGION + 1) % 3)
    assert found(species=(REGION, 3), island=(island, 3)) == {}


# --- intervals --------------------------------------------------------------------------------------------------

AGE = RNG.integers(0, 90, N)


def test_a_number_cut_into_levels_counts_once():
    assert found(age=AGE, adult=(AGE >= 18, 2)) == {"adult": "follows from 'age'"}
    assert found(adult=(holey(AGE >= 18, 0.2, 1), 2), age=holey(AGE, 0.2, 2)) == {
        "adult": "follows from 'age'"
    }
    assert found(kg=KG, step=np.digitize(KG, [55, 65, 72, 80])) == {"step": "follows from 'kg'"}


def test_a_level_that_overlaps_its_neighbour_stays():
    noisy = AGE + RNG.normal(0, 3, N) >= 18
    assert found(age=AGE, adult=(noisy, 2)) == {}


def test_a_name_of_far_groups_is_no_interval_of_the_numbers_that_tell_them_apart():
    rng = np.random.default_rng(5)
    group = np.repeat([0, 1, 2], N // 3)
    assert found(x=rng.normal(size=N) + 9 * group, name=(group, 3)) == {}
    assert found(x=rng.poisson(4 + 40 * group), name=(group, 3)) == {}
    few = np.arange(N) < 6
    assert found(x=rng.normal(size=N) + 30 * few, name=(few, 2)) == {}


def test_a_few_rows_in_order_are_chance():
    assert found(x=np.arange(7.0), high=([0, 0, 0, 0, 1, 1, 1], 2)) == {}


# --- all columns ------------------------------------------------------------------------------------------------


def test_one_of_each_set_of_copies_stays_whatever_the_order():
    rng = np.random.default_rng(6)
    cells = {
        "kg": KG, "lb": 2.2 * KG, "log": np.log(KG), "coarse": np.round(KG), "heavy": (KG > 71, 2),
        "free": rng.normal(size=N),
        "city": (CITY, 8), "code": (7 - CITY, 8), "region": (REGION, 3), "other": (rng.integers(0, 4, N), 4),
    }  # fmt: skip
    for _ in range(10):
        order = rng.permutation(list(cells))
        gone = set(found(**{name: cells[name] for name in order}))
        kept = [name for name in order if name not in gone]
        assert {"free", "other"} < set(kept)
        assert len(kept) == 4
        assert [next(n for n in order if n in some) for some in (("kg", "lb", "log"), ("city", "code"))] == [
            next(n for n in kept if n in some) for some in (("kg", "lb", "log"), ("city", "code"))
        ]


def test_rows_in_another_order_and_other_units_give_the_same():
    rng = np.random.default_rng(7)
    order = rng.permutation(N)
    cells = {
        "age": AGE,
        "adult": (AGE >= 18, 2),
        "kg": KG,
        "lb": 2.2 * KG,
        "city": (CITY, 8),
        "region": (REGION, 3),
    }
    turned = {k: (v[0][order], v[1]) if isinstance(v, tuple) else 1e6 * v[order] for k, v in cells.items()}
    assert found(**turned) == found(**cells)


def test_rows_of_weight_zero_are_absent():
    wrong = np.append(KG, [1.0, 2.0])
    assert found(weights=np.append(np.ones(N), [0, 0]), kg=wrong, lb=np.append(2 * KG, [9.0, 3.0])) == {
        "lb": "'kg' in other units: 2 x"
    }


def test_a_column_that_the_user_spoke_of_stays_and_its_copy_goes():
    assert list(found(kg=KG, lb=2 * KG, fixed=("lb",))) == ["kg"]
    assert found(kg=KG, lb=2 * KG, fixed=("lb", "kg")) == {}


def test_copies_in_wide_tables_are_found():
    x = np.random.default_rng(8).normal(size=(60, MOST_PAIRED + 40))
    x[:, 100], x[:, 160] = np.exp(x[:, 3]), -x[:, 5]
    columns = [Column(f"x{j}") for j in range(x.shape[1])]
    assert list(repeated_columns(columns, x, np.ones(60))) == ["x100", "x160"]


def test_tables_of_noise_lose_nothing():
    rng = np.random.default_rng(9)
    for n in (5, 20, 100):
        x = np.column_stack([rng.normal(size=(n, 5)), rng.poisson(2, (n, 5)), rng.integers(0, 2, (n, 5))])
        columns = [Column(f"x{j}", *(("boolean", ("no", "yes")) if j >= 10 else ())) for j in range(15)]
        assert repeated_columns(columns, x, np.ones(n)) == {}


# --- in use -----------------------------------------------------------------------------------------------------


def test_a_part_of_the_narrower_table_has_its_rows():
    x = np.random.default_rng(10).normal(size=(200_000, 3))
    whole = ArraySource(x[:, [0, 1]])
    narrow = without_repeated(ArraySource(np.column_stack([x[:, 0], 2 * x[:, 0], x[:, 1]])))
    assert narrow.names == ("x0", "x2")
    np.testing.assert_array_equal(reduce(narrow, Moments.of).mean, reduce(whole, Moments.of).mean)
    some = narrow.part(1, narrow.n_blocks).blocks(1, narrow.n_blocks)
    rows = np.concatenate([block.rows for block in some])
    np.testing.assert_array_equal(rows, x[narrow.block_rows :, :2])


@pytest.fixture(scope="module")
def pets():
    rng = np.random.default_rng(11)
    says = np.repeat(["meow", "woof"], 80)
    kg = np.where(says == "woof", 9, 4) + rng.normal(size=160)
    return pd.DataFrame({"kg": kg, "cm": 5 * kg + rng.normal(0, 4, 160), "says": says,
                         "fur": rng.choice(["long", "short", "none"], 160)})  # fmt: skip


def test_a_category_written_twice_gives_the_groups_of_one(pets, tmp_path):
    twice = pets.assign(coat=pets["fur"].map({"long": "L", "short": "S", "none": "0"}))
    once, again = asterism.find(pets), asterism.find(twice)
    np.testing.assert_array_equal(once.labels, again.labels)
    assert once.choice.verdict == again.choice.verdict
    assert again.headline == "Used 4 of 5 columns; 1 repeats another."
    assert [(c.name, c.reason) for c in again.ignored] == [("coat", "repeats 'fur'")]
    again.save(tmp_path / "m.asterism")
    labels, _ = asterism.load(tmp_path / "m.asterism").assign(pets)  # the copy is not asked for
    np.testing.assert_array_equal(labels, again.labels)


def test_a_column_with_a_given_kind_is_used(pets):
    twice = pets.assign(coat=pets["fur"].map({"long": "L", "short": "S", "none": "0"}))
    finding = asterism.find(twice, k=2, kinds={"coat": "categorical"})
    assert [c.name for c in finding.ignored] == ["fur"]


def test_find_and_choose_k_leave_out_the_same_column_of_an_array():
    rng = np.random.default_rng(12)
    x = np.vstack([rng.normal(0, 1, (90, 2)), rng.normal(5, 1, (60, 2))])
    more = np.column_stack([x, 2.54 * x[:, 1]])
    finding = asterism.find(more)
    np.testing.assert_array_equal(finding.labels, asterism.find(x).labels)
    choice = choose_k(more, criteria=["bic"])
    np.testing.assert_array_equal(choice.labels, finding.labels)
    assert [c.name for c in finding.ignored] == ["x2"]
    assert choice.reasons[-1] == "'x2' is left out ('x1' in other units: 2.54 x)."
