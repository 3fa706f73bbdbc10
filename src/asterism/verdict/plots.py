"""Pictures of a choice, as plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asterism.verdict.choice import Choice

# name -> title, whether small is good, the column of its standard error
PANELS = {
    "bic": ("BIC", True, None),
    "icl": ("ICL", True, None),
    "aic": ("AIC", True, None),
    "mdl": ("code length, bits", True, None),
    "penalty": ("your own penalty", True, None),
    "cross_validation": ("held-out log-likelihood", False, "cross_validation_error"),
    "within": ("sum of squares (elbow)", True, None),
    "gap": ("gap statistic", False, "gap_error"),
    "stability": ("stability, parts of the rows", False, None),
    "noise_stability": ("stability, rows with noise", False, None),
    "silhouette": ("silhouette", False, None),
    "calinski_harabasz": ("Calinski-Harabasz", False, None),
    "scatter_ratio": ("scatter ratio", False, None),
}
ACROSS = 3


def criteria_figure(choice: Choice) -> Any:
    """Every criterion against k, one panel each, its own choice marked and the verdict as a line through all."""
    from plotly.subplots import make_subplots

    shown = [name for name in PANELS if len(choice.table.column(name)) > 0]
    down = -(-len(shown) // ACROSS)
    titles = [PANELS[name][0] + (", small is good" if PANELS[name][1] else "") for name in shown]
    figure = make_subplots(rows=down, cols=ACROSS, subplot_titles=titles, vertical_spacing=0.3 / down)
    for i, name in enumerate(shown):
        place = {"row": i // ACROSS + 1, "col": i % ACROSS + 1}
        _panel(figure, choice, name, place)
    sure = f"confidence {choice.confidence:.0%}"
    head = "no groups" if choice.k == 1 else f"{choice.k} groups"
    figure.update_layout(title=f"How many groups: {head}, {sure}", showlegend=False, height=120 + 240 * down)
    return figure


def _panel(figure: Any, choice: Choice, name: str, place: dict[str, int]) -> None:
    import plotly.graph_objects as go

    values, error = choice.table.column(name), PANELS[name][2]
    bars = None if error is None else {"array": [choice.table.column(error).get(k, 0.0) for k in values]}
    line = go.Scatter(x=list(values), y=list(values.values()), error_y=bars, mode="lines+markers",
                      line={"color": "#4c6ef5"}, name=name)  # fmt: skip
    figure.add_trace(line, **place)
    pick = choice.picks.get("elbow" if name == "within" else name)
    if pick in values:
        ring = {"size": 14, "symbol": "circle-open", "color": "#d9480f", "line": {"width": 3}}
        mark = go.Scatter(
            x=[pick], y=[values[pick]], mode="markers", name=f"{name} takes {pick}", marker=ring
        )
        figure.add_trace(mark, **place)
    figure.add_vline(x=choice.k, line={"dash": "dash", "color": "#868e96"}, **place)
    figure.update_xaxes(dtick=max(1, len(values) // 8), **place)


def stability_figure(choice: Choice) -> Any:
    """Stability against k, with the line of chance (0) and of full agreement (1)."""
    import plotly.graph_objects as go

    values = choice.table.column("stability")
    figure = go.Figure(go.Scatter(x=list(values), y=list(values.values()), mode="lines+markers"))
    figure.add_hline(y=0.0, line={"dash": "dot"}, annotation_text="as by chance")
    figure.update_layout(
        title="Stability: do the groups come back on other parts of the table?",
        xaxis={"title": "k", "dtick": 1},
        yaxis={"title": "1 - r / r_rand", "range": [min(-0.1, *values.values(), 0.0), 1.05]},
    )
    return figure
