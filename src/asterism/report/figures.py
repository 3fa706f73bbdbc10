"""A summary -> its figures, by name."""

from __future__ import annotations

from asterism.report.background import scree_figure, starts_figure
from asterism.report.charts import (
    carriers_figure,
    curve_figures,
    heat_figure,
    margins_figure,
    silhouettes_figure,
)
from asterism.report.drawing import Figure
from asterism.report.maps import map_figure, views_figure
from asterism.report.playing import em_figure, kmeans_figure
from asterism.report.summary import Summary

MAKERS = (  # in the order in which they are drawn: what is seen first comes first
    map_figure,
    views_figure,
    heat_figure,
    carriers_figure,
    silhouettes_figure,
    margins_figure,
    kmeans_figure,
    em_figure,
    starts_figure,
    scree_figure,
)


def figures(summary: Summary) -> dict[str, Figure]:
    """All figures that this summary has something for."""
    found = [made for make in MAKERS if (made := make(summary)) is not None]
    return {made["id"]: made for made in [*found, *curve_figures(summary)]}
