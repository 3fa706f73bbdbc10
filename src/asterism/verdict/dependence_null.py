"""What a single group with dependent columns would win by several components, and whether the rows win more.

A mixture whose columns are independent within components takes several of them for one group whose columns depend on
each other. So the gain

    gain = log p(X | best mixture, K components) - log p(X | one component)

is compared with the gains of tables drawn from one group with margins as they are and the dependence of the rows
(``dependence.OneGroup``): the same two mixtures, fitted to them in the same way. Drawn tables depend a little more or
less than the rows do, by chance, and gain by it; so gains are regressed on the dependence

    -n/2 log det R           R: correlations of scores

and what counts is by how many residual standard deviations the rows win more than one group just as dependent would:
the evidence for groups. Where there are none it has Student's distribution with few degrees of freedom; it is put on
the scale of a normal deviate. Where names are relatives, tables in which they follow each other are drawn as well,
and the lesser evidence counts.

References
----------
1. McLachlan (1987), On bootstrapping the likelihood ratio test statistic for the number of components in a normal
   mixture. Applied Statistics 36:318-324.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from asterism.methods.posterior import Mixture
from asterism.methods.starts import model_of, one_hot
from asterism.verdict.dependence import OneGroup

Array = NDArray[np.float64]
ASKED = 2.5  # derived: evidence that chance gives in 0.6% of tables; only says when enough tables are drawn
DRAWN_TABLES = 12  # convention: of each kind of dependence (with names in order, and as relatives)
FIRST_TABLES = 6  # convention: so many are enough where evidence is clear:
CLEAR, HOPELESS = 1.5, 0.2  # convention: in units of ASKED, above and below
ROWS = 800  # convention: of a drawn table at the most
STEPS, TOL = 30, 3e-5  # convention: of EM on a drawn table
LEAST_SPREAD = (
    0.5  # derived: nats; the log of a likelihood ratio varies by about that much even if it is all chance
)


@dataclass(frozen=True)
class Null:
    """What one group with dependent columns says to a mixture."""

    components: int  # of the mixture that wins most
    evidence: float  # a normal deviate: how much more the rows win than one group just as dependent
    gain: float  # nats a row
    explained: float  # share of the gain that drawn tables have as well
    dependence: float  # -1/2 log det R: nats a row


@dataclass(frozen=True, eq=False)
class MixedRows:
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

    def some(self, most: int) -> MixedRows:
        """Every so many-th row, at most so many of them."""
        step = -(-len(self.x) // most)
        some = slice(None, None, step)
        return MixedRows(
            self.margins, np.ascontiguousarray(self.cells[some]), np.ascontiguousarray(self.weights[some])
        )

    @cached_property
    def tree(self) -> Array:
        """Ward's, of the encoded rows."""
        table = ArraySource(self.x, self.weights, self.columns)
        return link_points(np.nan_to_num(standard_encoding(table).encode(self.x)), self.weights, "ward")


def null_of(rows: MixedRows, one: Cell, best: Cell) -> Null:
    """What the rows say to several components, by what ``best`` wins over the mixture of one."""
    rows, mixtures = rows.some(ROWS), (one.mixture, best.mixture)
    group = OneGroup.of(rows.margins, rows.cells, rows.weights)
    gain, about = _gain(rows, mixtures), group.dependence(rows.cells, rows.weights)
    least = (np.inf, 0.0)
    for related in (False, True) if group.relatives else (False,):
        gains, others = [], []
        for number in range(DRAWN_TABLES):
            table = _drawn(rows, group, [number, 1, related])
            gains.append(_gain(table, mixtures))
            others.append(about if related else group.dependence(table.cells, rows.weights))
            if number + 1 == FIRST_TABLES:
                evidence = _evidence(gain, about, np.array(gains), np.array(others))[0]
                if evidence > CLEAR * ASKED or evidence < HOPELESS * ASKED:
                    break
        least = min(least, _evidence(gain, about, np.array(gains), np.array(others)))
        if least[0] < ASKED:
            break
    n = float(rows.weights.sum())
    return Null(best.k, least[0], gain / n, least[1] / max(gain, 1e-12), about / n)


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


def _drawn(rows: MixedRows, group: OneGroup, seed: list[int]) -> MixedRows:
    """A table of the group; cells are missing where they are in the rows."""
    rng, n = np.random.default_rng(seed), len(rows.cells)
    drawn = group.draw(n, rng, related=bool(seed[-1]))[rng.permutation(n)]
    return MixedRows(rows.margins, np.where(np.isnan(rows.cells), np.nan, drawn), rows.weights)


def _gain(rows: MixedRows, mixtures: tuple[Mixture, Mixture]) -> float:
    """log p of the larger mixture less that of the smaller, both fitted to these rows.

    Each from where it is; the larger one from groups of the rows themselves as well, and the higher counts.
    """
    low, high = mixtures
    em = EM(high.family, tol=TOL)
    groups = model_of(em, rows.block, one_hot(cut_tree(rows.tree, k=high.k), high.k))
    return max(
        _height(high, MixtureModel(high.weights, high.params), rows), _height(high, groups, rows)
    ) - _height(low, MixtureModel(low.weights, low.params), rows)


def _height(mixture: Mixture, model: MixtureModel, rows: MixedRows) -> float:
    """The log-likelihood that a model reaches in some steps."""
    em = EM(mixture.family, tol=TOL)
    for _ in range(STEPS):
        after = em.update(model, em.summarize(model, rows.block))
        if em.settled(model, after):
            break
        model = after
    return em.summarize(model, rows.block).climbed
