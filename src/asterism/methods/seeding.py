"""Where k-means starts.

Seeding looks at a sample, not at the table: rows are drawn with probability half uniform, half in proportion to
their squared distance from a typical point, so far groups are in it however small (a light-weight coreset), and
carry weights that make sums over the sample estimate sums over the table. One pass, whatever k is. On the sample:
greedy k-means++, several times, each polished by k-means itself; the best go on to the whole table.

A sample is put in an order that depends on its values alone, equal rows as one. So for tables no larger than the
sample the start does not depend on the order of rows, and weight 3 is the same as three copies.

References
----------
1. Arthur, Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA 2007:1027-1035.
2. Bachem, Lucic, Krause (2018), Scalable k-means clustering via lightweight coresets. KDD 2018:1119-1127.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector, is_sparse
from asterism.data.source import ArraySource, Source
from asterism.data.sparse import SparseSource, distinct_rows, squared_lengths
from asterism.engines.context import current, engine
from asterism.engines.loop import Method, iterate
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import DataError, ParameterError, TooFewRowsError
from asterism.methods.frame import Frame
from asterism.methods.lloyd import Centers, lloyd_for
from asterism.methods.sparse_lloyd import SparseLloyd
from asterism.stats.moments import ColumnMoments
from asterism.stats.sample import RowSample

SAMPLE_ROWS = 4096  # at least, where memory allows
ROWS_PER_CENTER = 50
SAMPLE_BYTES = 3 << 20  # several copies of it are about at a time
TRIES = 3  # starts polished on the sample for each that goes on
POLISH_STEPS = 30


def seed_centers(
    source: Source, frame: Frame, moments: ColumnMoments, k: int, *, how: str, n_starts: int, seed: int | None
) -> list[Centers]:
    """``n_starts`` starts of k centres."""
    if how not in ("k-means++", "random", "random-points"):
        raise ParameterError(
            f"init is {how!r}.", "Give 'k-means++', 'random', 'random-points', or an array of k centres."
        )
    rng = np.random.default_rng(seed)
    if how == "random-points":
        return [_random_points(frame, moments, k, rng) for _ in range(n_starts)]
    draw = int(rng.integers(2**63))
    sample = sample_rows(source, frame, moments, k, even=how == "random", seed=draw)
    with one_blas_thread():  # the sums of a product depend on how many threads share it
        return _starts_in(sample, k, how, n_starts, rng)


def _starts_in(sample: Sample, k: int, how: str, n_starts: int, rng: np.random.Generator) -> list[Centers]:
    """Starts drawn from a sample."""
    found = len(sample.w)
    if sample.whole and found < k:
        raise TooFewRowsError(
            f"{k} groups were asked for, but the table has n_samples={found} distinct rows.",
            f"Ask for at most {found} groups.",
        )
    if how == "random":
        return [sample.centers(_random_rows(sample, k, rng)) for _ in range(n_starts)]
    if sample.whole:
        return [sample.centers(_greedy(sample, k, rng)) for _ in range(n_starts)]
    tries = [sample.centers(_greedy(sample, k, rng)) for _ in range(max(TRIES, n_starts))]
    return _polished(sample, tries)[:n_starts]


def given_centers(frame: Frame, positions: Any, k: int) -> Centers:
    """Centres that the user gives, or what is wrong with them."""
    try:
        array = np.asarray(positions, np.float64)
    except (TypeError, ValueError) as bad:
        raise ParameterError("init is not a table of numbers.", "Give one row of numbers a centre.") from bad
    d = len(frame.reference)
    if array.shape != (k, d):
        raise ParameterError(
            f"The shape of the initial centers {array.shape} does not match {k} groups of {d} columns.",
            f"Give an array of shape {(k, d)}.",
        )
    if not np.isfinite(array).all():
        row, j = np.argwhere(~np.isfinite(array))[0]
        raise DataError("the initial centre is not finite.", "Give numbers.", row=int(row), column=f"x{j}")
    return Centers(frame, array - frame.reference)


# --- the sample -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Distinct rows of a table with weights, in the frame's units, in an order of their own."""

    frame: Frame
    y: Any  # (m, d) (x - reference) * scale, NaN = missing; CSR of a sparse table
    w: Vector  # (m,)
    whole: bool  # whether this is the whole table

    def centers(self, y: Any) -> Centers:
        """Centres at these points of the frame."""
        return Centers(self.frame, (y.toarray() if is_sparse(y) else y) / self.frame.scale)

    def source(self) -> Source:
        """The sample as a table, in the table's own coordinates."""
        if is_sparse(self.y):
            return SparseSource(self.y, self.w)
        return ArraySource(self.y / self.frame.scale + self.frame.reference, self.w)

    def filled(self) -> Any:
        """(m, d) with missing cells replaced by column means: a centre needs every coordinate."""
        if is_sparse(self.y):
            return self.y
        seen = ~np.isnan(self.y)
        if seen.all():
            return self.y
        mass = self.w @ seen
        mean = np.divide(self.w @ np.where(seen, self.y, 0.0), mass, out=np.zeros_like(mass), where=mass > 0)
        return np.where(seen, self.y, mean)


def sample_rows(
    source: Source,
    frame: Frame,
    moments: ColumnMoments,
    k: int,
    *,
    even: bool,
    seed: int,
    at_least: int = 0,
) -> Sample:
    """Draw a sample for seeding k centres; ``even``: in proportion to weights alone."""
    d = source.n_columns
    size = max(sample_size(k, source.cells_a_row), at_least)
    drawn = reduce(source, partial(_draw, frame, 0.0 if even else _far_share(frame, moments), size, seed))
    rows, weights = drawn.estimates()
    if is_sparse(rows):
        first, group = distinct_rows(rows)
        mass = np.bincount(group, weights).astype(np.float64)
        return Sample(frame, rows[first].astype(np.float64), mass, drawn.whole)
    rows = rows.astype(np.float64)
    # Rows as strings of bytes: the quickest total order on their values. They are taken from the columns' least
    # values, which know nothing of the order of rows, of weights or of an offset.
    above = np.ascontiguousarray((rows - moments.low) * frame.scale)
    above += 0.0  # -0 is 0
    above[np.isnan(above)] = np.nan  # and one missing cell is like another
    _, first, group = np.unique(
        above.view(np.dtype((np.void, 8 * d))).ravel(), return_index=True, return_inverse=True
    )
    y = (rows[first] - frame.reference) * frame.scale
    return Sample(frame, y, np.bincount(group, weights).astype(np.float64), drawn.whole)


def sample_size(k: int, d: int) -> int:
    """Rows of a sample for k groups in d columns."""
    return max(min(max(SAMPLE_ROWS, ROWS_PER_CENTER * k), SAMPLE_BYTES // (8 * d)), 8 * k)


def _far_share(frame: Frame, moments: ColumnMoments) -> float:
    """1 / mean squared distance from the reference, as a power of two: only its size matters, and so it is
    the same for the table and the table shifted."""
    around = (moments.mean - frame.reference) * frame.scale
    spread = float((moments.variance * frame.scale**2 + around**2).sum())
    return float(np.ldexp(1.0, -int(np.rint(np.log2(spread))))) if spread > 0 else 0.0


def _draw(frame: Frame, far_share: float, size: int, seed: int, block: Block) -> RowSample:
    """Rate of a row: w (1 + far_share ||x - reference||^2)."""
    rate = block.weights
    if far_share:
        if is_sparse(block.rows):
            square = squared_lengths(block.rows)
        else:
            origin = np.zeros((1, len(frame.reference)))
            square = _core.squared_distances(block.rows, frame.reference, origin)[:, 0] * frame.scale**2
        square[block.weights == 0] = 0.0  # an absent row may hold anything, even infinity
        rate = block.weights * (1.0 + far_share * square)
    return RowSample.of(block, rate, size, seed)


# --- choosing rows ----------------------------------------------------------------------------------------------


def _greedy(sample: Sample, k: int, rng: np.random.Generator) -> Any:
    """Greedy k-means++: of 2 + log k rows drawn in proportion to w D^2, the one that lowers sum w D^2 most."""
    sites, w = sample.filled(), sample.w
    tries = 2 + int(np.log(k))
    score = _Scorer(sample.y)
    chosen = np.empty(k, np.intp)
    chosen[0] = _pick(w, rng.random(1))[0]
    nearest = score.squares(sites[chosen[:1]])[:, 0]
    for c in range(1, k):
        candidates = _pick(w * nearest, rng.random(tries))
        lower = np.minimum(score.squares(sites[candidates]), nearest[:, None])
        best = int(np.argmin(w @ lower))
        chosen[c] = candidates[best]
        nearest = lower[:, best]
        nearest[chosen[c]] = 0.0
    return sites[chosen]


class _Scorer:
    """Squared distances over observed cells from fixed rows to any points, by one matrix product."""

    def __init__(self, y: Any) -> None:
        if is_sparse(y):
            self.complete, self.rows, self.norms = True, y, squared_lengths(y)
            return
        seen = ~np.isnan(y)
        self.complete = bool(seen.all())
        values = y if self.complete else np.where(seen, y, 0.0)
        self.rows = values if self.complete else np.hstack([values, seen])
        self.norms = np.einsum("ij,ij->i", values, values)

    def squares(self, points: Any) -> NDArray[np.float64]:
        """(m, p)."""
        points = points.toarray() if is_sparse(points) else points
        if self.complete:
            product = self.rows @ (-2.0 * points.T) + (points**2).sum(axis=1)
        else:
            product = self.rows @ np.hstack([-2.0 * points, points**2]).T
        squares: NDArray[np.float64] = np.maximum(product + self.norms[:, None], 0.0)
        return squares


def _pick(mass: Vector, share: Vector) -> NDArray[np.intp]:
    """Rows at these shares of the total mass; anywhere when there is no mass left."""
    total = np.cumsum(mass)
    if not total[-1] > 0:
        return (share * len(mass)).astype(np.intp)
    at: NDArray[np.intp] = np.searchsorted(total, share * total[-1], side="right")
    return np.minimum(at, len(mass) - 1)


def _random_rows(sample: Sample, k: int, rng: np.random.Generator) -> Any:
    """k different rows; heavier rows more often (exponential ranks, as in ``stats.sample``)."""
    rank = rng.exponential(size=len(sample.w)) / sample.w
    rows = np.argsort(rank, kind="stable")[:k]
    return sample.filled()[np.resize(rows, k)]


def _random_points(frame: Frame, moments: ColumnMoments, k: int, rng: np.random.Generator) -> Centers:
    """Uniform in the box that holds the table."""
    low = moments.low - frame.reference
    return Centers(frame, low + rng.random((k, len(low))) * (moments.high - moments.low))


def steps_for(source: Source, frame: Frame, moments: ColumnMoments, tol: float = 0.0) -> Method[Centers]:
    """Lloyd's steps for a table; ``tol`` in units of the mean variance of its columns."""
    if source.sparse:
        return SparseLloyd(tol * float(moments.variance.mean()))
    return lloyd_for(frame, moments, tol)


def _polished(sample: Sample, tries: list[Centers]) -> list[Centers]:
    """Each try run by k-means on the sample, the best first."""
    frame, source = sample.frame, sample.source()
    with engine(n_threads=current().n_threads):
        method = steps_for(source, frame, reduce(source, ColumnMoments.of))
        try:
            runs = iterate(method, source, tries, max_iter=POLISH_STEPS)
        except TooFewRowsError:
            return tries  # too few distinct rows in the sample; the table may have more, and will tell
    if any(run.status == "interrupted" for run in runs):
        raise KeyboardInterrupt  # there is nothing to return before the table itself was looked at
    return [Centers(frame, run.model.offsets) for run in sorted(runs, key=lambda run: run.objective)]
