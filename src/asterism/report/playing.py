"""Figures that play k-means and EM: rows, centres or ellipses on their way, and the objective below."""

from __future__ import annotations

from typing import Any

from asterism.report.drawing import NEUTRAL, PALETTE, Figure, axis, colour, ellipse, figure
from asterism.report.maps import DOT, colours, dots
from asterism.report.steps import Frame
from asterism.report.summary import Summary

SILENT = {"type": "scatter", "hoverinfo": "skip", "showlegend": False}  # a trace that says nothing of its own
BELOW = {"xaxis": "x2", "yaxis": "y2"}


def kmeans_figure(summary: Summary) -> Figure | None:
    """k-means, played."""
    words = "Rows go to their nearest centre, centres to the mean of their rows, until nothing moves."
    return _played(summary, "kmeans", "k-means, step by step", words, summary["kmeans"], "sum of squares")


def em_figure(summary: Summary) -> Figure | None:
    """EM, played."""
    words = "Every row belongs to every ellipse a little; ellipses move to the rows that are theirs most."
    return _played(summary, "em", "EM, step by step", words, summary["em"], "log-likelihood")


def _played(
    summary: Summary, name: str, title: str, words: str, steps: list[Frame], objective: str
) -> Figure | None:
    if len(steps) < 2:
        return None
    scenes = [_scene(step, steps) for step in steps]
    frames = [
        {
            "caption": f"step {step['step']} · {objective} " + f"{step['objective']:,.1f}".replace("-", "−"),
            "data": scene,
        }
        for step, scene in zip(steps, scenes, strict=True)
    ]
    data = [{**trace, **change} for trace, change in zip(_stage(summary, steps), scenes[0], strict=True)]
    rows = [[str(step["step"]), f"{step['objective']:,.4f}"] for step in steps]
    return figure(
        name,
        title,
        f"{words} Played on the map's two axes, from a poor start; the result of this report used all columns.",
        data,
        layout=_layout(steps[-1]["step"], objective),
        height=600,
        narrow={"height": 480},
        frames=frames,
        table={"head": ["step", objective], "rows": rows},
    )


def _stage(summary: Summary, steps: list[Frame]) -> list[dict[str, Any]]:
    """What is there all the time: rows, a line for each group, centres, the objective, and where on it we are."""
    first = steps[0]
    groups = range(len(first["centres"]))
    width = 2.5 if first["ellipses"] else 1.5
    crosses = {
        "size": 15,
        "symbol": "x",
        "color": [colour(g) for g in groups],
        "line": {"width": 2, "color": "#ffffff"},
    }
    objective = {"x": [step["step"] for step in steps], "y": [step["objective"] for step in steps]}
    return [
        dots(summary, first["labels"]),
        *({**SILENT, "mode": "lines", "line": {"color": colour(g), "width": width}} for g in groups),
        {**SILENT, "mode": "markers", "marker": crosses},
        {
            **SILENT,
            **BELOW,
            "mode": "lines",
            "hoverinfo": "x+y",
            "line": {"color": NEUTRAL, "width": 2},
            **objective,
        },
        {**SILENT, **BELOW, "mode": "markers", "marker": {"size": 11, "color": PALETTE[1]}},
    ]


def _scene(step: Frame, steps: list[Frame]) -> list[dict[str, Any]]:
    """What changes in each trace: colours, ellipses (or the way a centre has come), centres, -, the objective."""
    changes: list[dict[str, Any]] = [{"marker": {**DOT, **colours(step["labels"])}}]
    for g, centre in enumerate(step["centres"]):
        if step["ellipses"]:
            around = ellipse(centre, step["ellipses"][g], colour(g))
            changes.append({"x": around["x"], "y": around["y"]})
        else:
            way = [s["centres"][g] for s in steps if s["step"] <= step["step"]]
            changes.append({"x": [x for x, _ in way], "y": [y for _, y in way]})
    changes.append({"x": [x for x, _ in step["centres"]], "y": [y for _, y in step["centres"]]})
    changes.append({})
    changes.append({"x": [step["step"]], "y": [step["objective"]]})
    return changes


def _layout(last: int, objective: str) -> dict[str, Any]:
    """The plane above, the objective below; margins are fixed, or the plane would jump from step to step."""
    fixed = {"zeroline": False, "automargin": False}
    return {
        "xaxis": axis("", **fixed, domain=[0, 1], anchor="y"),
        "yaxis": axis("", **fixed, domain=[0.3, 1], scaleanchor="x"),
        "xaxis2": axis("step", **fixed, domain=[0, 1], anchor="y2", dtick=max(1, last // 8)),
        "yaxis2": axis(objective, **fixed, domain=[0, 0.17], anchor="x2", nticks=3),
        "margin": {"l": 76},
        "hovermode": "closest",
    }
