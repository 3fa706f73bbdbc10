"""A summary -> figures, as plotly.js takes them: plain dictionaries of data and layout.

Figures carry no theme: the page gives them the colours of its light or dark side. Text of the table is made plain
first: plotly reads a few HTML tags in its texts, and a column may be called anything.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, TypedDict

import numpy as np

from asterism.report.steps import Frame
from asterism.report.summary import CurveDict, Summary

# Paul Tol's bright and muted schemes: told apart by colour-blind eyes, on light and dark alike.
PALETTE = (
    "#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377",
    "#44AA99", "#DD8855", "#8877CC", "#999933", "#CC6699", "#88A0B0",
)  # fmt: skip
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "cross",
    "star",
    "x",
    "pentagon",
    "hexagon",
    "bowtie",
)
NEUTRAL = "#8A8F98"
RADIUS = 2.0  # standard deviations of an ellipse
LONG = 26  # characters of a name in a figure


class Table(TypedDict):
    """The numbers of a figure, for those who cannot see it."""

    head: list[str]
    rows: list[list[str]]


class Figure(TypedDict):
    """A figure, its words, and its numbers."""

    id: str
    title: str
    caption: str
    label: str  # what a screen reader says of it
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int
    frames: list[dict[str, Any]]  # changes of the data that a slider makes; each with a caption
    start: int  # frame shown first
    table: Table | None


def colour(group: int) -> str:
    """Of a group, everywhere."""
    return PALETTE[group % len(PALETTE)]


def plain(text: str, longest: int = 200) -> str:
    """Text that plotly shows as it is.

    >>> plain("<b>a & b</b>")
    '&lt;b&gt;a &amp; b&lt;/b&gt;'
    """
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def figures(summary: Summary) -> dict[str, Figure]:
    """All figures that this summary has something for, by name."""
    makers = (
        _map, _views, _heat, _carriers, _curves, _silhouettes, _margins, _kmeans, _em, _scree, _tree, _histories,
    )  # fmt: skip
    found = [figure for make in makers if (figure := make(summary)) is not None]
    return {figure["id"]: figure for figure in found}


def _figure(name: str, title: str, caption: str, data: list[dict[str, Any]], **more: Any) -> Figure:
    layout = more.get("layout", {})
    return Figure(
        id=name,
        title=title,
        caption=caption,
        label=more.get("label", f"{title}. {caption}"),
        data=data,
        layout=layout,
        height=more.get("height", 420),
        frames=more.get("frames", []),
        start=more.get("start", 0),
        table=more.get("table"),
    )


def _axis(title: str, **more: Any) -> dict[str, Any]:
    return {"title": {"text": title}, **more}


def _group_name(summary: Summary, g: int, longest: int = 60) -> str:
    return plain(f"{g + 1}  {summary['groups'][g]['name']}", longest)


# --- the map ----------------------------------------------------------------------------------------------------


def _map_layout(summary: Summary) -> dict[str, Any]:
    ratios = summary["map"]["ratios"]
    axes = [
        f"component {i + 1} ({ratios[i]:.0%} of the variance)" if i < len(ratios) else "" for i in range(2)
    ]
    return {
        "xaxis": _axis(axes[0], zeroline=False),
        "yaxis": _axis(axes[1], zeroline=False, scaleanchor="x" if len(ratios) > 1 else False),
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "hovermode": "closest",
    }


def _map(summary: Summary) -> Figure:
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
                "name": _group_name(summary, g, 34),
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
    for g in range(summary["k"]):
        mine = xy[label == g]
        if len(mine) > 2:
            cov = np.cov(mine.T)
            data.append(_ellipse(mine.mean(axis=0), [cov[0, 0], cov[0, 1], cov[1, 1]], colour(g)))
    drawn = "Every row" if points["whole"] else f"{len(label):,} rows, drawn at random"
    heads = ["column", "component 1", "component 2"]
    leans = [[name, f"{a:+.2f}", f"{b:+.2f}"] for name, a, b in points["loadings"]]
    return _figure(
        "map",
        "Map",
        f"{drawn}, seen from the side that shows most of their spread. Ellipses reach two standard deviations.",
        data,
        layout=_map_layout(summary),
        height=540,
        label=f"Scatter plot of rows in the plane of two principal components, coloured by {summary['k']} groups",
        table={"head": heads, "rows": leans},
    )


def _ellipse(centre: Any, cov: Any, line: str, width: float = 1.5) -> dict[str, Any]:
    xx, xy, yy = cov
    values, vectors = np.linalg.eigh([[xx, xy], [xy, yy]])
    angle = np.linspace(0, 2 * np.pi, 49)
    around = (
        np.column_stack([np.cos(angle), np.sin(angle)]) * np.sqrt(np.maximum(values, 0)) * RADIUS
    ) @ vectors.T
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.round(around[:, 0] + centre[0], 3).tolist(),
        "y": np.round(around[:, 1] + centre[1], 3).tolist(),
        "line": {"color": line, "width": width},
        "hoverinfo": "skip",
        "showlegend": False,
    }


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


def _views(summary: Summary) -> Figure | None:
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
    return _figure(
        "views",
        "Other numbers of groups",
        "The same rows in fewer or more groups, by k-means of the rows drawn here. Move the slider.",
        [_dots(summary, views[start]["label"])],
        layout=_map_layout(summary),
        height=460,
        frames=frames,
        start=start,
        table={"head": ["groups", "spread explained"], "rows": rows},
    )


# --- steps ------------------------------------------------------------------------------------------------------


def _kmeans(summary: Summary) -> Figure | None:
    words = "Rows go to their nearest centre, centres to the mean of their rows, until nothing moves."
    return _played(summary, "kmeans", "k-means, step by step", words, summary["kmeans"], "sum of squares")


def _em(summary: Summary) -> Figure | None:
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
            "caption": f"step {step['step']} · {objective} {step['objective']:,.1f}",
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
        "xaxis": _axis("", domain=[0, 1], zeroline=False, anchor="y"),
        "yaxis": _axis("", domain=[0.3, 1], zeroline=False, scaleanchor="x"),
        "xaxis2": _axis(
            "step", domain=[0, 1], anchor="y2", zeroline=False, dtick=max(1, steps[-1]["step"] // 8)
        ),
        "yaxis2": _axis(objective, domain=[0, 0.17], anchor="x2", zeroline=False, nticks=3),
        "hovermode": "closest",
    }
    return _figure(
        name,
        title,
        f"{words} Played on the map's two axes, from a poor start; the result of this report used all columns.",
        data,
        layout=layout,
        height=600,
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
            around = _ellipse(centre, step["ellipses"][g], colour(g))
            changes.append({"x": around["x"], "y": around["y"]})
        else:
            way = [s["centres"][g] for s in steps if s["step"] <= step["step"]]
            changes.append({"x": [x for x, _ in way], "y": [y for _, y in way]})
    changes.append({"x": [x for x, _ in step["centres"]], "y": [y for _, y in step["centres"]]})
    changes.append({})
    changes.append({"x": [step["step"]], "y": [step["objective"]]})
    return changes


# --- columns ----------------------------------------------------------------------------------------------------


def _heat(summary: Summary) -> Figure | None:
    heat = summary["heat"]
    if summary["k"] < 2:
        return None
    names = [_group_name(summary, g, LONG) for g in range(summary["k"])]
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
    return _figure(
        "heat",
        "Centres",
        "Means, or the level that marks a group, in the table's own units; colour is the difference from all rows "
        "in standard deviations.",
        [data],
        layout={
            "xaxis": _axis("", tickangle=-35 if wide > 4 else 0, showgrid=False, type="category"),
            "yaxis": _axis("", autorange="reversed", showgrid=False, type="category"),
        },
        height=150 + 52 * summary["k"],
        table={
            "head": ["group", *heat["columns"]],
            "rows": [[summary["groups"][g]["name"], *cells] for g, cells in enumerate(heat["text"])],
        },
    )


def _carriers(summary: Summary) -> Figure | None:
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
    return _figure(
        "carriers",
        "Columns that carry the grouping",
        "The share of each column's spread that lies between groups: 0% tells nothing, 100% tells all.",
        [data],
        layout={
            "xaxis": _axis("", range=[0, 1], tickformat=".0%"),
            "yaxis": _axis("", type="category", showgrid=False),
            "bargap": 0.35,
        },
        height=110 + 30 * len(first),
        table={
            "head": ["column", "between groups"],
            "rows": [[n, f"{s:.1%}"] for n, s in summary["carriers"]],
        },
    )


# --- how many, how sure -----------------------------------------------------------------------------------------


def _curves(summary: Summary) -> Figure | None:
    curves = [c for c in summary["curves"] if len([v for v in c["values"] if v is not None]) > 1][:8]
    if not curves:
        return None
    across = min(2, len(curves))
    down = math.ceil(len(curves) / across)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": [], "hovermode": "x"}
    for i, curve in enumerate(curves):
        number = "" if i == 0 else str(i + 1)
        column, row = i % across, i // across
        left = [
            column / across + (0.05 if column else 0),
            (column + 1) / across - (0.05 if column + 1 < across else 0),
        ]
        top = 1 - row / down
        low = top - 1 / down + (0.34 / down)
        layout[f"xaxis{number}"] = _axis("groups", domain=left, anchor=f"y{number}", dtick=1, zeroline=False)
        layout[f"yaxis{number}"] = _axis("", domain=[low, top - 0.1 / down], anchor=f"x{number}", nticks=5)
        layout["annotations"].append(
            {
                "text": f"<b>{plain(curve['name'], 40)}</b> · {curve['better']} is better",
                "x": left[0],
                "y": top - 0.02 / down,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "middle",
                "showarrow": False,
            }
        )
        data += _one_curve(curve, number, summary["k"])
    heads = ["groups", *(curve["name"] for curve in curves)]
    ks = sorted({k for curve in curves for k in curve["ks"]})
    return _figure(
        "curves",
        "Criteria against the number of groups",
        "The ring marks what this report takes; a filled dot what a criterion takes by itself.",
        data,
        layout=layout,
        height=290 * down + 20,
        table={"head": heads, "rows": [[str(k), *(_at(curve, k) for curve in curves)] for k in ks]},
    )


def _one_curve(curve: CurveDict, number: str, taken: int) -> list[dict[str, Any]]:
    axes = {"xaxis": f"x{number}", "yaxis": f"y{number}", "showlegend": False, "type": "scatter"}
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
    return "–" if value is None else f"{value:,.4g}"


def _silhouettes(summary: Summary) -> Figure | None:
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
                "name": _group_name(summary, g, 34),
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
    return _figure(
        "silhouettes",
        "Silhouettes",
        f"How much nearer a row is to its own group than to the next; the mean is {np.mean(values):.2f}. "
        "Below 0 a row lies nearer to another group.",
        data,
        layout={
            "xaxis": _axis("silhouette", zeroline=True, range=[min(-0.1, min(values)), 1]),
            "yaxis": {"visible": False, "autorange": "reversed"},
            "bargap": 0,
        },
        height=400,
        table={"head": ["group", "mean silhouette", "below 0", "rows drawn"], "rows": rows},
    )


def _margins(summary: Summary) -> Figure | None:
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
                "name": _group_name(summary, g, 34),
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
    return _figure(
        "margins",
        "How sure each row is",
        f"{what}: 0 on a border, 1 far from it. {near:.0%} of rows lie below 0.2.",
        data,
        layout={"barmode": "stack", "bargap": 0.08, "xaxis": _axis("margin"), "yaxis": _axis("rows")},
        height=400,
        table={"head": ["margin", "rows drawn"], "rows": rows},
    )


# --- scree, tree, convergence -----------------------------------------------------------------------------------


def _scree(summary: Summary) -> Figure | None:
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
    return _figure(
        "scree",
        "How much of the spread the map shows",
        f"Variance of each principal component (bars) and of all up to it (line): the two axes of the map hold "
        f"{sum(ratios[:2]):.0%}.",
        data,
        layout={
            "xaxis": _axis("component", dtick=1),
            "yaxis": _axis("", tickformat=".0%", range=[0, 1.03]),
            "bargap": 0.4,
        },
        height=340,
        table={
            "head": ["component", "share"],
            "rows": [[str(i), f"{r:.1%}"] for i, r in zip(x, ratios, strict=True)],
        },
    )


def _tree(summary: Summary) -> Figure | None:
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
            "hoverinfo": "skip",
            "showlegend": False,
        }
    )
    names = [_group_name(summary, g, 34) for g in leaves]
    return _figure(
        "tree",
        "Which groups are near each other",
        "Groups joined by the distance of their means in standardised columns: early joins are near relatives.",
        data,
        layout={
            "xaxis": _axis("distance", zeroline=False, rangemode="tozero"),
            "yaxis": _axis("", tickvals=places, ticktext=names, showgrid=False, zeroline=False),
        },
        height=130 + 36 * len(leaves),
        table={
            "head": ["joined", "with", "distance"],
            "rows": [[_node(a, summary), _node(b, summary), f"{h:.2f}"] for a, b, h, _ in summary["tree"]],
        },
    )


def _node(number: float, summary: Summary) -> str:
    k = summary["k"]
    return summary["groups"][int(number)]["name"] if number < k else f"join {int(number) - k + 1}"


def _histories(summary: Summary) -> Figure | None:
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
    return _figure(
        "histories",
        "Convergence",
        f"The {summary['objective']} after every step, start by start: starts that end apart found different optima.",
        data,
        layout={"xaxis": _axis("step"), "yaxis": _axis(plain(summary["objective"], 40))},
        height=340,
        table={"head": ["start", "steps", summary["objective"]], "rows": rows},
    )
