"""Wide tables whose groups no principal direction shows; and wide tables that have none."""

from __future__ import annotations

import numpy as np
import pytest

import asterism
from asterism.data.encode import EncodedSource
from asterism.data.source import ArraySource
from asterism.methods.encoding import standard_encoding
from asterism.verdict import all_columns
from asterism.verdict.all_columns import in_all_columns
from asterism.verdict.choose import choose_in_view
from asterism.verdict.tabulate import Question
from asterism.verdict.view import view_of_numbers

ROWS, COLUMNS, NOISY = 900, 30, 24
KS = list(range(1, 6))
QUESTION = Question(KS, frozenset({"bic", "icl"}))


def hidden_groups(seed: int = 0, groups: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Groups far apart in two directions in which rows hardly differ, beside many in which they differ a lot."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(groups, size=ROWS)
    hidden = rng.standard_normal((ROWS, COLUMNS)) * np.where(np.arange(COLUMNS) < NOISY, 4.0, 0.3)
    angle = 2 * np.pi * labels / groups
    hidden[:, -2:] += 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return hidden @ np.linalg.qr(rng.standard_normal((COLUMNS, COLUMNS)))[0], labels


def encoded(x: np.ndarray) -> EncodedSource:
    source = ArraySource(x)
    return EncodedSource(source, standard_encoding(source, scale=True))


def same_groups(a: np.ndarray, b: np.ndarray) -> bool:
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist())) == len(set(b.tolist()))


def test_groups_that_no_principal_direction_shows_are_found_in_all_columns():
    x, truth = hidden_groups()
    source = ArraySource(x)
    reduced = view_of_numbers(encoded(x))
    assert reduced.name == "reduced"
    assert choose_in_view(source, reduced, QUESTION).k == 1
    found = asterism.find(x, k=KS)
    assert found.k == 3
    assert same_groups(found.labels, truth)
    assert "all columns" in found.settings["plan"]
    assert found.model.view.name == "scaled"


def test_the_model_assigns_new_rows_and_threads_change_nothing(tmp_path):
    x, truth = hidden_groups(seed=1)
    with asterism.engine(n_threads=1):
        one = asterism.find(x, k=KS)
    with asterism.engine(n_threads=3):
        three = asterism.find(x, k=KS)
    np.testing.assert_array_equal(one.labels, three.labels)
    np.testing.assert_array_equal(one.probabilities, three.probabilities)
    one.save(tmp_path / "groups.asterism")
    again = asterism.load(tmp_path / "groups.asterism")
    labels, _ = again.labels_and_doubt(asterism.read(x))
    np.testing.assert_array_equal(labels, one.labels)
    assert same_groups(labels, truth)


def heavy(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((ROWS, COLUMNS)) / np.sqrt(rng.chisquare(3, (ROWS, 1)) / 3)


def skewed(rng: np.random.Generator) -> np.ndarray:
    return np.exp(0.7 * rng.standard_normal((ROWS, COLUMNS)))


def crescent(rng: np.random.Generator) -> np.ndarray:
    angle = rng.uniform(0, np.pi, ROWS)
    rest = rng.standard_normal((ROWS, COLUMNS - 2))
    bent = np.column_stack([5 * np.cos(angle), 5 * np.sin(angle), rest])
    return bent @ rng.standard_normal((COLUMNS, COLUMNS))


def uneven(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((ROWS, COLUMNS)) * np.exp(0.6 * rng.standard_normal((ROWS, 1)))


@pytest.mark.parametrize("kind", [heavy, skewed, crescent, uneven])
def test_rows_that_are_not_normal_are_no_groups(kind):
    assert in_all_columns(encoded(kind(np.random.default_rng(5))), QUESTION) is None


def test_a_normal_table_stays_one_group():
    x, _ = hidden_groups(groups=1)
    assert in_all_columns(encoded(x), QUESTION) is None


def test_where_rows_are_few_or_columns_too_many_nothing_is_fitted(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a mixture was fitted")

    monkeypatch.setattr(all_columns, "fit_mixture", refuse)
    rng = np.random.default_rng(0)
    assert in_all_columns(encoded(rng.standard_normal((599, 30))), QUESTION) is None
    assert in_all_columns(encoded(rng.standard_normal((400, 300))), QUESTION) is None


def test_missing_cells_hide_nothing():
    x, truth = hidden_groups(seed=2)
    x[np.random.default_rng(0).random(x.shape) < 0.01] = np.nan
    found = in_all_columns(encoded(x), QUESTION)
    assert found is not None
    assert found.k == 3
    table = np.histogram2d(found.labels, truth, bins=(3, 3))[0]
    assert table.max(axis=1).sum() > 0.97 * ROWS
