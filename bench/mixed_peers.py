"""The usual ways to find groups in tables with columns of every kind, each as its users know it: a function of a data
frame that gives labels (n,), -1 for noise.

Columns of words and truth values, and numbers with two values, are categories. StepMix integrates missing cells out;
the others get medians and modes. Those that need all distances see 2,000 rows, and the other rows join the nearest.
Numbers of groups from 2 (StepMix: 1) to 10 are tried until ``SECONDS`` are over.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bench.choose_pieces import Array, Labels

MOST = 10  # groups that are tried; find tries as many
MOST_ROWS = 2000  # convention: of a matrix of distances
FEW_VALUES = (
    10  # convention: whole numbers of so few values are categories to StepMix, whose users have answers
)
PATIENCE = 3  # convention: numbers of groups in a row that are no better by BIC, then no more are fitted
SECONDS = 120.0  # convention: no further number of groups is tried after so many


@dataclass(frozen=True)
class Prepared:
    """A table as peers take it, no cell missing: standardised numbers (n, p), codes of categories (n, q)."""

    numbers: Array
    codes: Labels


def is_category(column: pd.Series) -> bool:
    """Words, truth values, and anything of at most two values."""
    return not pd.api.types.is_numeric_dtype(column) or column.dtype == bool or column.nunique() <= 2


def prepared(frame: pd.DataFrame) -> Prepared:
    """Medians and modes for missing cells; constant columns are left out."""
    numbers, codes = [np.empty((len(frame), 0))], [np.empty((len(frame), 0), np.int64)]
    for name in frame:
        column = frame[name]
        if column.nunique() < 2:
            continue
        if is_category(column):
            code = pd.factorize(column, sort=True)[0]
            codes.append(np.where(code < 0, np.bincount(code[code >= 0]).argmax(), code)[:, None])
        else:
            x = column.fillna(column.median()).to_numpy(float)
            if x.std() > 0:
                numbers.append(((x - x.mean()) / x.std())[:, None])
    return Prepared(np.hstack(numbers), np.hstack(codes))


def _in_time(numbers: range) -> Iterator[int]:
    ends = time.monotonic() + SECONDS
    for k in numbers:
        if time.monotonic() < ends:
            yield k


def sample(n: int) -> Labels:
    """Rows that a matrix of distances has: all, or 2,000 drawn ones."""
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))


# --- distances ----------------------------------------------------------------------------------------------------


def gower_distances(table: Prepared, rows: Labels, others: Labels | None = None) -> Array:
    """Gower's dissimilarity between rows, or between rows and others, by the package gower."""
    from gower import gower_matrix

    whole = np.hstack([table.numbers.astype(object), table.codes.astype(str).astype(object)])
    categories = np.arange(whole.shape[1]) >= table.numbers.shape[1]
    if others is None:
        return np.asarray(gower_matrix(whole[rows], cat_features=categories), np.float64)
    both = np.r_[rows, others]  # ranges of all rows that are compared
    matrix = gower_matrix(whole[both], cat_features=categories)
    return np.asarray(matrix[: len(rows), len(rows) :], np.float64)


def largest_silhouette(distances: Array, label: Callable[[int], Labels]) -> Labels:
    """Labels of the number of groups with the largest mean silhouette; it cannot say 1."""
    from sklearn.metrics import silhouette_score

    best, found = -np.inf, np.zeros(len(distances), np.int64)
    for k in _in_time(range(2, min(MOST, len(distances) - 1) + 1)):
        labels = label(k)
        if 1 < len(np.unique(labels)) < len(labels):
            score = silhouette_score(distances, labels, metric="precomputed")
            if score > best:
                best, found = score, labels
    return found


def _joined(table: Prepared, rows: Labels, labels: Labels) -> Labels:
    """Labels of all rows: those that were not in the sample join their nearest row of it."""
    n = len(table.numbers)
    found = np.empty(n, np.int64)
    found[rows] = labels
    rest = np.setdiff1d(np.arange(n), rows)
    for part in np.array_split(rest, -(-len(rest) // MOST_ROWS) or 1):
        if len(part):
            found[part] = labels[gower_distances(table, part, rows).argmin(axis=1)]
    return found


# --- peers --------------------------------------------------------------------------------------------------------


def gower_pam(frame: pd.DataFrame) -> Labels:
    """Medoids of Gower's dissimilarity (FasterPAM), the number of groups by silhouettes."""
    from kmedoids import fasterpam

    table = prepared(frame)
    rows = sample(len(frame))
    distances = gower_distances(table, rows)
    np.fill_diagonal(distances, 0.0)

    def label(k: int) -> Labels:
        starts = [fasterpam(distances, k, random_state=seed, n_cpu=1) for seed in range(3)]
        return np.asarray(min(starts, key=lambda found: found.loss).labels, np.int64)

    return _joined(table, rows, largest_silhouette(distances, label))


def k_prototypes(frame: pd.DataFrame) -> Labels:
    """k-prototypes (k-modes where there are no numbers, k-means where there is nothing else), by silhouettes."""
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes
    from sklearn.cluster import KMeans

    table = prepared(frame)
    rows = sample(len(frame))
    distances = gower_distances(table, rows)
    np.fill_diagonal(distances, 0.0)
    numbers, codes = table.numbers[rows], table.codes[rows]

    def label(k: int) -> Labels:
        if not numbers.shape[1]:
            found = KModes(k, n_init=3, random_state=0).fit_predict(codes)
        elif not codes.shape[1]:
            found = KMeans(k, n_init=10, random_state=0).fit_predict(numbers)
        else:
            mixed = np.hstack([numbers.astype(object), codes.astype(object)])
            where = list(range(numbers.shape[1], mixed.shape[1]))
            method = KPrototypes(k, n_init=2, max_iter=30, random_state=0)
            try:
                found = method.fit_predict(mixed, categorical=where)
            except ValueError:  # it could not initialize: a group stays empty
                found = np.zeros(len(mixed))
        return np.asarray(found, np.int64)

    return _joined(table, rows, largest_silhouette(distances, label))


def one_hot_hdbscan(frame: pd.DataFrame) -> Labels:
    """HDBSCAN of standardised numbers and levels, groups of at least 15 rows."""
    from sklearn.cluster import HDBSCAN

    table = prepared(frame)
    levels = [np.eye(codes.max() + 1)[codes] for codes in table.codes.T]
    rows = np.hstack([table.numbers, *levels])
    rows = rows[:, rows.std(axis=0) > 0]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return np.asarray(HDBSCAN(min_cluster_size=15, copy=True).fit_predict(rows), np.int64)


def stepmix(frame: pd.DataFrame) -> Labels:
    """StepMix: a latent class model of categories and normal numbers, missing cells integrated out, least BIC."""
    from stepmix import StepMix
    from stepmix.utils import get_mixed_descriptor

    columns, numbers, categories = {}, [], []
    for name, column in frame.items():
        if column.nunique() < 2:
            continue
        few = (
            column.nunique() <= FEW_VALUES and (column.dropna() % 1 == 0).all()
            if not is_category(column)
            else True
        )
        if few:
            code = pd.factorize(column, sort=True)[0].astype(float)
            columns[str(name)] = np.where(code < 0, np.nan, code)
            categories.append(str(name))
        else:
            x = column.to_numpy(float)
            columns[str(name)] = (x - np.nanmean(x)) / np.nanstd(x)
            numbers.append(str(name))
    kinds = {"continuous_nan": numbers, "categorical_nan": categories}
    best, found = np.inf, np.zeros(len(frame), np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that did not converge
        rows, measurement = get_mixed_descriptor(
            pd.DataFrame(columns), **{k: v for k, v in kinds.items() if v}
        )
        worse = 0
        for k in _in_time(range(1, MOST + 1)):
            model = StepMix(
                k, measurement=measurement, n_init=2, abs_tol=1e-6, random_state=0, progress_bar=0
            )
            model.fit(rows)
            criterion = model.bic(rows)
            worse = worse + 1 if criterion >= best else 0
            if worse == PATIENCE:
                break
            if criterion < best:
                best, found = criterion, np.asarray(model.predict(rows), np.int64)
    return found
