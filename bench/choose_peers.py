"""The usual ways to choose k, each as its users know it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

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


class Mclust(NamedTuple):
    """R's answers, in the order of the tables."""

    ks: list[int]
    seconds: float


MCLUST = """
suppressMessages(library(mclust))
arguments <- commandArgs(trailingOnly = TRUE)
tables <- read.csv(file.path(arguments[1], "tables.csv"))
for (i in seq_len(nrow(tables))) {
  n <- tables$n[i]; d <- tables$d[i]
  x <- matrix(readBin(file.path(arguments[1], paste0(i, ".bin")), "double", n * d), n, d)
  wide <- if (d > 40) c("EII", "VII", "EEI", "EVI", "VEI", "VVI") else NULL
  seconds <- system.time(m <- try(Mclust(x, G = 1:tables$most[i], modelNames = wide, verbose = FALSE), TRUE))[[3]]
  cat(if (inherits(m, "try-error") || is.null(m)) 0 else m$G, seconds, "\\n")
}
"""


def mclust(tables: list[LabelledSet]) -> Mclust | None:
    """``Mclust`` with all its structures (those without correlations beyond 40 columns); None without R's mclust."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        lines = ["n,d,most"] + [f"{len(t.X)},{t.X.shape[1]},{t.most}" for t in tables]
        (Path(folder) / "tables.csv").write_text("\n".join(lines) + "\n")
        for i, table in enumerate(tables, start=1):
            (Path(folder) / f"{i}.bin").write_bytes(table.X.astype(np.float64).tobytes(order="F"))
        done = subprocess.run(
            ["Rscript", "-e", MCLUST, folder], capture_output=True, text=True, timeout=1800, check=False
        )
    said = [line.split() for line in done.stdout.splitlines()]
    if done.returncode or len(said) != len(tables):
        return None
    return Mclust([int(k) for k, _ in said], sum(float(seconds) for _, seconds in said))
