"""A model of a sample's groups, and the rare groups of all rows with it.

    mixture   a normal component more for each, of any shape; then all of them are led to their end on all rows
    regions   known rows of each
    reduced   directions that tell rare groups from the others join those of the view, where they are not there yet

A wide table is seen in the directions in which its sample differs most, and a rare group may lie in any other: it is
looked for in all columns, with a mixture that has the sample's components there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.data.source import Source
from asterism.distances.neighbours import Neighbours
from asterism.families.assignment import assign
from asterism.families.covariance import FLOOR
from asterism.families.gaussian import GaussianFamily
from asterism.methods.density_tree import least_size
from asterism.methods.posterior import Mixture
from asterism.methods.regions import WIDTH_MASS, Regions
from asterism.verdict.choice import fit_on_whole
from asterism.verdict.clumps import INSIDE
from asterism.verdict.decide import Decision
from asterism.verdict.propose import Proposal
from asterism.verdict.rare import LEAST_ROWS, NONE, Found, RareGroup, components_of, rare_groups
from asterism.verdict.rare_components import anchored, with_components
from asterism.verdict.rows import Drawn, Rows, draw
from asterism.verdict.seen import Seen
from asterism.verdict.view import COMPARED_ROWS, SAMPLE_SEED, View

Array = NDArray[np.float64]
Index = NDArray[np.int64]
MOST_COLUMNS = 64  # convention: of more, a rare group is looked for in the view's directions alone
ROWS_A_COLUMN = 5.0  # convention: of a component that has a covariance of its own in all columns
NEW_DIRECTION = 0.05  # convention: share of a direction's variance that the view's do not have
KNOWN_ROWS = 40  # convention: of a rare group, among the known rows of regions
OTHER_NEIGHBOURS = 50  # convention: of a known row, among which the nearest of another group is looked for
MOST_LOST = 0.5  # derived: a group that has most of its rows in rare groups is not another one


@dataclass(frozen=True, eq=False)
class Rare:
    """The rare groups of a table, and how they are seen."""

    found: Found = NONE
    view: View = field(default_factory=View)
    rows: Rows | None = None  # the sample as that view shows it, without missing cells
    outside: NDArray[np.bool_] | None = None  # (n,) rows of the sample that are in none of them
    gone: tuple[int, ...] = ()  # groups of the sample that were rows of them, and are no more
    axes: Array | None = (
        None  # (m, d) from the columns they were found in to those of the view; None: the same
    )

    @property
    def k(self) -> int:
        """Rare groups."""
        return len(self.found.groups)

    @property
    def more(self) -> int:
        """Groups more than the sample shows."""
        return self.k - len(self.gone)

    @property
    def sizes(self) -> tuple[float, ...]:
        """Rows of each, from the heaviest down."""
        return tuple(group.weight for group in self.found.groups)

    def placed(self) -> list[RareGroup]:
        """The groups as the view shows them."""
        if self.axes is None:
            return list(self.found.groups)
        a = self.axes
        return [
            replace(g, mean=a @ g.mean, covariance=a @ g.covariance @ a.T, rows=g.rows @ a.T)
            for g in self.found.groups
        ]


def look_for_rare(source: Source, view: View, drawn: Drawn, rows: Rows, decision: Decision) -> Rare:
    """The rare groups beside those of a sample.

    ``drawn``  the sample as the view shows it;  ``rows`` the same, without missing cells
    """
    body = decision.field.best.mixture
    labels, least = decision.proposal.labels[decision.seen.place], decision.field.least
    if view.axes is None or view.encoding is None or view.axes.shape[1] > MOST_COLUMNS:
        found = rare_groups(view.of(source), body, rows)
        return Rare(found, view, rows, ~found.holds(rows.x), _given_way(found, rows, labels, least))
    whole = replace(view, axes=None).of(source)
    everywhere = Rows(np.nan_to_num(draw(whole, COMPARED_ROWS, SAMPLE_SEED).x), drawn.weights)
    shares = assign(body.scores(block_of(rows.x)), "soft")[0]
    body = _of_shares(everywhere, shares)
    found = rare_groups(whole, body, everywhere)
    axes = np.vstack([view.axes, *_new_directions(view.axes, body, found)])
    seen = Rows(everywhere.x @ axes.T, drawn.weights)
    outside = ~found.holds(everywhere.x)
    gone = _given_way(found, everywhere, labels, least)
    return Rare(found, replace(view, axes=axes), seen, outside, gone, axes)


def model_with(
    rare: Rare, seen: Source, decision: Decision, start: Proposal
) -> tuple[Mixture | Regions, Index]:
    """The model of all groups on all rows, and the group of each component; rare groups have the last numbers.

    ``seen``   the table as ``rare.view`` shows it;  ``start`` the sample's groups
    """
    assert rare.rows is not None, "there are no rare groups"
    assert rare.outside is not None, "there are no rare groups"
    stays = np.setdiff1d(np.arange(start.k), rare.gone)
    number = np.full(start.k, -1)
    number[stays] = np.arange(len(stays))
    labels = number[decision.proposal.labels[decision.seen.place]]
    new, outside = rare.placed(), rare.outside & (labels >= 0)
    rows = rare.rows.take(outside)
    if start.mixture is None or start.group_of is None:
        regions = _regions(rows, labels[outside], new, rare.found.total)
        return regions, np.arange(regions.k)
    group_of = number[start.group_of]
    mixture, group_of = components_of(start.mixture, group_of >= 0), group_of[group_of >= 0]
    if rare.axes is not None:
        seen_before = np.ascontiguousarray(rows.x[:, : mixture.params.means.shape[1]])
        mixture = _of_shares(rows, assign(mixture.scores(block_of(seen_before)), "soft")[0], "VVV")
    keep = _not_rare(mixture, group_of, new)
    joined = with_components(components_of(mixture, keep), new, rare.found.total)
    groups = np.concatenate([group_of[keep], len(stays) + np.arange(len(new))])
    return anchored(fit_on_whole(seen, joined), joined, len(new)), groups


def mixture_with_rare(
    source: Source, mixture: Mixture, drawn: Drawn, ks: Sequence[int] | None
) -> tuple[Mixture, tuple[float, ...]]:
    """A mixture of columns of several kinds with the rare groups of all rows, where their number is allowed; sizes.

    The marginal of its columns of numbers is a mixture of normal components; rare groups are far in these.

    ``drawn``  the sample that the mixture was fitted to
    """
    family = mixture.family
    normal = [
        j for j, (part, _) in enumerate(getattr(family, "parts", ())) if isinstance(part, GaussianFamily)
    ]
    if drawn.whole or len(normal) != 1 or (ks is not None and max(ks) <= mixture.k):
        return mixture, ()
    part, columns = family.parts[normal[0]]  # type: ignore[attr-defined]
    body = Mixture(part, mixture.weights, mixture.params.parts[normal[0]])
    complete = ~np.isnan(drawn.x[:, columns]).any(axis=1)
    sample = Rows(np.ascontiguousarray(drawn.x[complete][:, columns]), drawn.weights[complete])
    if len(sample) < LEAST_ROWS:
        return mixture, ()
    labels = mixture.scores(block_of(drawn.x[complete])).argmax(axis=1)
    found = rare_groups(source, body, sample, np.array(columns, np.int64))
    stays = np.setdiff1d(np.arange(mixture.k), _given_way(found, sample, labels, least_size(sample.total)))
    if ks is not None and len(stays) + len(found.groups) not in ks:
        return mixture, ()
    mixture = components_of(mixture, np.isin(np.arange(mixture.k), stays))
    return with_components(mixture, found.groups, found.total), tuple(g.weight for g in found.groups)


def _given_way(found: Found, sample: Rows, labels: Index, least: float) -> tuple[int, ...]:
    """Groups of the sample that were rows of rare groups: most of their rows, or all but too few to be a group.

    They are what becomes of the few rows that a sample has of a rare group, or of several; all rows show which.

    ``labels``  (n,) groups of the sample;  ``least`` weight of the smallest group worth a name
    """
    totals = np.bincount(labels, sample.weights)
    left = np.bincount(labels, sample.weights * ~found.holds(sample.x), len(totals))
    gone = (left < totals) & (left < np.maximum(MOST_LOST * totals, least))
    return tuple(np.flatnonzero(gone).tolist())


# --- mixtures ---------------------------------------------------------------------------------------------------


def _of_shares(rows: Rows, shares: Array, structure: str | None = None) -> Mixture:
    """Normal components in columns of standard units, by one M-step."""
    mass = shares * rows.weights[:, None]
    d = rows.x.shape[1]
    if structure is None:
        own = mass.sum(axis=0)
        many = own[own >= LEAST_ROWS].min(initial=rows.total) >= ROWS_A_COLUMN * d
        structure = "VVV" if many else "EEE"
    family = GaussianFamily(structure).at(np.zeros(d))
    params = family.estimate(family.statistic(None, block_of(rows.x, rows.weights), mass), None)
    return Mixture(family, mass.sum(axis=0) / mass.sum(), params)


def _not_rare(mixture: Mixture, group_of: Index, groups: Sequence[RareGroup]) -> NDArray[np.bool_]:
    """(k,) components that are not the sample's few rows of a rare group; each group keeps one at least."""
    family: GaussianFamily = mixture.family  # type: ignore[assignment]
    means = mixture.params.means + family.reference
    keep = np.ones(mixture.k, bool)
    for group in groups:
        d = len(group.mean)
        spread = group.covariance + np.diag(family.variances * FLOOR)
        apart = means - group.mean
        near = np.einsum("kd,kd->k", apart @ np.linalg.inv(spread), apart) <= (d**0.5 + INSIDE) ** 2
        for c in np.flatnonzero(near & keep):
            keep[c] = np.count_nonzero(keep & (group_of == group_of[c])) == 1
    return keep


def _new_directions(axes: Array, body: Mixture, found: Found) -> list[Array]:
    """Directions, of standard deviation 1 within components, that tell rare groups from the others best."""
    within = np.einsum("k,kij->ij", body.weights, body.params.covariances.full())
    within = within + np.diag(np.maximum(np.diagonal(within), 1e-12)) * FLOOR
    middle = body.weights @ body.params.means  # the reference of ``_of_shares`` is 0
    known, new = axes, []
    for group in found.groups:
        v = np.linalg.solve(within, group.mean - middle)
        v = v / np.sqrt(v @ within @ v)
        gram = known @ within @ known.T
        shared = known @ within @ v
        if 1.0 - shared @ np.linalg.lstsq(gram, shared, rcond=None)[0] > NEW_DIRECTION:
            known = np.vstack([known, v])
            new.append(v[None])
    return new


# --- regions ----------------------------------------------------------------------------------------------------


def _regions(rows: Rows, labels: Index, groups: Sequence[RareGroup], total: float) -> Regions:
    """The sample's rows, and some of each rare group, in the order of their values."""
    seen = Seen.of(rows.x, rows.weights)
    own = np.empty(len(seen.rows), np.int64)
    own[seen.place] = labels
    near = Neighbours.of(seen.rows, seen.weights, OTHER_NEIGHBOURS)
    parts = [Regions.of(near, own)]
    k = int(labels.max()) + 1
    for g, group in enumerate(groups):
        order = np.lexsort(group.rows.T)
        some = order[np.linspace(0, len(order) - 1, min(KNOWN_ROWS, len(order))).astype(np.int64)]
        known = group.rows[some]
        weights = np.full(len(some), group.weight / total * rows.total / len(some))
        about = Neighbours.of(known, np.ones(len(known)), WIDTH_MASS)
        parts.append(Regions(known, weights, np.full(len(some), k + g), about.log_radius(WIDTH_MASS)))
    rows_, weights_, labels_, widths = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("rows", "weights", "labels", "log_widths")
    )
    return Regions(rows_, weights_, labels_, widths)
