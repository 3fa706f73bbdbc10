"""The groups of the verdict, fitted again with what is known.

Labels find their groups by their rows: a label is at home in the group that most of its rows are of. Labels of one
home share its components; where there are fewer of these than labels, a new one begins between the home and the
rows of the label. Groups that no label is at home in stay beside, unless their rows with a label are so many that
they must be part of that label's group.

    mixtures   EM (``methods.bound_em``) from the mixture and from known rows with more weight; structures by BIC
    centres    k-means (``methods.bound_kmeans``); new centres begin at the means of rows with the label
    regions    rows that make a region take the label of the nearest row that has one; regions stay
    medoids    stay; a new one is the known row that is nearest the others
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree
from scipy.special import xlogy

from asterism.data.block import Block, block_of
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.families.assignment import assign
from asterism.families.base import Family
from asterism.families.gaussian import GaussianFamily
from asterism.groups.held import Held
from asterism.groups.judges import CentersJudge, Judge, MedoidsJudge, MixtureJudge, RegionsJudge
from asterism.methods.bound import Bound
from asterism.methods.bound_em import BoundEM, fit_bound_mixture, job_of
from asterism.methods.bound_kmeans import fit_bound_kmeans
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.linked import Known
from asterism.methods.medoids import Medoids
from asterism.methods.posterior import Mixture
from asterism.methods.regions import Regions
from asterism.methods.starts import expected_of, started
from asterism.stats.moments import ColumnMoments
from asterism.verdict.rows import draw

Array = NDArray[np.float64]
Index = NDArray[np.int64]
TOLERANCE = 1e-5  # convention: nats a row, at which EM has settled
STEPS = 300  # convention: of EM
EMPHASIS = (
    1.0,
    9.0,
)  # convention: weight of known rows beside their home's where a new component begins, one a start
SHORT = 30  # convention: of EM, after which structures of covariances are compared
STRUCTURES = ("EII", "EEI", "VVI", "EEE", "VVV")
SAMPLE = 4000  # convention: rows that homes are looked at by


@dataclass(frozen=True, eq=False)
class Homes:
    """Which groups of the verdict are of which labels."""

    seats: Array  # (labels, parts) weight of the known rows in components, or in groups where there are none
    group_of: Index  # (parts,) group of the verdict
    label_of: Index  # (groups of the verdict,) label that a group is part of; -1: none, or several
    home: Index  # (labels,) group of the verdict

    @property
    def beside(self) -> Index:
        """Groups of the verdict that no label is in."""
        homes = set(self.home.tolist())
        return np.array(
            [g for g, label in enumerate(self.label_of) if label < 0 and g not in homes], np.int64
        )

    @property
    def k(self) -> int:
        """Groups there will be: labels first, then those beside."""
        return len(self.home) + len(self.beside)

    def new_groups(self) -> list[list[int]]:
        """Of every part the group it will be of, or several that share it."""
        number = {int(g): len(self.home) + i for i, g in enumerate(self.beside)}
        shared = {int(g): np.flatnonzero(self.home == g).tolist() for g in self.home}
        found: list[list[int]] = []
        for g in self.group_of.tolist():
            labels = shared.get(g) or (
                [int(self.label_of[g])] if self.label_of[g] >= 0 else [number.get(g, -1)]
            )
            found.append(labels)
        for g, labels in shared.items():
            if len(labels) > 1:
                self._deal(np.flatnonzero(self.group_of == g), labels, found)
        return found

    def _deal(self, parts: Index, labels: list[int], found: list[list[int]]) -> None:
        """Parts of a shared home to its labels: one each while there are as many, then where most of its rows are."""
        seats = self.seats[np.ix_(np.array(labels), parts)]
        mine, theirs = linear_sum_assignment(-seats)
        for j, part in enumerate(parts):
            found[part] = [labels[int(seats[:, j].argmax())]]
        for i, j in zip(mine.tolist(), theirs.tolist(), strict=True):
            found[parts[j]] = [labels[i]]
        for left in set(range(len(labels))) - set(mine.tolist()):
            found[parts[int(seats[left].argmax())]].append(labels[left])


def refitted(judge: Judge, known: Known, source: Source, *, exact: bool) -> tuple[Judge, Held]:
    """The judge that keeps what is known, groups with labels first, and the groups of the rows this is about.

    ``source`` are all rows as the judge takes them.
    """
    with one_blas_thread():
        labels = np.arange(len(known.names), dtype=np.int32)
        bound = Bound.of(known, source, labels, max(len(labels), 1))
        homes = homes_of(judge, bound, source, len(labels), exact=exact)
        bound = replace(bound, k=homes.k)
        found = FITS[type(judge)](judge, homes, bound, source)
        scores = found.scores(bound.block)
        groups, shares = bound.best(scores)[0], bound.shares(scores)[0]
    return found, Held(bound.rows, groups[bound.chunks], shares[bound.chunks])


# --- homes ------------------------------------------------------------------------------------------------------


def homes_of(judge: Judge, bound: Bound, source: Source, n_labels: int, *, exact: bool) -> Homes:
    """Where labels are at home; ``exact``: each in a group of its own."""
    parts = judge.groups if isinstance(judge, MixtureJudge) else np.arange(judge.k)
    label = bound.labels[bound.chunks]
    there = (label >= 0) & (bound.block.weights > 0)
    seats = np.zeros((n_labels, len(parts)))
    if there.any():
        rows = block_of(bound.block.rows[there], bound.block.weights[there])
        np.add.at(seats, label[there], _shares(judge, rows) * rows.weights[:, None])
    grouped = seats @ np.eye(judge.k)[parts]
    home = linear_sum_assignment(-grouped)[1] if exact else grouped.argmax(axis=1)
    label_of = np.full(judge.k, -1)
    for g in np.unique(home):
        if np.count_nonzero(home == g) == 1:
            label_of[g] = int(np.flatnonzero(home == g)[0])
    if not exact and isinstance(judge, MixtureJudge | RegionsJudge) and n_labels:
        _claim(judge, source, grouped, home, label_of)
    return Homes(seats, np.asarray(parts, np.int64), label_of, np.asarray(home, np.int64))


def _claim(judge: Judge, source: Source, grouped: Array, home: Any, label_of: Index) -> None:
    """Groups without a label that have more known rows of one than overlap with its home explains.

    If known rows are as frequent in group g as at home, there should be rho n_g of them; if g is another group, rho
    times the rows that are of the home, but look as if they were of g. Derived: the likelier of two Poisson counts.
    """
    drawn = draw(source, SAMPLE, 0)
    labels, shares = judge.look(block_of(drawn.x, drawn.weights))
    total = float(reduce(source, ColumnMoments.of).total)
    weights = drawn.weights * (total / drawn.weights.sum())
    sizes = np.bincount(labels, weights, judge.k)
    for g in sorted(set(range(judge.k)) - set(home.tolist())):
        one = int(grouped[:, g].argmax())
        at_home = home[one]
        alone = np.count_nonzero(home == at_home) == 1
        rho = min(grouped[one, at_home] / max(sizes[at_home], 1.0), 1.0)
        looking = float(weights[labels == g] @ shares[labels == g, at_home])
        count = grouped[one, g]
        if alone and count > 0 and _log_poisson(count, rho * sizes[g]) > _log_poisson(count, rho * looking):
            label_of[g] = one


def _log_poisson(count: float, mean: float) -> float:
    return float(xlogy(count, max(mean, np.finfo(float).tiny)) - mean)


def _shares(judge: Judge, block: Block) -> Array:
    """(n, parts) probabilities."""
    if isinstance(judge, MixtureJudge):
        return assign(judge.mixture.scores(block), "soft")[0]
    return judge.look(block)[1]


# --- mixtures ---------------------------------------------------------------------------------------------------


def _mixture(judge: MixtureJudge, homes: Homes, bound: Bound, source: Source) -> Judge:
    mixture, parts = judge.mixture, homes.new_groups()
    group_of = np.array([group for groups in parts for group in groups], np.int64)
    into = np.zeros((len(parts), len(group_of)))  # of every component the share of each new one
    origin = np.repeat(np.arange(len(parts)), [len(groups) for groups in parts])
    into[origin, np.arange(len(group_of))] = 1.0 / np.array([len(parts[c]) for c in origin])
    split = np.array([len(parts[c]) > 1 for c in origin])
    plain = None if split.any() else MixtureModel(mixture.weights, mixture.params)
    n, k = float(reduce(source, ColumnMoments.of).total), len(group_of)
    best: tuple[float, BoundEM, MixtureModel] | None = None
    for family in _families(mixture.family) if len(homes.home) else [mixture.family]:
        em = BoundEM(family, tol=TOLERANCE, bound=bound, group_of=group_of, job=job_of(bound))
        starts = [_start(em, mixture, into, source, more) for more in EMPHASIS] if len(homes.home) else []
        starts += [plain] if plain is not None and family is mixture.family else []
        run = fit_bound_mixture(source, em, starts, SHORT)
        bic = 2.0 * run.objective + np.log(n) * (family.n_parameters(k) + k - 1)
        if best is None or bic < best[0]:
            best = bic, em, run.model.bare
    assert best is not None
    _, em, model = best
    run = fit_bound_mixture(source, em, [model], STEPS)
    return MixtureJudge(Mixture(em.family, run.model.weights, run.model.params), group_of)


def _families(family: Family) -> list[Family]:
    """The structures that components may have: labels say more of these than the rows alone."""
    if not isinstance(family, GaussianFamily) or len(family.reference) == 1:
        return [family]
    return [family, *(replace(family, structure=name) for name in STRUCTURES if name != family.structure)]


def _start(em: BoundEM, mixture: Mixture, into: Array, source: Source, emphasis: float) -> MixtureModel:
    """The M-step of the mixture's shares, those of split components evenly, known rows with more weight."""
    bound = em.bound
    label = bound.labels[bound.chunks]
    mass = np.bincount(label[label >= 0], bound.block.weights[label >= 0], bound.k)
    size = np.zeros(bound.k)
    np.add.at(size, em.group_of, mixture.weights @ into)
    n = float(reduce(source, ColumnMoments.of).total)
    more = np.where(mass > 0, emphasis * size * n / np.maximum(mass, 1e-300), 1.0)
    own = np.eye(bound.k, dtype=bool)[:, em.group_of]  # (groups, components)
    plan = partial(_start_of, em, mixture, into, label, np.maximum(more, 1.0), own)
    return started(EM(em.family), reduce(source, plan))


def _start_of(
    em: BoundEM, mixture: Mixture, into: Array, label: Any, more: Array, own: Any, block: Block
) -> Expected:
    with np.errstate(all="ignore"):
        shares = assign(mixture.scores(block), "soft")[0] @ into
    shares = np.where(np.isfinite(shares), shares, 1.0 / shares.shape[1])
    first, last = np.searchsorted(em.bound.rows, [block.start, block.start + len(block)])
    there = np.flatnonzero(label[first:last] >= 0)
    rows, groups = em.bound.rows[first:last][there] - block.start, label[first:last][there]
    mine = shares[rows] * own[groups] + 1e-9 * own[groups]
    shares[rows] = more[groups, None] * mine / mine.sum(axis=1, keepdims=True)
    return expected_of(em, shares, block)


# --- centres, regions, medoids ----------------------------------------------------------------------------------


def _centers(judge: CentersJudge, homes: Homes, bound: Bound, source: Source) -> Judge:
    old = judge.centers.positions
    means = _means(bound, len(homes.home), old[homes.home])
    taken: set[int] = set()
    first = np.empty((homes.k, old.shape[1]))
    for label in np.argsort(-homes.seats[np.arange(len(homes.home)), homes.home], kind="stable"):
        g = int(homes.home[label])
        first[label] = means[label] if g in taken else old[g]
        taken.add(g)
    first[len(homes.home) :] = old[homes.beside]
    second = first.copy()
    second[: len(homes.home)] = means
    fit = fit_bound_kmeans(source, bound, [first, second] if len(means) else [first], job=job_of(bound))
    total = float(reduce(source, ColumnMoments.of).total)
    return CentersJudge(fit.model, fit.inertia / total)


def _means(bound: Bound, n_labels: int, otherwise: Array) -> Array:
    """(labels, d) of the cells that known rows have."""
    means = otherwise.copy()
    label = bound.labels[bound.chunks]
    for one in range(n_labels):
        mine = (label == one) & (bound.block.weights > 0)
        rows, weights = bound.block.rows[mine].astype(np.float64), bound.block.weights[mine]
        mass = weights @ ~np.isnan(rows)
        means[one] = np.where(mass > 0, weights @ np.nan_to_num(rows) / np.maximum(mass, 1e-300), means[one])
    return means


def _regions(judge: RegionsJudge, homes: Homes, bound: Bound, source: Source) -> Judge:  # noqa: ARG001
    regions = judge.regions
    label = bound.labels[bound.chunks]
    known = np.nan_to_num(np.asarray(bound.block.rows, np.float64))
    number = {int(g): len(homes.home) + i for i, g in enumerate(homes.beside)}
    groups = np.array([number.get(g, int(homes.label_of[g])) for g in range(judge.k)], np.int64)[
        regions.labels
    ]
    for g in np.unique(homes.home):
        here, labels = np.flatnonzero(regions.labels == g), np.flatnonzero(homes.home == g)
        mine = np.flatnonzero(np.isin(label, labels))
        groups[here] = label[mine][cKDTree(known[mine]).query(regions.rows[here])[1]]
    for one in set(range(len(homes.home))) - set(groups.tolist()):  # at least the row nearest a known one
        mine = known[label == one][:1]
        groups[cKDTree(regions.rows).query(mine)[1]] = one
    return RegionsJudge(Regions(regions.rows, regions.weights, groups, regions.log_widths))


def _medoids(judge: MedoidsJudge, homes: Homes, bound: Bound, source: Source) -> Judge:  # noqa: ARG001
    m = judge.medoids
    label = bound.labels[bound.chunks]
    numbers, ready = [], []
    taken: set[int] = set()
    for one, g in enumerate(homes.home.tolist()):
        mine = np.flatnonzero((label == one) & (bound.block.weights > 0))
        if g not in taken or not len(mine):
            numbers.append(m.numbers[g])
            ready.append(m.ready[g])
        else:
            rows = np.asarray(bound.block.rows[mine], np.float64)
            tile = m.fitted.tile(rows, m.fitted.points(rows, bound.rows[mine]))
            best = int((bound.block.weights[mine] @ tile).argmin())
            numbers.append(bound.rows[mine[best]])
            ready.append(rows[best])
        taken.add(g)
    medoids = Medoids(
        m.fitted,
        np.array([*numbers, *m.numbers[homes.beside]], np.int64),
        np.ascontiguousarray([*ready, *m.ready[homes.beside]], np.float64),
    )
    return replace(judge, medoids=medoids)


FITS: dict[Any, Any] = {
    MixtureJudge: _mixture, CentersJudge: _centers, RegionsJudge: _regions, MedoidsJudge: _medoids,
}  # fmt: skip
