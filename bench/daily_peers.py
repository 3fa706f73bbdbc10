"""What a user of pandas and scikit-learn does with a table as it comes, by hand-made columns and by skrub's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import silhouette_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bench.choose_pieces import Array, Labels

MOST_ROWS = 5_000  # convention: of peers, whose cost grows faster than rows
MOST_LEVELS = 0.5  # convention: share of rows with a word of their own from which a column is dropped by hand
SILHOUETTE_ROWS = 2_000
NUMBERS = range(2, 9)  # of groups that k-means tries


def by_hand(frame: pd.DataFrame) -> Array:
    """Numbers: medians for missing cells, standardised. Words: one-hot, rare ones together; columns of names
    dropped."""
    numbers = [
        c
        for c in frame
        if pd.api.types.is_numeric_dtype(frame[c]) and frame[c].dtype != bool and frame[c].nunique() > 1
    ]
    words = [c for c in frame if c not in numbers and 1 < frame[c].nunique() <= MOST_LEVELS * len(frame)]
    one_hot = OneHotEncoder(max_categories=20, handle_unknown="infrequent_if_exist", sparse_output=False)
    filled = frame.assign(
        **{c: frame[c].astype(object).where(frame[c].notna(), "missing").astype(str) for c in words}
    )
    both = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers), (one_hot, words)
    )
    return np.asarray(both.fit_transform(filled), float)


def by_skrub(frame: pd.DataFrame) -> Array:
    """skrub's TableVectorizer, then medians and standardising."""
    from skrub import TableVectorizer

    x = TableVectorizer().fit_transform(frame)
    return np.asarray(
        make_pipeline(SimpleImputer(strategy="median"), StandardScaler()).fit_transform(x), float
    )


def kmeans(x: Array) -> Labels:
    """k-means of the number with the best silhouette."""
    best, found = -2.0, np.zeros(len(x), int)
    some = np.random.default_rng(0).permutation(len(x))[:SILHOUETTE_ROWS]
    for k in NUMBERS:
        labels = KMeans(k, n_init=5, random_state=0).fit_predict(x)
        if len(set(labels[some])) > 1 and (score := silhouette_score(x[some], labels[some])) > best:
            best, found = score, labels
    return found


def hdbscan(x: Array) -> Labels:
    """HDBSCAN of groups of at least a fiftieth of the rows, or 15."""
    labels: Labels = HDBSCAN(min_cluster_size=max(15, len(x) // 50), copy=True).fit_predict(x)
    return labels


WAYS: dict[str, tuple[Callable[[pd.DataFrame], Array], Callable[[Array], Labels]]] = {
    "pandas, k-means": (by_hand, kmeans),
    "pandas, HDBSCAN": (by_hand, hdbscan),
    "skrub, k-means": (by_skrub, kmeans),
    "skrub, HDBSCAN": (by_skrub, hdbscan),
}


def present() -> dict[str, str]:
    """Peers that cannot run here, and why."""
    return {} if find_spec("skrub") else {name: "skrub is not installed" for name in WAYS if "skrub" in name}


def peer_scores(frame: pd.DataFrame, truth: Labels) -> dict[str, float]:
    """Adjusted Rand index of every peer, on at most MOST_ROWS rows of the table."""
    from sklearn.metrics import adjusted_rand_score

    some = np.sort(np.random.default_rng(0).permutation(len(frame))[:MOST_ROWS])
    part, missing = frame.iloc[some].reset_index(drop=True), present()
    scores, seen = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (encode, cluster) in WAYS.items():
            if name not in missing:
                if encode not in seen:
                    seen[encode] = encode(part)
                scores[name] = float(adjusted_rand_score(truth[some], cluster(seen[encode])))
    return scores
