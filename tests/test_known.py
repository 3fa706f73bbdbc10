"""``find`` where something is known of the groups: labels of some rows, pairs, sizes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import asterism
from asterism.errors import DataError, ParameterError
from asterism.metrics import adjusted_rand_score

METHODS = ("gaussian", "kmeans", "kmedoids")


def three(n=90, apart=3.0, seed=0):
    """Rows of three groups that touch, and their groups."""
    rng = np.random.default_rng(seed)
    z = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + apart * np.array([[0.0, 0], [1, 0], [0, 1]])[z], z


def some_labels(z, names, every=7):
    cells = [None] * len(z)
    for i in range(0, len(z), every):
        cells[i] = names[z[i]]
    return cells


def keeps(finding, labels=None, together=(), apart=(), least=0, most=None):
    """Whether labels obey what is known."""
    z, k = finding.labels, finding.k
    if labels is not None:
        groups = {
            name: {int(z[i]) for i, cell in enumerate(labels) if cell == name}
            for name in set(labels) - {None}
        }
        assert all(len(found) == 1 for found in groups.values())
        assert len(set.union(*groups.values())) == len(groups)
        assert {g: name for name, found in groups.items() for g in found} == dict(finding.known_names)
    assert all(z[i] == z[j] for i, j in together)
    assert all(z[i] != z[j] for i, j in apart)
    sizes = np.bincount(z, minlength=k)
    assert sizes.min() >= least
    assert most is None or sizes.max() <= most


@pytest.mark.parametrize("method", METHODS)
def test_everything_that_is_known_is_kept_at_once(method):
    x, _ = three()
    what = {"together": [(0, 1), (1, 2)], "apart": [(3, 4), (5, 4), (0, 3)]}  # not as the rows lie
    labels = [None] * 90
    labels[3], labels[4] = "left", "right"
    finding = asterism.find(x, k=3, method=method, known=labels, min_size=25, max_size=33, **what)
    keeps(finding, labels, **what, least=25, most=33)
    assert finding.to_frame()["group"].to_pylist() == finding.labels.tolist()
    own = finding.probabilities[np.arange(90), finding.labels]
    np.testing.assert_allclose(finding.to_frame()["probability"].to_pylist(), own)
    np.testing.assert_allclose(finding.probabilities.sum(axis=1), 1.0)
    assert own[3] == own[4] == 1.0  # known


@pytest.mark.parametrize("method", METHODS)
def test_known_rows_are_of_their_groups_and_name_them(method):
    x, z = three(apart=2.0)
    labels = some_labels(z, ["red", "green", "blue"])
    finding = asterism.find(x, k=3, method=method, known=labels)
    keeps(finding, labels)
    assert {group.name for group in finding.explanation.groups} == {"red", "green", "blue"}
    plain = asterism.find(x, k=3, method=method)
    assert adjusted_rand_score(z, finding.labels) > adjusted_rand_score(z, plain.labels)


def test_labels_where_the_rows_alone_show_no_groups():
    x, z = three(apart=1.5, n=150)
    finding = asterism.find(x, known=some_labels(z, "abc"))
    assert asterism.find(x).k == 1
    assert finding.k == 3
    assert adjusted_rand_score(z, finding.labels) > 0.25
    assert finding.verdict.startswith(
        "3 groups: 3 with a known label (22 rows are known). Of the rows alone: "
    )


def test_groups_without_a_label_may_be_beside():
    x, z = three(apart=9.0)
    labels = [str(z[i]) if z[i] < 2 and i < 30 else None for i in range(90)]
    finding = asterism.find(x, known=labels)
    assert finding.k == 3
    keeps(finding, labels)
    assert adjusted_rand_score(z, finding.labels) == 1.0
    assert len(finding.known_names) == 2
    assert "2 with a known label and 1 beside" in finding.verdict


def test_one_label_may_be_of_several_groups():
    """Rows of one label in two far places make one group of both."""
    x, z = three(apart=9.0)
    labels = ["ab"[max(z[i] - 1, 0)] if i < 45 else None for i in range(90)]
    finding = asterism.find(x, known=labels)
    assert finding.k == 2
    assert adjusted_rand_score(np.maximum(z - 1, 0), finding.labels) == 1.0


def test_a_column_of_labels_takes_no_part():
    x, z = three(apart=2.0)
    table = pa.table({"a": x[:, 0], "b": x[:, 1], "says": some_labels(z, ["p", "q", "r"])})
    finding = asterism.find(table, k=3, known="says")
    assert [column.name for column in finding.columns] == ["a", "b"]
    again = asterism.find(x, k=3, known=some_labels(z, ["p", "q", "r"]))
    assert (finding.labels == again.labels).all()
    assert finding.to_dict()["known"]["column"] == "says"


def test_columns_of_several_kinds():
    x, z = three(apart=1.0, n=120)
    word = np.where(np.random.default_rng(1).random(120) < 0.8, z, 0)
    table = pa.table({"a": x[:, 0], "b": x[:, 1], "word": [["x", "y", "z"][w] for w in word]})
    what = {"together": [(0, 1)], "apart": [(1, 2)]}
    labels = some_labels(z, ["p", "q", "r"], every=7)
    labels[0] = labels[1] = labels[2] = None
    finding = asterism.find(table, k=3, known=labels, min_size=30, **what)
    keeps(finding, labels, **what, least=30)


def test_regions_of_any_shape():
    t = np.linspace(0, np.pi, 100)
    rng = np.random.default_rng(0)
    moons = np.vstack(
        [np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([1 - np.cos(t), 0.4 - np.sin(t)])]
    )
    x = moons + rng.normal(0, 0.05, (200, 2))
    labels = [None] * 200
    labels[5], labels[150] = "upper", "lower"
    finding = asterism.find(x, known=labels, together=[(99, 100)], apart=[(3, 4)], max_size=110)
    keeps(finding, labels, [(99, 100)], [(3, 4)], most=110)


def test_missing_cells_and_rows_left_out():
    x, z = three(apart=2.0)
    x[4, 0] = x[7, 1] = np.nan
    labels = some_labels(z, "abc")
    what = {"together": [(4, 1)], "apart": [(7, 8)]}
    keeps(asterism.find(x, k=3, known=labels, **what), labels, **what)
    dropped = asterism.find(x, k=3, known=labels, missing="drop", max_size=31, **what)
    assert dropped.labels[[4, 7]].tolist() == [-1, -1]
    assert np.bincount(dropped.labels[dropped.labels >= 0]).max() <= 31


def test_a_saved_model_assigns_new_rows_without_what_was_known(tmp_path):
    x, z = three(apart=4.0)
    finding = asterism.find(x, k=3, known=some_labels(z, "abc"), max_size=31)
    finding.save(tmp_path / "groups.asterism")
    labels, _ = asterism.load(tmp_path / "groups.asterism").assign(x[z == 0])
    assert np.bincount(labels, minlength=3).max() > 25  # one group: new rows are not dealt out by sizes


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        ({"k": 2, "known": list("abc")}, ParameterError, r"3 labels are known \('a', 'b', 'c'\), but at most 2"),
        ({"k": 2, "apart": [(0, 1), (1, 2), (0, 2)]}, DataError, "rows 1, 2 and 3 cannot be kept apart in 2 groups"),
        ({"k": 2, "max_size": 40}, ParameterError, r"2 groups of at most 40 rows cannot be made of 90 rows"),
        ({"k": 5, "min_size": 20}, ParameterError, r"5 groups of at least 20 rows cannot be made of 90 rows"),
        ({"min_size": 91}, ParameterError, r"1 group of at least 91 rows cannot be made of 90 rows"),
        ({"k": 3, "max_size": 30, "together": [(i, i + 1) for i in range(40)]}, DataError, r"90 rows cannot make 3"),
        ({"k": 3, "max_size": 30, "known": ["a"] * 40}, DataError, r"40 rows, such as rows 1, .* 30 at most"),
        ({"known": "nope"}, ParameterError, "'nope'"),
        ({"max_size": 40, "outliers": 0.02}, ParameterError, "every row counts"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_the_work(what, error, words):
    x, _ = three()
    if isinstance(what.get("known"), list):
        what = {**what, "known": what["known"] + [None] * (90 - len(what["known"]))}
    with pytest.raises(error, match=words):
        asterism.find(x, **what)


def test_apart_asks_for_as_many_groups_as_it_takes():
    x, _ = three()
    apart = [(i, j) for i in range(4) for j in range(i)]
    finding = asterism.find(x, apart=apart)
    assert finding.k >= 4
    keeps(finding, apart=apart)


def test_nothing_known_changes_nothing():
    x, _ = three()
    plain, none = asterism.find(x, k=3), asterism.find(x, k=3, together=[], apart=np.zeros((0, 2), int))
    assert (plain.labels == none.labels).all()
    assert none.held is None


def test_examples_of_the_page_are_true(root):
    import doctest

    failed, tried = doctest.testfile(str(root / "docs" / "methods" / "known.md"), module_relative=False)
    assert tried > 5
    assert failed == 0


def test_known_rows_stay_known_where_columns_are_selected():
    x, z = three(apart=4.0, n=120)
    labels = some_labels(z, "abc")
    x = np.column_stack([x, np.random.default_rng(5).normal(size=(120, 2))])
    finding = asterism.find(x, k=3, known=labels, apart=[(1, 3)], select=True)
    keeps(finding, labels, apart=[(1, 3)])
