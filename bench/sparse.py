"""k-means on a table of texts, 20,000 x 50,000 and sparse, beside scikit-learn.

    python -m bench.sparse

Words follow Zipf's law, a third of each text those of its subject; weighted by tf-idf, rows of length 1. Both take
the same seeds, one start each, and two threads; turn by turn. The objective is computed from labels, for both alike.
"""

from __future__ import annotations

import os
import time
import warnings

import numpy as np

for library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "2")

ROWS, WORDS, SUBJECTS, LENGTH, ROUNDS = 20_000, 50_000, 20, 120, 3


def texts(n: int = ROWS, d: int = WORDS, k: int = SUBJECTS, seed: int = 0):  # type: ignore[no-untyped-def]
    """(n, d) CSR, and the subject of every row."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, d + 1) ** 1.05
    total = np.cumsum(share / share.sum())
    own = np.stack([rng.choice(np.arange(50, 5000), 300, replace=False) for _ in range(k)])
    subject, length = rng.integers(k, size=n), rng.poisson(LENGTH, n)
    row = np.repeat(np.arange(n), length)
    common = np.minimum(np.searchsorted(total, rng.random(len(row))), d - 1)
    special = own[subject[row], rng.integers(300, size=len(row))]
    word = np.where(rng.random(len(row)) < 0.3, special, common)
    counts = csr_matrix((np.ones(len(row)), (row, word)), (n, d))
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts).tocsr(), subject


def inertia(X, labels: np.ndarray) -> float:  # type: ignore[no-untyped-def]
    """sum ||x||^2 - sum_c ||sum of the rows of c||^2 / their number."""
    from scipy.sparse import csr_matrix

    n, k = len(labels), int(labels.max()) + 1
    sums = csr_matrix((np.ones(n), (labels, np.arange(n))), (k, n)) @ X
    squares = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
    return float(X.multiply(X).sum() - (squares / np.bincount(labels, minlength=k)).sum())


def main() -> None:
    """Race, and tell."""
    import sklearn.cluster
    from sklearn.metrics import adjusted_rand_score

    import asterism

    warnings.simplefilter("ignore")
    X, subject = texts()
    contestants = {
        "asterism": lambda X, seed: asterism.KMeans(SUBJECTS, n_init=1, random_state=seed).fit(X),
        "scikit-learn": lambda X, seed: sklearn.cluster.KMeans(SUBJECTS, n_init=1, random_state=seed).fit(X),
    }
    print(f"{X.shape[0]} x {X.shape[1]}, {X.nnz} cells stored")
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for fit in contestants.values():
        fit(X[:2000], 0)  # warm
    with asterism.engine(n_threads=2):
        for seed in range(ROUNDS):
            for name, fit in contestants.items():
                start, busy = time.perf_counter(), time.process_time()
                found = fit(X, seed)
                seconds, busy = time.perf_counter() - start, time.process_time() - busy
                taken[name].append(busy)
                rand = adjusted_rand_score(subject, found.labels_)
                print(
                    f"{name:14} seed {seed}: {seconds:6.2f} s, {busy:5.2f} s of processors, {found.n_iter_} steps, "
                    f"J {inertia(X, found.labels_):.1f}, adjusted Rand {rand:.3f}",
                    flush=True,
                )
    ratio = sum(taken["scikit-learn"]) / sum(taken["asterism"])
    print(f"scikit-learn takes {ratio:.2f} times as much time of processors")


if __name__ == "__main__":
    main()
