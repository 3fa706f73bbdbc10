"""What a mixture says of rows: likelihoods, shares, labels, missing cells, and the bound of EM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.finite import require_finite
from asterism.data.source import Source
from asterism.engines.reduce import map_rows, reduce
from asterism.errors import DataError, ParameterError
from asterism.families.assignment import assign, log_sum
from asterism.families.base import Array, Classifying, Family
from asterism.methods.em import pieces


@dataclass(frozen=True)
class Mixture:
    """A fitted mixture: a family, proportions and components."""

    family: Family
    weights: Vector  # (k,)
    params: Any
    given_weights: bool = False  # whether proportions were given and kept: then they are no free parameters

    @property
    def k(self) -> int:
        """Components."""
        return len(self.weights)

    @property
    def n_parameters(self) -> int:
        """Free parameters, proportions included; what was frozen is not free."""
        return self.family.n_parameters(self.k) + (0 if self.given_weights else self.k - 1)

    @cached_property
    def log_weights(self) -> Vector:
        """(k,) log pi."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)

    def scores(self, block: Block) -> Array:
        """(n, k) log pi_c p(x | c)."""
        if isinstance(self.family, Classifying):
            return self.family.scores(self.params, self.log_weights, block)
        return np.asarray(self.family.log_density(self.params, block) + self.log_weights)


# --- sums over rows -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowTotals:
    """Sums over rows."""

    log_likelihood: float  # sum w log p(x)
    surprise: float  # -sum w log max_c r_c: what ICL adds
    mass: Vector  # (k,) of the labels

    @property
    def classified(self) -> float:
        """sum w max_c log pi_c p(x | c), the classification likelihood that hard assignment climbs."""
        return self.log_likelihood - self.surprise

    def merge(self, other: RowTotals) -> RowTotals:
        """Sums add."""
        return RowTotals(
            self.log_likelihood + other.log_likelihood, self.surprise + other.surprise, self.mass + other.mass
        )


def classify_rows(mixture: Mixture, block: Block) -> tuple[NDArray[np.int32], RowTotals]:
    """Labels of the rows of a block, and what they add up to."""
    family = mixture.family
    if isinstance(family, Classifying):
        found = family.classify(mixture.params, mixture.log_weights, block)
        if found is not None:
            labels, height, best = found
            mass = np.bincount(labels, block.weights, mixture.k).astype(np.float64)
            return labels, RowTotals(height, height - best, mass)
    labels, height, surprise = np.empty(len(block), np.int32), 0.0, 0.0
    with np.errstate(all="ignore"):  # absent rows may hold anything
        for at, piece in pieces(block):
            scores = mixture.scores(piece)
            labels[at] = scores.argmax(axis=1)
            heights, tops = log_sum(scores), scores.max(axis=1)
            here, w = piece.weights > 0, piece.weights
            height += float(w[here] @ heights[here])
            surprise += float(w[here] @ (heights - tops)[here])
    mass = np.bincount(labels, block.weights, mixture.k).astype(np.float64)
    return labels, RowTotals(height, surprise, mass)


def told(mixture: Mixture, source: Source) -> RowTotals:
    """Log-likelihood and classification surprise of any table."""
    return reduce(source, partial(_told_of, mixture, source.names))  # type: ignore[no-any-return]


def _told_of(mixture: Mixture, names: tuple[str, ...], block: Block) -> RowTotals:
    require_finite(block, names, missing_ok=True)
    return classify_rows(mixture, block)[1]


def labels_of(mixture: Mixture, source: Source) -> NDArray[np.int32]:
    """(n,) the likeliest component of every row."""
    return map_rows(source, partial(_by_piece, source.names, partial(_labels, mixture)))


def shares_of(mixture: Mixture, source: Source) -> Array:
    """(n, k) responsibilities."""
    return map_rows(source, partial(_by_piece, source.names, partial(_shares, mixture)))


def heights_of(mixture: Mixture, source: Source) -> Vector:
    """(n,) log p(x)."""
    return map_rows(source, partial(_by_piece, source.names, partial(_heights, mixture)))


def imputed(mixture: Mixture, source: Source) -> Array:
    """(n, d) the table with missing cells filled."""
    if source.sparse:
        raise DataError("No cell of a sparse table is missing.", "There is nothing to fill in.")
    return map_rows(source, partial(_by_piece, source.names, partial(_imputed, mixture)))


def _by_piece(names: tuple[str, ...], f: Callable[[Block], NDArray[Any]], block: Block) -> NDArray[Any]:
    require_finite(block, names, missing_ok=True)
    return np.concatenate([f(piece) for _, piece in pieces(block)])


def _labels(mixture: Mixture, block: Block) -> NDArray[np.int32]:
    return classify_rows(mixture, block)[0]


def _shares(mixture: Mixture, block: Block) -> Array:
    return assign(mixture.scores(block), "soft")[0]


def _heights(mixture: Mixture, block: Block) -> Vector:
    return log_sum(mixture.scores(block))


def _imputed(mixture: Mixture, block: Block) -> Array:
    return mixture.family.impute(mixture.params, block, _shares(mixture, block))


# --- the bound --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bound:
    """log p(X) = value + divergence, for any shares q."""

    value: float  # L(q, theta)
    divergence: float  # KL(q || p(Z | X, theta)), 0 or more

    def merge(self, other: Bound) -> Bound:
        """Sums add."""
        return Bound(self.value + other.value, self.divergence + other.divergence)


def bound_of(mixture: Mixture, source: Source, q: Array | None) -> Bound:
    """The two terms for shares q (n, k); the responsibilities themselves if None."""
    if q is not None and q.shape != (source.n_rows, mixture.k):
        raise ParameterError(
            f"The shares have the shape {q.shape}.", f"Give {(source.n_rows, mixture.k)}, one row a row."
        )
    return reduce(source, partial(_bound_of, mixture, source.names, q))  # type: ignore[no-any-return]


def _bound_of(mixture: Mixture, names: tuple[str, ...], q: Array | None, block: Block) -> Bound:
    require_finite(block, names, missing_ok=True)
    value = divergence = 0.0
    for _, piece in pieces(block):
        scores = mixture.scores(piece)
        r, _ = assign(scores, "soft")
        shares = r if q is None else q[piece.start : piece.start + len(piece)]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_q = np.where(shares > 0, np.log(shares), 0.0)
            terms = np.where(shares > 0, shares * (scores - log_q), 0.0).sum(axis=1)
            posterior = scores - log_sum(scores)[:, None]
            apart = np.where(shares > 0, shares * (log_q - posterior), 0.0).sum(axis=1)
        here = piece.weights > 0
        value += float(piece.weights[here] @ terms[here])
        divergence += float(piece.weights[here] @ apart[here])
    return Bound(value, divergence)
