"""k-medoids: k rows of the table, such that all rows are near one of them.

    J = sum_i w_i d(x_i, medoid of i)

Each step looks at a batch of candidate rows. For each of them and each medoid it finds what the exchange of the
two would change (``core/medoids.cpp``, Schubert's and Rousseeuw's FasterPAM), measured on every row of the table, and
makes the best exchange if that lowers J. It has settled when every candidate was looked at since the last exchange.

What a block has to say is a statistic that merges, so there is no n x n matrix at any time: dissimilarities are
measured a tile at a time and forgotten. Where all rows of a table are too many to look at, some of them, drawn at
random, are the candidates; J is that of all rows nevertheless.

References
----------
1. Kaufman, Rousseeuw (1990), Finding Groups in Data, chapters 2 and 3. Wiley.
2. Schubert, Rousseeuw (2021), Fast and eager k-medoids clustering. Information Systems 101:101804.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.data.source import ArraySource, Source
from asterism.distances.base import Fitted, ReadySource
from asterism.distances.pairwise import every_row, every_weight, prepared, square
from asterism.engines.loop import Run, Status, iterate
from asterism.engines.reduce import map_reduce, map_rows, reduce
from asterism.errors import ParameterError, TooFewRowsError
from asterism.methods import medoid_starts as starting
from asterism.methods.frame import refuse_unusable
from asterism.methods.kmeans import check_settings
from asterism.methods.swaps import BATCH, STRIP, Pool, Search, Swaps
from asterism.stats.base import Joined
from asterism.stats.moments import ColumnMoments

PAIRS = 10**9  # that one round may look at, at 8 columns: about a second on two cores
COSTLY_PAIRS = 10**7  # that a function of the user's may be asked for
LEAST_CANDIDATES = 2048
CANDIDATES_A_GROUP = 40


@dataclass(frozen=True)
class Medoids:
    """The model: k rows of the table it was fitted to."""

    fitted: Fitted
    numbers: NDArray[np.int64]  # (k,) rows of the table; that of the heaviest group first
    ready: NDArray[np.float64]  # (k, width) as the dissimilarity takes them

    @property
    def points(self) -> Any:
        """What dissimilarities are measured to."""
        return self.fitted.points(self.ready, self.numbers)


@dataclass(frozen=True)
class MedoidsFit:
    """What a fit has found."""

    model: Medoids
    labels: NDArray[np.int32]  # (n,)
    inertia: float  # J, of all rows
    history: list[float]  # J before every step, then the last
    n_iter: int  # rounds through the candidates, begun
    swaps: int  # exchanges made on the whole table
    status: Status
    quality: str  # in words: how thoroughly the medoids were looked for


# --- fit --------------------------------------------------------------------------------------------------------


def fit_medoids(
    source: Source,
    k: int,
    *,
    metric: Any = "euclidean",
    init: Any = "auto",
    n_init: int = 1,
    max_iter: int = 100,
    candidates: Any = "auto",
    seed: int = 0,
) -> MedoidsFit:
    """k medoids of a table.

    ``init``        "auto", "build", "k-means++", "random" (see ``medoid_starts``), or k row numbers
    ``n_init``      starts that are improved on the whole table, in the same passes
    ``max_iter``    rounds through all candidates
    ``candidates``  rows that may become medoids: "auto", "all", or how many
    """
    check_settings([k], n_init, max_iter, 0.0)
    fitted, ready = prepared(source, metric)
    if not fitted.by_number:
        fitted = comparing_all(source, fitted)
        ready = ReadySource(source, fitted)
    search, table = fitted, ready
    if fitted.costly and source.n_rows**2 <= COSTLY_PAIRS:
        matrix = ArraySource(square(source, fitted), every_weight(source))
        search, table = prepared(matrix, "precomputed")
    pool, starts = _pool_and_starts(search, table, k, init, n_init, candidates, seed)
    method = Swaps(search, pool, f"{k} of {len(pool)} by {metric!r}")
    rounds = -(-len(pool) // BATCH)
    runs = iterate(method, table, [method.begin(start) for start in starts], max_iter=max_iter * rounds)
    best = min(runs, key=lambda run: run.objective)
    return _finish(fitted, ready, pool, best, rounds)


def comparing_all(source: Source, fitted: Fitted) -> Fitted:
    """The same dissimilarity, where rows without a cell in common are as far apart as the corners of the table.

    One pass, which also tells of infinite cells and of columns without any.
    """
    moments = reduce(source, ColumnMoments.of)
    refuse_unusable(source, moments)
    if not hasattr(fitted, "__dataclass_fields__") or "unknown" not in fitted.__dataclass_fields__:
        return fitted
    far = float(fitted.between(moments.low[None], moments.high[None])[0, 0]) if fitted.missing_ok else np.nan
    return dataclasses.replace(fitted, unknown=far)  # type: ignore[type-var]


def _pool_and_starts(
    fitted: Fitted, table: ReadySource, k: int, init: Any, n_init: int, candidates: Any, seed: int
) -> tuple[Pool, list[NDArray[np.intp]]]:
    """Who may become a medoid, and the places among them to start from."""
    n = table.n_rows
    size = candidates_of(candidates, n, k, len(fitted.names), costly=fitted.costly)
    small = min(starting.sample_size(k), size)
    drawn = starting.draw(table, small if size == n else size, seed)
    if drawn.whole and len(drawn.row) < k:
        raise TooFewRowsError(
            f"{k} groups were asked for, but only {len(drawn.row)} rows count "
            f"(n_samples={len(drawn.row)} should be >= n_clusters={k}).",
            "Ask for fewer groups.",
        )
    pool = _all_rows(fitted, table) if size == n else _drawn_rows(fitted, drawn)
    if not isinstance(init, str):
        return _given(fitted, table, pool, init, k)
    sample = starting.sample_of(drawn, small, table)
    if len(sample.numbers) < k:
        raise _too_few(k, len(sample.numbers))
    found = starting.starting_medoids(sample, k, init, n_init, seed)
    places = [np.searchsorted(pool.numbers, sample.numbers[medoids]) for medoids in found]
    return pool, _cheapest(fitted, table, pool, places)[:n_init]


def candidates_of(candidates: Any, n: int, k: int, d: int, *, costly: bool) -> int:
    """How many rows may become medoids: n means all of them."""
    if candidates == "all":
        return n
    if candidates == "auto":
        few = max(LEAST_CANDIDATES, CANDIDATES_A_GROUP * k)
        pairs = COSTLY_PAIRS if costly else PAIRS * 8 // max(d, 8)
        return n if n * n <= pairs else min(n, max(few, pairs // n))
    if isinstance(candidates, bool) or not isinstance(candidates, int | np.integer) or candidates < k:
        raise ParameterError(
            f"candidates is {candidates!r}.", f"Give 'auto', 'all', or a whole number, {k} or more."
        )
    return min(int(candidates), n)


def _all_rows(fitted: Fitted, table: ReadySource) -> Pool:
    counted = np.flatnonzero(every_weight(table) > 0)
    if fitted.by_number:
        return Pool(counted, np.zeros((len(counted), 0)))
    rows = every_row(table)
    return Pool(counted, rows if len(counted) == len(rows) else rows[counted])


def _drawn_rows(fitted: Fitted, drawn: Any) -> Pool:
    values, weights = drawn.estimates()
    order = np.argsort(drawn.row[: len(weights)])
    rows = np.zeros((len(order), 0)) if fitted.by_number else values[order]
    return Pool(drawn.row[order], rows)


def _given(
    fitted: Fitted, table: ReadySource, pool: Pool, init: Any, k: int
) -> tuple[Pool, list[NDArray[np.intp]]]:
    """A start at rows of the user's choice; they join the pool."""
    numbers = np.asarray(init)
    good = numbers.shape == (k,) and numbers.dtype.kind in "iu" and len(set(numbers.tolist())) == k
    if not good or numbers.min() < 0 or numbers.max() >= table.n_rows:
        raise ParameterError(
            f"init is {init!r}.", f"Give {', '.join(starting.HOW)}, or {k} different row numbers."
        )
    new = np.setdiff1d(numbers, pool.numbers)
    if len(new):
        rows = rows_at(fitted, table, new)
        order = np.argsort(np.concatenate([pool.numbers, new]))
        pool = Pool(np.concatenate([pool.numbers, new])[order], np.concatenate([pool.rows, rows])[order])
    return pool, [np.searchsorted(pool.numbers, numbers)]


def rows_at(fitted: Fitted, table: ReadySource, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """(m, width) the rows of these numbers, ascending, as the dissimilarity takes them."""
    if fitted.by_number:
        return np.zeros((len(numbers), 0))
    found = []
    for place in np.unique(numbers // table.block_rows):
        for block in table.blocks(int(place), int(place) + 1):
            mine = numbers[numbers // table.block_rows == place]
            found.append(block.rows[mine - block.start])
    return np.concatenate(found)


def _cheapest(
    fitted: Fitted, table: ReadySource, pool: Pool, starts: list[NDArray[np.intp]]
) -> list[NDArray[np.intp]]:
    """Starts, that of the least J on the whole table first; each once."""
    distinct = [np.array(sorted(key), np.intp) for key in dict.fromkeys(tuple(sorted(s)) for s in starts)]
    if len(distinct) == 1:
        return distinct
    everyone = tuple(pool.points(fitted, places) for places in distinct)
    found: Joined = reduce(table, partial(_costs, fitted, everyone, len(distinct[0])))
    order = np.argsort([part.cost for part in found.parts], kind="stable")
    return [distinct[i] for i in order]


def _costs(fitted: Fitted, everyone: tuple[Any, ...], k: int, block: Block) -> Joined:
    return Joined(tuple(labels_and_cost(fitted, points, k, block)[1] for points in everyone))


def _finish(fitted: Fitted, ready: ReadySource, pool: Pool, run: Run[Search], rounds: int) -> MedoidsFit:
    """Labels and J of the medoids that are returned, in one last pass; the heaviest group comes first."""
    numbers = np.sort(pool.numbers[run.model.medoids])
    model = Medoids(fitted, numbers, rows_at(fitted, ready, numbers))
    labels, found = map_reduce(ready, partial(labels_and_cost, fitted, model.points, len(numbers)))
    order = np.lexsort((*model.ready.T[::-1], -found.mass))
    labels = np.argsort(order).astype(np.int32)[labels]
    model = Medoids(fitted, numbers[order], model.ready[order])
    k, groups = len(numbers), int((found.mass > 0).sum())
    if groups < k and found.cost == 0:
        raise _too_few(k, groups)
    history = [*run.history, found.cost]
    n_iter = -(-run.steps // rounds)
    quality = _quality(len(pool), ready.n_rows, run.status)
    return MedoidsFit(model, labels, found.cost, history, n_iter, run.model.swaps, run.status, quality)


def _too_few(k: int, distinct: int) -> TooFewRowsError:
    return TooFewRowsError(
        f"{k} groups were asked for, but the table has only {distinct} distinct rows.",
        "Ask for fewer groups.",
    )


def _quality(p: int, n: int, status: Status) -> str:
    who = f"All {p:,} rows" if p == n else f"{p:,} of {n:,} rows"
    if status != "settled":
        return f"Stopped ({status}) while {who} were tried as medoids: exchanges may lower the cost still."
    which = "no exchange" if p == n else "none of these exchanges"
    return (
        f"{who} were tried in the place of every medoid: {which} lowers the cost, which is that of all rows."
    )


# --- labels and J of given medoids ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cost:
    """J, and the weight of each medoid's rows."""

    cost: float
    mass: Vector  # (k,)

    def merge(self, other: Cost) -> Cost:
        """Sums add."""
        return Cost(self.cost + other.cost, self.mass + other.mass)


def labels_and_cost(fitted: Fitted, points: Any, k: int, block: Block) -> tuple[NDArray[np.int32], Cost]:
    """The nearest medoid of every row of a block (of ready rows), and J of the block."""
    n = len(block)
    labels, near, second = np.empty(n, np.int32), np.empty(n), np.empty(n)
    for a in range(0, n, 8 * STRIP):
        b = a + 8 * STRIP
        _core.nearest_two(fitted.tile(block.rows[a:b], points), labels[a:b], near[a:b], second[a:b])
    labels[labels < 0] = 0  # of weight 0
    near[block.weights == 0] = 0.0
    mass: Vector = np.bincount(labels, block.weights, minlength=k).astype(np.float64)
    return labels, Cost(float(block.weights @ near), mass)


def nearest_medoid(model: Medoids, source: Source) -> NDArray[np.int32]:
    """(n,) the nearest medoid of every row of any table with the same columns."""
    ready = ReadySource(source, model.fitted)
    return map_rows(ready, partial(_labels, model))


def _labels(model: Medoids, block: Block) -> NDArray[np.int32]:
    return labels_and_cost(model.fitted, model.points, len(model.numbers), block)[0]


def distances_to_medoids(model: Medoids, source: Source) -> NDArray[np.float64]:
    """(n, k) dissimilarities to the medoids."""
    return map_rows(ReadySource(source, model.fitted), partial(_tile, model))


def _tile(model: Medoids, block: Block) -> NDArray[np.float64]:
    return model.fitted.tile(block.rows, model.points)


def cost_of(model: Medoids, source: Source) -> float:
    """J of these medoids on any table."""
    ready = ReadySource(source, model.fitted)
    found: Joined = reduce(ready, partial(_costs, model.fitted, (model.points,), len(model.numbers)))
    return float(found.parts[0].cost)
