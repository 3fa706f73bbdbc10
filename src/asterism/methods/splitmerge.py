"""Split-and-merge: out of optima in which one component covers two groups and two components share one.

A move merges components a, b and splits c. What it would win is estimated from one M-step each,

    gain(c)    = what two components, one each side of c's middle, win on the rows of c
    loss(a, b) = what one component loses on the rows of a and b

and only moves that promise something are tried, by a few EM steps, and taken if the likelihood is better.

References
----------
1. Ueda, Nakano, Ghahramani, Hinton (2000), SMEM algorithm for mixture models. Neural Computation 12:2109-2128.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from asterism.data.block import Vector
from asterism.families.assignment import assign, log_sum
from asterism.families.base import Array
from asterism.methods.em import EM, MixtureModel

if TYPE_CHECKING:
    from asterism.methods.starts import Sample

TRIED = 3  # moves tried at a time
STEPS = 15  # EM steps of a move
ROUNDS = 10
PROMISE = 1e-4  # a row: below, a move is not worth trying


def improved(em: EM, sample: Sample, model: MixtureModel) -> MixtureModel:
    """The model after all moves that raise the likelihood of the sample."""
    from asterism.methods.starts import in_order, model_of, short_runs

    if len(model.weights) < 3:
        return model
    height = height_of(em, sample, model)
    for _ in range(ROUNDS):
        moves = [in_order(sample, shares) for shares in promising(em, sample, model)]
        if not moves:
            return model
        models = [model_of(em, sample.block, shares) for shares in moves]
        best = short_runs(em, sample, models, STEPS)[0]
        reached = height_of(em, sample, best)
        if reached <= height + PROMISE * float(sample.w.sum()):
            return model
        model, height = best, reached
    return model


def height_of(em: EM, sample: Sample, model: MixtureModel) -> float:
    """Log-posterior of the sample."""
    scores = scores_of(em, sample, model)
    return float(sample.w @ log_sum(scores)) + em.family.log_prior(model.params)


def scores_of(em: EM, sample: Sample, model: MixtureModel) -> Array:
    """(m, k) log pi_c p(x | c)."""
    with np.errstate(divide="ignore"):
        return np.asarray(em.family.log_density(model.params, sample.block) + np.log(model.weights))


def promising(em: EM, sample: Sample, model: MixtureModel) -> list[Array]:
    """Shares (m, k) after each of the moves that promise most, the best first."""
    scores = scores_of(em, sample, model)
    r, _ = assign(scores, "soft")
    w, k = sample.w, r.shape[1]
    halves = [_halves(sample, r[:, c]) for c in range(k)]
    gains = np.array([_change(em, sample, r[:, [c]], np.stack(halves[c], axis=1)) for c in range(k)])
    likeness = (r * w[:, None]).T @ r
    size = np.sqrt(np.diagonal(likeness))
    likeness = likeness / np.maximum(np.outer(size, size), np.finfo(float).tiny)
    pairs = [(likeness[a, b], a, b) for a in range(k) for b in range(a + 1, k)]
    moves = []
    for _, a, b in sorted(pairs, reverse=True)[: 2 * TRIED]:
        loss = _change(em, sample, r[:, [a, b]], r[:, [a]] + r[:, [b]])
        moves += [(gains[c] + loss, a, b, int(c)) for c in np.argsort(-gains)[:TRIED] if c not in (a, b)]
    worth = [move for move in sorted(moves, reverse=True) if move[0] > PROMISE * float(w.sum())]
    return [_moved(r, a, b, c, halves[c]) for _, a, b, c in worth[:TRIED]]


def _halves(sample: Sample, share: Vector) -> tuple[Vector, Vector]:
    """The shares of one component, cut across its longest axis in standard units."""
    y, mass = sample.standard, share * sample.w
    total = max(float(mass.sum()), np.finfo(float).tiny)
    about = y - (mass @ y) / total
    axis = np.linalg.eigh((about * mass[:, None]).T @ about / total)[1][:, -1]
    side = about @ axis > 0
    return share * side, share * ~side


def _change(em: EM, sample: Sample, before: Array, after: Array) -> float:
    """How much better the rows of some components (shares before) are told by components of shares after."""
    from asterism.methods.starts import model_of

    mass = before.sum(axis=1) * sample.w
    heights = [
        float(mass @ log_sum(scores_of(em, sample, model_of(em, sample.block, shares))))
        for shares in (before, after)
    ]
    return heights[1] - heights[0]


def _moved(r: Array, a: int, b: int, c: int, halves: tuple[Vector, Vector]) -> Array:
    shares = r.copy()
    shares[:, a] = r[:, a] + r[:, b]
    shares[:, b], shares[:, c] = halves
    return shares
