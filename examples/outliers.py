"""A few wild rows: means follow them, medoids do not.

Run it from anywhere: ``python examples/outliers.py``. Three groups of 400 rows, and 4 rows (a slip of the decimal
point, say) far away. K-means pays the square of a distance, so it is cheaper to give the wild rows a centre of
their own and to join two groups; k-medoids pays the distance itself, and keeps the groups.
"""

from __future__ import annotations

import numpy as np

from asterism import KMeans, KMedoids
from asterism.metrics import adjusted_rand_score

GROUPS, SIZE, WILD = 3, 400, 4


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and the group of each that is not wild."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 9.0]])
    truth = np.repeat(np.arange(GROUPS), SIZE)
    rows = corners[truth] + rng.normal(size=(GROUPS * SIZE, 2))
    return np.vstack([rows, 300.0 + rng.normal(size=(WILD, 2))]), truth


def main() -> None:
    """Fit both, and say how well each agrees with the groups."""
    X, truth = table()
    for estimator in (KMeans(GROUPS, n_init=10, random_state=0), KMedoids(GROUPS, random_state=0)):
        labels = estimator.fit(X).labels_[: len(truth)]
        agreement = adjusted_rand_score(truth, labels)
        print(f"{type(estimator).__name__:8s} agreement with the groups {agreement:.2f}")


if __name__ == "__main__":
    main()
