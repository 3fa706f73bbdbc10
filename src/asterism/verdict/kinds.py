"""Which distribution each column has within groups, by evidence.

Given the shares r of rows in groups, columns are independent of each other, and so is the question for each of them:

    cost = -2 sum_n w_n sum_c r_nc log p(x_nj | c) + parameters * log n

of every distribution that its kind allows; the least wins. Shares come from mixtures that make the fewest
assumptions, levels without an order, so that groups whose answers have two humps are not cut in pieces first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.families.base import Facts, Family
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.categorical import CategoricalFamily
from asterism.families.gaussian import GaussianFamily
from asterism.families.hurdle import HurdleFamily
from asterism.families.negative_binomial import NegativeBinomialFamily
from asterism.families.ordinal import OrdinalFamily
from asterism.families.poisson import PoissonFamily
from asterism.families.product import ProductFamily
from asterism.methods.frame import survey

Array = NDArray[np.float64]
Kinds = tuple[str, ...]  # one a column: names of distributions

# Priors keep a level that a small group lacks from being impossible there.
DISTRIBUTIONS: Mapping[str, Any] = {
    "normal": lambda structure, _: GaussianFamily(structure),
    "categorical": lambda _, levels: CategoricalFamily(levels, "conjugate"),
    "bernoulli": lambda *_: BernoulliFamily("conjugate"),
    "ordinal": lambda _, levels: OrdinalFamily(levels, "conjugate"),
    "poisson": lambda *_: PoissonFamily("conjugate"),
    "negative binomial": lambda *_: NegativeBinomialFamily("conjugate"),
    "hurdle": lambda *_: HurdleFamily("conjugate"),
}
# What a kind of column may be; the first assumes least, the last has the fewest parameters.
POSSIBLE: Mapping[str, Kinds] = {
    "numeric": ("normal",),
    "boolean": ("bernoulli",),
    "categorical": ("categorical",),
    "ordinal": ("categorical", "ordinal"),
    "count": ("hurdle", "negative binomial", "poisson"),
}
FEW_LEVELS = 3  # derived: three ordered levels have two free shares either way


def possible(column: Column) -> Kinds:
    """Distributions that a column may have."""
    if column.kind == "ordinal" and len(column.levels) <= FEW_LEVELS:
        return ("categorical",)
    return POSSIBLE[column.kind]


def least_assumed(columns: Sequence[Column]) -> Kinds:
    """Of every column the distribution that assumes least."""
    return tuple(possible(column)[0] for column in columns)


def most_assumed(columns: Sequence[Column]) -> Kinds:
    """Of every column the distribution that assumes most, and has the fewest parameters."""
    return tuple(possible(column)[-1] for column in columns)


def product_of(columns: Sequence[Column], kinds: Kinds, structure: str) -> ProductFamily:
    """A family with these distributions; the normal ones together have a covariance structure."""
    made: dict[str, list[int]] = {}
    for j, kind in enumerate(kinds):
        made.setdefault(kind, []).append(j)
    return ProductFamily(
        tuple(
            (make(structure, tuple(len(columns[j].levels) for j in made[kind])), tuple(made[kind]))
            for kind, make in DISTRIBUTIONS.items()
            if kind in made
        )
    )


def kinds_by_evidence(columns: Sequence[Column], rows: Array, weights: Array, shares: Array) -> Kinds:
    """The distribution of each column in groups with shares (n, k) of the rows.

    >>> rng = np.random.default_rng(0)
    >>> loved_or_hated = rng.choice([0.0, 4.0], 200)[:, None]
    >>> answers = Column("film", "ordinal", ("1", "2", "3", "4", "5"))
    >>> kinds_by_evidence([answers], loved_or_hated, np.ones(200), np.ones((200, 1)))
    ('categorical',)
    """
    return tuple(
        min(possible(column), key=lambda kind: _cost(column, kind, rows[:, [j]], weights, shares))
        if len(possible(column)) > 1
        else possible(column)[0]
        for j, column in enumerate(columns)
    )


def _cost(column: Column, kind: str, cells: Array, weights: Array, shares: Array) -> float:
    source = ArraySource(cells, weights)
    frame, moments = survey(source)
    made: Family = DISTRIBUTIONS[kind]("EEI", (len(column.levels),))
    family = made.prepared(Facts((column.name,), moments, frame.reference))
    block, mass = block_of(cells, weights), shares * weights[:, None]
    params = family.estimate(family.statistic(None, block, mass), None)
    log_p = family.log_density(params, block)
    total = float(weights @ ~np.isnan(cells[:, 0]))
    parameters = family.n_parameters(shares.shape[1])
    explained = float((mass * np.where(mass > 0, log_p, 0.0)).sum())
    return -2.0 * explained + parameters * float(np.log(max(total, 1.0)))
