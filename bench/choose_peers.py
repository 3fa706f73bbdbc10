"""The usual ways to find groups, each as its users know it: a function of standardised rows (n, d) and the most
groups to try, which gives labels (n,); -1 is noise. Genie gets the number of groups instead."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.choose_pieces import Array, Labels

MCLUST = Path(__file__).with_name("mclust_labels.R")
SECONDS = 300  # convention: mclust may take so long for a table


def standardised(rows: Array) -> Array:
    """Columns of mean 0 and standard deviation 1; constant ones are left out."""
    spread = rows.std(axis=0)
    varied = spread > 0
    return np.ascontiguousarray((rows - rows.mean(axis=0))[:, varied] / spread[varied])


def hdbscan(rows: Array, smallest: int) -> Labels:
    from sklearn.cluster import HDBSCAN

    if len(rows) < smallest:
        return np.full(len(rows), -1)
    return np.asarray(HDBSCAN(min_cluster_size=smallest, copy=True).fit_predict(rows))


def plscan(rows: Array, _: int) -> Labels:
    from fast_plscan import PLSCAN

    return np.asarray(PLSCAN(num_threads=1).fit(rows).labels_)


def largest_silhouette(rows: Array, most: int) -> Labels:
    """Of k-means; it cannot say 1."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    found = [KMeans(k, n_init=10, random_state=0).fit_predict(rows) for k in range(2, most + 1)]
    return np.asarray(max(found, key=lambda labels: silhouette_score(rows, labels)))


def least_bic(rows: Array, most: int) -> Labels:
    """A loop over scikit-learn's GaussianMixture, every covariance type."""
    from sklearn.mixture import GaussianMixture

    best: tuple[float, Any] = (np.inf, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that did not converge
        for k in range(1, most + 1):
            for structure in ("full", "tied", "diag", "spherical"):
                try:
                    mixture = GaussianMixture(k, covariance_type=structure, random_state=0).fit(rows)
                except ValueError:  # a covariance that collapsed
                    continue
                best = min(best, (mixture.bic(rows), mixture), key=lambda pair: pair[0])
    return np.asarray(best[1].predict(rows))


def genie(rows: Array, k: int) -> Labels:
    """With the true number of groups."""
    from genieclust import Genie

    if rows.shape[1] == 1:  # it refuses a single column; a constant one beside it changes no distance
        rows = np.column_stack([rows, np.zeros(len(rows))])
    return np.asarray(Genie(n_clusters=k).fit_predict(rows))


# --- mclust -------------------------------------------------------------------------------------------------------


@cache
def has_mclust() -> bool:
    """Whether R and its mclust are there."""
    if shutil.which("Rscript") is None:
        return False
    asked = ["Rscript", "-e", 'quit(status = !requireNamespace("mclust", quietly = TRUE))']
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


class Mclust:
    """One R process for many tables: a line with a table's file goes in, a line with the seconds comes out."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mclust-")
        self._process = subprocess.Popen(
            ["Rscript", str(MCLUST), str(SECONDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def labels(self, rows: Array, most: int) -> tuple[Labels, float]:
        """Labels by ``Mclust`` with all its structures (those without correlations beyond 40 columns) and the seconds
        of the processor; all -1 where it finds nothing or not in time."""
        n, d = rows.shape
        table = Path(self._folder.name) / "rows.bin"
        table.write_bytes(rows.astype(np.float64).tobytes(order="F"))
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the R process has no pipes")
        print(table, n, d, most, file=self._process.stdin, flush=True)
        said = self._process.stdout.readline()
        if not said:
            raise RuntimeError(f"the R process ended at a table of {n} x {d}")
        return np.fromfile(f"{table}.labels", np.int32).astype(np.int64), float(said)


@cache
def mclust_process() -> Mclust:
    """Started when it is first needed; it ends with its input, when this process does."""
    return Mclust()
