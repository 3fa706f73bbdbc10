"""Mixtures of every number of components and every structure, advanced in the same passes.

The usual loop over k starts every mixture anew and takes what it gets: where a start at the true k misses the best
optimum, a criterion chooses another k. Here starts are shared and handed on:

1. Partitions of a sample for every k (k-means, Ward's tree cut at k) start every structure.
2. Cells start again from their neighbours: from k - 1 by splitting, from k + 1 by merging, and what climbs higher is
   kept. Where all families are plain normal ones and all cells matter, in rounds (``choose.climb``); else once.
3. Only then the whole table is read, all cells in the same passes.

References
----------
1. Ueda, Nakano, Ghahramani, Hinton (2000), SMEM algorithm for mixture models. Neural Computation 12:2109-2128.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from asterism.choose.climb import climbed, highest
from asterism.choose.together import Advanced, Candidate, Together, advance, told_of
from asterism.data.source import Source
from asterism.engines.context import current, engine
from asterism.engines.threads import one_blas_thread
from asterism.families.assignment import assign
from asterism.families.base import Array, Family
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_statistic import GaussianStatistic, in_form
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.frame import survey
from asterism.methods.kmeans import fit_kmeans_path
from asterism.methods.mixture import facts_of
from asterism.methods.posterior import Mixture, Told
from asterism.methods.splitmerge import scores_of
from asterism.methods.stack import can_stack
from asterism.methods.starts import (
    WARD_ROWS,
    Sample,
    in_order,
    model_of,
    nearest_of,
    one_hot,
    sample_of,
    started,
)

FIRST, AGAIN, SETTLE, QUICK = (
    4,
    5,
    40,
    12,
)  # EM steps: of a guess, from a neighbour, of the best, if not thorough
TOL, FINE, COARSE = 1e-4, 2e-4, 1e-3  # a row: on the sample, and on the whole table


@dataclass(frozen=True)
class Cell:
    """One mixture of the sweep, finished."""

    structure: str  # name of the family or of the covariance structure
    k: int
    mixture: Mixture
    log_likelihood: float
    surprise: float  # -sum w log max r, what ICL adds
    mass: NDArray[np.float64]  # (k,) of the labels
    total: float  # sum of weights
    settled: bool

    @property
    def n_parameters(self) -> int:
        """Proportions included."""
        return self.mixture.n_parameters

    @property
    def bic(self) -> float:
        """-2 log-likelihood + parameters * log n; smaller is better."""
        return -2.0 * self.log_likelihood + self.n_parameters * float(np.log(self.total))


__all__ = ["Candidate", "Cell", "Cells", "Together", "merged_shares", "partitions", "split_shares", "sweep"]
Cells = dict[tuple[str, int], Cell]
Models = dict[tuple[str, int], tuple[float, Candidate]]  # the best so far of each cell, and its height


def sweep(
    source: Source,
    families: Mapping[str, Family],
    ks: Sequence[int],
    *,
    seed: int = 0,
    tol: float | None = None,
    max_iter: int = 100,
    within: Callable[[str, int], bool] | None = None,
    keep: int | None = None,
    thorough: bool = True,
) -> Cells:
    """The best mixture found of every family and every k.

    ``families``  name -> family, not prepared
    ``tol``       of the steps on the whole table, a row; None: 2e-4, or 1e-3 where only the best cells matter
    ``within``    cells to leave out: called with name and k, False where a cell is not wanted
    ``keep``      go on with so many families after the first steps, those of the best BIC; None: with all
    ``thorough``  False: one start a cell and nothing handed on, for those who fit the same table many times
    """
    ks = sorted(set(ks))
    with one_blas_thread():
        frame, moments = survey(source)
        methods = {
            name: EM(family.prepared(facts_of(source, family, frame, moments)), tol=TOL)
            for name, family in families.items()
        }
        wanted = [(name, k) for name in families for k in ks if within is None or within(name, k)]
        sample = sample_of(source, frame, moments, ks[-1], seed)
        complete = bool((moments.observed == moments.rows).all())
        tol = tol if tol is not None else FINE if keep is None and thorough else COARSE
        finer = {name: replace(em, tol=tol) for name, em in methods.items()}
        if keep is None and thorough and complete and all(map(can_stack, methods.values())):
            with engine(n_threads=current().n_threads):  # no time limit, checkpoint or progress of its own
                labels = _labels(sample, ks, seed)
                some = [cell for cell in wanted if labels[cell[1]]]
                few = climbed(methods, some, sample, labels, seed)
            best = highest(source, few, moments.total)
        else:
            with engine(n_threads=current().n_threads):
                found = _on_sample(methods, wanted, sample, ks, seed, keep, thorough)
            best = {cell: candidate for cell, (_, candidate) in found.items()}
        wanted = [cell for cell in wanted if cell in best]
        starts = [replace(best[cell], em=finer[cell[0]]) for cell in wanted]
        ends = advance(source, starts, max_iter, complete=complete, whole=False)
        return _finished(source, wanted, ends, moments.total, complete)


def _labels(sample: Sample, ks: Sequence[int], seed: int) -> dict[int, list[NDArray[np.int32]]]:
    """Groups of the sample for every k to begin with: of k-means, and of Ward's tree."""
    several = [k for k in ks if 1 < k <= len(sample.w)]
    found: dict[int, list[NDArray[np.int32]]] = {k: [] for k in ks}
    found[1] = [np.zeros(len(sample.w), np.int32)]
    if several:
        fits = fit_kmeans_path(sample.source(), several, n_init=1, max_iter=10, seed=seed)
        cuts = ward_cuts(sample, several, seed)
        for k in several:
            found[k] = [fits[k].labels, *([cuts[k]] if k in cuts else [])]
    return found


def _on_sample(
    methods: Mapping[str, EM],
    wanted: list[tuple[str, int]],
    sample: Sample,
    ks: Sequence[int],
    seed: int,
    keep: int | None,
    thorough: bool,
) -> Models:
    guesses = partitions(
        sample, ks, seed, ("kmeans", "standard", "ward") if keep is None else ("standard", "ward")
    )
    if not thorough:
        guesses = {k: some[:1] for k, some in guesses.items()}
    best: Models = {}
    first = [cell for cell in wanted if keep is None or not _late(methods[cell[0]])]
    starts = [
        (cell, candidate)
        for cell in first
        for candidate in _guessed(methods[cell[0]], sample, guesses[cell[1]])
    ]
    _keep(best, _moved(sample, starts, FIRST))
    if keep is not None:
        names = _leading(best, float(sample.w.sum()))[:keep]
        _only(best, names)
        late = [
            cell for cell in wanted if _late(methods[cell[0]]) and _structure(methods[cell[0]]) in names[:1]
        ]
        _keep(best, _moved(sample, _in_the_place_of(best, late, methods, sample), FIRST))
    hopeful = _hopeful(best, float(sample.w.sum())) if keep is not None else set(best)
    if thorough:
        _keep(best, _moved(sample, _from_neighbours(best, hopeful, sample), AGAIN))
    again = [(cell, best[cell][1]) for cell in best if cell in hopeful]
    _keep(best, _moved(sample, again, SETTLE if thorough else QUICK))
    return best


def _hopeful(best: Models, n: float) -> set[tuple[str, int]]:
    """The better half of the cells of each family by BIC: the others get no further steps on the sample."""
    found: set[tuple[str, int]] = set()
    for name in {name for name, _ in best}:
        mine = sorted((cell for cell in best if cell[0] == name), key=lambda cell: _cost(best, cell, n))
        found.update(mine[: (len(mine) + 1) // 2])
    return found


def _cost(best: Models, cell: tuple[str, int], n: float) -> float:
    """BIC on the sample."""
    height, candidate = best[cell]
    return -2.0 * height + (candidate.em.family.n_parameters(cell[1]) + cell[1] - 1) * float(np.log(n))


def _late(em: EM) -> bool:
    """Families that cost more than others begin only where a cheaper one has led."""
    return em.family.name == "student"


def _structure(em: EM) -> str:
    return str(getattr(getattr(em.family, "normal", em.family), "structure", em.family.name))


def _leading(best: Models, n: float) -> list[str]:
    """Names of families, the best BIC of any k first."""
    scores: dict[str, float] = {}
    for cell in best:
        scores[cell[0]] = min(_cost(best, cell, n), scores.get(cell[0], np.inf))
    return sorted(scores, key=lambda name: scores[name])


def _only(best: Models, names: Sequence[str]) -> None:
    for cell in [cell for cell in best if cell[0] not in names]:
        del best[cell]


def _in_the_place_of(
    best: Models, late: list[tuple[str, int]], methods: Mapping[str, EM], sample: Sample
) -> list[Start]:
    """Starts of late families from the shares of the normal mixtures of the same structure."""
    starts: list[Start] = []
    for name, k in late:
        here = best.get((_structure(methods[name]), k))
        if here is not None:
            shares = assign(scores_of(here[1].em, sample, here[1].model), "soft")[0]
            starts.append(
                ((name, k), Candidate(methods[name], model_of(methods[name], sample.block, shares)))
            )
    return starts


def _guessed(em: EM, sample: Sample, guesses: list[Array]) -> list[Candidate]:
    return [Candidate(em, _first_model(em, sample, shares)) for shares in guesses]


def _first_model(em: EM, sample: Sample, shares: Array) -> MixtureModel:
    """The M-step of some shares; of normal components on complete rows from plain products."""
    family, rows = em.family, sample.block.rows
    if not isinstance(family, GaussianFamily) or np.isnan(rows).any():
        return model_of(em, sample.block, shares)
    y, mass = np.asarray(rows - family.reference, np.float64), shares * sample.w[:, None]
    held = np.maximum(mass.sum(axis=0), np.finfo(float).tiny)
    means = (mass.T @ y) / held[:, None]
    if family.form == "diag":
        scatters = np.stack([m @ (y - mean) ** 2 for m, mean in zip(mass.T, means, strict=True)])
    else:
        about = [(y - mean) * np.sqrt(m)[:, None] for m, mean in zip(mass.T, means, strict=True)]
        scatters = in_form(np.stack([a.T @ a for a in about]), family.form)
    return started(em, Expected(mass.sum(axis=0), 0.0, GaussianStatistic(mass.sum(axis=0), means, scatters)))


Start = tuple[tuple[str, int], Candidate]


def _moved(sample: Sample, starts: list[Start], steps: int) -> list[tuple[tuple[str, int], float, Candidate]]:
    """All starts advanced together on the sample, with the height each has reached."""
    if not starts:
        return []
    ends = advance(sample.source(), [candidate for _, candidate in starts], steps, complete=sample.complete)
    return [(cell, end.height, end.candidate) for (cell, _), end in zip(starts, ends, strict=True)]


def _keep(best: Models, found: list[tuple[tuple[str, int], float, Candidate]]) -> None:
    for cell, height, candidate in found:
        if cell not in best or height > best[cell][0]:
            best[cell] = (height, candidate)


# --- starts -----------------------------------------------------------------------------------------------------


def partitions(
    sample: Sample, ks: Sequence[int], seed: int, kinds: Sequence[str] = ("kmeans", "standard", "ward")
) -> dict[int, list[Array]]:
    """For every k, shares (m, k) of the groups of k-means, raw and in standard units, and of Ward's tree."""
    found: dict[int, list[Array]] = {k: [] if k > 1 else [np.ones((len(sample.w), 1))] for k in ks}
    several = [k for k in ks if 1 < k <= len(sample.w)]
    for kind in kinds if several else ():
        if kind == "ward":
            labels = ward_cuts(sample, several, seed)
        else:
            table = sample.source(standard=kind == "standard")
            fits = fit_kmeans_path(table, several, n_init=2, max_iter=30, seed=seed)
            labels = {k: fit.labels for k, fit in fits.items()}
        for k, mine in labels.items():
            found[k].append(in_order(sample, one_hot(mine, k)))
    return found


def ward_cuts(sample: Sample, ks: Sequence[int], seed: int) -> dict[int, NDArray[np.int32]]:
    """One Ward tree on some rows, cut at every k; the other rows go to the nearest group mean."""
    from scipy.cluster.hierarchy import fcluster, linkage

    y, m = sample.standard, len(sample.w)
    rng = np.random.default_rng([seed, m])
    some = np.arange(m) if m <= WARD_ROWS else np.sort(rng.choice(m, WARD_ROWS, replace=False))
    tree = linkage(y[some], "ward")
    cuts = {}
    for k in ks:
        if k >= len(some):
            continue
        groups = fcluster(tree, k, "maxclust").astype(np.int32) - 1
        share = one_hot(groups, k) * sample.w[some, None]
        mass = share.sum(axis=0)
        means = (share.T @ y[some]) / np.maximum(mass, np.finfo(float).tiny)[:, None]
        cuts[k] = nearest_of(y, means[mass > 0])
    return cuts


def _from_neighbours(best: Models, hopeful: set[tuple[str, int]], sample: Sample) -> list[Start]:
    """Starts of a cell from the cells with one component fewer and one more."""
    starts: list[Start] = []
    for name, k in (cell for cell in best if cell in hopeful):
        if k > 1 and (name, k - 1) in best:
            shares = split_shares(best[name, k - 1][1], sample)
            starts.append(((name, k), _started(best[name, k][1].em, sample, shares)))
        if k > 1 and (name, k + 1) in best:
            shares = merged_shares(best[name, k + 1][1], sample)
            starts.append(((name, k), _started(best[name, k][1].em, sample, shares)))
    return starts


def _started(em: EM, sample: Sample, shares: Array) -> Candidate:
    return Candidate(em, _first_model(em, sample, in_order(sample, shares)))


def split_shares(candidate: Candidate, sample: Sample) -> Array:
    """The shares of the mixture with the component of the most scatter cut across its longest axis."""
    r = assign(scores_of(candidate.em, sample, candidate.model), "soft")[0]
    y, mass = sample.standard, r * sample.w[:, None]
    total = np.maximum(mass.sum(axis=0), np.finfo(float).tiny)
    worst, most, side = 0, -1.0, np.zeros(len(y), bool)
    for c in range(r.shape[1]):
        about = y - (mass[:, c] @ y) / total[c]
        values, vectors = np.linalg.eigh((about * mass[:, [c]]).T @ about)
        if values[-1] > most:
            worst, most, side = c, float(values[-1]), about @ vectors[:, -1] > 0
    return np.asarray(np.column_stack([np.delete(r, worst, axis=1), r[:, worst] * side, r[:, worst] * ~side]))


def merged_shares(candidate: Candidate, sample: Sample) -> Array:
    """The shares of the mixture with the two components brought together that share most rows."""
    r = assign(scores_of(candidate.em, sample, candidate.model), "soft")[0]
    likeness = (r * sample.w[:, None]).T @ r
    size = np.sqrt(np.maximum(np.diagonal(likeness), np.finfo(float).tiny))
    likeness = likeness / np.outer(size, size)
    np.fill_diagonal(likeness, -1.0)
    a, b = sorted(divmod(int(likeness.argmax()), len(size)))
    merged = np.delete(r, b, axis=1)
    merged[:, a] += r[:, b]
    return merged


# --- the end ----------------------------------------------------------------------------------------------------


def _finished(
    source: Source, wanted: list[tuple[str, int]], ends: list[Advanced], total: float, complete: bool
) -> Cells:
    models = [end.candidate for end in ends]
    cells = {}
    for (name, k), one, end, told in zip(
        wanted, models, ends, told_of(source, models, complete=complete), strict=True
    ):
        mixture = Mixture(one.em.family, one.model.weights, one.model.params)
        cells[name, k] = _cell(name, k, mixture, told, total, end.settled)
    return cells


def _cell(name: str, k: int, mixture: Mixture, told: Told, total: float, settled: bool) -> Cell:
    return Cell(name, k, mixture, told.log_likelihood, told.surprise, told.mass, total, settled)
