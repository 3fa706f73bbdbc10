"""Figures of what lies behind: components, restarts."""

from __future__ import annotations

import numpy as np

from asterism.report.drawing import NEUTRAL, PALETTE, Figure, axis, figure
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


def starts_figure(summary: Summary) -> Figure | None:
    """The objective of every start, the best of them bold."""
    starts = summary["starts"]
    if starts is None:
        return None
    histories, sign = starts["histories"], -1.0 if starts["higher"] else 1.0
    ends = [sign * history[-1] for history in histories]
    best = int(np.argmin(ends))
    level = abs(ends[best]) * 1e-3 + 1e-12
    together = sum(end <= ends[best] + level for end in ends)
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(range(len(histories[i]))),
            "y": histories[i],
            "line": {"color": PALETTE[0] if i == best else NEUTRAL, "width": 3 if i == best else 1.5},
            "opacity": 1.0 if i == best else 0.7,
            "name": f"start {i + 1}",
            "showlegend": False,
        }
        for i in [*(i for i in range(len(histories)) if i != best), best]  # the best on top
    ]
    rows = [[str(i + 1), str(len(h) - 1), f"{h[-1]:,.6g}"] for i, h in enumerate(histories)]
    return figure(
        "starts",
        "Convergence of all restarts",
        f"The {starts['objective']} of {starts['rows']:,} rows after every step, from {len(histories)} random "
        f"starts; {together} of them end{'s' if together == 1 else ''} within a thousandth of the best (bold). "
        "Starts that end apart found different optima.",
        data,
        layout={
            "xaxis": axis("step", zeroline=False),
            "yaxis": axis(starts["objective"], zeroline=False, nticks=5),
            "hovermode": "closest",
        },
        height=340,
        table={"head": ["start", "steps", starts["objective"]], "rows": rows},
    )
