"""Forms of columns: there and back, slopes, points, tables seen through them, and files."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from asterism.data.columns import Column
from asterism.data.margins import Form, Margins, MarginSource
from asterism.data.source import ArraySource, Source
from asterism.errors import ModelFileError

FORMS = {
    "plain": Form(),
    "log": Form("log", least=0.01),
    "log of what is above 3": Form("log", 3.0, least=0.01),
    "log of what is below 50": Form("log", 50.0, sign=-1, least=0.01),
    "root": Form("root"),
    "asinh": Form("asinh", 7.0, 2.5),
}
CELLS = np.array([3.5, 4.0, 7.0, 19.0, 42.0, 49.5])


@pytest.mark.parametrize("name", FORMS)
def test_a_form_rises_and_goes_back(name):
    values = FORMS[name].of(CELLS)
    assert (np.diff(values) > 0).all()
    np.testing.assert_allclose(FORMS[name].back(values), CELLS, rtol=1e-12)


@pytest.mark.parametrize("name", FORMS)
def test_the_slope_is_the_numerical_derivative(name):
    form, h = FORMS[name], 1e-5
    numerical = (form.of(CELLS + h) - form.of(CELLS - h)) / (2 * h)
    np.testing.assert_allclose(form.log_slope(CELLS), np.log(numerical), atol=1e-6)


def test_cells_outside_the_domain_become_the_nearest_inside():
    assert Form("log", least=0.5).of(np.array([-3.0, 0.0, 0.5])).tolist() == [np.log(0.5)] * 3
    assert Form("log", 10.0, sign=-1, least=0.5).of(np.array([9.5, 12.0])).tolist() == [-np.log(0.5)] * 2
    assert Form("root").of(np.array([-2.0])).tolist() == [np.sqrt(3 / 8)]
    assert Form("count", 1.0).of(np.array([-2.0, 1.0, 2.4])).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("name", FORMS)
def test_missing_and_infinite_cells_stay(name):
    cells = np.array([np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(FORMS[name].of(cells), cells)
    assert FORMS[name].log_slope(cells).tolist() == [0.0, 0.0, 0.0]


def test_counts_have_no_density_to_carry_over():
    assert Form("count").log_slope(CELLS).tolist() == [0.0] * len(CELLS)
    assert Form("count", 1.0).back(np.array([0.0, 4.0])).tolist() == [1.0, 5.0]


# --- tables -----------------------------------------------------------------------------------------------------

COLUMNS = (Column("age"), Column("spend"), Column("spend = 0"), Column("visits"))
SOME = Margins(
    COLUMNS,
    (
        Form(),
        Form("log", least=0.5, point=0.0, share=0.4),
        Form("asinh", 1.0, 2.0),
        Form("count", 1.0, point=0.0),
    ),
)


def table(n=500, dtype=float):
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [
            rng.normal(40, 9, n),
            rng.lognormal(2, 1, n) * (rng.random(n) > 0.4),
            rng.standard_t(2, n),
            rng.poisson(2, n),
        ]
    )
    rows[::17, 1] = np.nan
    return rows.astype(dtype)


def test_a_point_becomes_a_boolean_and_a_hole():
    assert [(c.name, c.kind) for c in SOME.modelled] == [
        ("age", "numeric"),
        ("spend = 0", "boolean"),
        ("spend", "numeric"),
        ("spend = 0_2", "numeric"),
        ("visits = 0", "boolean"),
        ("visits", "count"),
    ]
    assert SOME.origins == (0, 1, 1, 2, 3, 3)
    out = SOME.apply(np.array([[40.0, 0.0, 1.0, 0.0], [40.0, np.e, 1.0, 3.0], [np.nan] * 4]))
    np.testing.assert_allclose(out[0], [40.0, 1.0, np.nan, 0.0, 1.0, np.nan])
    np.testing.assert_allclose(out[1], [40.0, 0.0, 1.0, 0.0, 0.0, 2.0])
    assert np.isnan(out[2]).all()


def test_the_jacobian_carries_a_density_over():
    """The density of a log-normal and of a sinh-normal column, from that of normal ones."""
    from scipy.stats import johnsonsu, lognorm, norm

    margins = Margins(COLUMNS[:2], (Form("log", least=1e-9), Form("asinh", 1.0, 2.0)))
    rows = np.column_stack([np.linspace(0.2, 9, 30), np.linspace(-20, 20, 30)])
    ours = norm.logpdf(margins.apply(rows)).sum(axis=1) + margins.log_jacobian(rows)
    theirs = lognorm.logpdf(rows[:, 0], 1.0) + johnsonsu.logpdf(rows[:, 1], 0.0, 1.0, 1.0, 2.0)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_rows_at_a_point_have_no_slope():
    rows = np.array([[40.0, 0.0, 1.0, 0.0]])
    np.testing.assert_allclose(SOME.log_jacobian(rows), Form("asinh", 1.0, 2.0).log_slope(rows[:, 2]))


class InPieces(Source):
    """An array in pieces of a size."""

    def __init__(self, rows, size):
        self.rows, self.size, self.columns = rows, size, COLUMNS
        self.n_rows, self.dtype = len(rows), rows.dtype

    def pieces(self, start, stop):
        for a in range(start, stop, self.size):
            yield self.rows[a : min(a + self.size, stop)], None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_are_the_same_for_pieces_of_any_size(dtype):
    rows = table(dtype=dtype)
    whole = [block.rows for block in MarginSource(ArraySource(rows, None, COLUMNS), SOME).blocks()]
    for size in (1, 7, 499, 10_000):
        parts = [block.rows for block in MarginSource(InPieces(rows, size), SOME).blocks()]
        for a, b in zip(whole, parts, strict=True):
            assert a.dtype == dtype
            np.testing.assert_array_equal(a, b)


def test_a_part_has_the_blocks_of_the_whole():
    rows = np.tile(table(), (400, 1))
    source = MarginSource(ArraySource(rows, np.ones(len(rows)), COLUMNS), SOME)
    assert source.n_blocks > 2
    part = pickle.loads(pickle.dumps(source.part(1, 2)))
    [one], [other] = part.blocks(1, 2), source.blocks(1, 2)
    np.testing.assert_array_equal(one.rows, other.rows)
    assert one.start == other.start


def test_plain_margins_change_nothing():
    plain = Margins.plain(COLUMNS)
    assert plain.is_plain
    assert plain.modelled == COLUMNS
    np.testing.assert_array_equal(plain.apply(table()), table())


def test_columns_say_how_they_are_seen():
    described = SOME.described((*COLUMNS[:3], Column("visits", reason="whole numbers")))
    assert [column.reason for column in described] == [
        "",
        "numbers, with 40% exactly 0, the others seen by their logarithm",
        "numbers, seen by their asinh, for their tails are heavy",
        "whole numbers, with 0% exactly 0, the others seen as counts",
    ]


# --- files ------------------------------------------------------------------------------------------------------


def test_json_brings_back_the_same_forms():
    assert Margins.from_dict(json.loads(json.dumps(SOME.to_dict())), COLUMNS) == SOME


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "exec"},
        {"kind": "log", "least": 0.0},
        {"unit": 0.0},
        {"unit": "1"},
        {"shift": float("nan")},
        {"sign": 2},
        {"sign": True},
        {"share": 1.5},
        {"point": float("inf")},
        {"more": 1},
    ],
)
def test_a_file_with_other_forms_is_refused(change):
    spec = Margins.plain(COLUMNS[:1]).to_dict()
    spec["forms"][0] |= change
    with pytest.raises(ModelFileError):
        Margins.from_dict(spec, COLUMNS[:1])


@pytest.mark.parametrize("spec", [None, [], {}, {"forms": []}, {"forms": [1]}, {"forms": [{}]}])
def test_a_file_of_another_shape_is_refused(spec):
    with pytest.raises(ModelFileError):
        Margins.from_dict(spec, COLUMNS[:1])


def test_a_form_for_names_is_refused():
    spec = Margins.plain(COLUMNS[:1]).to_dict()
    spec["forms"][0] |= {"kind": "root"}
    with pytest.raises(ModelFileError, match="columns of numbers"):
        Margins.from_dict(spec, (Column("color", "categorical", ("blue", "red")),))
