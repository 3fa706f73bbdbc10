"""The search of a sweep over any families: cells start from guesses on a sample, then once from their neighbours.

Where normal mixtures can move in stacks and all cells matter, ``choose.climb`` searches more thoroughly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from asterism.choose.guesses import merged_shares, partitions, split_shares
from asterism.choose.together import Candidate, advance
from asterism.families.assignment import assign
from asterism.families.base import Array
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_statistic import GaussianStatistic, in_form
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.splitmerge import scores_of
from asterism.methods.starts import Sample, in_order, model_of, started

FIRST, AGAIN = 4, 5  # EM steps: of a guess, from a neighbour
SETTLE, QUICK = 40, 12  # of the best, and if not thorough

Models = dict[tuple[str, int], tuple[float, Candidate]]  # the best so far of each cell, and its height
Start = tuple[tuple[str, int], Candidate]


def found_on_sample(
    methods: Mapping[str, EM],
    wanted: list[tuple[str, int]],
    sample: Sample,
    ks: Sequence[int],
    seed: int,
    keep: int | None,
    thorough: bool,
) -> Models:
    """The best mixture of every cell that is still of interest, with its height on the sample."""
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
            shares = assign(scores_of(here[1].em, sample.block, here[1].model), "soft")[0]
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
