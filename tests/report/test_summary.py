"""The summary and its figures: plain data that JSON and plotly take."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import asterism
from asterism.data.source import ArraySource
from asterism.report.drawing import plain
from asterism.report.figures import figures
from asterism.report.page import json_in_script
from asterism.report.plotlyjs import lean, plotly_file
from asterism.report.steps import em_steps, kmeans_steps
from asterism.report.subject import Shortened, short_names, subject_of
from asterism.report.summary import data_hash, summarize
from asterism.verdict.tabulate import Table


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


def test_ellipses_are_moments_of_the_points_of_each_group(finding, summary) -> None:
    drawn = summary["map"]
    points = np.column_stack([drawn["x"], drawn["y"]])
    for g in range(3):
        mine = points[finding.labels == g]
        cov = np.cov(mine.T, bias=True)
        assert drawn["centres"][g] == pytest.approx(mine.mean(axis=0), abs=2e-3)
        assert drawn["ellipses"][g] == pytest.approx([cov[0, 0], cov[0, 1], cov[1, 1]], abs=1e-2)


def test_weight_is_copies_and_weight_zero_is_absence() -> None:
    rng = np.random.default_rng(6)
    x = np.vstack([rng.normal(6 * g, 1, (30, 2)) for g in range(2)])
    times = rng.integers(0, 3, len(x))
    weighted, copied = (
        summarize(subject_of(asterism.find(*table, k=2, method="kmeans", **more)))
        for table, more in (((x,), {"weights": times}), ((np.repeat(x, times, axis=0),), {}))
    )
    assert weighted["mean_silhouette"] == pytest.approx(copied["mean_silhouette"], abs=2e-3)
    assert weighted["map"]["ratios"] == pytest.approx(copied["map"]["ratios"], abs=1e-4)
    assert np.abs(weighted["map"]["ellipses"]) == pytest.approx(np.abs(copied["map"]["ellipses"]), abs=1e-3)
    assert weighted["views"][2]["explained"] == pytest.approx(copied["views"][2]["explained"], abs=1e-6)


def test_a_reference_of_many_classes_is_cut_and_says_so(finding) -> None:
    cells = [str(i % 50) if i else "" for i in range(150)]
    table = summarize(subject_of(finding, reference=("id", cells)))["agreement"]
    assert table["classes"][-1] == "21 others"
    assert len(table["classes"]) == len(table["counts"]) == 31
    assert np.sum(table["counts"]) == 150


def test_a_wide_table_shows_the_cells_that_tell_most() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(80, 20))
    x[40:, 13:18] += 40.0
    frame = pd.DataFrame(x, columns=[f"c{j}" for j in range(20)])
    hover = summarize(subject_of(asterism.find(frame, k=2, method="kmeans")))["map"]["hover"][0]
    assert any(line.startswith("c17: ") for line in hover)
    assert len(hover) == 14


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
        "starts",
        "curve-0",
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
    assert not {"heat", "silhouettes", "margins", "kmeans", "em", "starts"} & set(drawn)


def test_a_table_of_one_column_has_a_map() -> None:
    x = np.concatenate([np.random.default_rng(0).normal(9 * g, 1, 50) for g in range(2)])[:, None]
    summary = summarize(subject_of(asterism.find(x, k=2)))
    assert len(summary["map"]["ratios"]) == 1
    assert figures(summary)["map"]


def test_every_start_of_the_finding_s_own_mixture_climbs(summary) -> None:
    starts = summary["starts"]
    assert starts["objective"] == "log-likelihood per row"
    assert len(starts["histories"]) > 4
    for history in starts["histories"]:
        assert np.all(np.diff(history) >= -1e-6 * abs(history[0]))


def test_starts_of_k_means_go_down_to_what_scikit_learn_finds() -> None:
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(3)
    x = np.vstack([rng.normal(8 * g, 1, (40, 2)) for g in range(2)])
    summary = summarize(subject_of(asterism.find(x, k=2, method="kmeans")))
    starts = summary["starts"]
    assert starts["objective"] == "sum of squares"
    assert all(np.all(np.diff(history) <= 0) for history in starts["histories"])
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    best = KMeans(2, n_init=5, random_state=0).fit(z).inertia_
    assert min(history[-1] for history in starts["histories"]) == pytest.approx(best, rel=1e-6)


def test_a_table_is_compared_with_tables_without_groups(summary) -> None:
    [gap] = [curve for curve in summary["curves"] if curve["null"]]
    assert set(gap["null"]) == {0.0}
    assert all(error > 0 for error in gap["errors"])
    assert gap["values"][2] > gap["values"][0] + 5 * gap["errors"][2]  # three groups are no even table
    drawn = figures(summary)[f"curve-{summary['curves'].index(gap)}"]
    assert "without groups" in drawn["caption"]


def test_criteria_of_the_search_come_with_errors_marks_and_chance() -> None:
    rng = np.random.default_rng(4)
    x = np.vstack([rng.normal(7 * g, 1, (50, 2)) for g in range(2)])
    finding = asterism.find(x, k=2, method="kmeans")
    table = Table(
        {"k": k, "stability": s, "cross_validation": c, "cross_validation_error": e}
        for k, s, c, e in [(1, None, -5.0, 0.1), (2, 0.9, -3.0, 0.2), (3, 0.4, -3.1, 0.3)]
    )
    choice = replace(finding.choice, table=table, picks={"stability": 2, "cross_validation": 2})
    curves = {curve.name: curve for curve in subject_of(replace(finding, choice=choice)).curves}
    assert curves["Stability"].null == (0.0, 0.0, 0.0)
    assert curves["Stability"].values == (None, 0.9, 0.4)
    assert curves["Held-out log-likelihood"].errors == (0.1, 0.2, 0.3)
    assert curves["Held-out log-likelihood"].chosen == 2


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


def test_a_bundle_of_plotly_that_looks_otherwise_is_left_whole() -> None:
    bar = b'});var b=W((e,t)=>{t.exports={moduleType:"trace",name:"bar"}});'
    for script in (
        b"",
        b"var a=1;",
        b"c.register([b(),p()]);",
        b"var b=W((e,t)=>{t.exports=x()});c.register([b()]);",
        bar
        + b"var o=W((e,t)=>{t.exports=b()});c.register([b(),o()]);",  # one kind twice, the other not at all
    ):
        assert lean(script) == script


def test_the_installed_plotly_is_made_lean() -> None:
    script = plotly_file().read_bytes()
    assert 0 < len(script) - len(lean(script)) < 1000  # a list got shorter, nothing else


def test_text_that_a_page_shows_says_what_it_cut() -> None:
    assert plain("a" * 300, 10) == "a" * 9 + "…"


def test_unusual_rows_are_the_least_typical_and_outliers_are_counted_apart() -> None:
    from asterism.report.page import page

    rng = np.random.default_rng(8)
    x = np.vstack([rng.normal(6 * g, 1, (50, 2)) for g in range(2)])
    x[7] = [-4.0, 4.5]
    x[60, 0] = np.nan
    finding = asterism.find(x, k=2, outliers=0.03, missing="drop")
    told = summarize(subject_of(finding))
    assert told["data"]["outliers"] == finding.outliers.sum() == 2
    assert told["data"]["left_out"] == 1
    assert told["none"][0]["row"] == 7
    for group in told["groups"]:
        mine = np.flatnonzero(finding.labels == group["group"])
        least = mine[np.argsort(finding.typicality[mine], kind="stable")[:5]]
        assert [row["row"] for row in group["unusual"]] == least.tolist()
        assert [row["typicality"] for row in group["unusual"]] == finding.typicality[least].tolist()
    shown = page(told)
    assert "Rows that belong to none" in shown
    assert "Most unusual rows" in shown
    assert "2 belong to none, 1 left out" in shown
