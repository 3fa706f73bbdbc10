"""Which pairs of rows are worth a person's time.

A soft clustering says itself where it is unsure: pairs whose chance of being together is nearest to one half.

Labels alone do not. There pairs are strata: those within group g, those between groups g and h. What is sought is the
accuracy over all pairs; with N_s pairs in stratum s, m_s of them judged and e_s the share the clustering got wrong
(smoothed), one more judgement there lowers the variance of the estimate by

    (N_s / N)^2 e_s (1 - e_s) (1 / (m_s + 1) - 1 / (m_s + 2))

so that large strata, contested strata and strata nobody has looked at come first.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.metrics.labels import labels_of

Pairs = NDArray[np.int64]  # (m, 2)

CANDIDATES = 256  # unsure rows whose pairs are looked at
MOST_GROUPS = 300  # strata are taken among the largest groups
TRIES = 64  # draws of a pair that was not judged yet


def pairs_to_ask(
    labels: Any,
    n_pairs: int = 10,
    *,
    judged: Any = None,
    same: Any = None,
    sample_weight: Any = None,
    random_state: int | None = 0,
) -> Pairs:
    """(at most n_pairs, 2) rows to ask people about next, the most informative pair first, none judged before.

    ``labels`` are (n,) labels or (n, k) soft memberships; ``judged`` (m, 2), ``same`` (m,) and ``sample_weight``
    (m,) what is known already.

    >>> r = np.array([[1.0, 0.0], [0.5, 0.5], [0.9, 0.1], [0.0, 1.0]])
    >>> pairs_to_ask(r, 1).tolist()
    [[0, 1]]
    """
    array = np.asarray(labels)
    known = np.zeros((0, 2), np.int64) if judged is None else np.sort(np.asarray(judged, np.int64), axis=1)
    if n_pairs < 1 or len(array) < 2:
        return np.zeros((0, 2), np.int64)
    taken = set(map(tuple, known.tolist()))
    if array.ndim == 2 and array.shape[1] > 1:
        return _unsure(array.astype(np.float64), n_pairs, taken)
    said = np.zeros(0, bool) if same is None else np.asarray(same, bool)
    weights = np.ones(len(known)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    rng = np.random.default_rng(random_state)
    return _informative(labels_of(array).codes, n_pairs, known, said, weights, taken, rng)


def _unsure(shares: NDArray[np.float64], n_pairs: int, taken: set[tuple[int, ...]]) -> Pairs:
    """Pairs of unsure rows, and of these with sure ones, by how near p_ij is to one half."""
    top = np.sort(shares, axis=1)[:, -2:]
    margin = top[:, 1] - top[:, 0]
    order = np.argsort(margin, kind="stable")
    some = np.unique(np.concatenate([order[: CANDIDATES // 2], order[-CANDIDATES // 2 :]]))
    p = shares[some] @ shares[some].T
    i, j = np.triu_indices(len(some), 1)
    found: list[tuple[int, int]] = []
    for q in np.argsort(np.abs(p[i, j] - 0.5), kind="stable"):
        pair = (int(some[i[q]]), int(some[j[q]]))
        if pair not in taken:
            found.append(pair)
        if len(found) == n_pairs:
            break
    return np.array(found, np.int64).reshape(-1, 2)


def _informative(
    codes: NDArray[Any],
    n_pairs: int,
    known: Pairs,
    said: NDArray[np.bool_],
    weights: Vector,
    taken: set[tuple[int, ...]],
    rng: np.random.Generator,
) -> Pairs:
    """Pairs from the strata where one more judgement tells most."""
    sizes = np.bincount(codes)
    groups = np.sort(np.argsort(-sizes, kind="stable")[:MOST_GROUPS])
    place = np.full(len(sizes), -1)
    place[groups] = np.arange(len(groups))
    k, size = len(groups), sizes[groups].astype(np.float64)
    possible = np.triu(np.outer(size, size), 1) + np.diag(size * (size - 1) / 2)
    asked, wrong = np.zeros((2, k, k))
    g = np.sort(place[codes[known]], axis=1)
    inside = (g >= 0).all(axis=1)
    together = g[:, 0] == g[:, 1]
    np.add.at(asked, tuple(g[inside].T), weights[inside])
    np.add.at(wrong, tuple(g[inside].T), (weights * (together != said))[inside])
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    error = (wrong + 0.5) / (asked + 1.0)
    value = (possible / max(possible.sum(), 1.0)) ** 2 * error * (1.0 - error)
    heap = [
        (-v / ((m + 1) * (m + 2)), s, m)
        for s, (v, m) in enumerate(zip(value.flat, asked.flat, strict=True))
        if v > 0
    ]
    heapq.heapify(heap)
    found: list[tuple[int, int]] = []
    while heap and len(found) < n_pairs:
        _, s, m = heapq.heappop(heap)
        rows = [groups[s // k], groups[s % k]]
        pair = _draw(order, starts[rows], sizes[rows], taken, rng)
        if pair is None:
            continue  # hardly a pair of this stratum is left to ask about
        taken.add(pair)
        found.append(pair)
        heapq.heappush(heap, (-value.flat[s] / ((m + 2) * (m + 3)), s, m + 1.0))
    return np.array(found, np.int64).reshape(-1, 2)


def _draw(
    order: NDArray[np.intp],
    starts: NDArray[Any],
    sizes: NDArray[Any],
    taken: set[tuple[int, ...]],
    rng: np.random.Generator,
) -> tuple[int, int] | None:
    for _ in range(TRIES):
        i, j = (int(order[a + rng.integers(n)]) for a, n in zip(starts, sizes, strict=True))
        pair = (min(i, j), max(i, j))
        if i != j and pair not in taken:
            return pair
    return None
