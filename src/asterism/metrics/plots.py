"""Pictures of metrics, as plotly figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from asterism.data.source import checked_weights
from asterism.errors import ParameterError
from asterism.metrics.external import contingency_matrix
from asterism.metrics.labels import labels_of
from asterism.metrics.matching import How, match_clusters
from asterism.metrics.silhouette import silhouette_samples

MOST_LABELS = 200  # of a picture that can be read
MOST_BARS = 2000  # rows of a silhouette that are drawn


def contingency_figure(
    labels_true: Any, labels: Any, how: How = "greedy", *, sample_weight: Any = None
) -> Any:
    """The contingency table as a heat map, classes down and clusters across; matched cells are framed."""
    import plotly.graph_objects as go

    matching = match_clusters(labels_true, labels, how, sample_weight=sample_weight)
    if max(len(matching.classes), len(matching.clusters)) > MOST_LABELS:
        raise ParameterError(
            f"A picture of {len(matching.classes)} x {len(matching.clusters)} labels cannot be read.",
            f"It takes up to {MOST_LABELS} of each; see contingency_matrix for the numbers.",
        )
    table = contingency_matrix(labels_true, labels, sample_weight=sample_weight)
    classes, clusters = (list(map(str, levels.tolist())) for levels in (matching.classes, matching.clusters))
    heat = go.Heatmap(
        z=table, x=clusters, y=classes, texttemplate="%{z}", colorscale="Blues", showscale=False
    )
    figure = go.Figure(heat)
    for j, i in enumerate(matching.class_of.tolist()):
        if i >= 0:
            box = {"x0": j - 0.5, "x1": j + 0.5, "y0": i - 0.5, "y1": i + 0.5}
            figure.add_shape(type="rect", **box, line={"color": "#d9480f", "width": 3})
    figure.update_layout(
        title=f"Classes and clusters, {how} matching: {matching.accuracy:.1%} of the rows agree",
        xaxis={"title": "cluster", "type": "category"},
        yaxis={"title": "class", "type": "category", "autorange": "reversed"},
    )
    return figure


def silhouette_figure(X: Any, labels: Any, *, sample_weight: Any = None, **options: Any) -> Any:
    """Silhouettes of all rows, group by group, the best placed first; ``options`` go to ``silhouette_samples``.

    Of more rows than can be drawn, evenly spaced ones of each group are.
    """
    import plotly.graph_objects as go

    values = silhouette_samples(X, labels, sample_weight=sample_weight, **options)
    weights = None if sample_weight is None else checked_weights(sample_weight, len(values))
    known = labels_of(labels, weights)
    figure, place = go.Figure(), 0
    step = -(-int(np.count_nonzero(~np.isnan(values))) // MOST_BARS)
    for c, name in enumerate(known.levels.tolist()):
        own = np.sort(values[known.codes == c])[::-1]
        shown = own[::step]
        down = place + np.arange(len(shown))
        text = f"{name} ({len(own)} rows, mean {own.mean():.2f})"
        figure.add_bar(x=shown, y=down, orientation="h", name=text, width=1, marker={"line": {"width": 0}})
        place += len(shown) + max(2, MOST_BARS // 200)
    counted = ~np.isnan(values)
    mean = float(np.average(values[counted], weights=None if weights is None else weights[counted]))
    figure.add_vline(x=mean, line={"dash": "dash"}, annotation_text=f"mean {mean:.3f}")
    figure.update_layout(
        title="Silhouettes: how much nearer rows are to their own group than to the next",
        xaxis={"title": "silhouette", "range": [min(-0.1, float(np.nanmin(values))), 1.0]},
        yaxis={"visible": False, "autorange": "reversed"},
        bargap=0,
    )
    return figure
