"""Where EM starts: several quick guesses on a sample, a few steps each, the best polished and handed on.

Rows of a sample stand for the table (an even sample, so its likelihood estimates the table's). A guess is a
table of shares (m, k): the groups of k-means, of Ward's method, of random rows. Every guess takes a few EM steps
on the sample; the best goes through split-and-merge moves (``methods.splitmerge``) and then over the whole table.
Where a sample has too few rows for the parameters of a family, ``methods.tablestarts`` looks at the table instead.

References
----------
1. Biernacki, Celeux, Govaert (2003), Choosing starting values for the EM algorithm for getting the highest likelihood
   in multivariate Gaussian mixture models. CSDA 41:561-575.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current, engine
from asterism.engines.loop import iterate
from asterism.engines.reduce import reduce
from asterism.errors import DataError, ParameterError
from asterism.families.assignment import present
from asterism.families.base import Array, Compared, Family
from asterism.methods.coarse import coarse_centers
from asterism.methods.discriminant import Discriminant, Sphering, hidden_groups, with_common_covariance
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.frame import Frame
from asterism.methods.kmeans import fit_kmeans, nearest
from asterism.methods.seeding import sample_rows
from asterism.stats.moments import ColumnMoments

SHORT = 10  # EM steps of a guess
ROWS_A_COLUMN = 4  # of a sample that tells which directions have spread
CLEARLY = 0.05  # nats a row: from here on groups in any direction are tried, too

View = Literal["plain", "standard"]
WARD_ROWS = 1000  # Ward's method looks at all pairs


@dataclass(frozen=True)
class Sample:
    """Some rows of a table, in offsets from its reference, with weights that add up to their number."""

    block: Block  # in the table's coordinates
    y: Array  # (m, d) offsets from the reference, missing cells at the column's mean
    unit: Vector  # (d,) standard deviations of the columns; 1 for a constant one
    whole: bool  # whether this is the whole table
    seen: Array | None = None  # (m, d) the rows as their family compares them (``families.base.Compared``)

    @property
    def w(self) -> Vector:
        """(m,) weights."""
        return self.block.weights

    @cached_property
    def standard(self) -> Array:
        """(m, d) in units of the columns' standard deviations."""
        return np.asarray(self.y / self.unit)

    @cached_property
    def sphering(self) -> Sphering:
        """The units in which these rows, in standard units, are round together."""
        return Sphering.of(self.standard, self.w)

    @cached_property
    def complete(self) -> bool:
        """Whether no cell is missing."""
        return not np.isnan(self.block.rows).any()

    def source(self) -> Source:
        """The sample as a table."""
        return ArraySource(np.asarray(self.block.rows), self.w)

    def compared(self, view: View = "plain") -> Source:
        """The sample as a table of rows to be compared."""
        plain: Any = self.block.rows if self.seen is None else self.seen
        return ArraySource(np.asarray(plain if view == "plain" else self.standard), self.w)

    def seen_by(self, family: Family) -> Sample:
        """The same rows, compared as a family does."""
        if not isinstance(family, Compared):
            return self
        seen = family.compared(self.block.rows)
        there = ~np.isnan(seen)
        mass = np.maximum(self.w @ there, np.finfo(float).tiny)
        mean = self.w @ np.where(there, seen, 0.0) / mass
        y = np.where(there, seen - mean, 0.0)
        spread = np.sqrt(self.w @ y**2 / mass)
        return replace(self, y=y, unit=np.where(spread > 0, spread, 1.0), seen=seen)


def sample_of(source: Source, frame: Frame, moments: ColumnMoments, k: int, seed: int) -> Sample:
    """An even sample, in an order that depends on values alone; the table itself where it is small."""
    drawn = sample_rows(source, frame, moments, k, even=True, seed=seed)
    w = drawn.w if drawn.whole else drawn.w * (len(drawn.w) / drawn.w.sum())
    spread = np.sqrt(moments.variance)
    rows = drawn.y / frame.scale + frame.reference
    unit = np.where(spread > 0, spread, 1.0)
    return Sample(block_of(rows, w), drawn.filled() / frame.scale, unit, drawn.whole)


# --- guesses ----------------------------------------------------------------------------------------------------


def by_kmeans(sample: Sample, k: int, rng: np.random.Generator, *, view: View = "plain") -> Array:
    """Groups of k-means, by way of many (``methods.coarse``)."""
    seed = int(rng.integers(2**31))
    rows = sample.compared(view)
    return one_hot(nearest(coarse_centers(rows, rows, k, seed), rows), k)


def by_seeds(sample: Sample, k: int, rng: np.random.Generator) -> Array:
    """Rows to the nearest of the starting centres of k-means++."""
    seed = int(rng.integers(2**31))
    return one_hot(fit_kmeans(sample.compared(), k, max_iter=1, seed=seed).labels, k)


def by_rows(sample: Sample, k: int, rng: np.random.Generator) -> Array:
    """Rows to the nearest of k random rows, in standard units."""
    rank = rng.exponential(size=len(sample.w)) / sample.w
    chosen = sample.standard[np.resize(np.argsort(rank, kind="stable")[:k], k)]
    return one_hot(nearest_of(sample.standard, chosen), k)


def by_chance(sample: Sample, k: int, rng: np.random.Generator) -> Array:
    """Random shares."""
    shares = rng.exponential(size=(len(sample.w), k))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def by_ward(sample: Sample, k: int, rng: np.random.Generator) -> Array:
    """Groups of Ward's method on a part of the sample; the other rows go to the nearest group mean."""
    from asterism.methods.cut import cut_tree
    from asterism.methods.linkage import link_points

    y, m = sample.standard, len(sample.w)
    some = np.arange(m) if m <= WARD_ROWS else np.sort(rng.choice(m, WARD_ROWS, replace=False))
    if len(some) <= k:
        return by_rows(sample, k, rng)
    groups = cut_tree(link_points(y[some], sample.w[some], "ward"), k=k)
    share = one_hot(groups, k) * sample.w[some, None]
    means = (share.T @ y[some]) / np.maximum(share.sum(axis=0), np.finfo(float).tiny)[:, None]
    return one_hot(nearest_of(y, means[share.sum(axis=0) > 0]), k)


Guess = Callable[[Sample, int, np.random.Generator], Array]
GUESSES: dict[str, tuple[Guess, ...]] = {
    "auto": (by_kmeans, partial(by_kmeans, view="standard"), by_ward),
    "kmeans": (by_kmeans,),
    "k-means++": (by_seeds,),
    "ward": (by_ward,),
    "random": (by_chance,),
    "random_from_data": (by_rows,),
}


def in_order(sample: Sample, shares: Array) -> Array:
    """The same groups, numbered by where they lie along the first column in which they differ.

    Guesses number groups as they find them; so numbered, the same groups have the same numbers in any unit.
    """
    return np.ascontiguousarray(shares[:, along(means_of(sample, shares)[0])])


def means_of(sample: Sample, shares: Array) -> tuple[Array, Vector]:
    """(k, d) means of groups in standard units, 0 of one without rows, and (k,) their masses."""
    mass = shares * sample.w[:, None]
    total = mass.sum(axis=0)
    return np.asarray((mass.T @ sample.standard) / np.maximum(total, np.finfo(float).tiny)[:, None]), total


def along(means: Array) -> NDArray[np.intp]:
    """(k,) the order of group means (k, d), in standard units, along the first column in which they differ."""
    return np.lexsort(np.round(means, 6).T[::-1])


def nearest_of(y: Array, centers: Array) -> NDArray[np.int32]:
    """(m,) the nearest centre."""
    squares = (centers**2).sum(axis=1) - 2.0 * (y @ centers.T)
    return np.asarray(squares.argmin(axis=1), np.int32)


def one_hot(labels: NDArray[Any], k: int) -> Array:
    """(m, k) all of a row to its label."""
    return np.asarray(np.eye(k)[labels])


# --- from shares to models --------------------------------------------------------------------------------------


def model_of(em: EM, block: Block, shares: Array, before: MixtureModel | None = None) -> MixtureModel:
    """The M-step of given shares of the rows of one block."""
    return started(em, expected_of(em, shares, block), before)


def expected_of(em: EM, shares: Array, block: Block) -> Expected:
    """What given shares of some rows add up to."""
    here = block.weights > 0
    mass = shares[here] * block.weights[here, None]
    return Expected(mass.sum(axis=0), 0.0, em.family.statistic(None, present(block), mass))


def started(em: EM, expected: Expected, before: MixtureModel | None = None) -> MixtureModel:
    """The first model; a component that got nothing has a small share of everything."""
    share = expected.mass / expected.mass.sum()
    weights = np.maximum(share, 1e-3 / len(share))
    previous = None if before is None else before.params
    return MixtureModel(weights / weights.sum(), em.family.estimate(expected.inner, previous))


def given_shares(em: EM, source: Source, shares: Any, k: int) -> MixtureModel:
    """The start from a user's responsibilities (n, k)."""
    try:
        array = np.asarray(shares, np.float64)
    except (TypeError, ValueError) as bad:
        raise ParameterError("responsibilities_init is not a table of numbers.", "Give shares.") from bad
    if array.shape != (source.n_rows, k):
        raise ParameterError(
            f"responsibilities_init has the shape {array.shape}.",
            f"Give one row a row of X and one column a component: {(source.n_rows, k)}.",
        )
    bad_rows = np.flatnonzero(~(np.isfinite(array) & (array >= 0)).all(axis=1) | (array.sum(axis=1) <= 0))
    if len(bad_rows):
        raise DataError(
            "the responsibilities are not shares.", "Give numbers from 0 to 1.", row=int(bad_rows[0])
        )
    return started(em, reduce(source, partial(_shares_of, em, array)))


def _shares_of(em: EM, array: Array, block: Block) -> Expected:
    shares = array[block.start : block.start + len(block)]
    return expected_of(em, shares / shares.sum(axis=1, keepdims=True), block)


def check_init(init: str) -> None:
    """A ``ParameterError`` for a way to start that does not exist."""
    if init not in GUESSES:
        raise ParameterError(f"init_params is {init!r}.", f"Give one of {', '.join(map(repr, GUESSES))}.")


def guessed(em: EM, sample: Sample, k: int, init: str, n_starts: int, seed: int) -> list[MixtureModel]:
    """``n_starts`` starts; the first of them do not depend on how many more there are."""
    if k == 1:
        return [model_of(em, sample.block, np.ones((len(sample.w), 1)))]
    rng = np.random.default_rng(seed)
    # On the sample there is no time limit, checkpoint, cluster or progress of its own.
    with engine(n_threads=current().n_threads):
        return [_guessed(em, sample, k, init, rng) for _ in range(n_starts)]


def oriented(em: EM, sample: Sample) -> bool:
    """Whether components may lie in any direction, and the sample is large enough to be sphered."""
    m, d = sample.y.shape
    return bool(getattr(em.family, "oriented", False)) and d > 1 and m >= ROWS_A_COLUMN * d


def in_any_direction(
    em: EM, sample: Sample, k: int, rng: np.random.Generator, others: list[Array]
) -> list[Discriminant]:
    """Groups of components that share one covariance, as a rule for standard units.

    On a sample that is not the table only where they win clearly more than others in as many steps as a guess gets:
    the best of many guesses is the best of the sample alone.
    """
    if not oriented(em, sample):
        return []
    w, rows, sphering = sample.w, sample.standard, sample.sphering
    z = sphering.sphered(rows)
    hidden, height = hidden_groups(z, w, k, rng)
    if not sample.whole:
        known = max(with_common_covariance(z, w, shares.T, SHORT)[1] for shares in others)
        if height < known + CLEARLY:
            return []
    found = sphering.undone(hidden)
    return [found.ordered(along(means_of(sample, one_hot(found.labels(rows), len(found.heights)))[0]))]


def _guessed(em: EM, sample: Sample, k: int, init: str, rng: np.random.Generator) -> MixtureModel:
    """The best of several guesses after a few steps each, and after moves."""
    from asterism.methods.splitmerge import improved

    kinds = GUESSES[init]
    guesses = [guess(sample, k, rng) for _ in range(2 if len(kinds) == 1 else 1) for guess in kinds]
    if init == "auto":
        found = in_any_direction(em, sample, k, rng, guesses)
        guesses += [one_hot(each.labels(sample.standard), k) for each in found]
    models = [model_of(em, sample.block, in_order(sample, shares)) for shares in guesses]
    best = short_runs(em, sample.source(), models, SHORT)[0]
    return improved(em, sample, best) if em.assignment == "soft" else best


def short_runs(em: EM, source: Source, models: list[MixtureModel], steps: int) -> list[MixtureModel]:
    """All models advanced together; the best first."""
    runs = iterate(em, source, models, max_iter=steps)
    if any(run.status == "interrupted" for run in runs):
        raise KeyboardInterrupt
    return [run.model.bare for run in sorted(runs, key=lambda run: run.objective)]
