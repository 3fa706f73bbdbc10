"""What all figures share: their type, colours, and text that plotly shows as it is.

Figures are plain dictionaries of data and layout, as plotly.js takes them. They carry no theme: the page gives them
the colours of its light or dark side. Text of the table is made plain first: plotly reads a few HTML tags, and a
column may be called anything.
"""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np

from asterism.report.summary import Summary

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
    narrow: dict[str, Any]  # what the layout is instead on a phone
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


def figure(name: str, title: str, caption: str, data: list[dict[str, Any]], **more: Any) -> Figure:
    """A figure; ``more`` are the other fields of ``Figure``."""
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
        narrow=more.get("narrow", {}),
        table=more.get("table"),
    )


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title."""
    return {"title": {"text": title}, **more}


def group_name(summary: Summary, g: int, longest: int = 60) -> str:
    """Its number, as in labels.csv, and its name."""
    return plain(f"{g}  {summary['groups'][g]['name']}", longest)


def ellipse(centre: Any, cov: Any, line: str, width: float = 1.5) -> dict[str, Any]:
    """The line two standard deviations around a centre, given xx, xy and yy of the covariance."""
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
