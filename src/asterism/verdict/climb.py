"""How many groups: more only where dependence inside the groups there are does not explain what more would win.

A mixture whose columns are independent within components takes several of them for one group whose columns depend on
each other. So a number of groups is not compared with the next by a penalty alone. From k groups,

    gain = log p(X | best mixture, K components) - log p(X | mixture of k)

is compared with the gains of tables drawn from k groups with margins as they are and dependence inside
(``dependence.OneGroup``, one for each group): the same two mixtures, fitted to them in the same way. Drawn tables
depend a little more or less inside their groups than the rows do, by chance, and gain by it; so gains are regressed
on the dependence

    -1/2 sum_g n_g log det R_g           R_g: correlations of scores in group g

and what counts is by how many residual standard deviations the rows win more than groups just as dependent would:
the evidence for more than k groups. Where there are no more it has Student's distribution with few degrees of
freedom; it is put on the scale of a normal deviate. Where names are relatives, tables in which they follow each other
are drawn as well, and the lesser evidence counts.

References
----------
1. McLachlan (1987), On bootstrapping the likelihood ratio test statistic for the number of components in a normal
   mixture. Applied Statistics 36:318-324.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from asterism.data.block import Block, block_of
from asterism.data.columns import Column
from asterism.data.margins import Margins
from asterism.data.source import ArraySource
from asterism.methods.cells import Cell
from asterism.methods.cut import cut_tree
from asterism.methods.em import EM, MixtureModel
from asterism.methods.encoding import standard_encoding
from asterism.methods.linkage import link_points
from asterism.methods.posterior import Mixture, shares_of
from asterism.methods.starts import model_of, one_hot
from asterism.verdict.dependence import OneGroup
from asterism.verdict.propose import brought_together

Array = NDArray[np.float64]
Index = NDArray[np.int64]
ANY_GROUPS, MORE_GROUPS = 2.5, 1.645  # derived: evidence that chance gives in 0.6% of tables, and in 5%
MOST_EXPLAINED = (
    0.9  # convention: of what groups win, by dependence alone; no population is quite normal inside
)
LEAST_SHARED = 0.05  # convention: of a component's rows, to be brought together with another; at most 1/2
DRAWN_TABLES = 12  # convention: of each kind of dependence
FIRST_TABLES = 6  # convention: so many are enough where evidence is clear:
CLEAR, HOPELESS = 1.5, 0.2  # convention: in what is asked, above and below
ROWS = 800  # convention: of a drawn table at the most
STEPS, TOL = 30, 3e-5  # convention: of EM on a drawn table
LEAST_SPREAD = (
    0.5  # derived: nats; the log of a likelihood ratio varies by about that much even if it is all chance
)


@dataclass(frozen=True)
class Step:
    """From k groups to more."""

    k: int
    into: int  # components of the mixture that wins most
    evidence: float  # a normal deviate: how much more the rows win than groups with dependence inside
    gain: float  # nats a row
    explained: float  # share of the gain that drawn tables have as well
    group_of: Index | None = None  # of each component of the best mixture, where these were brought together

    @property
    def is_last(self) -> bool:
        """Whether rows do not ask for more groups; in long tables any dependence differs a little from the null."""
        return self.evidence < asked_for(self.k) or (self.k == 1 and self.explained > MOST_EXPLAINED)


def asked_for(k: int) -> float:
    """Evidence that it takes to go beyond k groups."""
    return ANY_GROUPS if k == 1 else MORE_GROUPS


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that gains are compared on."""

    margins: Margins  # the columns of the table, and their forms
    cells: Array  # (n, d) of the table: codes and numbers; NaN: missing
    weights: Array  # (n,)

    @cached_property
    def x(self) -> Array:
        """(n, D) columns in their forms."""
        return np.ascontiguousarray(self.margins.apply(self.cells))

    @property
    def columns(self) -> tuple[Column, ...]:
        """In their forms."""
        return self.margins.modelled

    @property
    def source(self) -> ArraySource:
        """As numbers, for families that know which are codes."""
        return ArraySource(self.x, self.weights)

    @cached_property
    def block(self) -> Block:
        """All rows."""
        return block_of(self.x, self.weights)

    def some(self, most: int) -> Rows:
        """Every so many-th row, at most so many of them."""
        step = -(-len(self.x) // most)
        some = slice(None, None, step)
        return Rows(
            self.margins, np.ascontiguousarray(self.cells[some]), np.ascontiguousarray(self.weights[some])
        )

    @cached_property
    def tree(self) -> Array:
        """Ward's, of the encoded rows."""
        table = ArraySource(self.x, self.weights, self.columns)
        return link_points(np.nan_to_num(standard_encoding(table).encode(self.x)), self.weights, "ward")


def climb(rows: Rows, at: dict[int, Cell], most: int) -> list[Step]:
    """Steps that were weighed, by k; ``at``: the mixture of each number, ``most``: the one that wins most.

    The answer is the least k without evidence for more; that there are any groups takes more of it than how many.
    Groups are the components of the mixture of that number, or those of the best one brought together that share
    rows: a group that is not of its family has several.
    """
    few, steps = rows.some(ROWS), []
    shares = shares_of(at[most].mixture, few.source)
    merged = {
        int(group_of.max()) + 1: group_of for group_of in brought_together(shares, few.weights, LEAST_SHARED)
    }
    for k in sorted(k for k in at if k < most):
        step = step_from(few, shares_of(at[k].mixture, few.source), (at[k], at[most]))
        if not step.is_last and k in merged:
            together = step_from(few, shares @ np.eye(k)[merged[k]], (at[1], at[most]))
            if together.is_last:
                step = replace(together, group_of=merged[k])
        steps.append(step)
        if step.is_last:
            break
    return steps


def answer(steps: Sequence[Step], most: int) -> tuple[int, Index | None]:
    """The least number without evidence for more, and the group of each component of the best mixture, if merged."""
    last = next((step for step in steps if step.is_last), None)
    return (most, None) if last is None else (last.k, last.group_of)


def step_from(rows: Rows, shares: Array, cells: tuple[Cell, Cell]) -> Step:
    """What the rows say to more groups than those with shares (n, k), by what the second cell wins over the first."""
    k, mixtures = shares.shape[1], (cells[0].mixture, cells[1].mixture)
    groups = [OneGroup.of(rows.margins, rows.cells, rows.weights * share) for share in shares.T]
    least_evidence = asked_for(k)
    gain, about = _gain(rows, mixtures), _dependence(rows, groups, shares)
    best = (np.inf, 0.0)
    for related in (False, True) if any(group.relatives for group in groups) else (False,):
        gains, others = [], []
        for number in range(DRAWN_TABLES):
            table, labels = _drawn(rows, groups, shares, [number, k, related])
            gains.append(_gain(table, mixtures))
            others.append(about if related else _dependence(table, groups, labels))
            if number + 1 == FIRST_TABLES:
                evidence = _evidence(gain, about, np.array(gains), np.array(others))[0]
                if evidence > CLEAR * least_evidence or evidence < HOPELESS * least_evidence:
                    break
        best = min(best, _evidence(gain, about, np.array(gains), np.array(others)))
        if best[0] < least_evidence:
            break
    return Step(k, cells[1].k, best[0], gain / float(rows.weights.sum()), best[1] / max(gain, 1e-12))


def _evidence(gain: float, about: float, gains: Array, others: Array) -> tuple[float, float]:
    """A normal deviate of the gain given the dependence, and the gain expected."""
    # Beyond the dependence of drawn tables a line says nothing.
    offsets = others - np.clip(about, others.min(), others.max())
    columns = [np.ones(len(gains))] + ([offsets] if offsets.std() > 1e-9 * (1.0 + abs(about)) else [])
    design = np.column_stack(columns)
    coefficients = np.linalg.lstsq(design, gains, rcond=None)[0]
    freedom = len(gains) - design.shape[1]
    spread = float(np.sqrt(((gains - design @ coefficients) ** 2).sum() / freedom))
    leverage = float(np.linalg.pinv(design.T @ design)[0, 0])
    deviate = (gain - coefficients[0]) / (max(spread, LEAST_SPREAD) * np.sqrt(1.0 + leverage))
    chance = max(float(stdtr(freedom, -deviate)), 1e-300)  # of Student's distribution beyond the deviate
    return float(-ndtri(chance)), float(coefficients[0])


# --- drawn tables -----------------------------------------------------------------------------------------------


def _drawn(rows: Rows, groups: Sequence[OneGroup], shares: Array, seed: list[int]) -> tuple[Rows, Array]:
    """A table of these groups, and (n, k) which row is of which; cells are missing where they are in the rows."""
    rng, n = np.random.default_rng(seed), len(rows.cells)
    upto = np.rint(np.cumsum(rows.weights @ shares) / rows.weights.sum() * n).astype(np.int64)
    sizes = np.diff(upto, prepend=0)
    parts = [
        group.draw(int(m), rng, related=bool(seed[-1])) for group, m in zip(groups, sizes, strict=True) if m
    ]
    order = rng.permutation(n)
    drawn, labels = np.concatenate(parts)[order], np.repeat(np.arange(len(groups)), sizes)[order]
    cells = np.where(np.isnan(rows.cells), np.nan, drawn)
    return Rows(rows.margins, cells, rows.weights), one_hot(labels, len(groups))


def _dependence(rows: Rows, groups: Sequence[OneGroup], shares: Array) -> float:
    """Of rows with shares (n, k) in groups."""
    found = [group.dependence(rows.cells, rows.weights * share)
             for group, share in zip(groups, shares.T, strict=True)]  # fmt: skip
    return float(np.sum(found))


def _gain(rows: Rows, mixtures: tuple[Mixture, Mixture]) -> float:
    """log p of the larger mixture less that of the smaller, both fitted to these rows.

    Each from where it is: tables are drawn from groups of the smaller one. The larger one from groups of the rows
    themselves as well, and the higher counts.
    """
    low, high = mixtures
    em = EM(high.family, tol=TOL)
    groups = model_of(em, rows.block, one_hot(cut_tree(rows.tree, k=high.k), high.k))
    return max(
        _height(high, MixtureModel(high.weights, high.params), rows), _height(high, groups, rows)
    ) - _height(low, MixtureModel(low.weights, low.params), rows)


def _height(mixture: Mixture, model: MixtureModel, rows: Rows) -> float:
    """The log-likelihood that a model reaches in some steps."""
    em = EM(mixture.family, tol=TOL)
    for _ in range(STEPS):
        after = em.update(model, em.summarize(model, rows.block))
        if em.settled(model, after):
            break
        model = after
    return em.summarize(model, rows.block).climbed
