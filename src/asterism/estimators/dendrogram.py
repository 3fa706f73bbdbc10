"""A tree as a picture: a plotly figure, drawn without recursion, of any number of rows.

Of large trees only the top is drawn: the last merges, whose leaves are clusters with their weight in brackets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.errors import ParameterError
from asterism.methods.cut import Tree, check_k, cut_tree, highest_below

COLOURS = (
    "#4477AA",
    "#EE6677",
    "#228833",
    "#CCBB44",
    "#66CCEE",
    "#AA3377",
    "#EE8866",
    "#44AA99",
)  # told apart by all
ABOVE = "#888888"  # merges above the cut
MOST_NAMES = 60  # more names would lie on one another
UPRIGHT = 60  # letters that fit side by side


@dataclass(frozen=True)
class Picture:
    """Where everything stands. Leaves are at 0, 1, 2, ... from left to right."""

    bars: NDArray[np.float64]  # (m - 1, 4) of each merge drawn: x of its two legs, heights of their feet
    heights: Vector  # (m - 1,)
    groups: NDArray[np.int64]  # (m - 1,) the cluster a merge is within, -1 above the cut
    names: list[str]  # (m,) of the leaves, from left to right
    members: list[int]  # (m,) clusters of the leaves


def layout(
    tree: Tree,
    k: int = 1,
    labels: Sequence[str] | None = None,
    leaves: int | None = 60,
    clusters: NDArray[np.int32] | None = None,
) -> Picture:
    """Places of the last ``leaves - 1`` merges, coloured by the cut into ``k`` clusters.

    >>> picture = layout(np.array([[0, 2, 1.0, 2], [1, 3, 4.0, 3]]))
    >>> picture.names, picture.bars.tolist()
    (['1', '0', '2'], [[1.0, 2.0, 0.0, 0.0], [0.0, 1.5, 0.0, 1.0]])
    """
    n = len(tree) + 1
    k = check_k(k, n)
    if labels is not None and len(labels) != n:
        raise ParameterError(f"{len(labels)} labels were given for {n} leaves.", "Give one a leaf.")
    first = 0 if leaves is None else max(n - max(int(leaves), 2, k), 0)  # merges below are not drawn
    order = _left_to_right(tree, first)
    place = np.empty(2 * n - 1)
    place[order] = np.arange(len(order))
    height = np.zeros(2 * n - 1)
    height[n:] = tree[:, 2]
    group = _groups(tree, k, clusters)
    bars = np.empty((n - 1 - first, 4))
    for i in range(first, n - 1):
        a, b = int(tree[i, 0]), int(tree[i, 1])
        a, b = (a, b) if place[a] <= place[b] else (b, a)
        low = [height[node] if node >= n + first else 0.0 for node in (a, b)]
        bars[i - first] = place[a], place[b], *low
        place[n + i] = (place[a] + place[b]) / 2
    names = [_name(node, tree, labels) for node in order]
    return Picture(bars, tree[first:, 2], group[n + first :], names, [int(group[node]) for node in order])


def _left_to_right(tree: Tree, first: int) -> list[int]:
    """Nodes that are leaves of the picture; of two branches the tighter one stands left."""
    n = len(tree) + 1
    order, waiting = [], [2 * n - 2]
    while waiting:
        node = waiting.pop()
        if node < n + first:
            order.append(node)
            continue
        a, b = int(tree[node - n, 0]), int(tree[node - n, 1])  # a is the older of the two: it merged lower
        waiting += [b, a]
    return order


def _groups(tree: Tree, k: int, clusters: NDArray[np.int32] | None) -> NDArray[np.int64]:
    """The cluster each node is within; -1 above the cut."""
    n = len(tree) + 1
    labels = cut_tree(tree, k=k) if clusters is None else clusters
    group = np.full(2 * n - 1, -1)
    group[:n] = labels
    for i in range(n - k):  # merges that stand
        group[n + i] = group[int(tree[i, 0])]
    return group


def _name(node: int, tree: Tree, labels: Sequence[str] | None) -> str:
    n = len(tree) + 1
    if node >= n:
        return f"({tree[node - n, 3]:g})"
    return str(labels[node]) if labels is not None else str(node)


def plot_tree(
    tree: Tree,
    *,
    k: int = 1,
    labels: Sequence[str] | None = None,
    leaves: int | None = 60,
    title: str = "",
    clusters: NDArray[np.int32] | None = None,
) -> Any:
    """A plotly figure of a tree in SciPy's format.

    ``k``       clusters to colour
    ``labels``  names of the rows, one a leaf of the tree
    ``clusters``  numbers of the clusters of that cut, one a leaf of the tree; else they are numbered by first leaves
    ``leaves``  leaves drawn at the most: the top of a larger tree, with the weight of clusters in brackets; None: all
    """
    from plotly import graph_objects

    picture = layout(tree, k, labels, leaves, clusters)
    figure = graph_objects.Figure()
    for group in dict.fromkeys([*sorted(set(picture.groups.tolist()))]):
        mine = picture.groups == group
        x, y = _lines(picture.bars[mine], picture.heights[mine])
        colour = ABOVE if group < 0 else COLOURS[group % len(COLOURS)]
        name = "above the cut" if group < 0 else f"cluster {group}"
        line = {"color": colour, "width": 1.5}
        figure.add_scatter(
            x=x, y=y, mode="lines", name=name, line=line, showlegend=len(set(picture.members)) > 1
        )
    _mark_cut(figure, tree, k, len(picture.names))
    named = len(picture.names) <= MOST_NAMES
    figure.update_layout(
        title=title or None,
        template="plotly_white",
        hovermode="closest",
        margin={"l": 60, "r": 20, "t": 60 if title else 20, "b": 60},
        xaxis={
            "tickvals": list(range(len(picture.names))) if named else [],
            "ticktext": picture.names if named else [],
            "tickangle": -90 if sum(map(len, picture.names)) > UPRIGHT else 0,
            "showgrid": False,
            "zeroline": False,
            "range": [-0.7, len(picture.names) - 0.3],
        },
        yaxis={"title": "height", "rangemode": "tozero", "zeroline": True},
    )
    return figure


def _lines(bars: NDArray[np.float64], heights: Vector) -> tuple[list[float | None], list[float | None]]:
    """Every merge as a bracket: up, across, down; None lifts the pen."""
    x: list[float | None] = []
    y: list[float | None] = []
    for (a, b, low_a, low_b), h in zip(bars.tolist(), heights.tolist(), strict=True):
        x += [a, a, b, b, None]
        y += [low_a, h, h, low_b, None]
    return x, y


def _mark_cut(figure: Any, tree: Tree, k: int, width: int) -> None:
    """A dotted line between the last merge that stands and the first that does not."""
    n = len(tree) + 1
    if not 1 < k < n:
        return
    highest = highest_below(tree)
    below, above = highest[n - k - 1], highest[n - k]
    middle = (below + above) / 2
    figure.add_scatter(
        x=[-0.7, width - 0.3], y=[middle, middle], mode="lines", name=f"{k} clusters",
        line={"color": "#333333", "width": 1, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
