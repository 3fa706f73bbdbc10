"""The picture of principal axes: rows, what columns do, and how much variance each axis holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asterism.methods.axes import Axes

DRAWN = 20_000  # rows in the picture, evenly taken
ARROWS = 8  # columns that are drawn: those that count most on the first two axes
BARS = 30
LONGEST = 24  # letters of a name beside its arrow
ROWS, COLUMNS, LINE = "#4c6ef5", "#d9480f", "#868e96"


def biplot(axes: Axes, title: str) -> Any:
    """A plotly figure; a single axis is drawn as a line of rows."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=1, cols=2, column_widths=[0.68, 0.32], horizontal_spacing=0.09,
        subplot_titles=("rows, and what columns do", "variance held, %"),
    )  # fmt: skip
    _rows(figure, axes)
    _arrows(figure, axes)
    _bars(figure, axes)
    figure.update_layout(title=title, template="plotly_white", showlegend=False, height=620)
    return figure


def _rows(figure: Any, axes: Axes) -> None:
    import numpy as np
    from plotly import graph_objects as go

    step = -(-len(axes.scores) // DRAWN)
    z = axes.scores[::step]
    flat = z.shape[1] == 1
    points = go.Scattergl(
        x=z[:, 0], y=np.zeros(len(z)) if flat else z[:, 1], mode="markers", name="rows",
        marker={"size": 5, "opacity": 0.55, "color": ROWS}, customdata=np.arange(len(axes.scores))[::step],
        hovertemplate="row %{customdata}: %{x:.3g}, %{y:.3g}<extra></extra>",
    )  # fmt: skip
    figure.add_trace(points, row=1, col=1)
    figure.update_xaxes(title=f"pc1 ({axes.shares[0]:.1%})", zeroline=True, row=1, col=1)
    if flat:
        figure.update_yaxes(visible=False, row=1, col=1)
    else:
        # The same unit both ways: otherwise angles and distances lie.
        figure.update_yaxes(title=f"pc2 ({axes.shares[1]:.1%})", scaleanchor="x", scaleratio=1, row=1, col=1)


def _arrows(figure: Any, axes: Axes) -> None:
    """A column's arrow points to where rows lie that have more of it; all arrows have one scale."""
    import numpy as np

    sides = axes.directions[:2].T
    if sides.shape[1] == 1:
        sides = np.column_stack([sides, np.zeros(len(sides))])
    size = np.sqrt((sides**2).sum(axis=1))
    chosen = np.argsort(-size, kind="stable")[:ARROWS]
    reach = 0.8 * float(np.abs(axes.scores[:, :2]).max()) / (float(size.max()) or 1.0)
    for j in chosen[size[chosen] > 0]:
        x, y = (sides[j] * reach).tolist()
        name = axes.names[int(j)]
        figure.add_annotation(
            x=x, y=y, ax=0, ay=0, axref="x", ayref="y", xref="x", yref="y", text="",
            arrowhead=2, arrowwidth=1.5, arrowcolor=COLUMNS,
        )  # fmt: skip
        figure.add_annotation(
            x=x, y=y, xref="x", yref="y", showarrow=False, text=_escaped(name), font={"color": COLUMNS, "size": 12},
            xanchor="left" if x >= 0 else "right", yanchor="bottom" if y >= 0 else "top",
            bgcolor="rgba(255,255,255,0.7)",
        )  # fmt: skip


def _bars(figure: Any, axes: Axes) -> None:
    from plotly import graph_objects as go

    shares = 100.0 * axes.shares[:BARS]
    names = [f"pc{c + 1}" for c in range(len(shares))]
    bars = go.Bar(x=names, y=shares, marker={"color": ROWS}, name="share",
                  hovertemplate="%{x}: %{y:.2f} %<extra></extra>")  # fmt: skip
    line = go.Scatter(x=names, y=shares.cumsum(), mode="lines+markers", line={"color": LINE}, name="together",
                      hovertemplate="up to %{x}: %{y:.2f} %<extra></extra>")  # fmt: skip
    figure.add_trace(bars, row=1, col=2)
    figure.add_trace(line, row=1, col=2)
    figure.update_yaxes(range=[0, 105], row=1, col=2)


def _escaped(name: str) -> str:
    """Plotly reads a little HTML in labels: a column's name is not to be any."""
    short = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
