"""Moves between mixtures: one component becomes two, two become one.

What a move would win is estimated on the rows of the components it touches, for all components in the same calls:

    gain(c)    = what two components win on the rows of c, after a few EM steps of the halves alone
    loss(a, b) = what one component loses on the rows of a and b

Both together lead out of an optimum in which one component covers two groups and two components share one
(``improved``); one of them leads to a mixture of one component more or fewer (``methods.path``).

References
----------
1. Ueda, Nakano, Ghahramani, Hinton (2000), SMEM algorithm for mixture models. Neural Computation 12:2109-2128.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.families.assignment import assign, log_sum
from asterism.families.base import Array
from asterism.methods.em import EM, MixtureModel
from asterism.methods.stack import advance
from asterism.methods.starts import Sample, in_order, model_of

TINY = np.finfo(float).tiny
TRIED = 5  # measured: moves tried at a time
STEPS = 15  # EM steps of a move
ROUNDS = 10
MIN_GAIN_EXPECTED = (
    -0.02
)  # nats a row that a move must promise to be tried; less than nothing, for EM goes on after it
GAIN = 1e-3  # nats a row that it must bring to be taken
APART = 2  # EM steps of two halves
PAIRS = 12  # pairs whose merger is weighed


def improved(em: EM, sample: Sample, model: MixtureModel) -> MixtureModel:
    """The model after all moves that raise the likelihood of the sample."""
    if len(model.weights) < 3:
        return model
    height = height_of(em, sample, model)
    for _ in range(ROUNDS):
        moves = Ways(em, sample, shares_of(em, sample.block, model)).exchanged(TRIED)
        if not moves:
            return model
        models = [model_of(em, sample.block, in_order(sample, shares)) for shares in moves]
        best = best_after(em, sample, models, STEPS)
        reached = height_of(em, sample, best)
        if reached <= height + GAIN * float(sample.w.sum()):
            return model
        model, height = best, reached
    return model


class Ways:
    """Where moves may lead from shares (m, k) of a sample; each is found when it is asked for."""

    def __init__(self, em: EM, sample: Sample, r: Array) -> None:
        self.em, self.sample, self.r = em, sample, r

    @cached_property
    def halves(self) -> tuple[Vector, Array]:
        """See ``halves``."""
        return halves(self.em, self.sample, self.r)

    @cached_property
    def pairs(self) -> list[tuple[float, int, int]]:
        """See ``mergers``."""
        return mergers(self.em, self.sample, self.r)

    def split(self, n: int) -> list[Array]:
        """Shares (m, k + 1) with one component in two, for the n that win most by it."""
        (gains, parts), k = self.halves, self.r.shape[1]
        found = []
        for c in np.argsort(-gains, kind="stable")[:n]:
            shares = np.concatenate([self.r, parts[:, [k + c]]], axis=1)
            shares[:, c] = parts[:, c]
            found.append(shares)
        return found

    def merged(self, n: int) -> list[Array]:
        """Shares (m, k - 1) with two components as one, for the n pairs that lose least by it."""
        found = []
        for _, a, b in self.pairs[:n]:
            shares = np.delete(self.r, b, axis=1)
            shares[:, a] += self.r[:, b]
            found.append(shares)
        return found

    def exchanged(self, n: int) -> list[Array]:
        """Shares (m, k) with two components as one and a third in two, for the n that promise most."""
        (gains, parts), k = self.halves, self.r.shape[1]
        moves = [
            (gains[c] + loss, a, b, int(c))
            for loss, a, b in self.pairs[: 2 * n]
            for c in np.argsort(-gains, kind="stable")[:n]
            if c not in (a, b)
        ]
        enough = MIN_GAIN_EXPECTED * float(self.sample.w.sum())
        found = []
        for _, a, b, c in [move for move in sorted(moves, reverse=True) if move[0] > enough][:n]:
            shares = self.r.copy()
            shares[:, a] += self.r[:, b]
            shares[:, b], shares[:, c] = parts[:, c], parts[:, k + c]
            found.append(shares)
        return found


# --- one as two, two as one -------------------------------------------------------------------------------------


def halves(em: EM, sample: Sample, r: Array) -> tuple[Vector, Array]:
    """(k,) what two components win on the rows of each, and (m, 2 k) the shares of first and of second halves."""
    k = r.shape[1]
    mass = r * sample.w[:, None]
    side = _sides(sample.standard, mass)
    parts = np.concatenate([r * side, r * ~side], axis=1)
    model = None
    for _ in range(APART):
        scores, model = _densities(em, sample.block, parts, model)
        with np.errstate(divide="ignore", over="ignore"):
            scores += np.log(parts.T @ sample.w)
            first = r / (1.0 + np.exp(scores[:, k:] - scores[:, :k]))
        parts = np.concatenate([first, r - first], axis=1)
    both = np.logaddexp(scores[:, :k], scores[:, k:]) - np.log(np.maximum(mass.sum(axis=0), TINY))
    alone = _densities(em, sample.block, r, None)[0]
    return np.asarray((mass * (both - alone)).sum(axis=0)), parts


def mergers(em: EM, sample: Sample, r: Array) -> list[tuple[float, int, int]]:
    """What is lost by bringing a and b together, for the pairs that share most rows, the least loss first."""
    k = r.shape[1]
    mass = r * sample.w[:, None]
    likeness = mass.T @ r
    size = np.sqrt(np.maximum(np.diagonal(likeness), TINY))
    a, b = np.triu_indices(k, 1)
    near = np.argsort(-(likeness / np.outer(size, size))[a, b], kind="stable")[:PAIRS]
    a, b = a[near], b[near]
    if not len(a):
        return []
    held = np.maximum(mass.sum(axis=0), TINY)
    alone = _densities(em, sample.block, r, None)[0] + np.log(held)
    joint = _densities(em, sample.block, r[:, a] + r[:, b], None)[0] + np.log(held[a] + held[b])
    change = joint - np.logaddexp(alone[:, a], alone[:, b])
    losses = ((mass[:, a] + mass[:, b]) * change).sum(axis=0)
    order = np.argsort(-losses, kind="stable")
    return [(float(losses[i]), int(a[i]), int(b[i])) for i in order]


def _densities(
    em: EM, block: Block, shares: Array, before: MixtureModel | None
) -> tuple[Array, MixtureModel]:
    """(m, c) log densities of the components that shares (m, c) make, and these."""
    model = model_of(em, block, shares, before)
    return np.asarray(em.family.log_density(model.params, block)), model


def _sides(y: Array, mass: Array) -> NDArray[np.bool_]:
    """(m, k) on which side of its middle a row lies along the longest axis of each component's rows."""
    total = np.maximum(mass.sum(axis=0), TINY)
    means = mass.T @ y / total[:, None]
    scatters = np.stack([(y * column[:, None]).T @ y for column in mass.T])
    scatters -= total[:, None, None] * means[:, :, None] * means[:, None, :]
    axes = np.linalg.eigh(scatters)[1][:, :, -1]
    return np.asarray(y @ axes.T > (means * axes).sum(axis=1))


# --- what a mixture makes of a sample ---------------------------------------------------------------------------


def best_after(em: EM, sample: Sample, models: Sequence[MixtureModel], steps: int) -> MixtureModel:
    """The model that is highest after some steps, as it is then."""
    ends = advance(em, sample.source(), models, steps, complete=sample.complete)
    return max(ends, key=lambda end: end[0])[1]


def height_of(em: EM, sample: Sample, model: MixtureModel) -> float:
    """Log-posterior of the sample."""
    scores = scores_of(em, sample.block, model)
    return float(sample.w @ log_sum(scores)) + em.family.log_prior(model.params)


def shares_of(em: EM, block: Block, model: MixtureModel) -> Array:
    """(m, k) r."""
    return assign(scores_of(em, block, model), "soft")[0]


def scores_of(em: EM, block: Block, model: MixtureModel) -> Array:
    """(m, k) log pi_c p(x | c)."""
    with np.errstate(divide="ignore"):
        return np.asarray(em.family.log_density(model.params, block) + np.log(model.weights))
