"""Who tells groups apart.

A judge gives each row of a block its group and the probabilities of all groups. There are four:

* a mixture:   r_c = pi_c p(x | c) / sum_b pi_b p(x | b); components may share a group
* centres:     as round normal groups of one size, r_g ~ exp(-d_g^2 D / (2 s)), s the mean squared distance
* regions:     known rows, whose kernels say which group is densest at a place
* medoids:     as Laplace groups of one size, r_g ~ exp(-d_g D / s), s the mean dissimilarity

where D is the number of columns: the nearest centre or medoid is always the likeliest group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block
from asterism.data.source import Source
from asterism.distances.base import Fitted, ReadySource
from asterism.families.assignment import assign as assign_shares
from asterism.families.assignment import log_sum
from asterism.methods.em import pieces
from asterism.methods.lloyd import Centers
from asterism.methods.lloyd import labels_of as nearest_center
from asterism.methods.medoids import Medoids, labels_and_cost
from asterism.methods.posterior import Mixture
from asterism.methods.regions import Regions

Array = NDArray[np.float64]
Labels = NDArray[np.int32]
FARTHEST = -1e6  # convention: log density where no known row of a group is near


class Judge(Protocol):
    """Who tells groups apart."""

    @property
    def k(self) -> int:
        """Groups."""
        ...

    def ready(self, source: Source) -> Source:
        """The rows as ``look`` wants them."""
        ...

    def look(self, block: Block) -> tuple[Labels, Array]:
        """(n,) the likeliest group of every row, and (n, k) the probabilities of all."""
        ...

    def scores(self, block: Block) -> Array:
        """(n, k) logarithms of the probabilities, up to a constant a row: no far group is taken for impossible."""
        ...

    def log_density_within(self, block: Block, labels: Labels) -> Array:
        """(n,) a score of rows in given groups that falls as rows of the group become rarer: a log density of the
        cells that are there, up to a constant for each group.
        """
        ...

    def log_density(self, block: Block) -> Array | None:
        """(n,) log density of rows in all groups together; None where there is no such thing."""
        ...

    def reordered(self, order: Sequence[int]) -> Judge:
        """The same with group ``order[0]`` first."""
        ...


@dataclass(frozen=True, eq=False)
class MixtureJudge:
    """A mixture; ``groups`` says which group each component is part of."""

    mixture: Mixture
    groups: NDArray[np.int64]  # (components,)

    @classmethod
    def of(cls, mixture: Mixture, groups: Any = None) -> MixtureJudge:
        """Every component its own group, if nothing else is said."""
        return cls(mixture, np.arange(mixture.k) if groups is None else np.asarray(groups, np.int64))

    @property
    def k(self) -> int:
        """Groups."""
        return int(self.groups.max()) + 1

    def ready(self, source: Source) -> Source:
        """As they are."""
        return source

    def look(self, block: Block) -> tuple[Labels, Array]:
        """Shares of the components of each group, added up."""
        found, into = [], np.eye(self.k)[self.groups]
        plain = np.array_equal(self.groups, np.arange(self.mixture.k))
        with np.errstate(all="ignore"):  # rows of weight 0 may hold anything
            for _, piece in pieces(block):
                shares = assign_shares(self.mixture.scores(piece), "soft")[0]
                found.append(shares if plain else shares @ into)
        r = np.concatenate(found)
        return np.asarray(r.argmax(axis=1), np.int32), r

    def scores(self, block: Block) -> Array:
        """(n, k) log sum_c pi_c p(x | c) over the components of each group."""
        own = [self.groups == g for g in range(self.k)]
        with np.errstate(all="ignore"):
            parts = [
                np.stack([log_sum(scores[:, mine]) for mine in own], axis=1)
                for scores in (self.mixture.scores(piece) for _, piece in pieces(block))
            ]
        return np.concatenate(parts)

    def log_density_within(self, block: Block, labels: Labels) -> Array:
        """(n,) log sum_c pi_c p(x | c) / pi_g over the components of a row's group."""
        own = np.eye(self.k, dtype=bool)[self.groups].T  # (k, components)
        with np.errstate(all="ignore"):
            share = np.log(own @ self.mixture.weights)
            parts = [
                log_sum(np.where(own[labels[at]], self.mixture.scores(piece), -np.inf))
                for at, piece in pieces(block)
            ]
            return np.asarray(np.concatenate(parts) - share[labels])

    def log_density(self, block: Block) -> Array:
        """(n,) log p(x)."""
        with np.errstate(all="ignore"):
            return np.concatenate([log_sum(self.mixture.scores(piece)) for _, piece in pieces(block)])

    def reordered(self, order: Sequence[int]) -> MixtureJudge:
        """Components are put in the order of their groups, so that they are the same file for the same model."""
        new = np.argsort(np.asarray(order))[self.groups]
        places = np.argsort(new, kind="stable")
        m = self.mixture
        arrays = {
            name: array[places] if len(array) == m.k and m.k > 1 else array
            for name, array in m.family.pack(m.params).items()
        }
        return MixtureJudge(Mixture(m.family, m.weights[places], m.family.unpack(arrays)), new[places])


@dataclass(frozen=True, eq=False)
class CentersJudge:
    """Centres of k-means."""

    centers: Centers
    spread: float  # mean squared distance of rows to their centre

    @property
    def k(self) -> int:
        """Groups."""
        return len(self.centers.offsets)

    def ready(self, source: Source) -> Source:
        """As they are."""
        return source

    def look(self, block: Block) -> tuple[Labels, Array]:
        """The nearest centre; distances run over the cells a row has."""
        return nearest_center(self._model(block), block), _shares(self._squares(block), self._unit(block))

    def scores(self, block: Block) -> Array:
        """(n, k) minus squared distances, as round normal groups have them."""
        return np.asarray(-self._squares(block) / self._unit(block))

    def _model(self, block: Block) -> Centers:
        return self.centers.masked if np.isnan(block.rows).any() else self.centers

    def _squares(self, block: Block) -> Array:
        """(n, k) over the cells a row has."""
        model = self._model(block)
        return np.asarray(_core.squared_distances(block.rows, model.frame.reference, model.offsets))

    def _unit(self, block: Block) -> float:
        """2 s / D: squared distances over it are minus log densities."""
        return positive(self.spread * 2 / block.rows.shape[1])

    def log_density_within(self, block: Block, labels: Labels) -> Array:
        """(n,) minus the squared distance to the centre, as a round normal group has it."""
        return np.asarray(-self._squares(block)[np.arange(len(labels)), labels] / self._unit(block))

    def log_density(self, block: Block) -> Array:
        """(n,) of round normal groups of one size and one share each."""
        cells = np.count_nonzero(~np.isnan(block.rows), axis=1)
        unit = self._unit(block)
        height = log_sum(-self._squares(block) / unit) - np.log(self.k)
        return np.asarray(height - 0.5 * cells * np.log(np.pi * unit))

    def reordered(self, order: Sequence[int]) -> CentersJudge:
        """The same centres in another order, without what Lloyd's steps remember."""
        offsets = np.ascontiguousarray(self.centers.offsets[list(order)])
        return CentersJudge(Centers(self.centers.frame, offsets), self.spread)


@dataclass(frozen=True, eq=False)
class RegionsJudge:
    """Groups of any shape, by the density of known rows."""

    regions: Regions

    @property
    def k(self) -> int:
        """Groups."""
        return self.regions.k

    def ready(self, source: Source) -> Source:
        """As they are."""
        return source

    def look(self, block: Block) -> tuple[Labels, Array]:
        """The densest group."""
        scores = self._scores(block)
        shares = np.exp(scores - log_sum(scores)[:, None])
        return np.asarray(scores.argmax(axis=1), np.int32), shares

    def log_density_within(self, block: Block, labels: Labels) -> Array:
        """(n,) of a row's group alone."""
        return self._within(self._scores(block), labels)

    def scores(self, block: Block) -> Array:
        """(n, k) log densities of groups."""
        return self._scores(block)

    def _within(self, scores: Array, labels: Labels) -> Array:
        share = np.bincount(self.regions.labels, self.regions.weights) / self.regions.weights.sum()
        own = scores[np.arange(len(labels)), labels] - np.log(share[labels])
        return np.asarray(np.maximum(own, FARTHEST))  # no row of the group may be near

    def log_density(self, block: Block) -> Array:
        """(n,) of all known rows."""
        return np.asarray(log_sum(self._scores(block)))

    def _scores(self, block: Block, without: Literal["none", "own", "nearest"] = "none") -> Array:
        """(n, k); a missing cell is taken for its column's middle, which is 0 in standard units."""
        rows = np.asarray(block.rows, np.float64)
        rows = np.where(np.isnan(rows), 0.0, rows)
        rows = np.where(np.isfinite(rows), rows, 0.0)  # rows of weight 0 may hold anything
        return self.regions.log_densities(rows, without=without)

    def own_kernels(self, block: Block, labels: Labels, whole: bool) -> Array:
        """(n, 2) what the kernels of known rows add to their own log density, and to that within their groups.

        ``whole``  all rows of the table are known; equal ones lie spread about their value, so the nearest stands
                   for the row itself
        """
        full, alone = self._scores(block), self._scores(block, "nearest" if whole else "own")
        return np.column_stack(
            [log_sum(full) - log_sum(alone), self._within(full, labels) - self._within(alone, labels)]
        )

    def reordered(self, order: Sequence[int]) -> RegionsJudge:
        """The same with group ``order[0]`` first."""
        return RegionsJudge(self.regions.reordered(np.asarray(order)))


@dataclass(frozen=True, eq=False)
class MedoidsJudge:
    """Medoids, by a dissimilarity."""

    medoids: Medoids
    spread: float  # mean dissimilarity of rows to their medoid

    @property
    def k(self) -> int:
        """Groups."""
        return len(self.medoids.ready)

    def ready(self, source: Source) -> Source:
        """As the dissimilarity takes them."""
        return ReadySource(source, self.medoids.fitted)

    def look(self, block: Block) -> tuple[Labels, Array]:
        """The nearest medoid."""
        fitted: Fitted = self.medoids.fitted
        points = self.medoids.points
        labels = labels_and_cost(fitted, points, self.k, block)[0]
        return labels, _shares(fitted.tile(block.rows, points), self._unit)

    def scores(self, block: Block) -> Array:
        """(n, k) minus dissimilarities, as Laplace groups have them."""
        return np.asarray(-self.medoids.fitted.tile(block.rows, self.medoids.points) / self._unit)

    @property
    def _unit(self) -> float:
        return positive(self.spread / len(self.medoids.fitted.names))

    def log_density_within(self, block: Block, labels: Labels) -> Array:
        """(n,) minus the dissimilarity to the medoid, as a Laplace group has it."""
        apart = self.medoids.fitted.tile(block.rows, self.medoids.points)
        with np.errstate(invalid="ignore"):
            return np.asarray(-apart[np.arange(len(labels)), labels] / self._unit)

    def log_density(self, block: Block) -> None:  # noqa: ARG002  one signature for all
        """A dissimilarity fills no space that a density could be of."""
        return None

    def reordered(self, order: Sequence[int]) -> MedoidsJudge:
        """The same medoids in another order."""
        places, m = list(order), self.medoids
        return replace(self, medoids=Medoids(m.fitted, m.numbers[places], m.ready[places]))


def positive(unit: float) -> float:
    """A unit to divide distances by; of rows that all equal their centre it is 0."""
    return unit if unit > 0 else 1e-300


def _shares(distances: Array, unit: float) -> Array:
    """(n, k) exp(-distance / unit), each row divided by its sum; equal shares where nothing can be told."""
    with np.errstate(all="ignore"):
        height = -(distances - distances.min(axis=1, keepdims=True)) / unit
        r = np.exp(height)
        r /= r.sum(axis=1, keepdims=True)
    r[np.isnan(r).any(axis=1)] = 1.0 / distances.shape[1]
    return np.asarray(r)
