"""Cells as people write them: numbers with decoration, dates, words in order, and what stands for "not known"."""

import datetime
import doctest

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import read
from asterism.data.calendar import in_cycle, opening
from asterism.data.dates import ORDERS, parsed_dates
from asterism.data.decorated import Numbers, parsed
from asterism.data.ladders import steps, truth
from asterism.data.names import Names
from asterism.data.units import units_of
from asterism.data.unknown import sentinels
from asterism.errors import DataError

RNG = np.random.default_rng(0)


def column_of(cells, name="c", **more):
    """The columns that one column becomes, beside another that is surely used."""
    table = pa.table({name: cells, "other": RNG.normal(size=len(cells))})
    source = read(table, **more)
    return [c for c in (*source.columns, *source.ignored) if c.name != "other"]


def values_of(cells, name="c", **more):
    """The numbers that one column becomes."""
    source = read(pa.table({name: cells, "other": RNG.normal(size=len(cells))}), **more)
    rows = np.concatenate([block.rows for block in source.blocks()])
    return rows[:, [j for j, n in enumerate(source.names) if n != "other"]]


# --- numbers in text --------------------------------------------------------------------------------------------


def german(x: float) -> str:
    return f"{x:,.2f}".translate(str.maketrans(",.", ".,"))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-(10**9), 10**9).map(lambda cents: cents / 100), min_size=1, max_size=8))
def test_amounts_come_back_from_either_convention(amounts):
    english = parsed(pa.array([f"${x:,.2f}" if x >= 0 else f"(${-x:,.2f})" for x in amounts]))
    np.testing.assert_array_equal(english.values["."], amounts)
    other = parsed(pa.array([f"{german(x)} EUR" for x in amounts]))
    np.testing.assert_array_equal(other.values[","], amounts)


@pytest.mark.parametrize(
    ("cell", "point", "comma"),
    [
        ("1,234", 1234, 1.234),
        ("1.234", 1.234, 1234),
        ("1'234.50", 1234.5, np.nan),
        ("1 234,5", np.nan, 1234.5),
        ("12,34,567", 1234567, np.nan),
        ("-€3.50", -3.5, np.nan),
        ("− 5 kg", -5, -5),
        ("(7)", -7, -7),
        ("(7", np.nan, np.nan),
        ("<5", 5, 5),
        ("45cm", 45, 45),
        ("5 m2", 5, 5),
        ("1.5e3 m", 1500, np.nan),
        ("01234", np.nan, np.nan),
        ("A12", np.nan, np.nan),
        ("1.2.3", np.nan, np.nan),
        ("14:35", np.nan, np.nan),
        ("2024-08-07", np.nan, np.nan),
        ("1,23", np.nan, 1.23),
        ("1,2345", np.nan, 1.2345),
    ],
)
def test_a_cell_is_the_number_that_each_convention_allows(cell, point, comma):
    found = parsed(pa.array([cell]))
    np.testing.assert_array_equal([found.values["."][0], found.values[","][0]], [point, comma])


def test_one_cell_that_allows_only_one_convention_decides_for_the_column():
    ambiguous = [f"{i}.{j:03d}" for i in range(1, 10) for j in (0, 250, 500)]
    assert values_of(ambiguous).max() == 9.5
    assert values_of([*ambiguous, "12,50"]).max() == 9500
    assert values_of([*(cell.replace(".", ",") for cell in ambiguous), "1,234.50"]).max() == 9500


def test_a_file_with_decimal_commas_decides_where_the_cells_do_not(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{1 + i % 9}.{i:03d};{i},5\n" for i in range(30)))
    rows = next(read(path).blocks()).rows
    assert rows[5].tolist() == [6005.0, 5.5]


def test_units_of_one_dimension_become_the_most_frequent_one():
    cells = ["70 kg", "71kg", "72 kg", "160 lb", "65000 g"] * 4
    values = values_of(cells)[:5, 0]
    np.testing.assert_allclose(values, [70, 71, 72, 160 * 0.45359237, 65])
    [column] = column_of(cells)
    assert "numbers in kg; 8 cells in other units converted" in column.reason
    celsius = values_of(["20 °C", "30 °C", "25 °C", "50 °F"] * 5)[:4, 0]
    np.testing.assert_allclose(celsius, [20, 30, 25, 10])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["5 kg", "7 cm", "8 kg"], "units that do not go together"),
        (["$5", "€7", "$8"], "no rate of exchange"),
    ],
)
def test_units_that_do_not_go_together_set_a_column_aside(cells, said):
    [column] = column_of(
        [
            f"{cell[0]}{i}{cell[1:]}" if cell[0] in "$€" else f"{i}{cell}"
            for i in range(1, 9)
            for cell in cells
        ]
    )
    assert column.kind == "ignored"
    assert said in column.reason


def test_rooms_and_room_are_one_unit_and_thousands_have_letters():
    assert units_of({"|rooms": 5, "|room": 3}).name == "rooms"
    np.testing.assert_allclose(values_of(["950", "1.2k", "3M", "2k"] * 5)[:4, 0], [950, 1200, 3e6, 2000])
    np.testing.assert_allclose(values_of(["$1.2k", "$3M", "$2k", "$5"] * 5)[:4, 0], [1200, 3e6, 2000, 5])


def test_limits_are_taken_where_they_lie_and_said():
    cells = ["<5", *[f"{x:.1f}" for x in np.linspace(5, 80, 30)], "> 100"]
    [column] = column_of(cells)
    assert values_of(cells)[[0, -1], 0].tolist() == [5, 100]
    assert "2 cells such as <5 taken at the limit" in column.reason


@pytest.mark.parametrize("word", ["unknown", "N/A", "-", "#DIV/0!", "k.A."])
def test_a_word_for_not_known_late_in_a_column_of_numbers_is_a_missing_cell(word):
    cells = [f"{x:.3f}" for x in RNG.normal(size=300)] + [word]
    assert np.isnan(values_of(cells)[-1, 0])
    assert repr(word) in column_of(cells)[0].reason


def test_a_strange_word_that_comes_again_is_missing_and_one_that_does_not_is_refused_with_its_place():
    cells = [f"{x:.3f}" for x in RNG.normal(size=300)]
    assert np.isnan(values_of([*cells, "ausgefallen", "ausgefallen"])[-1, 0])
    with pytest.raises(DataError, match="'12x4' is not a number") as caught:
        column_of([*cells, "12x4"])
    assert (caught.value.row, caught.value.column) == (300, "c")
    assert np.isnan(values_of([*cells, "12x4"], na={"c": ["12x4"]})[-1, 0])


def test_nine_in_ten_numbers_with_decoration_are_never_categories():
    cells = [f"{i % 9} %" for i in range(95)] + ["n/a"] * 5
    assert [(c.kind, c.name) for c in column_of(cells)] == [("numeric", "c")]


def test_codes_are_no_numbers():
    zips = [f"{z:05d}" for z in RNG.integers(0, 99999, 200)]
    assert column_of(zips)[0].kind == "ignored"
    assert column_of(["01", "02", "10"] * 9)[0].kind == "categorical"
    numbers = RNG.permutation(90_000)[:300].tolist()
    for name in ("zip", "PLZ", "phone", "customer_number", "postal code", "ISBN", "countryCode"):
        assert column_of(numbers, name)[0].kind == "ignored", name
    for name in ("income", "codeine_mg", "number_of_rooms", "telemetry", "skunk"):
        assert column_of(numbers, name)[0].kind == "numeric", name


# --- not known ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1, 2, 3, 4, 5] * 20 + [99] * 5, (99,)),
        ([1, 2, 3, 4, 5] * 20 + [9] * 5, (9,)),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10] * 20, ()),
        ([1, 2, 3, 4, 5, 6, 7] * 20, ()),
        ([*range(18, 86)] * 3 + [99] * 12, (99,)),
        ([*range(18, 100)] * 3, ()),
        ([*range(18, 86)] * 3 + [-1] * 9, (-1,)),
        ([-1, 0, 1] * 30, ()),
        ([-3, -2, -1, 0, 1, 2, 3] * 30, ()),
        ([0, 1, 1, 2, 2, 3, 4, 8] * 9 + [-1] * 30, (-1,)),
        ([*range(20, 180)] * 2 + [999] * 8 + [-9] * 4, (-9, 999)),
        ([98, 99, 100, 101] * 9, ()),
        ([*range(60, 140)] * 3, ()),
    ],
)
def test_numbers_for_not_known_are_those_apart_from_all_others(values, found):
    column = column_of(values)[0]
    assert (column.reading.sentinels if column.reading else ()) == found
    if found:
        assert f"{found[0]:g}" in column.reason
        assert np.isnan(values_of(values)[np.isin(values, found), 0]).all()


def test_what_is_taken_for_missing_can_be_overruled():
    answers = [1, 2, 3, 4, 5] * 20 + [99] * 5
    assert values_of(answers, na={"c": ()}).max() == 99
    assert np.isnan(values_of(answers, na={"c": [5]})).sum() == 20
    assert np.isnan(values_of(answers, na=[4])).sum() == 25
    assert np.isnan(values_of(["a", "b", "weg"] * 9, na={"c": ["weg"]})).sum() == 9


def test_unlikely_sentinels_are_left_alone():
    assert sentinels({9.0: 4}, 1.0, 10.0) == ()
    assert sentinels({-1.0: 1}, 1.5, 80.0) == ()  # once: it may be a slip
    assert sentinels({}, 1.0, 2.0) == ()


# --- dates --------------------------------------------------------------------------------------------------------

FORMATS = {
    "%Y-%m-%d": "year", "%d.%m.%Y": "day", "%m/%d/%Y": "month", "%d/%m/%Y": "day", "%Y/%m/%d": "year",
    "%B %d, %Y": "year", "%d %b %Y": "year", "%Y-%m-%dT%H:%M:%SZ": "year", "%d.%m.%Y %H:%M": "day",
    "%m/%d/%y %I:%M %p": "month",
}  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2060, 12, 31)),
    st.sampled_from(list(FORMATS)),
)
def test_dates_come_back_from_every_format(moment, form):
    found = parsed_dates(pa.array([moment.strftime(form)]))
    assert found.days[FORMATS[form]][0] == (moment.date() - datetime.date(1970, 1, 1)).days
    if "%M" in form:
        seconds = moment.second if "%S" in form else 0
        assert found.hours[0] == pytest.approx(moment.hour + moment.minute / 60 + seconds / 3600)


@pytest.mark.parametrize("cell", ["30.02.2024", "2024-13-01", "32/1/2024", "1.2.3", "24:10", "word"])
def test_what_is_no_day_is_no_date(cell):
    found = parsed_dates(pa.array([cell]))
    assert all(np.isnan(found.days[order][0]) for order in ORDERS)
    assert np.isnan(found.hours[0])


def days_from(start, n, step=1):
    first = datetime.date.fromisoformat(start)
    return [first + datetime.timedelta(days=step * i) for i in range(n)]


def test_the_order_of_day_and_month_is_decided_by_the_column_and_doubt_is_said():
    days = days_from("2024-01-05", 60, 5)
    [column] = [c for c in column_of([d.strftime("%d/%m/%Y") for d in days]) if c.name == "c"]
    assert column.reason == "dates, the day first"
    [column] = [c for c in column_of([d.strftime("%m/%d/%Y") for d in days]) if c.name == "c"]
    assert column.reason == "dates, the month first"
    early = [d for d in days_from("2024-01-01", 300) if d.day <= 12]
    cells = [d.strftime("%m/%d/%Y") for d in early]
    [column] = [c for c in column_of(cells) if c.name == "c"]
    assert "the month first (no cell decides it; else c=date:day-first)" in column.reason
    swapped = values_of(cells, kinds={"c": "date:day-first,trend"})[:, 0]
    expected = [(datetime.date(d.year, d.day, d.month) - datetime.date(1970, 1, 1)).days for d in early]
    np.testing.assert_array_equal(swapped, expected)


def test_a_date_is_told_as_a_date():
    [column] = column_of([str(d) for d in days_from("2024-01-01", 40, 3)])
    assert (column.kind, column.text(19_942.0)) == ("numeric", "2024-08-07")


def test_only_cycles_that_the_table_shows_become_columns():
    even = days_from("2022-01-01", 1100)
    assert [c.name for c in column_of(pa.array(even))] == ["c"]
    weekdays = [d for d in even if d.weekday() < 5]
    found = column_of(pa.array(weekdays))
    assert [c.name for c in found] == ["c", "c: weekday"]
    assert found[1].levels == ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
    winter = [d for d in even if d.month in (11, 12, 1, 2)]
    months = {c.name: c.levels for c in column_of(pa.array(winter))}["c: month"]
    assert months == ("November", "December", "January", "February")


def test_hours_are_opened_where_no_row_is():
    hours = RNG.normal(23.5, 1.5, 400) % 24
    clock = [f"{int(h):02d}:{int(h % 1 * 60):02d}" for h in hours]
    [column] = column_of(clock)
    values = values_of(clock)[:, 0]
    assert values.std() < 2  # not torn apart at midnight
    assert column.text(float(np.mean(values)))[:2] in ("23", "00")
    assert opening([9, 1, 0, 0, 1, 5, 9, 9]) == 3
    assert not in_cycle([30] * 24)


def test_columns_of_dates_and_times_are_read_as_text_is():
    moments = [datetime.datetime(2024, 1, 1, 8) + datetime.timedelta(hours=7 * i) for i in range(200)]
    typed = values_of(pa.array(moments, pa.timestamp("us")))
    text = values_of([str(m) for m in moments])
    np.testing.assert_allclose(typed, text, atol=1e-9)
    times = pa.array([m.time() for m in moments], pa.time64("us"))
    assert [c.reason[:12] for c in column_of(times)] == ["dates and ti"]


# --- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        (["Ja", "nein", "JA", "ja"], ("nein", "ja")),
        (["yes", "No", "n/a", "y"], ("No", "yes")),
        (["TRUE", "FALSE"], ("FALSE", "TRUE")),
    ],
)
def test_words_for_yes_and_no_are_truth_values(cells, levels):
    [column] = column_of([*cells * 10, cells[-1] if cells[-1] != "y" else "yes"])
    assert (column.kind, tuple(level.lower() for level in column.levels)) == (
        "boolean",
        tuple(w.lower() for w in levels),
    )


@pytest.mark.parametrize(
    "levels",
    [
        ("low", "medium", "high"),
        ("never", "rarely", "sometimes", "often", "always"),
        ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
        ("XS", "S", "M", "L", "XL"),
        ("High School", "Bachelor's", "Master's", "PhD"),
        ("trifft nicht zu", "teils/teils", "trifft zu"),
        ("<18", "18-24", "25-34", "65+"),
        ("under $20k", "$20k-$50k", "over $100k"),
        ("1 - poor", "2", "3", "4", "5 - excellent"),
        ("nie", "selten", "manchmal", "oft", "immer"),
    ],
)
def test_well_known_words_stand_in_their_order(levels):
    cells = list(RNG.permutation(np.repeat(levels, 12)))
    [column] = column_of(cells)
    assert (column.kind, column.levels) == ("ordinal", levels)


@pytest.mark.parametrize(
    "levels", [("red", "green", "blue"), ("a", "b", "c"), ("A", "B", "0", "AB"), ("low", "blue")]
)
def test_words_without_an_order_get_none(levels):
    assert steps(levels, "blood") is None
    assert truth(levels) is None


def test_spellings_come_together_and_rare_names_are_pooled():
    [column] = column_of(["Berlin", "berlin", "BERLIN ", "Bonn", "Berlin"] * 8)
    assert column.levels == ("Berlin", "Bonn")
    assert "spelled in several ways" in column.reason
    cells = ["Kiel"] * 60 + ["Ulm"] * 50 + [f"village {i}" for i in range(40)]
    [column] = column_of(cells)
    assert column.levels == ("Kiel", "Ulm", "other")
    assert "40 rare ones (27% of the rows) pooled as 'other'" in column.reason


def test_names_of_levels_are_read_again_in_any_case():
    reading = Names(("Bonn", "other"), words=("n/a",), other="other")
    batch = {"c": pa.array(["bonn", "Rom", "N/A", None])}
    assert reading.cells(batch, "c", 0).to_pylist() == ["Bonn", "other", None, None]


@pytest.mark.parametrize(
    ("cell", "cause"),
    [
        ("p{}@example.org", "e-mail addresses"),
        ("https://example.org/{}", "web addresses"),
        ("0000{:04d}-aaaa-bbbb-cccc-0123456789ab", "UUIDs"),
        ("A{}", "an identifier"),
        ("a long remark about one thing or another, number {}", "free text"),
    ],
)
def test_what_is_no_group_of_rows_is_set_aside_with_its_cause(cell, cause):
    [column] = column_of([cell.format(i) for i in range(200)])
    assert column.kind == "ignored"
    assert column.reason.startswith(cause)


# --- places and vectors -------------------------------------------------------------------------------------------


def test_places_all_over_the_earth_lie_on_a_sphere_and_a_town_stays_flat():
    lat, lon = RNG.uniform(-80, 80, 300), RNG.uniform(-180, 180, 300)
    source = read(pa.table({"lat": lat, "lon": lon, "x": RNG.normal(size=300)}))
    assert [name[-1] for name in source.names] == ["x", "y", "z", "x"]
    rows = next(source.blocks()).rows[:, :3]
    np.testing.assert_allclose((rows**2).sum(axis=1), 1)
    # the angle between two places, by the haversine formula
    a, b = np.radians([lat[0], lon[0]]), np.radians([lat[1], lon[1]])
    half = np.sin((b[0] - a[0]) / 2) ** 2 + np.cos(a[0]) * np.cos(b[0]) * np.sin((b[1] - a[1]) / 2) ** 2
    assert np.arccos(rows[0] @ rows[1]) == pytest.approx(2 * np.arcsin(np.sqrt(half)))
    town = read(pa.table({"lat": 50 + lat / 100, "lon": 7 + lon / 100}))
    assert town.names == ("lat", "lon")


def test_a_vector_is_as_many_columns_as_it_has_numbers_and_a_missing_one_is_missing():
    cells = [[float(i), i / 2, 1.0] for i in range(30)]
    cells[3] = None
    values = values_of(pa.array(cells, pa.list_(pa.float64(), 3)))
    assert values.shape == (30, 3)
    assert np.isnan(values[3]).all()
    assert values[4].tolist() == [4, 2, 1]
    [column] = column_of(pa.array([[1.0], [1.0, 2.0]] * 5))
    assert "lists of different lengths" in column.reason


def test_a_reading_that_makes_no_sense_is_refused():
    for wrong in ({"decimal": ";"}, {"units": (("kg", float("nan"), 0.0),)}, {"sentinels": ("x",)}):
        with pytest.raises(ValueError, match="a reading needs"):
            Numbers(**wrong)


def test_examples_of_the_page_are_true(root):
    failed, tried = doctest.testfile(str(root / "docs" / "methods" / "columns.md"), module_relative=False)
    assert (failed, tried >= 4) == (0, True)
