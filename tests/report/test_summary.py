"""The summary and its figures: plain data that JSON and plotly take."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import asterism
from asterism.data.source import ArraySource
from asterism.report.drawing import plain
from asterism.report.figures import figures
from asterism.report.page import json_in_script
from asterism.report.steps import em_steps, kmeans_steps
from asterism.report.subject import Shortened, short_names, subject_of
from asterism.report.summary import data_hash, summarize


@pytest.fixture(scope="module")
def finding():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [60, 50, 40])
    return asterism.find(
        pd.DataFrame(
            {
                "size": rng.normal(6 * truth, 1),
                "depth": np.where(rng.random(150) < 0.1, np.nan, rng.normal(-4 * truth, 1)),
                "colour": np.where(rng.random(150) < 0.9, np.array(["red", "blue", "green"])[truth], "red"),
                "name": [f"n{i}" for i in range(150)],
            }
        ),
        k=3,
    )


@pytest.fixture(scope="module")
def summary(finding):
    return summarize(subject_of(finding, title="things.csv", reference=("twice", list(finding.labels))))


def test_summary_is_json_and_says_what_the_finding_says(finding, summary) -> None:
    said = json.loads(json.dumps(summary, allow_nan=False))
    assert said["verdict"] == finding.verdict
    assert said["confidence"] == finding.confidence
    assert [group["size"] for group in said["groups"]] == [p.size for p in finding.profiles]
    assert {c["name"]: c["missing"] for c in said["data"]["columns"]} == finding.missing
    assert [c["name"] for c in said["data"]["ignored"]] == ["name"]


def test_map_holds_rows_where_they_belong(finding, summary) -> None:
    drawn = summary["map"]
    assert drawn["label"] == finding.labels[drawn["row"]].tolist()
    assert drawn["row"] == list(range(150))
    assert drawn["hover"][0][0] == "row 0"


def test_map_axes_are_principal_components(finding, summary) -> None:
    z = np.nan_to_num(next(iter(finding.encoded.blocks())).rows)
    values = np.linalg.eigvalsh(np.cov(z.T))[::-1]
    assert summary["map"]["ratios"][:2] == pytest.approx(values[:2] / values.sum(), abs=1e-4)
    assert np.var(summary["map"]["x"], ddof=1) == pytest.approx(values[0], rel=1e-3)


def test_agreement_with_a_reference_that_is_the_grouping_is_perfect(summary) -> None:
    assert summary["agreement"]["adjusted_rand"] == pytest.approx(1.0)
    assert np.sum(summary["agreement"]["counts"]) == 150


def test_margins_are_differences_of_probabilities(finding, summary) -> None:
    p = np.sort(finding.probabilities, axis=1)
    assert summary["margins"] == pytest.approx((p[:, -1] - p[:, -2]).round(3).tolist(), abs=2e-3)


def test_every_figure_is_a_plotly_figure(summary) -> None:
    go = pytest.importorskip("plotly.graph_objects")
    drawn = figures(summary)
    assert {
        "map",
        "views",
        "heat",
        "carriers",
        "silhouettes",
        "margins",
        "kmeans",
        "em",
        "scree",
        "tree",
    } <= set(drawn)
    for figure in drawn.values():
        go.Figure(data=figure["data"], layout=figure["layout"])  # raises on a name plotly does not know
        assert figure["table"] is None or all(
            len(r) == len(figure["table"]["head"]) for r in figure["table"]["rows"]
        )
        for frame in figure["frames"]:
            assert len(frame["data"]) == len(figure["data"])
            changed = [
                {**trace, **change} for trace, change in zip(figure["data"], frame["data"], strict=True)
            ]
            go.Figure(data=changed)


def test_one_group_has_a_page_without_comparisons() -> None:
    finding = asterism.find(np.random.default_rng(0).normal(size=(80, 2)), k=1)
    drawn = figures(summarize(subject_of(finding)))
    assert "map" in drawn
    assert not {"heat", "silhouettes", "margins", "kmeans", "em", "tree"} & set(drawn)


def test_a_table_of_one_column_has_a_map() -> None:
    x = np.concatenate([np.random.default_rng(0).normal(9 * g, 1, 50) for g in range(2)])[:, None]
    summary = summarize(subject_of(asterism.find(x, k=2)))
    assert len(summary["map"]["ratios"]) == 1
    assert figures(summary)["map"]


def test_steps_go_down_for_k_means_and_up_for_em() -> None:
    rng = np.random.default_rng(1)
    points = np.vstack([rng.normal([4 * g, g % 2], 1, (80, 2)) for g in range(3)])
    down = [frame["objective"] for frame in kmeans_steps(points, np.ones(240), 3)]
    up = [frame["objective"] for frame in em_steps(points, np.ones(240), 3)]
    assert len(down) > 2
    assert len(up) > 2
    assert down == sorted(down, reverse=True)
    assert up == sorted(up)


def test_frames_of_k_means_are_its_objective_by_brute_force() -> None:
    rng = np.random.default_rng(2)
    points = np.vstack([rng.normal(5 * g, 1, (50, 2)) for g in range(2)])
    for frame in kmeans_steps(points, np.ones(100), 2):
        squares = ((points[:, None] - np.array(frame["centres"])) ** 2).sum(axis=2)
        assert frame["labels"] == squares.argmin(axis=1).tolist()
        assert frame["objective"] == pytest.approx(squares.min(axis=1).sum(), rel=1e-4)


def test_points_on_a_line_play_no_em_and_break_nothing() -> None:
    line = np.column_stack([np.arange(50.0), np.zeros(50)])
    assert isinstance(em_steps(line, np.ones(50), 2), list)
    assert kmeans_steps(np.zeros((20, 2)), np.ones(20), 2) == []


def test_hash_depends_on_cells_and_weights_only() -> None:
    x = np.arange(12.0).reshape(6, 2)
    assert data_hash(ArraySource(x)) == data_hash(Shortened(ArraySource(x.copy(order="F"))))
    assert data_hash(ArraySource(x)) != data_hash(ArraySource(x, np.arange(6.0)))
    assert data_hash(ArraySource(-0.0 * x)) == data_hash(ArraySource(0.0 * x))


def test_long_names_are_short_and_stay_apart() -> None:
    names = ["a" * 1_000_000, "a" * 1_000_001, "b\u202e\x00"]
    short = short_names(names)
    assert len(set(short.values())) == 3
    assert all(len(name) < 90 and name.isprintable() for name in short.values())


def test_text_for_plotly_has_no_tags() -> None:
    assert "<" not in plain("<a href='https://example.org'>x</a>")


@pytest.mark.parametrize(
    "text", ["</script>", "<!--<script>", "\u2028\u2029", "]]>", "&lt;", "'\"`", "{{ 7 * 7 }}"]
)
def test_json_in_a_script_element_is_inert_and_comes_back_whole(text) -> None:
    inside = json_in_script({text: [text, float("nan")]})
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == {text: [text, None]}
