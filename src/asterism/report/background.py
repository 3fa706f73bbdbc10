"""Figures of what lies behind: components, relatives among groups, convergence."""

from __future__ import annotations

import numpy as np

from asterism.report.drawing import NEUTRAL, PALETTE, Figure, axis, colour, figure, group_name, plain
from asterism.report.summary import Summary


def scree_figure(summary: Summary) -> Figure | None:
    """Variance of the components."""
    ratios = summary["map"]["ratios"]
    if len(ratios) < 2:
        return None
    x = list(range(1, len(ratios) + 1))
    total = np.cumsum(ratios).round(4).tolist()
    data = [
        {
            "type": "bar",
            "x": x,
            "y": ratios,
            "marker": {"color": PALETTE[0]},
            "name": "each",
            "showlegend": False,
        },
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": x,
            "y": total,
            "line": {"color": NEUTRAL, "width": 2},
            "name": "together",
            "showlegend": False,
        },
    ]
    return figure(
        "scree",
        "How much of the spread the map shows",
        f"Variance of each principal component (bars) and of all up to it (line): the two axes of the map hold "
        f"{sum(ratios[:2]):.0%}.",
        data,
        layout={
            "xaxis": axis("component", dtick=1),
            "yaxis": axis("", tickformat=".0%", range=[0, 1.03]),
            "bargap": 0.4,
        },
        height=340,
        table={
            "head": ["component", "share"],
            "rows": [[str(i), f"{r:.1%}"] for i, r in zip(x, ratios, strict=True)],
        },
    )


def tree_figure(summary: Summary) -> Figure | None:
    """The groups' means, joined."""
    if summary["tree"] is None:
        return None
    from scipy.cluster.hierarchy import dendrogram

    drawn = dendrogram(np.array(summary["tree"]), no_plot=True)
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": height,
            "y": place,
            "line": {"color": NEUTRAL, "width": 2},
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for place, height in zip(drawn["icoord"], drawn["dcoord"], strict=True)
    ]
    leaves = drawn["leaves"] or []
    places = [5 + 10 * i for i in range(len(leaves))]
    marks = {"size": 12, "color": [colour(g) for g in leaves]}
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": [0] * len(leaves),
            "y": places,
            "marker": marks,
            "cliponaxis": False,
            "hoverinfo": "skip",
            "showlegend": False,
        }
    )
    names = [group_name(summary, g, 34) for g in leaves]
    return figure(
        "tree",
        "Which groups are near each other",
        "Groups joined by the distance of their means in standardised columns: early joins are near relatives.",
        data,
        layout={
            "xaxis": axis("distance", zeroline=False, rangemode="tozero"),
            "yaxis": axis("", tickvals=places, ticktext=names, showgrid=False, zeroline=False),
        },
        height=130 + 36 * len(leaves),
        narrow={"yaxis": {"tickvals": places, "ticktext": [str(g + 1) for g in leaves]}},
        table={
            "head": ["joined", "with", "distance"],
            "rows": [[_node(a, summary), _node(b, summary), f"{h:.2f}"] for a, b, h, _ in summary["tree"]],
        },
    )


def _node(number: float, summary: Summary) -> str:
    k = summary["k"]
    return summary["groups"][int(number)]["name"] if number < k else f"join {int(number) - k + 1}"


def histories_figure(summary: Summary) -> Figure | None:
    """The objective of every start."""
    histories = summary["histories"]
    if not histories:
        return None
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(range(len(history))),
            "y": history,
            "line": {"color": PALETTE[i % len(PALETTE)], "width": 1.5},
            "opacity": 0.8,
            "name": f"start {i + 1}",
            "showlegend": False,
        }
        for i, history in enumerate(histories)
    ]
    rows = [[str(i + 1), str(len(h) - 1), f"{h[-1]:,.6g}"] for i, h in enumerate(histories)]
    return figure(
        "histories",
        "Convergence",
        f"The {summary['objective']} after every step, start by start: starts that end apart found different optima.",
        data,
        layout={"xaxis": axis("step"), "yaxis": axis(plain(summary["objective"], 40))},
        height=340,
        table={"head": ["start", "steps", summary["objective"]], "rows": rows},
    )
