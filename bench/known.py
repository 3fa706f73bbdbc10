"""What a few labels, pairs and sizes are worth on tables whose groups overlap (``asterism.find(..., known=...)``).

    python -m bench.known                      some minutes
    python -m bench.known --tables 6           a first look

Tables are normal groups (round, of any shape, of several sizes) and groups of mixed columns, so near each other that
the true densities themselves place 10 to 30% of the rows wrongly. 5% of the rows have their label. In the same run:

    plain       ``find`` with the true number of groups, nothing known
    auto        ``find`` with nothing given at all
    sklearn     ``GaussianMixture`` with the true number
    sklearn+    the same, started at the means of the labelled rows: all that its users can do with labels
    seeds       semi-supervised EM in a few lines: full covariances, responsibilities of labelled rows fixed
    cop         COP-k-means in a few lines (Wagstaff et al. 2001): the labels as pairs, row by row, nearest first
    bayes       the densities that the tables are drawn from: the most there is

The adjusted Rand index is that of the rows without a label. Then the same labels as pairs only, and sizes only.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from asterism import find
from asterism.metrics import adjusted_rand_score

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
LABELLED = 0.05


@dataclass(frozen=True)
class Drawn:
    """A table, its groups, and what the densities that it was drawn from say."""

    name: str
    x: Array  # columns of numbers
    words: Labels | None  # a column of names
    z: Labels
    bayes: Labels

    @property
    def table(self) -> pa.Table:
        columns = {f"x{j}": column for j, column in enumerate(self.x.T)}
        if self.words is not None:
            columns["word"] = [f"w{word}" for word in self.words]
        return pa.table(columns)


def drawn(seed: int) -> Drawn:
    """Groups at distances that leave 10 to 30% of the rows in doubt."""
    rng = np.random.default_rng(seed)
    normal = multivariate_normal
    while True:
        k, d = int(rng.integers(2, 5)), int(rng.integers(2, 7))
        n = int(rng.integers(300, 1001))
        shares = rng.dirichlet(np.full(k, 6.0))
        kind = ("round", "any shape", "mixed")[seed % 3]
        means = rng.normal(0.0, rng.uniform(0.8, 1.8), (k, d))
        scatters = [np.eye(d)] * k
        if kind == "any shape":
            factors = [np.eye(d) + 0.5 * rng.normal(size=(d, d)) for _ in range(k)]
            scatters = [f @ f.T / d + 0.2 * np.eye(d) for f in factors]
        z = rng.choice(k, n, p=shares)
        x = np.array([rng.multivariate_normal(means[g], scatters[g]) for g in z])
        scores = np.stack(
            [np.log(p) + normal(m, s).logpdf(x) for p, m, s in zip(shares, means, scatters, strict=True)],
            axis=1,
        )  # fmt: skip
        words = None
        if kind == "mixed":
            levels = rng.dirichlet(np.ones(3), k)
            words = np.array([rng.choice(3, p=levels[g]) for g in z])
            scores = scores + np.log(levels[:, words]).T
        bayes = scores.argmax(axis=1)
        if 0.10 <= (bayes != z).mean() <= 0.30 and np.bincount(z, minlength=k).min() >= 30:
            return Drawn(f"{seed:2d} {kind}, {n} x {d}, {k} groups", x, words, z, bayes)


def labels_of(table: Drawn, seed: int) -> list[str | None]:
    """One of every group, the others at random."""
    rng = np.random.default_rng(1000 + seed)
    order = rng.permutation(len(table.z))
    first = [int(order[table.z[order] == g][0]) for g in np.unique(table.z)]
    chosen = [*first, *[int(i) for i in order if i not in first]][: round(LABELLED * len(table.z))]
    cells: list[str | None] = [None] * len(table.z)
    for i in chosen:
        cells[i] = f"g{table.z[i]}"
    return cells


# --- peers ------------------------------------------------------------------------------------------------------


def sklearn_mixture(x: Array, k: int, known: Labels | None = None) -> Labels:
    from sklearn.mixture import GaussianMixture

    means = None if known is None else np.array([x[known == g].mean(axis=0) for g in range(k)])
    return GaussianMixture(k, random_state=0, means_init=means, n_init=5 if means is None else 1).fit_predict(
        x
    )


def semi_supervised(x: Array, k: int, known: Labels, steps: int = 200) -> Labels:
    """EM of full covariances; the responsibilities of labelled rows are fixed."""
    r = np.full((len(x), k), 1.0 / k)
    fixed = known >= 0
    r[fixed] = np.eye(k)[known[fixed]]
    means = np.array([x[known == g].mean(axis=0) for g in range(k)])
    r[~fixed] = np.eye(k)[((x[~fixed, None] - means) ** 2).sum(axis=2).argmin(axis=1)]
    for _ in range(steps):
        mass = r.sum(axis=0)
        scores = np.empty_like(r)
        for g in range(k):
            mean = r[:, g] @ x / mass[g]
            about = (x - mean) * np.sqrt(r[:, [g]])
            scatter = about.T @ about / mass[g] + 1e-6 * np.eye(x.shape[1])
            scores[:, g] = np.log(mass[g] / len(x)) + multivariate_normal(mean, scatter).logpdf(x)
        r = np.exp(scores - scores.max(axis=1, keepdims=True))
        r /= r.sum(axis=1, keepdims=True)
        r[fixed] = np.eye(k)[known[fixed]]
    return r.argmax(axis=1)


def cop_kmeans(x: Array, k: int, known: Labels, steps: int = 100) -> Labels:
    """Rows go one by one to the nearest centre that breaks no pair; the pairs are those of the labelled rows."""
    centers = np.array([x[known == g].mean(axis=0) for g in range(k)])
    labels = np.full(len(x), -1)
    for _ in range(steps):
        before, order = labels, np.argsort(known < 0, kind="stable")  # labelled rows first
        labels = np.full(len(x), -1)
        squares = ((x[:, None] - centers) ** 2).sum(axis=2)
        for i in order:
            for g in np.argsort(squares[i]):
                there = labels == g
                broken = known[i] >= 0 and (known[there & (known >= 0)] != known[i]).any()
                apart = known[i] >= 0 and (labels[(known == known[i]) & (labels >= 0)] != g).any()
                if not broken and not apart:
                    labels[i] = g
                    break
        centers = np.array(
            [x[labels == g].mean(axis=0) if (labels == g).any() else centers[g] for g in range(k)]
        )
        if (labels == before).all():
            break
    return labels


# --- the run ----------------------------------------------------------------------------------------------------

NAMES = (
    "plain",
    "known",
    "auto",
    "auto known",
    "pairs",
    "sizes",
    "sklearn",
    "sklearn+",
    "seeds",
    "cop",
    "bayes",
)


def measured(seed: int) -> tuple[str, dict[str, float]]:
    table = drawn(seed)
    k = int(table.z.max()) + 1
    cells = labels_of(table, seed)
    known = np.array([-1 if cell is None else int(cell[1:]) for cell in cells])
    rest = known < 0
    x = table.x if table.words is None else np.hstack([table.x, np.eye(3)[table.words]])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    some = np.flatnonzero(~rest)
    pairs = [(int(i), int(j)) for i, j in pairwise(some)]
    same = [pair for pair in pairs if known[pair[0]] == known[pair[1]]]
    other = [pair for pair in pairs if known[pair[0]] != known[pair[1]]]
    sizes = np.bincount(table.z)
    found = {
        "plain": find(table.table, k=k).labels,
        "known": find(table.table, k=k, known=cells).labels,
        "auto": find(table.table).labels,
        "auto known": find(table.table, known=cells).labels,
        "pairs": find(table.table, k=k, together=same, apart=other).labels,
        "sizes": find(table.table, k=k, min_size=int(sizes.min()), max_size=int(sizes.max())).labels,
        "sklearn": sklearn_mixture(x, k),
        "sklearn+": sklearn_mixture(x, k, known),
        "seeds": semi_supervised(x, k, known),
        "cop": cop_kmeans(x, k, known),
        "bayes": table.bayes,
    }
    for name in ("known", "auto known"):
        assert len({(cells[i], int(found[name][i])) for i in some}) == k, "a label was not kept"
    assert all(found["pairs"][i] == found["pairs"][j] for i, j in same), "a pair was broken"
    assert all(found["pairs"][i] != found["pairs"][j] for i, j in other), "a pair was broken"
    kept = np.bincount(found["sizes"], minlength=k)
    assert sizes.min() <= kept.min() <= kept.max() <= sizes.max(), "a size was not kept"
    return table.name, {name: adjusted_rand_score(table.z[rest], found[name][rest]) for name in NAMES}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'adjusted Rand of rows without a label':38s}" + "".join(f"{name:>11s}" for name in NAMES))
    every = []
    for seed in range(options.first, options.first + options.tables):
        name, scores = measured(seed)
        every.append([scores[each] for each in NAMES])
        print(f"{name:38s}" + "".join(f"{score:11.3f}" for score in every[-1]), flush=True)
    print(f"{'mean':38s}" + "".join(f"{score:11.3f}" for score in np.mean(every, axis=0)))
    columns = dict(zip(NAMES, np.array(every).T, strict=True))
    for after, before in (("known", "plain"), ("auto known", "auto"), ("pairs", "plain"), ("known", "seeds")):
        gain = columns[after] - columns[before]
        better, worse = (gain > 0.005).sum(), (gain < -0.005).sum()
        print(f"{after} beside {before}: {gain.mean():+.3f}; better on {better}, worse on {worse}")


if __name__ == "__main__":
    main()
