"""Where EM starts when a sample is too small for the family: groups of the whole table, and their M-step.

Twenty full covariances of 32 columns are 11,000 numbers: fitted to 4,000 rows they say more of those rows than of
the table, and EM does not find back. A step of k-means costs a fraction of a step of such a family, so it is k-means
that goes over the table, and EM starts from the M-step of its groups, as it would from a user's shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Matrix, Vector, block_of
from asterism.data.encode import EncodedSource
from asterism.data.source import Source
from asterism.engines.context import current, engine
from asterism.engines.reduce import reduce
from asterism.families.base import Array, Collapsible
from asterism.methods.coarse import coarse_centers
from asterism.methods.discriminant import Discriminant
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.encoding import standard_encoding
from asterism.methods.frame import Frame
from asterism.methods.lloyd import Centers, labels_of
from asterism.methods.starts import (
    GUESSES,
    Sample,
    along,
    expected_of,
    in_any_direction,
    in_order,
    means_of,
    one_hot,
    short_runs,
    started,
)

ENOUGH = 2.0  # rows a parameter: with fewer, a sample is too small
ALIKE = 2.0  # spreads of columns that differ by less than this factor are one unit
STEPS = 3  # EM steps that show which start is better


def too_small(em: EM, sample: Sample, k: int) -> bool:
    """Whether the family has too many parameters for the sample, of a kind that cling to its rows."""
    few = not sample.whole and len(sample.w) < ENOUGH * em.family.n_parameters(k)
    return few and k > 1 and isinstance(em.family, Collapsible)


def guessed_on_table(
    em: EM, source: Source, frame: Frame, sample: Sample, k: int, init: str, n_starts: int, seed: int
) -> list[MixtureModel]:
    """``n_starts`` starts; the first of them do not depend on how many more there are."""
    rng = np.random.default_rng(seed)
    now = current()
    here = {name: getattr(now, name) for name in ("n_threads", "dask", "memory", "time_limit", "progress")}
    with engine(**here):  # but no checkpoint: that is of EM's own steps
        table = Table(em, source, frame, sample, k)
        return [table.start(init, rng) for _ in range(n_starts)]


def from_centers(
    em: EM, source: Source, frame: Frame, sample: Sample, centers: Array, k: int
) -> MixtureModel:
    """Rows of the table to the nearest of up to k centres, in standard units from the reference."""
    table = Table(em, source, frame, sample, k)
    return table.model(table.divided(nearest_to(centers)))


Groups = Callable[[Block], NDArray[np.int32]]  # (n,) labels of the rows of a block


@dataclass(frozen=True)
class Table:
    """A table, and a sample that is too small."""

    em: EM
    source: Source
    frame: Frame
    sample: Sample
    k: int

    def start(self, init: str, rng: np.random.Generator) -> MixtureModel:
        """The model of groups of the table; of several kinds of groups, the best after a few steps."""
        models = [self.model(groups) for groups in self._grouped(init, rng)]
        return models[0] if len(models) == 1 else short_runs(self.em, self.source, models, STEPS)[0]

    def model(self, groups: Groups) -> MixtureModel:
        """The M-step of groups."""
        return started(self.em, reduce(self.source, partial(_expected, self.em, self.k, groups)))

    def divided(self, rule: Discriminant) -> Groups:
        """Groups by a rule for standard units; a missing cell is taken for the column's mean."""
        mean = np.average(self.sample.standard, axis=0, weights=self.sample.w)
        return partial(_divided, self.frame.reference, self.sample.unit, mean, rule)

    def _grouped(self, init: str, rng: np.random.Generator) -> list[Groups]:
        em, sample, k = self.em, self.sample, self.k
        if init not in ("auto", "kmeans"):
            means, mass = means_of(sample, in_order(sample, GUESSES[init][0](sample, k, rng)))
            return [self.divided(nearest_to(means[mass > 0]))]
        seed = int(rng.integers(2**31))
        groups = [_by_kmeans(view, k, seed) for view in self._views(init)]
        if init == "auto":
            plain = [one_hot(each(sample.block), k) for each in groups]
            groups += [self.divided(rule) for rule in in_any_direction(em, sample, k, rng, plain)]
        return groups

    def _views(self, init: str) -> list[View]:
        """The table as it is; and with columns of one spread, where they differ."""
        plain = View(self.source, self.sample.source(), self.sample.unit, np.asarray)
        spread = self.sample.unit[np.ptp(self.sample.y, axis=0) > 0]
        if init == "kmeans" or not len(spread) or spread.max() <= ALIKE * spread.min():
            return [plain]
        encoding = standard_encoding(self.source)
        table, some = (EncodedSource(each, encoding) for each in (self.source, plain.sample))
        return [plain, View(table, some, np.ones(encoding.width), encoding.encode)]


@dataclass(frozen=True)
class View:
    """A table as k-means sees it."""

    table: Source
    sample: Source
    unit: Vector  # (D,) what is 1 in these
    seen: Callable[[Matrix], Matrix]  # rows of the table as they stand, so seen


def _by_kmeans(view: View, k: int, seed: int) -> Groups:
    """Groups of k-means, numbered as those of samples are."""
    centers = coarse_centers(view.table, view.sample, k, seed)
    ordered = Centers(centers.frame, centers.offsets[along(centers.offsets / view.unit)])
    return partial(_nearest, ordered, view.seen)


def _nearest(centers: Centers, seen: Callable[[Matrix], Matrix], block: Block) -> NDArray[np.int32]:
    return labels_of(centers, block_of(seen(block.rows), block.weights))


def nearest_to(centers: Array) -> Discriminant:
    """The rule by which a row belongs to the nearest of some centres."""
    return Discriminant(centers, -0.5 * (centers**2).sum(axis=1))


def _divided(
    reference: Vector, unit: Vector, mean: Vector, rule: Discriminant, block: Block
) -> NDArray[np.int32]:
    with np.errstate(all="ignore"):  # absent rows may hold anything
        standard = (block.rows - reference) / unit
    return rule.labels(np.where(np.isfinite(standard), standard, mean))


def _expected(em: EM, k: int, groups: Groups, block: Block) -> Expected:
    """What the groups of a block add up to."""
    return expected_of(em, one_hot(groups(block), k), block)
