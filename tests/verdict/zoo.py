"""Small tables whose number of groups is known."""

from __future__ import annotations

import numpy as np


def blobs(centers: list[list[float]], n: int, sd: float = 1.0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(c, sd, (n, len(c))) for c in centers])


THREE = blobs([[0, 0], [8, 0], [0, 8]], 80)


def boxes(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.vstack([rng.uniform(-0.5, 0.5, (150, 2)) + c for c in ([0, 0], [1.6, 0], [0, 1.6])])


def without_groups(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "normal": rng.standard_normal((200, 3)),
        "even": rng.uniform(size=(400, 2)),
        "walk": np.cumsum(rng.standard_normal((300, 3)), axis=0),
        "walk along columns": np.cumsum(rng.standard_normal((200, 6)), axis=1),
        "skewed": rng.exponential(size=(300, 2)),
    }
