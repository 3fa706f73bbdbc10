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
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.encoding import standard_encoding
from asterism.methods.frame import Frame
from asterism.methods.lloyd import Centers, labels_of
from asterism.methods.starts import (
    CLEARLY,
    GUESSES,
    Sample,
    Sphering,
    along,
    expected_of,
    in_order,
    means_of,
    nearest_of,
    one_hot,
    oriented,
    short_runs,
    started,
    tightness,
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
    """``n_starts`` starts, the best first."""
    rng = np.random.default_rng(seed)
    now = current()
    here = {name: getattr(now, name) for name in ("n_threads", "dask", "memory", "time_limit", "progress")}
    with engine(**here):  # but no checkpoint: that is of EM's own steps
        if init in ("auto", "kmeans"):
            views = _views(source, sample, init)
            seeds = [int(rng.integers(2**31)) for _ in range(n_starts)]
            groups = [_groups(view, k, each) for each in seeds for view in views]
            if init == "auto" and oriented(em, sample):
                more = _groups(_sphered_view(frame, sample), k, int(rng.integers(2**31)))
                tight = [tightness(sample, each.shares(sample)) for each in (more, *groups)]
                groups += [more] if tight[0] > CLEARLY + max(tight[1:]) else []
            models = [started(em, reduce(source, partial(_grouped, em, each))) for each in groups]
        else:
            guesses = [in_order(sample, GUESSES[init][0](sample, k, rng)) for _ in range(n_starts)]
            found = [means_of(sample, shares) for shares in guesses]
            models = [from_centers(em, source, frame, sample, means[mass > 0], k) for means, mass in found]
        return models if len(models) == n_starts else short_runs(em, source, models, STEPS)[:n_starts]


@dataclass(frozen=True)
class View:
    """A table as k-means sees it."""

    table: Source
    sample: Source
    unit: Vector  # (D,) what is 1 in these
    seen: Callable[[Matrix], Matrix]  # rows of the table as they stand, so seen


def _views(source: Source, sample: Sample, init: str) -> list[View]:
    """The table as it is; and with columns of one spread, where they differ."""
    plain = View(source, sample.source(), sample.unit, np.asarray)
    spread = sample.unit[np.ptp(sample.y, axis=0) > 0]
    if init == "kmeans" or not len(spread) or spread.max() <= ALIKE * spread.min():
        return [plain]
    encoding = standard_encoding(source)
    table, some = (EncodedSource(each, encoding) for each in (source, plain.sample))
    return [plain, View(table, some, np.ones(encoding.width), encoding.encode)]


def _sphered_view(frame: Frame, sample: Sample) -> View:
    """Rows in units in which all together are round; groups of the sample do for a start."""
    table = sample.compared("sphered")
    seen = partial(_sphered, frame.reference, sample.unit, sample.sphering)
    return View(table, table, np.ones(table.n_columns), seen)


def _sphered(reference: Vector, unit: Vector, sphering: Sphering, rows: Matrix) -> Matrix:
    with np.errstate(all="ignore"):  # absent rows may hold anything
        standard = (rows - reference) / unit
    return sphering.of(np.where(np.isfinite(standard), standard, sphering.mean))


@dataclass(frozen=True)
class Groups:
    """Groups of k-means, numbered as those of samples are."""

    centers: Centers
    seen: Callable[[Matrix], Matrix]  # rows of the table as they stand, as k-means saw them

    def labels(self, block: Block) -> NDArray[np.int32]:
        """(n,) the nearest centre."""
        return labels_of(self.centers, block_of(self.seen(block.rows), block.weights))

    def shares(self, sample: Sample) -> Array:
        """(m, k) all of a row of the sample to its group."""
        return one_hot(self.labels(sample.block), len(self.centers.offsets))


def _groups(view: View, k: int, seed: int) -> Groups:
    centers = coarse_centers(view.table, view.sample, k, seed)
    return Groups(Centers(centers.frame, centers.offsets[along(centers.offsets / view.unit)]), view.seen)


def _grouped(em: EM, groups: Groups, block: Block) -> Expected:
    """What the groups of a block add up to."""
    return expected_of(em, one_hot(groups.labels(block), len(groups.centers.offsets)), block)


def from_centers(
    em: EM, source: Source, frame: Frame, sample: Sample, centers: Array, k: int
) -> MixtureModel:
    """Rows of the table to the nearest of up to k centres, in standard units from the reference."""
    return started(em, reduce(source, partial(_nearest, em, frame.reference, sample.unit, centers, k)))


def _nearest(em: EM, reference: Vector, unit: Vector, centers: Array, k: int, block: Block) -> Expected:
    with np.errstate(all="ignore"):  # absent rows may hold anything
        y = (block.rows - reference) / unit
        labels = nearest_of(np.where(np.isnan(y), 0.0, y), centers)
    return expected_of(em, one_hot(labels, k), block)
