"""Where k-medoids begins: good medoids of a sample of the rows.

The sample (all rows of a small table) is small enough for a matrix of its dissimilarities. On it several starts are
improved until they settle, all in the same passes; the best, by their cost on the whole table, go on from there.

``"build"``      the row that is nearest to all, then again and again the row that lowers J most (PAM's own start)
``"k-means++"``  rows drawn with probability w * d(row, nearest medoid so far), the best of a few draws each time
``"random"``     rows drawn at random, heavier ones more often

References
----------
1. Kaufman, Rousseeuw (1990), Finding Groups in Data, chapter 2: BUILD. Wiley.
2. Arthur, Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA 2007:1027-1035.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.source import ArraySource
from asterism.distances.base import ReadySource
from asterism.distances.given import FittedMatrix
from asterism.engines.reduce import reduce
from asterism.errors import ParameterError
from asterism.methods.swaps import STRIP, Pool, Search, Swaps
from asterism.stats.base import Joined
from asterism.stats.sample import RowSample

SAMPLE = 1024  # rows, where k is not large
ROWS_A_GROUP = 24  # of the sample, where it is
MOST_SAMPLE = 8192
TRIES = 10  # starts improved on the sample
MOST_STEPS = 200  # exchanges, each the best there is on the sample
HOW = ("auto", "build", "k-means++", "random")


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows drawn from a table."""

    numbers: NDArray[np.int64]  # (m,) in the table
    weights: Vector  # (m,) that make their totals estimate the table's
    matrix: NDArray[np.float64] = field(repr=False)  # (m, m) their dissimilarities


def sample_size(k: int) -> int:
    """Rows of the sample that starts are found on."""
    return min(max(SAMPLE, ROWS_A_GROUP * k), MOST_SAMPLE)


def draw(table: ReadySource, size: int, seed: int) -> RowSample:
    """So many rows of those that count (all, if there are no more), heavier ones more often."""
    found: RowSample = reduce(table, partial(_drawn, size, seed, table.fitted.by_number))
    return found


def _drawn(size: int, seed: int, by_number: bool, block: Block) -> RowSample:
    if by_number:  # lines of a matrix are long, and their numbers say all
        block = Block(block.rows[:, :0], block.weights, block.start)
    return RowSample.of(block, block.weights, size, seed)


def sample_of(drawn: RowSample, size: int, table: ReadySource) -> Sample:
    """The first ``size`` of the rows drawn, and all dissimilarities among them."""
    drawn = RowSample(size, *(part[: size + 1] for part in _parts(drawn)))
    values, weights = drawn.estimates()
    numbers = drawn.row[: len(weights)]
    if drawn.whole and not table.fitted.by_number:
        values, weights, numbers = _distinct(values, weights, numbers)
    else:
        order = np.argsort(numbers)
        values, weights, numbers = values[order], weights[order], numbers[order]
    m = len(numbers)
    matrix = np.empty((m, m))
    if table.fitted.by_number:
        for block in table.blocks():
            mine = np.flatnonzero((numbers >= block.start) & (numbers < block.start + len(block)))
            matrix[mine] = block.rows[numbers[mine] - block.start][:, numbers]
    else:
        points = table.fitted.points(values, numbers)
        for a in range(0, m, STRIP):
            matrix[a : a + STRIP] = table.fitted.tile(values[a : a + STRIP], points)
    return Sample(numbers, weights, matrix)


def _distinct(
    values: NDArray[np.float64], weights: Vector, numbers: NDArray[np.int64]
) -> tuple[NDArray[np.float64], Vector, NDArray[np.int64]]:
    """Each row once, with the weight of its copies, in an order of their own: shuffled tables start the same."""
    order = np.argsort(numbers)
    _, first, copies = np.unique(values[order], axis=0, return_index=True, return_inverse=True)
    total: Vector = np.bincount(copies.ravel(), weights[order]).astype(np.float64)
    return values[order][first], total, numbers[order][first]


def _parts(drawn: RowSample) -> tuple[NDArray[Any], ...]:
    return drawn.rank, drawn.rate, drawn.row, drawn.weight, drawn.values


def starting_medoids(sample: Sample, k: int, how: str, n_starts: int, seed: int) -> list[NDArray[np.intp]]:
    """Places in the sample of k medoids each, settled on the sample; the best by its own cost first."""
    if how not in HOW:
        raise ParameterError(f"init is {how!r}.", f"Give one of {', '.join(HOW)}, or k row numbers.")
    rng = np.random.default_rng(seed)
    tries = []
    if how in ("auto", "build"):
        tries.append(build(sample.matrix, sample.weights, k))
    if how in ("auto", "k-means++"):
        tries += [plus_plus(sample.matrix, sample.weights, k, rng) for _ in range(max(TRIES, 3 * n_starts))]
    if how == "random":
        tries += [random_rows(sample.weights, k, rng) for _ in range(max(TRIES, 3 * n_starts))]
    return _settled(sample, tries)


def build(matrix: NDArray[np.float64], weights: Vector, k: int) -> NDArray[np.intp]:
    """PAM's BUILD: each time the row that lowers J most, the first of equals."""
    near = np.full(len(matrix), np.inf)
    chosen: list[int] = []
    for _ in range(k):
        cost = np.zeros(len(matrix))
        for a in range(0, len(matrix), STRIP):
            cost += weights[a : a + STRIP] @ np.minimum(matrix[a : a + STRIP], near[a : a + STRIP, None])
        cost[chosen] = np.inf
        chosen.append(int(cost.argmin()))
        near = np.minimum(near, matrix[chosen[-1]])
    return np.array(chosen, np.intp)


def plus_plus(
    matrix: NDArray[np.float64], weights: Vector, k: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows far from those before them: the best of a few draws each time."""
    chosen = [_pick(weights, rng.random(1))[0]]
    near = matrix[chosen[0]].copy()
    draws = 2 + int(np.log(k))
    for _ in range(k - 1):
        mass = weights * near
        if not mass.any():  # fewer distinct rows than groups: any other row will do
            mass = weights.copy()
            mass[chosen] = 0.0
        tries = _pick(mass, rng.random(draws))
        closer = np.minimum(near, matrix[tries])
        best = int((closer @ weights).argmin())
        chosen.append(tries[best])
        near = closer[best]
    return np.array(chosen, np.intp)


def random_rows(weights: Vector, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Distinct rows, heavier ones more often."""
    with np.errstate(divide="ignore"):
        ranks = rng.exponential(size=len(weights)) / weights
    return np.asarray(np.argsort(ranks, kind="stable")[:k], np.intp)


def _pick(mass: Vector, share: Vector) -> NDArray[np.intp]:
    """Places drawn in proportion to their mass; never one of mass 0."""
    cumulated = np.cumsum(mass)
    places = np.searchsorted(cumulated, share * cumulated[-1], side="right")
    return np.asarray(np.minimum(places, int(np.flatnonzero(mass)[-1])), np.intp)


def _settled(sample: Sample, tries: list[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """Every try improved on the sample until no exchange helps, all in the same passes; the best first."""
    m = len(sample.matrix)
    source = ReadySource(ArraySource(sample.matrix, sample.weights), FittedMatrix(("",) * m))
    method = Swaps(source.fitted, Pool(np.arange(m), np.zeros((m, 0))), "start", batch=m)
    searches, costs = [method.begin(medoids) for medoids in tries], [np.inf] * len(tries)
    for _ in range(MOST_STEPS):
        moving = [i for i, search in enumerate(searches) if not search.done]
        if not moving:
            break
        joined = reduce(source, partial(_summarize_all, method, tuple(searches[i] for i in moving)))
        for i, statistic in zip(moving, joined.parts, strict=True):
            searches[i], costs[i] = method.update(searches[i], statistic), statistic.cost
    order = np.argsort(costs, kind="stable")
    return [searches[i].medoids for i in order]


def _summarize_all(method: Swaps, searches: tuple[Search, ...], block: Block) -> Joined:
    return Joined(tuple(method.summarize(search, block) for search in searches))
