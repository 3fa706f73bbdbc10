from __future__ import annotations

import click
import pytest

from asterism.cli.params import ColumnKind, NumberOfGroups, kinds_of
from asterism.data.columns import wishes


def number(text):
    return NumberOfGroups().convert(text, None, None)


def kind(text):
    return ColumnKind().convert(text, None, None)


def test_number_of_groups_is_one_or_a_range_with_both_ends() -> None:
    assert number("3") == 3
    assert list(number("1:4")) == [1, 2, 3, 4]
    assert list(number("5:5")) == [5]


@pytest.mark.parametrize("text", ["0", "-1", "0:3", "4:2", "", "a", "1:", ":3", "2.5", "1:2:3", "1-3"])
def test_other_numbers_of_groups_are_refused(text) -> None:
    with pytest.raises(click.BadParameter):
        number(text)


def test_kinds_may_have_levels_and_columns_may_have_any_name() -> None:
    assert kind("size=ordinal:low,mid,high") == ("size", "ordinal", ("low", "mid", "high"))
    assert kind("a=b=numeric") == ("a=b", "numeric", ())
    assert kind("two words=categorical") == ("two words", "categorical", ())
    assert kind('c=ordinal:"1,5","2,5"') == ("c", "ordinal", ("1,5", "2,5"))


@pytest.mark.parametrize("text", ["size", "size=", "=numeric", "size=big", "size:numeric", "size=ordinals:a"])
def test_other_kinds_are_refused_with_the_list_of_kinds(text) -> None:
    with pytest.raises(click.BadParameter, match="numeric, categorical, ordinal, boolean, count, ignored"):
        kind(text)


def test_kinds_are_what_find_takes() -> None:
    kinds = kinds_of([kind("s=ordinal:S,M"), kind("a=numeric")], ["name"])
    said = wishes(kinds)
    assert {name: (w.kind, w.levels) for name, w in said.items()} == {
        "s": ("ordinal", ("S", "M")),
        "a": ("numeric", ()),
        "name": ("ignored", ()),
    }
