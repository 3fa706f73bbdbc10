"""``asterism.find`` in Python: every kind of table, the choice of k, and what a finding says of itself."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import asterism
from asterism.errors import DataError, ParameterError, TooFewRowsError


def blobs(seed=0, sizes=(60, 40, 30), d=3, gap=8.0):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(gap * g, 1, (n, d)) for g, n in enumerate(sizes)])


X = blobs()


@pytest.mark.parametrize(
    "table",
    [
        X,
        X.astype(np.float32),
        pd.DataFrame(X, columns=["x0", "x1", "x2"]),
        pl.DataFrame(X, schema=["x0", "x1", "x2"]),
        pa.table({f"x{j}": X[:, j] for j in range(3)}),
        asterism.read(X),
    ],
    ids=["float64", "float32", "pandas", "polars", "pyarrow", "source"],
)
def test_every_kind_of_table_gives_the_same_groups(table) -> None:
    finding = asterism.find(table, k=3)
    assert finding.k == 3
    assert finding.labels.tolist() == [0] * 60 + [1] * 40 + [2] * 30


def test_clear_groups_are_counted_and_said() -> None:
    finding = asterism.find(X)
    assert finding.k == 3
    assert finding.labels.tolist() == [0] * 60 + [1] * 40 + [2] * 30
    assert finding.verdict.startswith("3 groups")


def test_scale_gives_every_column_the_same_say() -> None:
    rng = np.random.default_rng(3)
    table = np.column_stack([X[:, 0], rng.normal(0, 1e4, len(X))])
    truth = [0] * 60 + [1] * 40 + [2] * 30
    scaled = asterism.find(table, k=3, method="kmeans").labels
    plain = asterism.find(table, k=3, method="kmeans", scale=False).labels
    assert (scaled == truth).mean() > (plain == truth).mean() + 0.1


def test_profiles_are_in_the_users_own_units() -> None:
    finding = asterism.find(pd.DataFrame({"metres": X[:, 0] / 1000, "grams": X[:, 1] * 1000}), k=3)
    for profile in finding.profiles:
        mine = X[finding.labels == profile.group]
        assert profile.size == len(mine)
        assert profile.centre["metres"] == pytest.approx(mine[:, 0].mean() / 1000)
        assert profile.centre["grams"] == pytest.approx(mine[:, 1].mean() * 1000)


def test_frame_has_a_row_for_every_row_with_its_two_likeliest_groups() -> None:
    finding = asterism.find(blobs(gap=2.0), k=3)
    frame = finding.to_frame()
    assert frame.column_names == [
        "row", "group", "probability", "next_group", "next_probability", "typicality", "group_name",
    ]  # fmt: skip
    p = finding.probabilities
    ranked = np.argsort(-p, axis=1, kind="stable")
    assert frame["row"].to_pylist() == list(range(len(p)))
    assert frame["group"].to_pylist() == ranked[:, 0].tolist() == finding.labels.tolist()
    assert frame["next_group"].to_pylist() == ranked[:, 1].tolist()
    np.testing.assert_array_equal(frame["probability"], np.sort(p, axis=1)[:, -1])
    np.testing.assert_array_equal(frame["next_probability"], np.sort(p, axis=1)[:, -2])


def test_probabilities_are_those_of_the_mixture_by_brute_force() -> None:
    from scipy.stats import multivariate_normal

    rows = blobs(gap=2.0)
    finding = asterism.find(rows, k=2)
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    judge = finding.model.judge
    m = judge.mixture
    normal = getattr(m.params, "normal", m.params)
    if not hasattr(normal, "covariances") or hasattr(m.params, "degrees"):
        pytest.skip("another family fitted better")
    means, covariances = m.family.reference + normal.means, normal.covariances.full()
    dense = [
        w * multivariate_normal(a, c).pdf(z) for w, a, c in zip(m.weights, means, covariances, strict=True)
    ]
    by_group = np.array(
        [sum(d for d, g in zip(dense, judge.groups, strict=True) if g == k) for k in range(2)]
    ).T
    np.testing.assert_allclose(
        finding.probabilities, by_group / by_group.sum(axis=1, keepdims=True), atol=1e-9
    )


@pytest.mark.parametrize("method", ["gaussian", "mixed", "kmeans", "kmedoids"])
def test_every_method_finds_clear_groups_and_its_model_assigns_the_same(method) -> None:
    finding = asterism.find(X, k=3, method=method)
    assert finding.labels.tolist() == [0] * 60 + [1] * 40 + [2] * 30
    labels, probabilities = finding.model.assign(X)
    assert (labels == finding.labels).all()
    np.testing.assert_array_equal(probabilities, finding.probabilities)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("sizes", [(30, 60, 40), (40, 30, 60), (30, 40, 60)])
@pytest.mark.parametrize("method", ["auto", "mixed", "kmeans", "kmedoids"])
def test_labels_probabilities_and_a_saved_model_number_groups_alike(method, sizes, tmp_path) -> None:
    x = blobs(sizes=sizes)
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    if method == "mixed":
        table["name"] = np.repeat(["p", "q", "r"], sizes)
    finding = asterism.find(table, method="auto" if method == "mixed" else method)
    truth = np.repeat(np.argsort(np.argsort(sizes)[::-1]), sizes)
    assert finding.labels.tolist() == truth.tolist()
    assert finding.probabilities.argmax(axis=1).tolist() == truth.tolist()
    frame = finding.to_frame().to_pandas()
    assert frame["group"].tolist() == truth.tolist()
    assert (frame["next_group"] != frame["group"]).all()
    assert (frame["probability"] > 0.5).all()
    finding.save(tmp_path / "groups.asterism")
    labels, _ = asterism.load(tmp_path / "groups.asterism").assign(table)
    assert labels.tolist() == truth.tolist()


def test_table_without_groups_is_one_group() -> None:
    finding = asterism.find(np.random.default_rng(0).random((400, 3)))
    assert finding.k == 1
    assert "no groups" in finding.verdict
    assert set(finding.labels) == {0}
    np.testing.assert_allclose(finding.probabilities, 1.0)


def test_so_few_rows_cannot_show_groups_and_that_is_said() -> None:
    finding = asterism.find([[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]])
    assert finding.confidence <= 3 / 10  # ten rows a group are what it takes to be sure
    assert "3 rows are too few" in finding.verdict
    assert f"(confidence {finding.confidence:.0%})" in finding.verdict
    assert "too few" not in asterism.find(X).verdict


def test_few_whole_numbers_are_levels_not_groups() -> None:
    rng = np.random.default_rng(5)
    truth = np.repeat([0, 1], 90)
    table = pd.DataFrame(
        {
            "cm": truth * 9 + rng.normal(size=180),
            "kg": rng.normal(size=180),
            "year": rng.integers(2007, 2010, 180),
        }
    )
    finding = asterism.find(table, k=range(1, 4))
    assert [c.kind for c in finding.columns] == ["numeric", "numeric", "ordinal"]
    assert finding.k == 2
    assert (finding.labels == truth).all() or (finding.labels == 1 - truth).all()
    told = asterism.find(table, kinds={"year": "numeric"}, k=2)
    assert [c.kind for c in told.columns] == ["numeric"] * 3


def test_verdict_is_that_of_the_choice_and_nothing_beside_it() -> None:
    finding = asterism.find(X)
    assert finding.verdict == finding.choice.verdict
    assert finding.reasons == finding.choice.reasons
    assert 0.5 <= finding.confidence <= 1.0


def test_one_group_has_no_next_one() -> None:
    finding = asterism.find(X, k=1)
    assert finding.verdict.startswith("1 group")
    assert set(finding.labels) == {0}
    assert finding.to_frame()["next_group"].null_count == len(X)


def test_mixed_table_with_missing_cells() -> None:
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 60)
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(120) < 0.1, np.nan, truth * 6 + rng.normal(size=120)),
            "colour": np.where(truth == 0, "red", "blue"),
            "name": [f"n{i}" for i in range(120)],
        }
    )
    finding = asterism.find(table, k=2)
    agree = (finding.labels == truth).mean()
    assert max(agree, 1 - agree) == 1.0
    assert [c.kind for c in finding.columns] == ["numeric", "categorical"]
    assert [c.name for c in finding.ignored] == ["name"]
    assert finding.missing == {"size": int(table["size"].isna().sum()), "colour": 0}
    assert {p.centre["colour"] for p in finding.profiles} == {"red", "blue"}


def test_dropped_rows_have_no_group_and_no_say() -> None:
    holey = np.vstack([X, [[np.nan, 500.0, 500.0]]])
    finding = asterism.find(holey, k=3, missing="drop")
    whole = asterism.find(X, k=3)
    assert finding.labels.tolist() == [*whole.labels.tolist(), -1]
    assert finding.n_left_out == 1
    assert [p.centre for p in finding.profiles] == [pytest.approx(p.centre) for p in whole.profiles]
    assert finding.to_frame()["probability"].null_count == 1
    assert np.isnan(finding.probabilities[-1]).all()


def test_weight_zero_is_absent_and_weight_three_is_three_rows() -> None:
    w = np.resize([0, 1, 3], len(X))
    weighted = asterism.find(X, weights=w, k=3)
    repeated = asterism.find(np.repeat(X, w, axis=0), k=3)
    assert weighted.k == repeated.k
    for a, b in zip(weighted.profiles, repeated.profiles, strict=True):
        assert a.share == pytest.approx(b.share)
        assert a.centre == pytest.approx(b.centre)


def test_dictionary_is_json() -> None:
    said = json.loads(json.dumps(asterism.find(X, k=2).to_dict()))
    assert said["version"] == 3
    assert said["k"] == 2
    assert len(said["groups"]) == 2


def test_same_seed_same_bits_for_any_number_of_threads() -> None:
    big = blobs(sizes=(60_000, 40_000), gap=4.0)
    found = [asterism.find(big, k=[2, 3], engine=asterism.engine(n_threads=n)) for n in (1, 2)]
    assert (found[0].labels == found[1].labels).all()
    assert [dict(row) for row in found[0].choice.table] == [dict(row) for row in found[1].choice.table]
    assert found[0].profiles == found[1].profiles


def test_progress_is_told_and_the_engine_in_force_is_kept() -> None:
    events = []
    with asterism.engine(n_threads=1):
        asterism.find(blobs(sizes=(3000, 1000), gap=1.0), k=2, progress=events.append)
    assert events
    assert events[-1].elapsed >= 0


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"k": 0}, ParameterError, "1 or more"),
        ({"k": []}, ParameterError, "1 or more"),
        ({"k": 131}, TooFewRowsError, "130 distinct rows"),
        ({"k": 2.5}, ParameterError, "whole"),
        ({"k": "three"}, ParameterError, "3 for three groups"),
        ({"k": "6:2"}, ParameterError, "2:6"),
        ({"progress": "yes"}, ParameterError, "Give True"),
        ({"k": True}, ParameterError, "whole"),
        ({"method": "magic"}, ParameterError, "kmeans"),
        ({"missing": "guess"}, ParameterError, "keep, drop, refuse"),
        ({"kinds": dict.fromkeys(["x0", "x1", "x2"], "ignored")}, DataError, "no usable column"),
    ],
    ids=str,
)
def test_what_cannot_work_is_refused_with_a_remedy(options, error, said) -> None:
    with pytest.raises(error, match=said):
        asterism.find(X, **options)


def test_numpy_numbers_of_groups_are_taken() -> None:
    assert asterism.find(X, k=np.int64(2)).k == 2
    assert asterism.find(X, k=np.arange(2, 5)).k == 3
