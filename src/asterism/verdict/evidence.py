"""What speaks for and against a proposal, in numbers that have no unit.

    valleys     how deep are the valleys that it cuts, and those it leaves inside a group, at all scales of the trees
    borders     how far the density falls from the groups to the best way between them, and along their whole border
    gaps        how much longer the edge to the next group is than the edges inside one
    shapes      what normal groups gain over a single one, and where along the line between two groups rows are few
    agreement   whether proposals from other sides are nearly the same
    sizes       how many groups, how uneven
    table       rows, columns, local dimension; what a mixture gains over one group of any shape

Numbers are signed logarithms, so that none outweighs the rest; of a single group those about several are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from asterism.methods.density_tree import PEAK_ROWS
from asterism.verdict.one_group import cost_of_one_group
from asterism.verdict.propose import Field, Proposal

Array = NDArray[np.float64]
Index = NDArray[np.int64]

BORDER_SCALES = (5, 12, 30)  # convention: masses at which borders are measured
BORDER_WIDTH = 10  # convention: neighbours of a row among which a border is looked for
NEAREST_GROUPS = 3  # convention: of every group, to be compared along a line
STRIP = 0.12  # convention: half width of the strips compared, where the means are 1 apart
COMPARED_ROWS = 400  # convention: rows on which proposals are compared with each other
MOST, LEAST = 200.0, -50.0  # convention: beyond, a number says no more


def measure(field: Field, proposals: Sequence[Proposal]) -> tuple[tuple[str, ...], Array]:
    """Names of the numbers, and the numbers (proposals, names)."""
    table = _Table(field)
    found = [
        {
            **table.sizes(proposal.labels),
            **table.valleys(proposal.labels),
            **table.gaps(proposal.labels),
            **table.borders(proposal.labels),
            **table.shapes(proposal.labels),
        }
        for proposal in proposals
    ]
    agreements = _agreements(field, proposals)
    highest = max(one["normal_gain"] for one in found)
    for one, agreement in zip(found, agreements, strict=True):
        one |= agreement | table.whole
        one["normal_behind"] = highest - one["normal_gain"]
    names = tuple(found[0])
    numbers = np.array([[one[name] for name in names] for one in found])
    numbers = np.clip(np.nan_to_num(numbers, posinf=MOST, neginf=LEAST), LEAST, MOST)
    return names, np.sign(numbers) * np.log1p(np.abs(numbers))


@dataclass(frozen=True, eq=False)
class _Table:
    """What is the same for all proposals."""

    field: Field

    # --- once ---

    @cached_property
    def rows(self) -> Array:
        return self.field.near.rows

    @cached_property
    def weights(self) -> Array:
        return self.field.near.weights

    @cached_property
    def total(self) -> float:
        return float(self.weights.sum())

    @cached_property
    def whole(self) -> dict[str, float]:
        """What is known of the table, whatever the proposal."""
        near, cells, n = self.field.near, self.field.cells.values(), self.total
        best, one = self.field.best, min(cell.bic for cell in cells if cell.k == 1)
        lengths = np.log(near.tree[1])
        gain = cost_of_one_group(near.rows, near.weights) - best.bic / (2.0 * best.total)
        return {
            "log_rows": float(np.log(n)),
            "log_columns": float(np.log(near.rows.shape[1])),
            "dimension": self._dimensions[1],
            "log_components": float(np.log(best.k)),
            "mixture_gain": (one - best.bic) / (2.0 * best.total),
            "gain_over_one_group": gain,
            "evidence_over_one_group": gain * n,
            "longest_edge": float(lengths.max() - np.quantile(lengths, 0.9)),
            "spread_of_edges": float(lengths.std()),
        }

    @cached_property
    def _valleys(self) -> tuple[Array, Index]:
        """Evidence of all valleys (v,), and rows that stand for their sides (v, 2, rows)."""
        valleys = [valley for tree in self.field.trees for valley in tree.valleys]
        peaks = np.array([valley.peaks for valley in valleys], np.int64).reshape(len(valleys), 2, PEAK_ROWS)
        return np.array([valley.evidence for valley in valleys]), peaks

    @cached_property
    def _edges(self) -> tuple[Index, Index, Array]:
        return self.field.near.edges(BORDER_WIDTH)

    @cached_property
    def _scales(self) -> list[int]:
        return [min(scale, self.field.near.width) for scale in BORDER_SCALES]

    @cached_property
    def _radii(self) -> list[Array]:
        return [self.field.near.log_radius(scale) for scale in self._scales]

    @cached_property
    def _dimensions(self) -> list[float]:
        found = []
        for scale, radius in zip(self._scales, self._radii, strict=True):
            half = max(scale // 2, 1)
            slope = float(np.average(radius - self.field.near.log_radius(half), weights=self.weights))
            expected = float((1.0 / np.arange(half, max(scale, half + 1))).sum())
            found.append(float(np.clip(expected / max(slope, 1e-9), 1.0, self.rows.shape[1])))
        return found

    @cached_property
    def _levels(self) -> list[Array]:
        a, b, length = self._edges
        return [np.maximum(np.maximum(radius[a], radius[b]), np.log(length)) for radius in self._radii]

    # --- of a proposal ---

    def sizes(self, labels: Index) -> dict[str, float]:
        mass = np.bincount(labels, self.weights)
        k = len(mass)
        uneven = float(np.abs(np.subtract.outer(mass, mass)).sum() / (2.0 * k * self.total))
        return {
            "single": float(k == 1),
            "log_groups": float(np.log(k)),
            "groups": float(k),
            "least_share": float(mass.min() / self.total),
            "greatest_share": float(mass.max() / self.total),
            "log_least": float(np.log(mass.min())),
            "uneven": uneven,
        }

    def valleys(self, labels: Index) -> dict[str, float]:
        evidence, peaks = self._valleys
        names = ("inner", "inner_4", "inner_12", "inner_clear", "cut_share", "cut_deepest", "cut_each")
        if not len(evidence):
            return dict.fromkeys(names, 0.0)
        a, b = labels[peaks[:, 0]], labels[peaks[:, 1]]
        inside = (a[:, :, None] == b[:, None, :]).mean(axis=(1, 2))  # (v,) 1: both peaks in one group
        inner = np.sort(evidence * inside)[::-1]
        clear = np.maximum(evidence - 1.0, 0.0)
        k = int(labels.max()) + 1
        return {
            "inner": float(inner[0]),
            "inner_4": float(inner[:4].mean()),
            "inner_12": float(inner[:12].sum() / 12.0),
            "inner_clear": float(clear @ inside),
            "cut_share": float(clear @ (1.0 - inside) / (clear.sum() + 1.0)),
            "cut_deepest": float((evidence * (1.0 - inside)).max()),
            "cut_each": float((evidence > 1.0) @ (1.0 - inside))
            / max(k - 1, 1)
            / max(len(self.field.trees), 1),
        }

    def gaps(self, labels: Index) -> dict[str, float]:
        """Log ratio of the shortest edge out of a group to the longest, the 90% and the middle edge inside it."""
        pairs, lengths = self.field.near.tree
        k, a, b, log_length = int(labels.max()) + 1, labels[pairs[:, 0]], labels[pairs[:, 1]], np.log(lengths)
        names = ("gap_longest", "gap_long", "gap_middle")
        out = a != b
        broken = (int(out.sum()) - (k - 1)) / len(labels)
        if k == 1:
            return dict.fromkeys([f"{name}{end}" for name in names for end in ("", "_mean")], 0.0) | {
                "broken": 0.0
            }
        leave = np.full(k, np.inf)
        np.minimum.at(leave, a[out], log_length[out])
        np.minimum.at(leave, b[out], log_length[out])
        order = np.lexsort((log_length[~out], a[~out]))
        groups, inside = a[~out][order], log_length[~out][order]
        start, end = (
            np.searchsorted(groups, np.arange(k)),
            np.searchsorted(groups, np.arange(k), side="right"),
        )
        mass, count = np.bincount(labels, self.weights), np.maximum(end - start, 1)
        found = {"broken": broken}
        for name, place in zip(names, (1.0, 0.9, 0.5), strict=True):
            at = np.minimum(start + ((count - 1) * place).astype(np.int64), max(len(inside) - 1, 0))
            gap = np.where(end > start, leave - inside[at], 0.0) if len(inside) else np.zeros(k)
            found[name], found[f"{name}_mean"] = float(gap.min()), float(np.average(gap, weights=mass))
        return found

    def borders(self, labels: Index) -> dict[str, float]:
        near = self.field.near
        k, width = int(labels.max()) + 1, min(BORDER_WIDTH, near.width)
        crossing = labels[near.indices[:, 1 : width + 1]] != labels[:, None]
        mass = np.bincount(labels, self.weights)
        each = np.bincount(labels, self.weights * crossing.mean(axis=1)) / mass
        found = {
            "crossing": float(self.weights @ crossing.mean(axis=1) / self.total),
            "crossing_3": float(self.weights @ crossing[:, :3].mean(axis=1) / self.total),
            "crossing_most": float(each.max()),
        }
        names = ("contrast", "prominence", "front")
        if k == 1:
            return found | {f"{n}_{i}{e}": 0.0 for n in names for i in range(3) for e in ("", "_mean")}
        a, b, _ = self._edges
        over = labels[a] != labels[b]
        low, high = np.minimum(labels[a[over]], labels[b[over]]), np.maximum(labels[a[over]], labels[b[over]])
        pair, which = np.unique(low * k + high, return_inverse=True)
        first, second, count = pair // k, pair % k, np.bincount(which)
        for i, (scale, radius, dimension) in enumerate(
            zip(self._scales, self._radii, self._dimensions, strict=True)
        ):
            middle = np.bincount(labels, self.weights * radius) / mass
            peak = np.full(k, np.inf)
            np.minimum.at(peak, labels, radius)
            level = self._levels[i][over]
            saddle = np.full(len(pair), np.inf)
            np.minimum.at(saddle, which, level)
            front = np.bincount(which, level) / count
            unit = dimension * np.sqrt(scale)
            middles = np.maximum(middle[first], middle[second])
            depths = {
                "contrast": unit * (saddle - middles),
                "prominence": unit * (saddle - np.maximum(peak[first], peak[second])),
                "front": dimension * (front - middles),
            }
            for name, depth in depths.items():
                least = np.full(k, np.inf)
                np.minimum.at(least, first, depth)
                np.minimum.at(least, second, depth)
                found[f"{name}_{i}"] = float(least.min())
                found[f"{name}_{i}_mean"] = float(np.average(least, weights=mass))
        return found

    def shapes(self, labels: Index) -> dict[str, float]:
        k, d = int(labels.max()) + 1, self.rows.shape[1]
        mass = np.bincount(labels, self.weights).astype(np.float64)
        order = np.argsort(labels, kind="stable")
        cuts = np.searchsorted(labels[order], np.arange(1, k))
        rows, weights = np.split(self.rows[order], cuts), np.split(self.weights[order], cuts)
        means = np.array([w @ x / w.sum() for x, w in zip(rows, weights, strict=True)])
        scatters = np.empty((k, d, d))
        for g in range(k):
            about = (rows[g] - means[g]) * np.sqrt(weights[g])[:, None]
            scatters[g] = about.T @ about
        gain, penalty = self._normal_groups(mass, scatters)
        found = {"normal_gain": gain - penalty, "normal_fit": gain}
        names = ("strip", "strip_mean", "strip_clear", "strip_clear_mean")
        if k == 1:
            return found | dict.fromkeys(names, 0.0)
        empty, clear = np.full(k, np.inf), np.full(k, np.inf)
        square = ((means[:, None] - means[None]) ** 2).sum(axis=-1)
        nearest = np.argsort(square + np.diag(np.full(k, np.inf)), axis=1)[:, : min(NEAREST_GROUPS, k - 1)]
        for pair in sorted({(min(g, int(h)), max(g, int(h))) for g in range(k) for h in nearest[g]}):
            g, h = pair
            within = (scatters[g] + scatters[h]) / (mass[g] + mass[h])
            members = np.concatenate([rows[g], rows[h]]), np.concatenate([weights[g], weights[h]])
            between, sure = _between(members, within, means[g], means[h])
            for end in pair:
                empty[end], clear[end] = min(empty[end], between), min(clear[end], sure)
        numbers = (
            float(empty.min()), float(np.average(empty, weights=mass)),
            float(clear.min()), float(np.average(clear, weights=mass)),
        )  # fmt: skip
        return found | dict(zip(names, numbers, strict=True))

    def _normal_groups(self, mass: Array, scatters: Array) -> tuple[float, float]:
        """Classification log-likelihood a row of normal groups above one normal group, and its BIC penalty."""
        d = scatters.shape[1]
        parameters = (len(mass) - 1) + np.minimum(d * (d + 1) / 2, mass * d / 4).sum() + d * len(mass)
        fit = self._log_height(mass, scatters) - self._one_group_height
        penalty = (
            (parameters - d - min(d * (d + 1) / 2, self.total * d / 4)) * np.log(self.total) / 2 / self.total
        )
        return fit, float(penalty)

    @cached_property
    def _one_group_height(self) -> float:
        about = self.rows - self.weights @ self.rows / self.total
        scatter = (about * self.weights[:, None]).T @ about
        return self._log_height(np.array([self.total]), scatter[None])

    def _log_height(self, mass: Array, scatters: Array) -> float:
        d = scatters.shape[1]
        own = scatters / mass[:, None, None]
        variance = np.maximum(np.diagonal(own, axis1=1, axis2=2), 1e-3)
        trust = np.minimum(1.0, (d + 1.0) / mass)[
            :, None, None
        ]  # derived: a covariance from few rows is unsure
        held = (1 - trust) * own + trust * np.eye(d) * variance[:, None, :] + 1e-4 * np.eye(d)
        share = mass / self.total
        return float(share @ (np.log(share) - 0.5 * np.linalg.slogdet(held)[1]))


def _between(members: tuple[Array, Array], within: Array, first: Array, second: Array) -> tuple[float, float]:
    """Log ratio of rows about the lesser mean to rows half way, on the line that parts two groups; and its z."""
    rows, weights = members
    d, both, apart = rows.shape[1], float(weights.sum()), second - first
    within = within + np.diag(np.diag(within)) * min(1.0, d / both) + 1e-6 * np.eye(d)
    line = np.linalg.solve(within, apart)
    place = (rows - (first + second) / 2) @ line / max(float(line @ apart), 1e-12)
    half, *ends = (float(weights[np.abs(place - at) < STRIP].sum()) for at in (0.0, -0.5, 0.5))
    least = min(ends)
    return float(np.log((least + 1.0) / (half + 1.0))), (least - half) / float(np.sqrt(least + half + 1.0))


def _agreements(field: Field, proposals: Sequence[Proposal]) -> list[dict[str, float]]:
    """Adjusted Rand of every proposal with the most similar ones of each side, on some of the rows."""
    n = len(field.near.rows)
    some = np.linspace(0, n - 1, min(n, COMPARED_ROWS)).astype(np.int64)
    parts = [np.eye(p.k)[p.labels[some]] for p in proposals]
    starts = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
    joined = np.concatenate(parts, axis=1)
    pairs = np.add.reduceat(np.add.reduceat((joined.T @ joined) ** 2, starts, axis=0), starts, axis=1) - len(
        some
    )
    own, most = np.diagonal(pairs).copy(), len(some) * (len(some) - 1.0)
    chance = np.outer(own, own) / most
    rand = (pairs - chance) / np.maximum((own[:, None] + own[None]) / 2 - chance, 1e-9)
    one = own >= most - 1e-9
    rand[one], rand[:, one] = 0.0, 0.0
    np.fill_diagonal(rand, 0.0)
    sides = np.array([proposal.side for proposal in proposals])
    found = []
    for row in rand:
        near = {
            f"like_{s}": float(row[sides == s].max(initial=0.0)) for s in ("linkage", "mixture", "density")
        }
        found.append(near | {"like_5": float(np.sort(row)[::-1][:5].mean()), "like_mean": float(row.mean())})
    return found
