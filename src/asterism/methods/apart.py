"""Chunks that are apart: sums over all ways to group them, and the best of these ways.

A way z gives every chunk u a group, and is allowed if no two chunks that are apart have the same. With scores s

    Z = sum over allowed z of prod_u exp s[u, z_u]        q[u, g] = share of Z in which z_u = g

Chunks that are apart from each other, directly or by way of others, make a component; Z is a product over
components. In each, one chunk after another is summed out (or, for the best way, maximised): it leaves a table
over those that it is joined to, so the work is k to the power of the width of the order, the least-degree one.
This is exact. Only where a table would have more than ``MOST_CELLS`` cells, where dozens of chunks are nearly all
apart, the best way stands for all, found by an integer programme.

References
----------
1. Dechter (1999), Bucket elimination: a unifying framework for reasoning. Artificial Intelligence 113:41-85.
2. Lu, Leen (2005), Semi-supervised learning with penalized probabilistic clustering. NIPS 17.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, vstack
from scipy.sparse.csgraph import connected_components

from asterism.methods.linked import Labels, Pairs

Array = NDArray[np.float64]
Index = NDArray[np.int64]
NEVER = -1e30  # convention: the score of what is forbidden; no sum of scores comes near it
MOST_CELLS = 1 << 16  # convention: of a table while chunks are summed out


@dataclass(frozen=True, eq=False)
class Shape:
    """Components in which chunks are apart in the same way, so that they are summed together."""

    chunks: Index  # (components, m)
    edges: tuple[tuple[int, int], ...]  # places 0 .. m - 1
    scopes: tuple[
        tuple[int, ...], ...
    ]  # in order: the place that is summed out, then those its table is left over

    def cells(self, k: int) -> int:
        """Of the largest table."""
        return int(k ** max(map(len, self.scopes)))


def shapes_of(n_chunks: int, apart: Pairs) -> list[Shape]:
    """The components of chunks that are apart, by shape.

    >>> [(s.chunks.tolist(), s.scopes) for s in shapes_of(6, np.array([[0, 3], [1, 2], [2, 5]]))]
    [([[0, 3]], ((0, 1), (1,))), ([[1, 2, 5]], ((0, 1), (1, 2), (2,)))]
    """
    if not len(apart):
        return []
    graph = coo_array((np.ones(len(apart)), (apart[:, 0], apart[:, 1])), shape=(n_chunks, n_chunks))
    number = connected_components(graph, directed=False)[1]
    members: dict[int, list[int]] = {}
    for chunk in np.unique(apart).tolist():
        members.setdefault(int(number[chunk]), []).append(chunk)
    edges: dict[int, list[tuple[int, int]]] = {}
    place = {chunk: i for chunks in members.values() for i, chunk in enumerate(chunks)}
    for a, b in apart.tolist():
        edges.setdefault(int(number[a]), []).append((place[a], place[b]))
    alike: dict[Any, list[list[int]]] = {}
    for component, chunks in members.items():
        alike.setdefault((len(chunks), tuple(sorted(edges[component]))), []).append(chunks)
    return [Shape(np.array(found), shape, _scopes(m, shape)) for (m, shape), found in alike.items()]


def _scopes(m: int, edges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    """The order of least degree; neighbours of one that is summed out become neighbours of each other."""
    near: list[set[int]] = [set() for _ in range(m)]
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    left, scopes = set(range(m)), []
    while left:
        v = min(left, key=lambda u: (len(near[u]), u))
        scopes.append((v, *sorted(near[v])))
        for u in near[v]:
            near[u] |= near[v] - {u}
            near[u].discard(v)
        left.discard(v)
    return tuple(scopes)


# --- sums and maxima --------------------------------------------------------------------------------------------


def shares_apart(shape: Shape, scores: Array) -> tuple[Array, Array]:
    """(components, m, k) q, and (components,) log Z, of scores (components, m, k)."""
    tables, left, height = _summed_out(shape, scores, hard=False)
    shares = np.empty_like(scores)
    joints: dict[int, tuple[tuple[int, ...], Array]] = {}  # log probability over a scope, by its first place
    parent = _parents(shape)
    for scope, table, message in zip(shape.scopes[::-1], tables[::-1], left[::-1], strict=True):
        joint = table - message[:, None]
        if len(scope) > 1:
            above, known = joints[parent[scope[0]]]
            joint = joint + _over(known, above, scope[1:])[:, None]
        joints[scope[0]] = scope, joint
        own = joint.reshape(*joint.shape[:2], -1)
        shares[:, scope[0]] = np.exp(own).sum(axis=2)
    return shares / shares.sum(axis=2, keepdims=True), height


def best_apart(shape: Shape, scores: Array) -> tuple[NDArray[np.int32], Array]:
    """(components, m) groups of the best way, and (components,) its score."""
    tables, _, height = _summed_out(shape, scores, hard=True)
    labels = np.empty(scores.shape[:2], np.int32)
    every = np.arange(len(scores))
    for scope, table in zip(shape.scopes[::-1], tables[::-1], strict=True):
        given: tuple[Any, ...] = (every, slice(None), *(labels[:, u] for u in scope[1:]))
        labels[:, scope[0]] = table[given].argmax(axis=1)
    return labels, height


def _summed_out(shape: Shape, scores: Array, *, hard: bool) -> tuple[list[Array], list[Array], Array]:
    """Of every scope the table (components, k, ...) and what is left of it, and the log of the total."""
    b, _, k = scores.shape
    barred = np.where(np.eye(k, dtype=bool), NEVER, 0.0)[None]
    waiting: list[tuple[tuple[int, ...], Array]] = [((a, c), barred) for a, c in shape.edges]
    tables, left, height = [], [], np.zeros(b)
    for scope in shape.scopes:
        v = scope[0]
        mine = [factor for factor in waiting if v in factor[0]]
        waiting = [factor for factor in waiting if v not in factor[0]]
        table = np.broadcast_to(_spread(scores[:, v], (v,), scope), (b, *(k,) * len(scope)))
        for places, factor in mine:
            table = table + _spread(factor, places, scope)
        table = np.maximum(table, NEVER * shape.chunks.shape[1])
        message = table.max(axis=1) if hard else _log_sum(table, 1)
        if len(scope) > 1:
            waiting.append((scope[1:], message))
        else:
            height = height + message
        tables.append(table)
        left.append(message)
    return tables, left, height


def _spread(factor: Array, places: tuple[int, ...], scope: tuple[int, ...]) -> Array:
    """A table over some places as one that can be added to a table over a scope."""
    order = sorted(range(len(places)), key=lambda i: scope.index(places[i]))
    turned = factor.transpose(0, *(1 + i for i in order))
    here = [scope.index(places[i]) for i in order]
    sizes = [1] * len(scope)
    for axis, at in enumerate(here):
        sizes[at] = turned.shape[1 + axis]
    return turned.reshape(len(factor), *sizes)


def _over(joint: Array, scope: tuple[int, ...], places: tuple[int, ...]) -> Array:
    """The log probability over some places of a scope, in their order."""
    for axis in range(len(scope) - 1, -1, -1):
        if scope[axis] not in places:
            joint = _log_sum(joint, 1 + axis)
    kept = [u for u in scope if u in places]
    return joint.transpose(0, *(1 + kept.index(u) for u in places))


def _parents(shape: Shape) -> dict[int, int]:
    """Of every place the one whose scope has all that its table is left over: the first of them to be summed out."""
    when = {scope[0]: i for i, scope in enumerate(shape.scopes)}
    return {scope[0]: min(scope[1:], key=lambda u: when[u]) for scope in shape.scopes if len(scope) > 1}


def _log_sum(table: Array, axis: int) -> Array:
    top = table.max(axis=axis, keepdims=True)
    return np.asarray(np.squeeze(top, axis) + np.log(np.exp(table - top).sum(axis=axis)))


# --- an integer programme ---------------------------------------------------------------------------------------


def programme(
    scores: Array, apart: Pairs, sizes: Index, least: int, most: int | None, whole: NDArray[np.bool_]
) -> Labels | None:
    """(u,) groups of highest total score, chunks that are apart kept so and groups within their sizes; None: no way.

    ``sizes``  (u,) rows of the chunks
    ``whole``  (u,) chunks that must be given to one group; others are single rows, which a best way never splits
    """
    u, k = scores.shape
    at = np.arange(u * k).reshape(u, k)
    allowed = scores > NEVER / 2
    rows = [coo_array((np.ones(u * k), (np.repeat(np.arange(u), k), at.ravel())), shape=(u, u * k))]
    low, high = [np.ones(u)], [np.ones(u)]
    if len(apart):
        m = len(apart) * k
        columns = np.concatenate([at[apart[:, 0]].ravel(), at[apart[:, 1]].ravel()])
        lines = np.tile(np.arange(m), 2)
        rows.append(coo_array((np.ones(2 * m), (lines, columns)), shape=(m, u * k)))
        low, high = [*low, np.zeros(m)], [*high, np.ones(m)]
    if least or most is not None:
        held = (np.repeat(sizes, k).astype(np.float64), (np.tile(np.arange(k), u), at.ravel()))
        rows.append(coo_array(held, shape=(k, u * k)))
        low, high = [*low, np.full(k, float(least))], [*high, np.full(k, np.inf if most is None else most)]
    scale = max(float(np.abs(scores[allowed]).max(initial=0.0)), np.finfo(float).tiny)
    found = milp(
        np.where(allowed, -scores / scale, 0.0).ravel(),
        integrality=np.repeat(whole.astype(int), k),
        bounds=Bounds(np.zeros(u * k), allowed.ravel().astype(float)),
        constraints=LinearConstraint(vstack(rows), np.concatenate(low), np.concatenate(high)),
        options={"mip_rel_gap": 0.0},
    )
    return None if found.x is None else np.asarray(found.x.reshape(u, k).argmax(axis=1), np.int32)
