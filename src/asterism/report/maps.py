"""Figures of rows in the plane: the map, other numbers of groups, k-means and EM step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from asterism.report.drawing import (
    NEUTRAL,
    PALETTE,
    SYMBOLS,
    Figure,
    axis,
    colour,
    ellipse,
    figure,
    group_name,
    plain,
)
from asterism.report.steps import Frame
from asterism.report.summary import Summary


def _map_layout(summary: Summary) -> dict[str, Any]:
    ratios = summary["map"]["ratios"]
    axes = [
        f"component {i + 1} ({ratios[i]:.0%} of the variance)" if i < len(ratios) else "" for i in range(2)
    ]
    return {
        "xaxis": axis(axes[0], zeroline=False),
        "yaxis": axis(axes[1], zeroline=False, scaleanchor="x" if len(ratios) > 1 else False),
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "hovermode": "closest",
    }


def map_figure(summary: Summary) -> Figure:
    """Rows, groups and ellipses."""
    points = summary["map"]
    data: list[dict[str, Any]] = []
    xy = np.column_stack([points["x"], points["y"]])
    label = np.array(points["label"])
    for g in range(summary["k"]):
        mine = np.flatnonzero(label == g)
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": group_name(summary, g, 34),
                "x": xy[mine, 0].tolist(),
                "y": xy[mine, 1].tolist(),
                "hovertext": ["<br>".join(plain(line, 60) for line in points["hover"][i]) for i in mine],
                "hoverinfo": "text",
                "marker": {
                    "color": colour(g),
                    "symbol": SYMBOLS[g % len(SYMBOLS)],
                    "size": 7,
                    "opacity": 0.8,
                },
            }
        )
    for g, (centre, cov) in enumerate(zip(points["centres"], points["ellipses"], strict=True)):
        if np.count_nonzero(label == g) > 2:
            data.append(ellipse(centre, cov, colour(g)))
    drawn = "Every row" if points["whole"] else f"{len(label):,} rows, drawn at random"
    heads = ["column", "component 1", "component 2"]
    leans = [[name, f"{a:+.2f}", f"{b:+.2f}"] for name, a, b in points["loadings"]]
    return figure(
        "map",
        "Map",
        f"{drawn}, seen from the side that shows most of their spread. Ellipses reach two standard deviations.",
        data,
        layout=_map_layout(summary),
        height=540,
        narrow={"height": 430},
        label=f"Scatter plot of rows in the plane of two principal components, coloured by {summary['k']} groups",
        table={"head": heads, "rows": leans},
    )


def _dots(summary: Summary, label: list[int]) -> dict[str, Any]:
    """All points as one trace whose colours a slider changes."""
    points = summary["map"]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": points["x"],
        "y": points["y"],
        "hoverinfo": "skip",
        "showlegend": False,
        "marker": {"size": 6, "opacity": 0.75, **_colours(label)},
    }


def _colours(label: list[int]) -> dict[str, Any]:
    """Whole numbers and a scale of steps: a tenth of the bytes of a colour a point."""
    n = len(PALETTE)
    steps: list[list[Any]] = []
    for i, value in enumerate(PALETTE):
        steps += [[i / n, value], [(i + 1) / n, value]]
    return {
        "color": [g % n for g in label],
        "colorscale": steps,
        "cmin": -0.5,
        "cmax": n - 0.5,
        "showscale": False,
    }


def views_figure(summary: Summary) -> Figure | None:
    """The same rows in fewer or more groups."""
    views = summary["views"]
    if not views:
        return None
    start = next(i for i, view in enumerate(views) if view["k"] == summary["k"])
    frames = [
        {
            "caption": f"{view['k']} group{'s' if view['k'] > 1 else ''}: "
            f"{view['explained']:.0%} of the spread explained"
            + (" · the choice of this report" if view["k"] == summary["k"] else ""),
            "data": [{"marker": {"size": 6, "opacity": 0.75, **_colours(view["label"])}}],
        }
        for view in views
    ]
    rows = [[str(view["k"]), f"{view['explained']:.1%}"] for view in views]
    return figure(
        "views",
        "Other numbers of groups",
        "The same rows in fewer or more groups, by k-means of the rows drawn here. Move the slider.",
        [_dots(summary, views[start]["label"])],
        layout=_map_layout(summary),
        height=460,
        narrow={"height": 340},
        frames=frames,
        start=start,
        table={"head": ["groups", "spread explained"], "rows": rows},
    )


# --- steps ------------------------------------------------------------------------------------------------------


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
    heights = [step["objective"] for step in steps]
    frames = [
        {
            "caption": f"step {step['step']} · {objective} {step['objective']:,.1f}".replace(
                "-", "\N{MINUS SIGN}"
            ),
            "data": _scene(step, steps),
        }
        for step in steps
    ]
    first = steps[0]
    data = [_dots(summary, first["labels"])]
    for g, _ in enumerate(first["centres"]):
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "hoverinfo": "skip",
                "showlegend": False,
                "line": {"color": colour(g), "width": 2.5 if first["ellipses"] else 1.5},
                "x": [],
                "y": [],
            }
        )
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "hoverinfo": "skip",
            "showlegend": False,
            "marker": {
                "size": 15,
                "symbol": "x",
                "color": [colour(g) for g in range(len(first["centres"]))],
                "line": {"width": 2, "color": "#ffffff"},
            },
            "x": [],
            "y": [],
        }
    )
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "xaxis": "x2",
            "yaxis": "y2",
            "showlegend": False,
            "hoverinfo": "x+y",
            "line": {"color": NEUTRAL, "width": 2},
            "x": [step["step"] for step in steps],
            "y": heights,
        }
    )
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "xaxis": "x2",
            "yaxis": "y2",
            "showlegend": False,
            "hoverinfo": "skip",
            "marker": {"size": 11, "color": PALETTE[1]},
            "x": [],
            "y": [],
        }
    )
    for trace, change in zip(data, _scene(first, steps), strict=True):
        trace.update(change)
    layout = {
        "xaxis": axis("", domain=[0, 1], zeroline=False, anchor="y"),
        "yaxis": axis("", domain=[0.3, 1], zeroline=False, scaleanchor="x"),
        "xaxis2": axis(
            "step", domain=[0, 1], anchor="y2", zeroline=False, dtick=max(1, steps[-1]["step"] // 8)
        ),
        "yaxis2": axis(objective, domain=[0, 0.17], anchor="x2", zeroline=False, nticks=3),
        "hovermode": "closest",
    }
    return figure(
        name,
        title,
        f"{words} Played on the map's two axes, from a poor start; the result of this report used all columns.",
        data,
        layout=layout,
        height=600,
        narrow={"height": 480},
        frames=frames,
        table={
            "head": ["step", objective],
            "rows": [[str(s["step"]), f"{s['objective']:,.4f}"] for s in steps],
        },
    )


def _scene(step: Frame, steps: list[Frame]) -> list[dict[str, Any]]:
    """What changes in each trace: colours, ellipses (or the way a centre has come), centres, -, the objective."""
    changes: list[dict[str, Any]] = [{"marker": {"size": 6, "opacity": 0.75, **_colours(step["labels"])}}]
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
