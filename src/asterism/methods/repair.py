"""Components that have collapsed onto a few rows, or that nobody wants, are put where they are of use.

A component of as many rows as it has dimensions can be as thin as it likes and so gain any likelihood: a maximum that
says nothing about groups. Such a component takes over half of the component with the largest mass instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.errors import CollapsedComponentWarning
from asterism.families.base import Collapsible

USELESS = 1e-8  # of an even share of the rows: who has less is of no use
MOST_REPAIRS = 3  # times the number of components, in one run


def repaired(family: Collapsible, model: Any, statistic: Any) -> Any:
    """The model with one useless component put elsewhere; the model itself where there is none."""
    k = len(model.weights)
    if k == 1 or model.repairs >= MOST_REPAIRS * k:
        return model
    mass = statistic.mass
    least = USELESS * mass.sum() / k
    flags = family.collapsed(model.params, statistic.inner)
    if mass.min() >= least and not flags.any():
        return model
    thin = on_their_own(flags, mass).any(axis=1)
    useless = (thin & (mass < family.least_rows + 0.5)) | (mass < least)
    if not useless.any():
        return model
    c = int(np.flatnonzero(useless)[0])
    donor = int(np.argmax(np.where(useless, -1.0, mass)))
    if useless[donor] or mass[donor] < 2 * family.least_rows:
        return model
    weights = model.weights.copy()
    weights[[c, donor]] = 0.5 * model.weights[donor]
    params = family.split(model.params, donor, c)
    return replace(
        model, weights=weights / weights.sum(), params=params, before=None, seen=-np.inf, gain=np.inf,
        repairs=model.repairs + 1,
    )  # fmt: skip


def on_their_own(flags: NDArray[np.bool_], mass: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(k, d) flags without the columns in which every component is thin: that is the table, not the fit."""
    shared = flags[mass > 0].all(axis=0)
    return np.asarray(flags & ~shared)


def report(flags: NDArray[np.bool_], names: Sequence[str], repairs: int) -> None:
    """A warning that names components and columns."""
    thin = np.flatnonzero(flags.any(axis=1))
    if not len(thin):
        return
    places = "; ".join(
        f"component {c} in {', '.join(repr(names[j]) for j in np.flatnonzero(flags[c])[:5])}"
        for c in thin[:5]
    )
    tries = f" after {repairs} repairs" if repairs else ""
    warnings.warn(
        f"{len(thin)} of {len(flags)} components have no spread of their own{tries}: {places}. They were kept as "
        "thin as the table's own spread allows. This matters if they hold few rows: ask for fewer components, a "
        "simpler covariance_type, or prior='conjugate'. Groups of identical rows are meant to look like this.",
        CollapsedComponentWarning,
        stacklevel=2,
    )
