"""Who tells groups apart.

A judge gives each row of a block its group and the probabilities of all groups. There are three:

* a mixture:   r_c = pi_c p(x | c) / sum_b pi_b p(x | b); components may share a group
* centres:     as round normal groups of one size, r_g ~ exp(-d_g^2 D / (2 s)), s the mean squared distance
* medoids:     as Laplace groups of one size, r_g ~ exp(-d_g D / s), s the mean dissimilarity

where D is the number of columns: the nearest centre or medoid is always the likeliest group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block
from asterism.data.source import Source
from asterism.distances.base import Fitted, ReadySource
from asterism.families.assignment import assign as assign_shares
from asterism.methods.em import pieces
from asterism.methods.lloyd import Centers
from asterism.methods.lloyd import labels_of as nearest_center
from asterism.methods.medoids import Medoids, labels_and_cost
from asterism.methods.posterior import Mixture

Array = NDArray[np.float64]
Labels = NDArray[np.int32]


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
        model = self.centers.masked if np.isnan(block.rows).any() else self.centers
        squares = _core.squared_distances(block.rows, model.frame.reference, model.offsets)
        d = block.rows.shape[1]
        return nearest_center(model, block), _shares(squares, self.spread * 2 / d)

    def reordered(self, order: Sequence[int]) -> CentersJudge:
        """The same centres in another order, without what Lloyd's steps remember."""
        offsets = np.ascontiguousarray(self.centers.offsets[list(order)])
        return CentersJudge(Centers(self.centers.frame, offsets), self.spread)


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
        points, d = self.medoids.points, len(fitted.names)
        labels = labels_and_cost(fitted, points, self.k, block)[0]
        return labels, _shares(fitted.tile(block.rows, points), self.spread / d)

    def reordered(self, order: Sequence[int]) -> MedoidsJudge:
        """The same medoids in another order."""
        places, m = list(order), self.medoids
        return replace(self, medoids=Medoids(m.fitted, m.numbers[places], m.ready[places]))


def _shares(distances: Array, unit: float) -> Array:
    """(n, k) exp(-distance / unit), each row divided by its sum; equal shares where nothing can be told."""
    with np.errstate(all="ignore"):
        height = -(distances - distances.min(axis=1, keepdims=True)) / (unit if unit > 0 else 1e-300)
        r = np.exp(height)
        r /= r.sum(axis=1, keepdims=True)
    r[np.isnan(r).any(axis=1)] = 1.0 / distances.shape[1]
    return np.asarray(r)
