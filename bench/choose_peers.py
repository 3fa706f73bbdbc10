"""The usual ways to choose k, each as its users know it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np

from bench.choose_sets import LabelledSet

REFERENCES = 10  # tables of the gap statistic
STARTS = 3  # of k-means in it


def least_bic(table: LabelledSet) -> int:
    """A loop over scikit-learn's GaussianMixture, every covariance type."""
    from sklearn.mixture import GaussianMixture

    X, found = table.X, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that did not settle
        for k in table.ks:
            for structure in ("full", "tied", "diag", "spherical"):
                mixture = GaussianMixture(k, covariance_type=structure, random_state=0)
                found[k, structure] = mixture.fit(X).bic(X)
    return min(found, key=lambda cell: found[cell])[0]


def largest_silhouette(table: LabelledSet) -> int:
    """Of k-means; it cannot say 1."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    found = {
        k: silhouette_score(table.X, KMeans(k, n_init=10, random_state=0).fit_predict(table.X))
        for k in table.ks
        if k > 1
    }
    return max(found, key=lambda k: found[k])


def gap(table: LabelledSet) -> int:
    """Tibshirani's, references even in the box of the principal axes, the one-standard-error rule."""
    X = table.X - table.X.mean(axis=0)
    axes = np.linalg.svd(X, full_matrices=False)[2]
    along = X @ axes.T
    rng = np.random.default_rng(0)
    drawn = [rng.uniform(along.min(axis=0), along.max(axis=0), along.shape) for _ in range(REFERENCES)]
    logs = {k: np.array([_log_within(reference, k) for reference in drawn]) for k in table.ks}
    gaps = {k: logs[k].mean() - _log_within(X, k) for k in table.ks}
    errors = {k: logs[k].std() * np.sqrt(1 + 1 / REFERENCES) for k in table.ks}
    ks = list(table.ks)
    return next((k for k in ks[:-1] if gaps[k] >= gaps[k + 1] - errors[k + 1]), ks[-1])


def _log_within(X: np.ndarray, k: int) -> float:
    from sklearn.cluster import KMeans

    return float(np.log(KMeans(k, n_init=STARTS, random_state=0).fit(X).inertia_))


MCLUST = """
suppressMessages(library(mclust))
arguments <- commandArgs(trailingOnly = TRUE)
setTimeLimit(cpu = 600)
n <- as.integer(arguments[2]); d <- as.integer(arguments[3]); most <- as.integer(arguments[4])
x <- matrix(readBin(arguments[1], "double", n * d), n, d)
wide <- if (d > 40) c("EII", "VII", "EEI", "EVI", "VEI", "VVI") else NULL
m <- try(Mclust(x, G = 1:most, modelNames = wide, verbose = FALSE), TRUE)
cat("G", if (inherits(m, "try-error") || is.null(m)) 0 else m$G, "\\n")
"""


@lru_cache
def has_mclust() -> bool:
    """Whether R and its mclust are there."""
    if shutil.which("Rscript") is None:
        return False
    asked = ["Rscript", "-e", 'quit(status = !requireNamespace("mclust", quietly = TRUE))']
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def mclust(table: LabelledSet) -> int:
    """``Mclust`` with all its structures (those without correlations beyond 40 columns); 0 where it finds nothing
    (or not in ten minutes of the processor)."""
    n, d = table.X.shape
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.bin"
        rows.write_bytes(table.X.astype(np.float64).tobytes(order="F"))
        command = ["Rscript", "-e", MCLUST, str(rows), str(n), str(d), str(table.most)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("G ")]
    return int(said[0]) if said else 0
