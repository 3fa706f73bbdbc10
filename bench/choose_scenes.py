"""Random labelled tables without end: a judge of partitions is trained on them.

Three kinds, every parameter drawn: ``scene``, primitives (blobs, regions, curves) beside and inside each other in a
plane, sometimes in space; ``mixture``, overlapping distributions in many columns; ``none``, one primitive or one
distribution. Labels as in `LabelledTable`: 1.. are groups, 0 is noise, all 1 where there are no groups.

>>> table = next(scenes(seed=0, count=1))
>>> table.rows.shape[0] == len(table.labels)
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from bench.choose_pieces import Array, Drawn, Rng, centers_apart, factors, join, rotation, with_noise
from bench.choose_primitives import CLUSTERS, PRIMITIVES, log_uniform, spacing
from bench.choose_spreads import draw_mixture, draw_spread, rounded
from bench.choose_tables import LabelledTable

SHARES = {"scene": 0.45, "mixture": 0.25, "none": 0.3}  # convention
OVERLAPPING = 0.3  # convention: scenes of normal blobs that overlap mildly instead of keeping a gap
ROWS = (12, 1500)  # convention: of a group of a scene
DENSER = 10.0  # convention: the densest group of a scene over the sparsest

Cluster = list[Array]  # groups placed together: a ring and what is inside it, the arms of a spiral


def scenes(seed: int, count: int) -> Iterator[LabelledTable]:
    """The first ``count`` tables of a seed; the i-th is the same whatever the count."""
    for i in range(count):
        yield draw_scene(np.random.default_rng([seed, i]))


def draw_scene(rng: Rng) -> LabelledTable:
    """One table, of a kind drawn by `SHARES`, rows (n, d) shuffled."""
    kind = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    name, (rows, labels) = {"scene": draw_flat, "mixture": draw_mixture, "none": draw_alone}[kind](rng)
    rows, labels = scaled(rng, rows), np.asarray(labels, np.int64)
    order = rng.permutation(len(rows))
    return LabelledTable(f"{kind}: {name}", kind, np.ascontiguousarray(rows[order]), labels[order])


def scaled(rng: Rng, rows: Array) -> Array:
    """Columns in other units, and moved; in a part of the tables all columns in the same unit."""
    d = rows.shape[1]
    stretch = np.ones(d) if rng.uniform() < 0.4 else np.exp(rng.uniform(-1.2, 1.2, d))
    return np.asarray(rows * stretch * 10 ** rng.uniform(-2, 2) + rng.normal(size=d) * rows.std())


# --- scenes -------------------------------------------------------------------------------------------------------


def draw_flat(rng: Rng) -> tuple[str, Drawn]:
    """Primitives in a plane, sometimes in space; some scenes with noise over them or a few rows far out."""
    d = 3 if rng.uniform() < 0.12 else 2
    if rng.uniform() < OVERLAPPING:
        name, groups = _overlapping(rng, d)
    else:
        name, groups = _gapped(rng, d)
    rows, labels = join(*groups)
    rows = rows @ rotation(rng, d)
    if rng.uniform() < 0.2:
        name += " + noise"
        rows, labels = with_noise(rng, (rows, labels), rng.uniform(0.03, 0.3))
    if rng.uniform() < 0.1:
        name += " + outliers"
        rows, labels = with_far(rng, (rows, labels))
    return name, (rows, labels)


def with_far(rng: Rng, table: Drawn) -> Drawn:
    """One to eight rows outside of the table, up to six times as far from its middle as its edge is."""
    rows, labels = table
    middle = rows.mean(axis=0)
    radius = np.linalg.norm(rows - middle, axis=1).max()
    n = int(rng.integers(1, 9))
    ways = rng.normal(size=(n, rows.shape[1]))
    ways *= radius * rng.uniform(1.3, 6, (n, 1)) / np.linalg.norm(ways, axis=1, keepdims=True)
    return np.vstack([rows, middle + ways]), np.r_[labels, np.zeros(n, np.int64)]


def _sizes(rng: Rng, k: int) -> list[int]:
    total = log_uniform(rng, 80, 4000)
    shares = np.exp(rng.uniform(0, np.log(log_uniform(rng, 1, 30)), k))
    return [int(n) for n in np.clip(total * shares / shares.sum(), *ROWS)]


def _gapped(rng: Rng, d: int) -> tuple[str, Cluster]:
    """Groups whose rows keep a distance from each other of c times the spacing of rows in the sparser one."""
    sizes, c = _sizes(rng, int(rng.integers(2, 10))), rng.uniform(1.2, 6)
    regular = float(rng.choice([0.0, 1.0, 0.5], p=[0.65, 0.25, 0.1]))  # share of shapes with even spacing
    sort = str(rng.choice(list(PRIMITIVES))) if rng.uniform() < 0.25 else ""  # all of one sort
    names: list[str] = []
    clusters: list[Cluster] = []
    while sizes:
        name, cluster = _cluster(rng, sizes, bool(rng.uniform() < regular), sort, c)
        del sizes[: len(cluster)]
        names.append(name)
        clusters.append([_in_space(rng, part) for part in cluster] if d == 3 else cluster)
    return "+".join(names), _placed(rng, _resized(rng, clusters), c)


def _cluster(rng: Rng, sizes: list[int], even: bool, sort: str, c: float) -> tuple[str, Cluster]:
    """Groups for the first of the sizes: several placed together that keep the gap, or one primitive."""
    if len(sizes) > 1 and not sort and rng.uniform() < 0.25:
        for _ in range(8):
            name = str(rng.choice(list(CLUSTERS)))
            cluster = CLUSTERS[name](rng, sizes, even)
            done = [_Placed.of(part) for part in cluster]
            if all(a.clear_of(done[:i], c) for i, a in enumerate(done)):
                return name, cluster
    fitting = [name for name, (_, fewest) in PRIMITIVES.items() if fewest <= sizes[0]]
    name = sort if sort in fitting else str(rng.choice(fitting))
    return name, [PRIMITIVES[name][0](rng, sizes[0], even)]


def _in_space(rng: Rng, part: Array) -> Array:
    """A third column: a slab, or a thin sheet."""
    thick = rng.uniform(0.02, 1.0) * part.std()
    third = rng.normal(size=len(part)) if rng.uniform() < 0.5 else rng.uniform(-1.7, 1.7, len(part))
    return np.c_[part, thick * third]


def _resized(rng: Rng, clusters: list[Cluster]) -> list[Cluster]:
    """Clusters of drawn extents and turned, no group denser than another by more than `DENSER`."""
    gaps = [max(map(spacing, cluster)) for cluster in clusters]
    extents = np.exp(rng.uniform(0, np.log(log_uniform(rng, 1, 5)), len(clusters)))
    dense = np.sqrt(log_uniform(rng, 1.3, DENSER))  # of the spacing
    spaced = np.array(gaps) * extents
    middle = np.median(spaced)
    factor = np.clip(spaced, middle / np.sqrt(dense), middle * np.sqrt(dense)) / np.array(gaps)
    turns = [rotation(rng, cluster[0].shape[1]) for cluster in clusters]
    return [[part @ t * f for part in c] for c, t, f in zip(clusters, turns, factor, strict=True)]


@dataclass(frozen=True)
class _Placed:
    """A group (n, d) with the median and the upper decile of the distances to the nearest row, and a tree."""

    rows: Array
    spacing: float
    wide: float
    tree: KDTree

    @classmethod
    def of(cls, rows: Array) -> _Placed:
        tree = KDTree(rows)
        middle, wide = np.quantile(tree.query(rows, k=2)[0][:, 1], [0.5, 0.9])
        return cls(rows, float(middle), float(wide), tree)

    def clear_of(self, others: Iterable[_Placed], c: float, shift: Array | float = 0.0) -> bool:
        """Whether, moved by ``shift``, it keeps the gap from all of the others."""
        rows = self.rows + shift
        low, high = rows.min(axis=0), rows.max(axis=0)
        for other in others:
            # Rows by chance along a thin curve leave steps far over the median: a gap below these is none.
            gap = max(c * max(self.spacing, other.spacing), self.wide, other.wide)
            if (low > other.tree.maxes + gap).any() or (high < other.tree.mins - gap).any():
                continue
            for some in (rows[::20], rows):  # a few rows show most conflicts at once
                if np.isfinite(other.tree.query(some, distance_upper_bound=gap)[0]).any():
                    return False
        return True


def _placed(rng: Rng, clusters: list[Cluster], c: float, done: Sequence[Array] = ()) -> Cluster:
    """Every cluster moved out from the middle of a placed group until it keeps the gap, at times a wider one: the
    first place that is free may be inside of a ring or between arms."""
    placed = [_Placed.of(rows) for rows in done]
    for cluster in clusters:
        parts = [_Placed.of(rows) for rows in cluster]
        shift = _free_place(rng, parts, placed, c * (1.0 if rng.uniform() < 0.6 else log_uniform(rng, 1, 5)))
        placed += [_Placed.of(part.rows + shift) for part in parts]
    return [group.rows for group in placed]


def _free_place(rng: Rng, parts: list[_Placed], placed: list[_Placed], c: float) -> Array:
    middle = np.vstack([part.rows for part in parts]).mean(axis=0)
    if not placed:
        return -middle

    def free(place: Array) -> bool:
        return all(part.clear_of(placed, c, place - middle) for part in parts)

    start = placed[int(rng.integers(len(placed)))].rows.mean(axis=0)
    way = rng.normal(size=len(start))
    way /= np.linalg.norm(way)
    step = 0.15 * float(np.vstack([part.rows for part in parts]).std())
    far = 0.0
    while not free(start + far * way):
        step *= 1.15
        far += step
    near = max(far - step, 0.0)
    for _ in range(5 if far > 0 else 0):  # halve the last step
        half = (near + far) / 2
        near, far = (near, half) if free(start + half * way) else (half, far)
    return np.asarray(start + far * way - middle)


def _overlapping(rng: Rng, d: int) -> tuple[str, Cluster]:
    """Normal blobs 2.8 to 4.5 standard deviations apart, at times one primitive beside them."""
    sizes = _sizes(rng, int(rng.integers(2, 10)))
    sizes = [max(n, max(sizes) // 12) for n in sizes]  # a smaller one would be hidden by its neighbour
    beside = sizes.pop() if len(sizes) > 2 and rng.uniform() < 0.3 else 0
    shapes = factors(rng, len(sizes), d, (1.0, log_uniform(rng, 1, 3)), log_uniform(rng, 1, 2.8))
    centers = centers_apart(rng, shapes, rng.uniform(2.8, 4.5))
    groups = [m + rng.normal(size=(n, d)) @ f for m, n, f in zip(centers, sizes, shapes, strict=True)]
    if not beside:
        return "overlapping", groups
    name, (other,) = _cluster(rng, [beside], bool(rng.uniform() < 0.3), "", 1.0)
    other = _in_space(rng, other) if d == 3 else other
    other *= log_uniform(rng, 0.7, 2) * float(np.median([spacing(rows) for rows in groups])) / spacing(other)
    return f"overlapping+{name}", _placed(rng, [[other]], rng.uniform(1.2, 6), groups)


# --- tables without groups ----------------------------------------------------------------------------------------


def draw_alone(rng: Rng) -> tuple[str, Drawn]:
    """One primitive, or one distribution of `bench/choose_spreads.py`; some with gross outliers."""
    n = round(log_uniform(rng, 50, 3000))
    if rng.uniform() < 0.45:
        fitting = [name for name, (_, fewest) in PRIMITIVES.items() if fewest <= n]
        name = str(rng.choice(fitting))
        rows = PRIMITIVES[name][0](rng, n, bool(rng.uniform() < 0.3))
        rows = _in_space(rng, rows) if rng.uniform() < 0.12 else rows
        rows = rows @ rotation(rng, rows.shape[1])
    else:
        name, rows = draw_spread(rng, n)
    labels = np.ones(len(rows), np.int64)
    if rng.uniform() < 0.1:
        name += " + outliers"
        rows, labels = with_far(rng, (rows, labels))
        labels[:] = labels if rng.uniform() < 0.5 else 1
    elif rng.uniform() < 0.1:
        name += ", rounded"
        rows = rounded(rng, rows)
    return name, (rows, labels)
