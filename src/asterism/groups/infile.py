"""A baseline as arrays for a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import Column
from asterism.families.infile import demand, floats
from asterism.groups.figures import HEIGHTS, PLACES, Array, Baseline, Figures, Ruler
from asterism.stats.moments import ColumnMoments
from asterism.verdict.view import View

Arrays = dict[str, NDArray[Any]]
PREFIX = "baseline."
RULER = ("borders", "within", "heights")
COUNTS = ("mass", "overall", "within", "heights", "unusual", "known")
MOMENTS = ("weight", "mean", "scatter")


def packed_baseline(baseline: Baseline) -> Arrays:
    """Infinite borders are written as NaN: a model file holds no infinite numbers."""
    ruler, figures = baseline.ruler, baseline.figures
    borders = {f"borders.{name}": getattr(ruler, name) for name in RULER}
    out = {name: np.where(np.isinf(array), np.nan, array) for name, array in borders.items()}
    out |= {f"counts.{name}": getattr(figures, name) for name in COUNTS}
    out |= {
        f"moments.{name}": np.array([getattr(part, name) for part in figures.moments]) for name in MOMENTS
    }
    return {PREFIX + name: array for name, array in out.items()}


def unpacked_baseline(
    view: View, columns: tuple[Column, ...], k: int, arrays: Mapping[str, NDArray[Any]]
) -> Baseline | None:
    """What ``packed_baseline`` gave; None where a file has none."""
    if PREFIX + "counts.mass" not in arrays:
        return None
    formed = columns if view.margins is None else view.margins.modelled
    d, known = len(formed), dict(arrays)
    shapes: dict[str, tuple[int | None, ...]] = {
        "borders": (d, PLACES - 1), "within": (k, d, PLACES - 1), "heights": (HEIGHTS - 1,),
    }  # fmt: skip
    ruler = Ruler(formed, **{name: _borders(known, name, shapes[name]) for name in RULER})
    width = int(ruler.starts[-1])
    shapes = {
        "mass": (k + 1,), "overall": (width,), "within": (k, width), "heights": (HEIGHTS,),
        "unusual": (k,), "known": (k,),
    }  # fmt: skip
    counts = {name: _amounts(known, f"counts.{name}", shapes[name]) for name in COUNTS}
    weight, scatter = (_amounts(known, f"moments.{name}", (k + 1, d)) for name in ("weight", "scatter"))
    mean = floats(known, PREFIX + "moments.mean", (k + 1, d))
    moments = tuple(_moments(weight[g], mean[g], scatter[g], float(counts["mass"][g])) for g in range(k + 1))
    demand(float(counts["mass"].sum()) > 0, "rows of the fit")
    return Baseline(ruler, Figures(**counts, moments=moments))


def _borders(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> Array:
    found = floats(arrays, f"{PREFIX}borders.{name}", shape, missing=True)
    found = np.where(np.isnan(found), np.inf, found)
    with np.errstate(invalid="ignore"):  # infinite less infinite
        demand(not bool((np.diff(found, axis=-1) < 0).any()), "borders that rise")
    return found


def _amounts(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> Array:
    found = floats(arrays, PREFIX + name, shape)
    demand(bool((found >= 0).all()), f"{name!r}, 0 or more")
    return found


def _moments(weight: Array, mean: Array, scatter: Array, total: float) -> ColumnMoments:
    """Without what only a table itself can tell: extremes and numbers of cells."""
    none = np.zeros(len(weight))
    return ColumnMoments(
        round(total),
        total,
        weight,
        mean,
        none,
        scatter,
        none - np.inf,
        none + np.inf,
        none.astype(np.int64),
        None,
    )
