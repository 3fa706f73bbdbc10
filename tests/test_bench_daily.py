"""Tables of daily life: what is planted, how it is written, how kinds are judged; a few tables from end to end."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("bench")
from bench import daily, daily_cells
from bench.daily_draft import Column
from bench.daily_files import clean_frame, frame_of_pandas, save
from bench.daily_tables import RECIPES

from asterism.data.opening import opened

SORTS = {"number", "order", "names", "yes/no", "moment", "place", "vector", "crowd", "aside"}


def test_there_are_as_many_tables_as_promised_of_the_sizes_promised() -> None:
    assert len(RECIPES) >= 30
    assert {300, 50_000} <= {recipe.rows for recipe in RECIPES.values()}
    assert all(300 <= recipe.rows <= 50_000 and 2 <= recipe.groups <= 6 for recipe in RECIPES.values())
    assert {recipe.layout.form for recipe in RECIPES.values()} == {"csv", "jsonl", "json", "xlsx", "parquet"}


@pytest.mark.parametrize("name", RECIPES)
def test_a_table_is_the_same_by_the_same_seed_and_whole(name, tmp_path) -> None:
    draft, again = (RECIPES[name].draft(3, 300) for _ in range(2))
    assert [c.written for c in draft.columns] == [c.written for c in again.columns]
    assert RECIPES[name].draft(4, 300).columns[1].written != draft.columns[1].written
    assert {c.sort for c in draft.columns} <= SORTS
    assert all(len(c.written) == 300 for c in draft.columns)
    assert len(np.unique(draft.z)) == RECIPES[name].groups
    frame, kinds = clean_frame(draft)
    assert list(frame) == list(kinds)
    assert len(frame) == len(frame_of_pandas(draft, RECIPES[name].layout)) == 300
    table = opened(save(draft, RECIPES[name].layout, tmp_path))
    assert list(table.types) == [c.name for c in draft.columns]
    assert sum(len(batch[c.name]) for c in draft.columns[:1] for batch in table.batches([c.name])) == 300


def test_the_clean_columns_tell_the_groups_apart() -> None:
    """A discriminant that is given the groups finds most of them again: they are there to be found."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    for name, recipe in RECIPES.items():
        draft = recipe.draft(0, 1000)
        frame, _ = clean_frame(draft)
        x = pd.get_dummies(frame).astype(float)
        x = x.fillna(x.median())
        right = LinearDiscriminantAnalysis().fit(x, draft.z).score(x, draft.z)
        assert right > 0.8, name


def test_cells_are_written_as_people_do() -> None:
    assert daily_cells.dollars(-12.5) == "(12.50)"
    assert daily_cells.euros(1234.5) == "1.234,50 EUR"
    assert daily_cells.unit("cm", 0, "")(45.2) == "45cm"
    assert daily_cells.clock(14.6) == "14:36"
    assert daily_cells.american(583) == "8/6/2024"
    assert daily_cells.at_least(5)(3.0) == "<5"


@pytest.mark.parametrize(
    ("sort", "written", "right", "wrong"),
    [
        ("number", ["1 kg", "2 kg"] * 20, "numeric", "categorical"),
        ("order", ["low", "high"], "ordinal", "categorical"),
        ("order", ["1", "7"], "numeric", "categorical"),
        ("names", ["a", "b", "c"], "categorical", "ignored"),
        ("yes/no", ["no", "yes"], "boolean", "ignored"),
        ("moment", ["2024-01-01"], "datetime", "categorical"),
        ("vector", [[1.0]], "several", "ignored"),
        ("aside", ["K1"], "ignored", "numeric"),
        ("crowd", ["Smith"], "ignored", "numeric"),
    ],
)
def test_kinds_are_judged(sort, written, right, wrong) -> None:
    column = Column("x", sort, written)
    levels = len({str(cell) for cell in written})
    assert daily.is_right(column, right, levels)
    assert not daily.is_right(column, wrong, levels)


def test_a_short_run_gives_a_summary() -> None:
    result = daily.run(RECIPES["wine"], seed=1, rows=300)
    assert result.oracle > 0.7
    assert set(result.peers) == set(daily.peer_scores.__globals__["WAYS"]) - set(daily.present())
    text = daily.summary([result])
    assert "of the oracle's" in text
    assert "lead over the best peer" in text
