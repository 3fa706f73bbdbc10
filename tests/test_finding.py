"""``asterism.find`` in Python: every kind of table, the choice of k, and what a finding says of itself."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans as Peer
from sklearn.metrics import calinski_harabasz_score

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
    finding = asterism.find(table)
    assert finding.k == 3
    assert finding.labels.tolist() == [0] * 60 + [1] * 40 + [2] * 30


def test_choice_agrees_with_scikit_learn_on_scaled_columns() -> None:
    finding = asterism.find(X * [1, 100, 0.01], k=range(2, 6))
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    for row in finding.choice.table:
        peer = Peer(row.k, n_init=20, random_state=0).fit(z)
        assert row.within == pytest.approx(peer.inertia_, rel=0.08)  # local optima differ for the wrong k
        if row.k == 3:
            assert row.within == pytest.approx(peer.inertia_)
            assert row.calinski_harabasz == pytest.approx(calinski_harabasz_score(z, peer.labels_))
            assert row.explained == pytest.approx(1 - peer.inertia_ / (z**2).sum())


def test_scale_gives_every_column_the_same_say() -> None:
    rng = np.random.default_rng(3)
    table = np.column_stack([X[:, 0], rng.normal(0, 1e4, len(X))])
    truth = [0] * 60 + [1] * 40 + [2] * 30
    scaled = asterism.find(table, k=3).labels
    plain = asterism.find(table, k=3, scale=False).labels
    assert (scaled == truth).mean() > (plain == truth).mean() + 0.1


def test_profiles_are_in_the_users_own_units() -> None:
    finding = asterism.find(pd.DataFrame({"metres": X[:, 0] / 1000, "grams": X[:, 1] * 1000}))
    for profile in finding.profiles:
        mine = X[finding.labels == profile.group]
        assert profile.size == len(mine)
        assert profile.centre["metres"] == pytest.approx(mine[:, 0].mean() / 1000)
        assert profile.centre["grams"] == pytest.approx(mine[:, 1].mean() * 1000)


def test_frame_has_a_row_for_every_row_and_distances_by_brute_force() -> None:
    finding = asterism.find(X, scale=False)
    frame = finding.to_frame()
    assert frame.column_names == ["row", "group", "distance", "next_group", "next_distance"]
    centers = np.array([X[finding.labels == g].mean(axis=0) for g in range(3)])
    distances = np.linalg.norm(X[:, None] - centers, axis=2)
    ranked = np.argsort(distances, axis=1)
    assert frame["row"].to_pylist() == list(range(len(X)))
    assert frame["group"].to_pylist() == ranked[:, 0].tolist()
    assert frame["next_group"].to_pylist() == ranked[:, 1].tolist()
    np.testing.assert_allclose(frame["distance"], np.sort(distances, axis=1)[:, 0])
    np.testing.assert_allclose(frame["next_distance"], np.sort(distances, axis=1)[:, 1])


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
    finding = asterism.find(holey, missing="drop")
    whole = asterism.find(X)
    assert finding.labels.tolist() == [*whole.labels.tolist(), -1]
    assert finding.n_left_out == 1
    assert [p.centre for p in finding.profiles] == [pytest.approx(p.centre) for p in whole.profiles]
    assert finding.choice.chosen.within == pytest.approx(whole.choice.chosen.within)
    assert finding.to_frame()["distance"].null_count == 1


def test_weight_zero_is_absent_and_weight_three_is_three_rows() -> None:
    w = np.resize([0, 1, 3], len(X))
    weighted = asterism.find(X, weights=w)
    repeated = asterism.find(np.repeat(X, w, axis=0))
    assert weighted.k == repeated.k
    for a, b in zip(weighted.profiles, repeated.profiles, strict=True):
        assert a.share == pytest.approx(b.share)
        assert a.centre == pytest.approx(b.centre)
    assert weighted.choice.chosen.within == pytest.approx(repeated.choice.chosen.within)


def test_dictionary_is_json() -> None:
    said = json.loads(json.dumps(asterism.find(X, k=2).to_dict()))
    assert said["version"] == 1
    assert said["k"] == 2
    assert len(said["groups"]) == 2


def test_same_seed_same_bits_for_any_number_of_threads() -> None:
    big = blobs(sizes=(90_000, 50_000, 30_000), gap=2.0)
    found = [asterism.find(big, k=[2, 3], engine=asterism.engine(n_threads=n)) for n in (1, 2)]
    assert (found[0].labels == found[1].labels).all()
    assert found[0].choice == found[1].choice
    assert found[0].profiles == found[1].profiles


def test_progress_is_told_and_the_engine_in_force_is_kept() -> None:
    events = []
    with asterism.engine(n_threads=1, time_limit=1e-9):
        finding = asterism.find(blobs(gap=1.0), progress=events.append)
    assert events
    assert events[-1].job == "k-means"
    assert not finding.choice.settled  # the time limit of the engine around it still holds
    assert "stopped at a limit" in finding.verdict


def test_what_does_not_exist_yet_is_absent() -> None:
    finding = asterism.find(X, k=2)
    for name in ("report", "save", "probabilities", "confidence", "model"):
        assert not hasattr(finding, name)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"k": 0}, ParameterError, "1 or more"),
        ({"k": []}, ParameterError, "1 or more"),
        ({"k": 131}, TooFewRowsError, "130 distinct rows"),
        ({"k": 2.5}, ParameterError, "whole"),
        ({"k": "3"}, ParameterError, "whole"),
        ({"k": True}, ParameterError, "whole"),
        ({"method": "gaussian"}, ParameterError, "kmeans"),
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
