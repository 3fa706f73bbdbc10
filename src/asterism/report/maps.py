"""Figures of rows in the plane: the map, and the same rows in other numbers of groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from asterism.report.drawing import (
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
from asterism.report.summary import Summary

DOT = {"size": 6, "opacity": 0.75}


def _map_layout(summary: Summary) -> dict[str, Any]:
    ratios = summary["map"]["ratios"]
    axes = [
        f"component {i + 1} ({ratios[i]:.0%} of the variance)" if i < len(ratios) else "" for i in range(2)
    ]
    return {
        "xaxis": axis(axes[0], zeroline=False, automargin=False),
        "yaxis": axis(
            axes[1], zeroline=False, automargin=False, scaleanchor="x" if len(ratios) > 1 else False
        ),
        "margin": {"l": 56},
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


def dots(summary: Summary, label: list[int]) -> dict[str, Any]:
    """All points as one trace whose colours a slider changes."""
    points = summary["map"]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": points["x"],
        "y": points["y"],
        "hoverinfo": "skip",
        "showlegend": False,
        "marker": {**DOT, **colours(label)},
    }


def colours(label: list[int]) -> dict[str, Any]:
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
            "data": [{"marker": {**DOT, **colours(view["label"])}}],
        }
        for view in views
    ]
    rows = [[str(view["k"]), f"{view['explained']:.1%}"] for view in views]
    return figure(
        "views",
        "Other numbers of groups",
        "The same rows in fewer or more groups, by k-means of the rows drawn here. Move the slider.",
        [dots(summary, views[start]["label"])],
        layout=_map_layout(summary),
        height=460,
        narrow={"height": 340},
        frames=frames,
        start=start,
        table={"head": ["groups", "spread explained"], "rows": rows},
    )
