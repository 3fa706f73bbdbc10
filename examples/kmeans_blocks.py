"""K-means from its two functions: what a block says to the centres, and where the centres go.

Run it from anywhere: ``python examples/kmeans_blocks.py``. The penguins' four measurements are scaled and cut
into blocks; each block is summarised by itself, the summaries merge, and the centres move. Then
``asterism.KMeans`` does the same job in compiled loops, on all cores, from better starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.csv as csv

import asterism

PENGUINS = Path(__file__).with_name("penguins.csv")
MEASURES = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


@dataclass(frozen=True)
class GroupMeans:
    """The statistic: rows and mean of each group, and the sum of squares around the centres."""

    count: np.ndarray  # (k,)
    mean: np.ndarray  # (k, d) 0 where a group has no rows
    squares: float

    def merge(self, other: GroupMeans) -> GroupMeans:
        """Of both sets of rows: each mean moves towards the other by its share."""
        count = self.count + other.count
        share = np.divide(other.count, count, out=np.zeros(len(count)), where=count > 0)
        mean = self.mean + (other.mean - self.mean) * share[:, None]
        return GroupMeans(count, mean, self.squares + other.squares)


def summarize(centers: np.ndarray, block: np.ndarray) -> GroupMeans:
    """Each row to its nearest centre; rows, means and squares of the groups."""
    distances = ((block[:, None, :] - centers) ** 2).sum(axis=2)  # (n, k) of one block, never of the table
    labels = distances.argmin(axis=1)
    count = np.bincount(labels, minlength=len(centers)).astype(float)
    total = np.zeros_like(centers)
    np.add.at(total, labels, block)
    mean = np.divide(total, count[:, None], out=np.zeros_like(total), where=count[:, None] > 0)
    return GroupMeans(count, mean, float(distances.min(axis=1).sum()))


def update(centers: np.ndarray, statistic: GroupMeans) -> np.ndarray:
    """Each centre to the mean of its rows; one without rows stays."""
    return np.where(statistic.count[:, None] > 0, statistic.mean, centers)


def kmeans(blocks: list[np.ndarray], centers: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Centres that no longer move, and the objective before every step."""
    history: list[float] = []
    while True:
        statistic = summarize(centers, blocks[0])
        for block in blocks[1:]:
            statistic = statistic.merge(summarize(centers, block))
        history.append(statistic.squares)
        moved = update(centers, statistic)
        if np.allclose(moved, centers, atol=1e-10):
            return moved, history
        centers = moved


def measurements() -> np.ndarray:
    """(342, 4) the penguins that were measured, every column with mean 0 and variance 1."""
    options = csv.ConvertOptions(include_columns=list(MEASURES), null_values=["NA"])
    table = csv.read_csv(PENGUINS, convert_options=options)
    rows = np.column_stack([column.to_numpy(zero_copy_only=False) for column in table.columns]).astype(float)
    rows = rows[~np.isnan(rows).any(axis=1)]
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def main() -> None:
    """Both ways, side by side."""
    rows = measurements()
    start = rows[[0, 150, 300]]
    centers, history = kmeans([rows[i : i + 64] for i in range(0, len(rows), 64)], start)
    print(f"by hand:  {len(centers)} groups, {len(history)} steps, within sum of squares {history[-1]:.3f}")

    estimator = asterism.KMeans(3, random_state=0).fit(rows)
    print(f"asterism: {estimator.n_clusters} groups, within sum of squares {estimator.inertia_:.3f}")
    for group, size in enumerate(np.bincount(estimator.labels_)):
        print(f"  group {group}: {size} penguins")


if __name__ == "__main__":
    main()
