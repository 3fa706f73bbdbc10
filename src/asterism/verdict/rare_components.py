"""A mixture with one component more for each rare group, before and after steps of EM on the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from asterism.data.block import block_of
from asterism.families.base import Family
from asterism.families.covariance import FLOOR, Covariances, structure_of
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import GaussianParams
from asterism.families.product import Columns, Parts, ProductFamily
from asterism.methods.posterior import Mixture
from asterism.verdict.rare import RareGroup


def with_components(mixture: Mixture, groups: Sequence[RareGroup], total: float) -> Mixture:
    """The mixture with one component more for each group of a table of that weight; covariances become free.

    Of a product of families, groups have the covariance of their numbers, and shares of levels of their rows drawn.
    """
    if not groups:
        return mixture
    weights = np.array([group.weight for group in groups]) / total
    proportions = np.concatenate([mixture.weights * (1.0 - weights.sum()), weights])
    if isinstance(mixture.family, GaussianFamily):
        family, params = _with_normal(mixture.family, mixture.params, groups)
        return Mixture(family, proportions, params)
    assert isinstance(mixture.family, ProductFamily), "a mixture without normal components"
    parts, own = [], []
    for (part, columns), known in zip(mixture.family.parts, mixture.params.parts, strict=True):
        if isinstance(part, GaussianFamily):
            part, known = _with_normal(part, known, groups)
        else:
            known = _with_estimates(part, known, groups, columns)
        parts.append((part, columns))
        own.append(known)
    return Mixture(replace(mixture.family, parts=tuple(parts)), proportions, Parts(tuple(own)))


def anchored(after: Mixture, before: Mixture, rare: int) -> Mixture:
    """A mixture after steps of EM, with the last components, those of rare groups, as they were before.

    All their rows have been counted. Steps could only move them, to a tail that the other components do not explain.
    """
    if rare == 0:
        return after
    k = after.k
    old = before.family.pack(before.params)
    arrays = {
        name: np.concatenate([array[: k - rare], old[name][k - rare :]]) if len(array) == k else array
        for name, array in after.family.pack(after.params).items()
    }
    own = before.weights[k - rare :]
    others = after.weights[: k - rare]
    weights = np.concatenate([others / others.sum() * (1.0 - own.sum()), own])
    return Mixture(after.family, weights, after.family.unpack(arrays))


def _with_normal(
    family: GaussianFamily, params: GaussianParams, groups: Sequence[RareGroup]
) -> tuple[GaussianFamily, GaussianParams]:
    floor = np.diag(family.variances * FLOOR)
    means = np.vstack([params.means, *(group.mean - family.reference for group in groups)])
    matrices = np.concatenate([params.covariances.full(), [group.covariance + floor for group in groups]])
    free = structure_of("VVV", means.shape[1]).name
    return replace(family, structure=free), GaussianParams(means, Covariances.given(free, matrices))


def _with_estimates(family: Family, params: Any, groups: Sequence[RareGroup], columns: Columns) -> Any:
    """Any other family: a component for each group, estimated from its rows drawn."""
    made = [dict(family.pack(params))]
    for group in groups:
        block = block_of(np.ascontiguousarray(group.rows[:, columns]), group.weights)
        made.append(
            dict(family.pack(family.estimate(family.statistic(None, block, group.weights[:, None]), None)))
        )
    return family.unpack({name: np.concatenate([arrays[name] for arrays in made]) for name in made[0]})
