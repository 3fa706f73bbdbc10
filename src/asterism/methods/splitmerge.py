"""Split-and-merge: out of optima in which one component covers two groups and two components share one.

A move merges components a, b and splits c. What it would win is estimated on the rows of these alone,

    gain(c)    = what two components win on the rows of c, after a few EM steps of their own
    loss(a, b) = what one component loses on the rows of a and b

and the most promising moves are tried, by a few EM steps of all components, and taken if the likelihood is better.

References
----------
1. Ueda, Nakano, Ghahramani, Hinton (2000), SMEM algorithm for mixture models. Neural Computation 12:2109-2128.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from asterism.data.block import Block, Vector, block_of
from asterism.families.assignment import assign, log_sum
from asterism.families.base import Array
from asterism.methods.em import EM, MixtureModel

if TYPE_CHECKING:
    from asterism.methods.starts import Sample

TRIED = 3  # moves tried at a time
STEPS = 15  # EM steps of a move
ROUNDS = 10
HOPE = -0.02  # a row: what a move must promise to be tried; less than nothing, for EM goes on after it
GAIN = 1e-3  # a row: what it must bring to be taken
APART = 5  # EM steps of two halves
FAINT = 1e-3  # a row of which a component has less is not one of its rows


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
        best = short_runs(em, sample.source(), models, STEPS)[0]
        reached = height_of(em, sample, best)
        if reached <= height + GAIN * float(sample.w.sum()):
            return model
        model, height = best, reached
    return model


def height_of(em: EM, sample: Sample, model: MixtureModel) -> float:
    """Log-posterior of the sample."""
    scores = scores_of(em, sample.block, model)
    return float(sample.w @ log_sum(scores)) + em.family.log_prior(model.params)


def scores_of(em: EM, block: Block, model: MixtureModel) -> Array:
    """(m, k) log pi_c p(x | c)."""
    with np.errstate(divide="ignore"):
        return np.asarray(em.family.log_density(model.params, block) + np.log(model.weights))


def promising(em: EM, sample: Sample, model: MixtureModel) -> list[Array]:
    """Shares (m, k) after each of the moves that promise most, the best first."""
    r, _ = assign(scores_of(em, sample.block, model), "soft")
    w, k = sample.w, r.shape[1]
    parts = [_parted(em, sample, r[:, c]) for c in range(k)]
    gains = np.array([gain for gain, _ in parts])
    likeness = (r * w[:, None]).T @ r
    size = np.sqrt(np.diagonal(likeness))
    likeness = likeness / np.maximum(np.outer(size, size), np.finfo(float).tiny)
    pairs = [(likeness[a, b], a, b) for a in range(k) for b in range(a + 1, k)]
    moves = []
    for _, a, b in sorted(pairs, reverse=True)[: 2 * TRIED]:
        loss = _joined(em, sample, r[:, [a, b]])
        moves += [(gains[c] + loss, a, b, int(c)) for c in np.argsort(-gains)[:TRIED] if c not in (a, b)]
    worth = [move for move in sorted(moves, reverse=True) if move[0] > HOPE * float(w.sum())]
    return [_moved(r, a, b, c, parts[c][1]) for _, a, b, c in worth[:TRIED]]


def _parted(em: EM, sample: Sample, share: Vector) -> tuple[float, Array]:
    """What two components win on the rows of one, and its shares (m, 2) as they divide them."""
    rows = np.flatnonzero(share > FAINT)
    parts = np.zeros((len(share), 2))
    if len(rows) < 2:
        return 0.0, parts
    block = block_of(sample.block.rows[rows], sample.w[rows] * share[rows])
    two = _halves(sample.standard[rows], block.weights)
    before, after, model = _height(em, block, np.ones((len(rows), 1)))[0], 0.0, None
    for _ in range(APART):
        after, two, model = _height(em, block, two, model)
    parts[rows] = two * share[rows, None]
    return after - before, parts


def _joined(em: EM, sample: Sample, shares: Array) -> float:
    """What one component wins, or rather loses, on the rows of two (shares (m, 2))."""
    total = shares.sum(axis=1)
    rows = np.flatnonzero(total > FAINT)
    block = block_of(sample.block.rows[rows], sample.w[rows] * total[rows])
    before = _height(em, block, shares[rows] / total[rows, None])[0]
    return _height(em, block, np.ones((len(rows), 1)))[0] - before


def _height(
    em: EM, block: Block, shares: Array, before: MixtureModel | None = None
) -> tuple[float, Array, MixtureModel]:
    """Log-likelihood of the components that shares (m, c) of some rows make, the shares those have, and they."""
    from asterism.methods.starts import model_of

    model = model_of(em, block, shares, before)
    r, height = assign(scores_of(em, block, model), "soft")
    return float(block.weights @ height), r, model


def _halves(y: Array, mass: Vector) -> Array:
    """(m, 2) rows cut across their longest axis."""
    about = y - (mass @ y) / mass.sum()
    side = about @ np.linalg.eigh((about * mass[:, None]).T @ about)[1][:, -1] > 0
    return np.stack([side, ~side], axis=1).astype(np.float64)


def _moved(r: Array, a: int, b: int, c: int, parts: Array) -> Array:
    shares = r.copy()
    shares[:, a] = r[:, a] + r[:, b]
    shares[:, [b, c]] = parts
    return shares
