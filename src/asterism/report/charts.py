"""Figures of columns and of trust: centres, carriers, criteria, silhouettes, margins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from asterism.report.drawing import LONG, NEUTRAL, PALETTE, Figure, axis, colour, figure, group_name, plain
from asterism.report.summary import CurveDict, Summary


def heat_figure(summary: Summary) -> Figure | None:
    """The groups' centres."""
    heat = summary["heat"]
    if summary["k"] < 2:
        return None
    names = [group_name(summary, g, 34) for g in range(summary["k"])]
    reach = max([1.0, *(min(abs(v), 3.0) for row in heat["z"] for v in row)])
    wide = len(heat["columns"])
    data = {
        "type": "heatmap",
        "x": [plain(name, LONG) for name in heat["columns"]],
        "y": names,
        "z": heat["z"],
        "text": [[plain(cell, 18) for cell in row] for row in heat["text"]],
        "texttemplate": "%{text}" if wide <= 12 else "",
        "hovertemplate": "%{y}<br>%{x}: %{text}<br>%{z:.2f} standard deviations<extra></extra>",
        "zmin": -reach,
        "zmax": reach,
        "xgap": 2,
        "ygap": 2,
        "colorbar": {"thickness": 8, "outlinewidth": 0, "len": 0.9, "tickformat": "+.1f"},
    }
    return figure(
        "heat",
        "Centres",
        "Means, or the level that marks a group, in the table's own units; colour is the difference from all rows "
        "in standard deviations.",
        [data],
        layout={
            "xaxis": axis("", tickangle=-35 if wide > 4 else 0, showgrid=False, type="category"),
            "yaxis": axis("", autorange="reversed", showgrid=False, type="category"),
        },
        height=150 + 52 * summary["k"],
        narrow={"yaxis": {"tickvals": names, "ticktext": [str(g) for g in range(summary["k"])]}},
        table={
            "head": ["group", *heat["columns"]],
            "rows": [[summary["groups"][g]["name"], *cells] for g, cells in enumerate(heat["text"])],
        },
    )


def carriers_figure(summary: Summary) -> Figure | None:
    """How much of the grouping each column carries."""
    if summary["k"] < 2:
        return None
    first = summary["carriers"][:16][::-1]
    data = {
        "type": "bar",
        "orientation": "h",
        "x": [share for _, share in first],
        "y": [plain(name, LONG) for name, _ in first],
        "text": [f"{share:.0%}" for _, share in first],
        "textposition": "auto",
        "hoverinfo": "skip",
        "marker": {"color": PALETTE[0]},
    }
    return figure(
        "carriers",
        "Columns that carry the grouping",
        "The share of each column's spread that lies between groups: 0% tells nothing, 100% tells all.",
        [data],
        layout={
            "xaxis": axis("", range=[0, 1.04], tickformat=".0%", dtick=0.25),
            "yaxis": axis("", type="category", showgrid=False),
            "bargap": 0.35,
        },
        height=110 + 30 * len(first),
        table={
            "head": ["column", "between groups"],
            "rows": [[n, f"{s:.1%}"] for n, s in summary["carriers"]],
        },
    )


# --- how many, how sure -----------------------------------------------------------------------------------------


def curve_figures(summary: Summary) -> list[Figure]:
    """A figure for each criterion."""
    found = []
    for i, curve in enumerate(summary["curves"]):
        rows = [[str(k), _at(curve, k), *_error(curve, k)] for k in curve["ks"]]
        layout = {
            "xaxis": axis("groups", dtick=1, zeroline=False),
            "yaxis": axis("", nticks=5, zeroline=False),
            "hovermode": "x",
        }
        found.append(
            figure(
                f"curve-{i}",
                curve["name"],
                _curve_caption(curve),
                _one_curve(curve, summary["k"]),
                layout=layout,
                height=250,
                table={"head": ["groups", "value", *(["error"] if curve["errors"] else [])], "rows": rows},
                label=f"Line chart of {curve['name']} against the number of groups. {_curve_caption(curve)}",
            )
        )
    return found


def _curve_caption(curve: CurveDict) -> str:
    takes = "" if curve["chosen"] is None else f"; by itself it takes {curve['chosen']}"
    words = f"{curve['better'].capitalize()} is better{takes}."
    if curve["rows"] is not None:
        words += f" Of k-means on {curve['rows']:,} rows."
    return words + (" Dotted: tables without groups." if curve["null"] is not None else "")


def _one_curve(curve: CurveDict, taken: int) -> list[dict[str, Any]]:
    """The curve; a ring around what the report takes, a dot on what the criterion takes by itself."""
    axes = {"showlegend": False, "type": "scatter"}
    line: dict[str, Any] = {
        **axes,
        "mode": "lines+markers",
        "name": plain(curve["name"], 40),
        "x": curve["ks"],
        "y": curve["values"],
        "line": {"color": PALETTE[0], "width": 2},
        "marker": {"size": 5},
    }
    if curve["errors"] is not None:
        line["error_y"] = {"type": "data", "array": curve["errors"], "thickness": 1, "width": 3}
    found = [line]
    if curve["null"] is not None:
        found.append(
            {
                **axes,
                "mode": "lines",
                "name": "without groups",
                "x": curve["ks"],
                "y": curve["null"],
                "line": {"color": NEUTRAL, "width": 1.5, "dash": "dot"},
            }
        )
    for k, symbol, size in ((curve["chosen"], "circle", 10), (taken, "circle-open", 17)):
        if k is not None and k in curve["ks"] and curve["values"][curve["ks"].index(k)] is not None:
            value = curve["values"][curve["ks"].index(k)]
            mark = {
                "symbol": symbol,
                "size": size,
                "color": PALETTE[1],
                "line": {"width": 2, "color": PALETTE[1]},
            }
            found.append(
                {**axes, "mode": "markers", "x": [k], "y": [value], "hoverinfo": "skip", "marker": mark}
            )
    return found


def _at(curve: CurveDict, k: int) -> str:
    value = curve["values"][curve["ks"].index(k)] if k in curve["ks"] else None
    return "–" if value is None else f"{value:,.6g}"


def _error(curve: CurveDict, k: int) -> list[str]:
    if curve["errors"] is None:
        return []
    value = curve["errors"][curve["ks"].index(k)]
    return ["–" if value is None else f"{value:,.3g}"]


def silhouettes_figure(summary: Summary) -> Figure | None:
    """Silhouettes, group by group."""
    values = summary["silhouettes"]
    if values is None:
        return None
    label = np.array(summary["map"]["label"])
    data, rows, first = [], [], 0
    for g in range(summary["k"]):
        mine = np.sort(np.array(values)[label == g])[::-1]
        if not len(mine):
            continue
        place = list(range(first, first + len(mine)))
        first += len(mine) + max(2, len(values) // 60)
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": group_name(summary, g, 34),
                "x": mine.tolist(),
                "y": place,
                "width": 1,
                "marker": {"color": colour(g), "line": {"width": 0}},
                "hovertemplate": "%{x:.2f}<extra></extra>",
                "showlegend": False,
            }
        )
        rows.append(
            [summary["groups"][g]["name"], f"{mine.mean():.2f}", f"{(mine < 0).mean():.0%}", str(len(mine))]
        )
    return figure(
        "silhouettes",
        "Silhouettes",
        f"How much nearer a row is to its own group than to the next; the mean is {summary['mean_silhouette']:.2f}. "
        "Below 0 a row lies nearer to another group.",
        data,
        layout={
            "xaxis": axis("silhouette", zeroline=True, range=[min(-0.1, min(values)), 1]),
            "yaxis": {"visible": False, "autorange": "reversed"},
            "bargap": 0,
        },
        height=400,
        table={"head": ["group", "mean silhouette", "below 0", "rows drawn"], "rows": rows},
    )


def margins_figure(summary: Summary) -> Figure | None:
    """How far rows are from borders."""
    values = summary["margins"]
    if values is None:
        return None
    label, margin = np.array(summary["map"]["label"]), np.array(values)
    edges = np.linspace(min(0.0, float(np.floor(margin.min() * 20) / 20)), 1.0, 21)
    data = []
    for g in range(summary["k"]):
        counts = np.histogram(np.clip(margin[label == g], edges[0], 1.0), edges)[0]
        data.append(
            {
                "type": "bar",
                "name": group_name(summary, g, 34),
                "x": ((edges[1:] + edges[:-1]) / 2).round(4).tolist(),
                "y": counts.tolist(),
                "marker": {"color": colour(g)},
                "hovertemplate": "%{y} rows near %{x:.2f}<extra></extra>",
                "showlegend": False,
            }
        )
    what = (
        "The probability of a row's own group less that of its next"
        if summary["margin_is_probability"]
        else "One less the distance to a row's own centre over that to the next"
    )
    near = float((margin < 0.2).mean())
    rows = [
        [f"{a:.2f} to {b:.2f}", str(int(((margin >= a) & (margin < (b if b < 1 else 2))).sum()))]
        for a, b in pairwise(edges.tolist())
    ]
    return figure(
        "margins",
        "How sure each row is",
        f"{what}: 0 on a border, 1 far from it. {near:.0%} of rows lie below 0.2.",
        data,
        layout={"barmode": "stack", "bargap": 0.08, "xaxis": axis("margin"), "yaxis": axis("rows")},
        height=400,
        table={"head": ["margin", "rows drawn"], "rows": rows},
    )
