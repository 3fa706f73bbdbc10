from __future__ import annotations

import numpy as np
import pytest

from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.explain.profiles import group_profiles

COLUMNS = (
    Column("size"),
    Column("colour", "categorical", ("blue", "green", "red")),
    Column("grade", "ordinal", ("low", "mid", "high")),
    Column("alive", "boolean", ("no", "yes")),
)


def table(n=400, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    x = np.column_stack(
        [rng.normal(50, 9, n), rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(0, 2, n)]
    )
    x[rng.random(x.shape) < missing] = np.nan
    return x, rng.integers(0, 3, n)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_profiles_are_means_and_shares_by_brute_force(missing) -> None:
    x, labels = table(missing=missing)
    for profile in group_profiles(ArraySource(x, columns=COLUMNS), labels, 3):
        mine = x[labels == profile.group]
        assert profile.size == len(mine)
        assert profile.share == pytest.approx(len(mine) / len(x))
        assert profile.centre["size"] == pytest.approx(np.nanmean(mine[:, 0]))
        colours = [np.nanmean(np.where(np.isnan(mine[:, 1]), np.nan, mine[:, 1] == c)) for c in range(3)]
        assert profile.centre["colour"] == COLUMNS[1].levels[int(np.argmax(colours))]
        assert profile.centre["grade"] == COLUMNS[2].levels[round(np.nanmean(mine[:, 2]))]


def test_difference_is_in_standard_deviations_of_all_rows() -> None:
    x, labels = table()
    for profile in group_profiles(ArraySource(x, columns=COLUMNS), labels, 3):
        trait = next(t for t in profile.apart if t.column == "size")
        expected = (x[labels == profile.group, 0].mean() - x[:, 0].mean()) / x[:, 0].std()
        assert trait.difference == pytest.approx(expected)
        assert trait.overall == pytest.approx(x[:, 0].mean())
        sizes = [abs(t.difference) for t in profile.apart]
        assert sizes == sorted(sizes, reverse=True)


def test_level_that_marks_a_group_is_the_one_it_has_more_of() -> None:
    x, labels = table()
    x[:, 1] = np.where(labels == 1, 2, 0)
    profile = group_profiles(ArraySource(x, columns=COLUMNS), labels, 3)[1]
    trait = profile.apart[0]
    assert (trait.column, trait.value, trait.share) == ("colour", "red", 1.0)
    assert trait.overall == pytest.approx((labels == 1).mean())


def test_weighted_equals_repeated() -> None:
    x, labels = table(60)
    w = np.arange(60) % 4
    weighted = group_profiles(ArraySource(x, w, COLUMNS), labels, 3)
    repeated = group_profiles(ArraySource(np.repeat(x, w, axis=0), columns=COLUMNS), np.repeat(labels, w), 3)
    for a, b in zip(weighted, repeated, strict=True):
        assert a.share == pytest.approx(b.share)
        assert a.centre["size"] == pytest.approx(b.centre["size"])
        assert [t.difference for t in a.apart] == pytest.approx([t.difference for t in b.apart])


def test_rows_with_a_negative_label_belong_to_no_group() -> None:
    x, labels = table(60)
    labels[:20] = -1
    some = group_profiles(ArraySource(x, columns=COLUMNS), labels, 3)
    rest = group_profiles(ArraySource(x[20:], columns=COLUMNS), labels[20:], 3)
    assert [p.size for p in some] == [p.size for p in rest]
    assert some[0].centre["size"] == pytest.approx(rest[0].centre["size"])


def test_group_without_an_observed_cell_has_no_typical_value() -> None:
    x, labels = table(60)
    x[labels == 0, :2] = np.nan
    profile = group_profiles(ArraySource(x, columns=COLUMNS), labels, 3)[0]
    assert profile.centre["size"] is None
    assert profile.centre["colour"] is None
    assert {t.difference for t in profile.apart if t.column in ("size", "colour")} == {0.0}
