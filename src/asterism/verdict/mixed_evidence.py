"""What speaks for and against groups of rows with columns of several kinds, in numbers that have no unit.

    likelihood   what the mixture wins over one group, and loses to the best one; how doubtful it leaves rows
    margins      how much of that the columns win one by one, and how much they win together
    null         what one group with dependent columns would win as well (``dependence_null``)
    between      how far groups lie apart, in how many directions and columns, and whether names say so
    within       how much columns depend on each other inside groups, beside how much they do in the table
    borders      whether rows are few between each group and the nearest other one
    agreement    whether other mixtures, numbers alone and Ward's tree find nearly the same groups
    table        rows and columns of each kind

Names are opened into levels; numbers and ordered levels are ranks on the normal scale, or values where gaps count.
With W the covariance pooled within groups, T that of all rows and B the root of the inverse of W's blocks (a block a
column),

    within  = 1/2 sum_{i<j} |C_ij|^2,   C = B W B          squared canonical correlations: nats a row, about
    between = eigenvalues of B (T - W) B

    margins = sum_j sum_n log sum_c pi_c p_j(x_nj | c)     nats; what log p(X) is above it, columns win together

Numbers are signed logarithms, so that none outweighs the rest; of a single group those about several are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri

from asterism.data.block import block_of
from asterism.data.columns import Column
from asterism.methods.cells import Cell
from asterism.methods.cut import cut_tree
from asterism.methods.posterior import Mixture
from asterism.verdict.dependence_null import MixedRows, Null
from asterism.verdict.null import dip_test

Array = NDArray[np.float64]
Index = NDArray[np.int64]
NAMES = ("categorical", "boolean")
RIDGE = 0.05  # convention: of a column's variance, so that a level that a group lacks has a root
STRIP = 0.12  # convention: half width of strips between two groups, where the means are 1 apart
MOST = 1e4  # convention: beyond, a number says no more
LEAST_SHARES = 1e-300


@dataclass(frozen=True, eq=False)
class MixedProposal:
    """Groups that may be those of the rows."""

    side: str  # "mixture", "merged", "numbers"
    shares: Array  # (n, k)
    cell: Cell | None  # the mixture; None: groups of numbers alone
    group_of: Index = field(default_factory=lambda: np.zeros(0, np.int64))  # (components,)
    score: float = 0.0  # what the judge of numbers expects of its own

    @property
    def k(self) -> int:
        """Groups."""
        return int(self.shares.shape[1])

    @cached_property
    def labels(self) -> Index:
        """(n,) the likeliest group."""
        return np.asarray(self.shares.argmax(axis=1))


@dataclass(frozen=True, eq=False)
class MixedTable:
    """What is the same for all proposals."""

    rows: MixedRows
    null: Null | None
    cells: dict[int, Cell]  # the mixture of the least BIC of each number of components

    @cached_property
    def opened(self) -> tuple[Array, Index]:
        """(n, D) columns opened, 0 in the mean and of variance 1, and (D,) the column of each."""
        return self._opened(_scores)

    @cached_property
    def placed(self) -> tuple[Array, Index]:
        """The same with what has an order by its values: ranks know no gaps."""
        return self._opened(_values)

    def _opened(self, ordered: Callable[[Array, Array], Array]) -> tuple[Array, Index]:
        rows = self.rows
        parts = [
            _levels(column, rows.x[:, j])
            if column.kind in NAMES
            else ordered(rows.x[:, j], rows.weights)[:, None]
            for j, column in enumerate(rows.columns)
        ]
        origin = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        z = np.hstack(parts)
        w = self.rows.weights / self.rows.weights.sum()
        z = z - w @ z
        spread = np.sqrt(w @ z**2)
        kept = spread > 0
        return z[:, kept] / spread[kept], origin[kept]

    @cached_property
    def total(self) -> Array:
        """(D, D) covariance of all rows."""
        z, w = self.opened[0], self.rows.weights
        return np.asarray((z * (w / w.sum())[:, None]).T @ z)

    @cached_property
    def best(self) -> dict[int, float]:
        """The least BIC of each number of components."""
        return {k: cell.bic for k, cell in self.cells.items()}

    @property
    def one(self) -> Cell:
        """The mixture of fewest components, nearly always one."""
        return self.cells[min(self.cells)]

    @cached_property
    def whole(self) -> dict[str, float]:
        """What is known of the table."""
        kinds = [column.kind for column in self.rows.columns]
        n = float(self.rows.weights.sum())
        top = min(self.best, key=lambda k: self.best[k])
        return {
            "log_rows": float(np.log(n)),
            "numbers": float(kinds.count("numeric")),
            "counts": float(kinds.count("count")),
            "ordered": float(kinds.count("ordinal")),
            "names": float(kinds.count("categorical") + kinds.count("boolean")),
            "levels": float(np.log(self.opened[0].shape[1])),
            "components": float(top),
            "gain_of_components": (self.one.bic - self.best[top]) / (2.0 * n),
            "margins_of_components": (self.margins(self.cells[top]) - self.margins(self.one)) / n,
            "components_together": (self.cells[top].log_likelihood - self.margins(self.cells[top])) / n,
            "one_together": (self.one.log_likelihood - self.margins(self.one)) / n,
            **self._null(n, top),
            "dependence": _dependence(self.total, self.opened[1]),
        }

    def _null(self, n: float, top: int) -> dict[str, float]:
        """What one group with dependent columns would win, and what is left of the gain; nats a row, and in all."""
        names = ("null_evidence", "null_explained", "null_gain", "null_left", "null_left_in_all", "copula",
                 "copula_left", "copula_left_in_all")  # fmt: skip
        null = self.null
        if null is None:
            return {**dict.fromkeys(names, 0.0), "null_explained": 1.0}
        left = null.gain * (1.0 - null.explained)
        together = (self.cells[top].log_likelihood - self.margins(self.cells[top])) / n - null.dependence
        values = (null.evidence, null.explained, null.gain, left, left * n, null.dependence, together,
                  together * n)  # fmt: skip
        return dict(zip(names, values, strict=True))

    @cached_property
    def _margins(self) -> dict[int, float]:
        return {}

    def margins(self, cell: Cell) -> float:
        """The log-likelihood of the columns one by one, nats."""
        found = self._margins.get(id(cell))
        if found is None:
            found = self._margins[id(cell)] = margin_log_likelihood(
                cell.mixture, self.rows.x, self.rows.weights
            )
        return found

    # --- proposals ---

    def of(self, proposal: MixedProposal) -> dict[str, float]:
        """The numbers of one proposal that do not depend on the others."""
        return {
            "k": float(proposal.k),
            "single": float(proposal.k == 1),
            "merged": float(proposal.side == "merged"),
            "by_numbers": float(proposal.side == "numbers"),
            **self._likelihood(proposal),
            **self._certainty(proposal),
            **self._places(proposal),
        }

    def _likelihood(self, proposal: MixedProposal) -> dict[str, float]:
        cell, n = proposal.cell, float(self.rows.weights.sum())
        names = ("gain", "gain_in_all", "behind", "behind_icl", "over_fewer", "over_more", "parameters", "common",
                 "margins", "together")  # fmt: skip
        if cell is None:
            return dict.fromkeys(names, 0.0)
        least, bic = min(self.best.values()), cell.bic
        return {
            "gain": (self.one.bic - bic) / (2.0 * n),
            "gain_in_all": (self.one.bic - bic) / 2.0,
            "behind": (bic - least) / 2.0,
            "behind_icl": (cell.icl - least) / 2.0,
            "over_fewer": (self.best.get(cell.k - 1, self.one.bic) - bic) / 2.0 if cell.k > 1 else 0.0,
            "over_more": (self.best.get(cell.k + 1, bic) - bic) / 2.0,
            "parameters": cell.n_parameters / n,
            "common": float(cell.structure in ("EEI", "EEE")),
            "margins": (self.margins(cell) - self.margins(self.one)) / n,
            "together": (cell.log_likelihood - self.margins(cell)) / n,
        }

    def _certainty(self, proposal: MixedProposal) -> dict[str, float]:
        r, w = proposal.shares, self.rows.weights
        if proposal.k == 1:
            return dict.fromkeys(("certainty", "least_certainty", "smallest", "shared", "entropy"), 0.0)
        own = r.max(axis=1)
        mass = np.bincount(proposal.labels, w, proposal.k)
        sure = np.bincount(proposal.labels, w * own, proposal.k) / np.maximum(mass, LEAST_SHARES)
        soft = w @ r
        shared = (r * w[:, None]).T @ r / np.minimum.outer(soft, soft).clip(LEAST_SHARES)
        np.fill_diagonal(shared, 0.0)
        return {
            "certainty": 10.0 * float(w @ own / w.sum()),
            "least_certainty": 10.0 * float(sure.min()),
            "smallest": float(np.log1p(mass.min())),
            "shared": 10.0 * float(shared.max()),
            "entropy": -10.0 * float(w @ (r * np.log(np.maximum(r, LEAST_SHARES))).sum(axis=1) / w.sum()),
        }

    def _places(self, proposal: MixedProposal) -> dict[str, float]:
        z, origin = self.opened
        names = ("within", "explained", "lead", "last", "line", "carriers", "by_names", "apart",
                 "nearest", "least_dip", "mean_dip", "least_strip", "mean_strip")  # fmt: skip
        if proposal.k == 1:
            return {**dict.fromkeys(names, 0.0), "within": self.whole["dependence"]}
        means, within = self._parted(z, proposal)
        between = self.total - within
        root = _root(within, origin)
        m = root @ between @ root
        values = np.sort(np.linalg.eigvalsh(m))[::-1][: proposal.k - 1]
        by_column = np.bincount(origin, np.diagonal(m), len(self.rows.columns))
        named = np.array([column.kind in (*NAMES, "ordinal") for column in self.rows.columns])
        apart = _distances(means @ root)
        inside = _dependence(within, origin)
        return {
            "within": inside,
            "explained": self.whole["dependence"] - inside,
            "lead": float(values[0]),
            "last": float(values[-1]),
            "line": 10.0 * float(values[0] / max(values.sum(), 1e-12)),
            "carriers": float(by_column.sum() ** 2 / max((by_column**2).sum(), 1e-12)),
            "by_names": 10.0 * float(by_column[named].sum() / max(by_column.sum(), 1e-12)),
            "apart": float(apart.min()),
            **self._borders(proposal),
        }

    def _parted(self, z: Array, proposal: MixedProposal) -> tuple[Array, Array]:
        """(k, D) means of the groups, and (D, D) the covariance pooled within them."""
        r = proposal.shares * (self.rows.weights / self.rows.weights.sum())[:, None]
        mass = np.maximum(r.sum(axis=0), LEAST_SHARES)
        means = (r.T @ z) / mass[:, None]
        whole = (z * r.sum(axis=1)[:, None]).T @ z
        return means, whole - (means * mass[:, None]).T @ means

    def _borders(self, proposal: MixedProposal) -> dict[str, float]:
        """Rows between each group and the nearest other one, along the line of the two means."""
        z, origin = self.placed
        means, within = self._parted(z, proposal)
        root = _root(within, origin)
        z, places, labels = z @ root, means @ root, proposal.labels
        apart, dips, strips = _distances(places), [], []
        for a in range(len(places)):
            b = int(apart[a].argmin())
            here = (labels == a) | (labels == b)
            line = places[b] - places[a]
            t, w = (z[here] - places[a]) @ line / max(float(line @ line), 1e-12), self.rows.weights[here]
            dips.append(float(np.sqrt(w.sum()) * dip_test(t, w)[1]))
            near = [float(w[np.abs(t - at) < STRIP].sum()) for at in (0.0, 0.5, 1.0)]
            strips.append((near[1] + 1.0) / (min(near[0], near[2]) + 1.0))
        return {
            "nearest": float(apart.min()),
            "least_dip": 10.0 * min(dips),
            "mean_dip": 10.0 * float(np.mean(dips)),
            "least_strip": float(np.log(max(strips))),
            "mean_strip": float(np.mean(np.log(strips))),
        }


def measure_mixed(
    rows: MixedRows, null: Null | None, cells: dict[int, Cell], proposals: Sequence[MixedProposal]
) -> tuple[tuple[str, ...], Array]:
    """Names of the numbers, and the numbers (proposals, names)."""
    table = MixedTable(rows, null, cells)
    agreements = _agreements(rows, proposals)
    score = max((proposal.score for proposal in proposals), default=0.0)
    found = [
        {**table.of(proposal), **agreement, **table.whole, "score_of_numbers": 10.0 * score}
        for proposal, agreement in zip(proposals, agreements, strict=True)
    ]
    names = tuple(found[0])
    numbers = np.array([[one[name] for name in names] for one in found])
    numbers = np.clip(np.nan_to_num(numbers, posinf=MOST, neginf=-MOST), -MOST, MOST)
    return names, np.sign(numbers) * np.log1p(np.abs(numbers))


def margin_log_likelihood(mixture: Mixture, x: Array, weights: Array) -> float:
    """sum_j sum_n w_n log sum_c pi_c p_j(x_nj | c): each column by itself, the others missing."""
    found = 0.0
    log_pi = np.log(np.maximum(mixture.weights, LEAST_SHARES))
    for (family, columns), own in zip(mixture.family.parts, mixture.params.parts, strict=True):  # type: ignore[attr-defined]
        for place, j in enumerate(columns):
            alone = np.full((len(x), len(columns)), np.nan)
            alone[:, place] = x[:, j]
            known = ~np.isnan(x[:, j])
            block = block_of(np.ascontiguousarray(alone[known]), weights[known])
            found += float(weights[known] @ logsumexp(family.log_density(own, block) + log_pi, axis=1))
    return found


def _agreements(rows: MixedRows, proposals: Sequence[MixedProposal]) -> list[dict[str, float]]:
    """Adjusted Rand index with the nearest proposal of another structure, with numbers alone and with Ward's tree."""
    found = []
    numbers = next((p for p in proposals if p.side == "numbers"), None)
    cuts = {k: cut_tree(rows.tree, k=k) for k in {p.k for p in proposals} if k > 1}
    for one in proposals:
        if one.k == 1:
            found.append({"agrees": 0.0, "with_numbers": 0.0, "with_tree": 0.0})
            continue
        others = [p for p in proposals if p.k > 1 and p.side != "numbers" and _other(one, p)]
        found.append(
            {
                "agrees": 10.0 * max((_rand(one.labels, p.labels, rows.weights) for p in others), default=0.0),
                "with_numbers": 0.0 if numbers is None or numbers is one
                else 10.0 * _rand(one.labels, numbers.labels, rows.weights),
                "with_tree": 10.0 * _rand(one.labels, np.asarray(cuts[one.k]), rows.weights),
            }
        )  # fmt: skip
    return found


def _other(one: MixedProposal, p: MixedProposal) -> bool:
    if one.cell is None or p.cell is None:
        return one is not p
    return one.cell.structure != p.cell.structure


def _rand(a: Index, b: Index, weights: Array) -> float:
    """Adjusted Rand index of two labelings of weighted rows."""
    k, m = int(a.max()) + 1, int(b.max()) + 1
    table = np.bincount(a * m + b, weights, k * m).astype(np.float64).reshape(k, m)

    def pairs(m: Array) -> float:
        return float((m * (m - 1.0)).sum())

    both, first, second, n = pairs(table), pairs(table.sum(1)), pairs(table.sum(0)), float(weights.sum())
    expected = first * second / (n * (n - 1.0))
    return (both - expected) / max(0.5 * (first + second) - expected, 1e-12)


def _distances(places: Array) -> Array:
    """(k, k) between groups; infinite from a group to itself."""
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    return np.asarray(apart)


def _root(within: Array, origin: Index) -> Array:
    """(D, D) root of the inverse of the blocks of a covariance, a block a column."""
    root = np.zeros_like(within)
    for j in np.unique(origin):
        mine = np.ix_(origin == j, origin == j)
        values, vectors = np.linalg.eigh(within[mine] + RIDGE * np.eye(len(within[mine])))
        root[mine] = (vectors / np.sqrt(values)) @ vectors.T
    return root


def _dependence(within: Array, origin: Index) -> float:
    """1/2 sum over pairs of columns of their squared canonical correlations."""
    root = _root(within, origin)
    c = root @ within @ root
    return float(0.25 * (c[origin[:, None] != origin[None, :]] ** 2).sum())


# --- columns ----------------------------------------------------------------------------------------------------


def _levels(column: Column, cells: Array) -> Array:
    """(n, levels) 0 and 1; 0 where a cell is missing."""
    return np.equal.outer(cells, np.arange(max(len(column.levels), 2))).astype(np.float64)


def _scores(cells: Array, weights: Array) -> Array:
    """(n,) ranks on the normal scale; 0, about the mean, where a cell is missing."""
    known, score = ~np.isnan(cells), np.zeros(len(cells))
    if known.any():
        which = np.unique(cells[known], return_inverse=True)[1]
        count = np.bincount(which, weights[known])
        score[known] = ndtri((np.cumsum(count) - 0.5 * count) / count.sum())[which]
    return score


def _values(cells: Array, weights: Array) -> Array:
    """(n,) the values; their mean where a cell is missing."""
    known = ~np.isnan(cells)
    mean = float(np.average(cells[known], weights=weights[known])) if known.any() else 0.0
    return np.where(known, cells, mean)
