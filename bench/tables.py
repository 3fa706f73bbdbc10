"""Tables to work on, from fixed seeds, written a piece at a time so that nobody holds them twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np

PIECE = 65_536  # rows
APART = 3.0  # expected distance of two centres, in standard deviations within a group, whatever d


def groups_table(path: Path, n: int, d: int, k: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Write n rows in k overlapping groups; returns (k, d) of them, drawn at random, to start from.

    Centres are N(0, s^2) in every column, so two of them are s sqrt(2 d) apart in the mean: s follows from
    ``APART``. Groups that overlap so much keep Lloyd's algorithm busy far beyond 20 steps.
    """
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=APART / np.sqrt(2.0 * d), size=(k, d))
    table = np.lib.format.open_memmap(path, "w+", dtype, (n, d))
    for a in range(0, n, PIECE):
        piece = table[a : a + PIECE]
        piece[:] = centers[rng.integers(k, size=len(piece))] + rng.standard_normal(piece.shape)
    start = np.array(table[np.sort(rng.choice(n, k, replace=False))])
    table.flush()
    return start


def spectrum_table(path: Path, n: int, d: int, dtype: str, seed: int = 0) -> None:
    """Write n rows whose variance falls off as 1 / j along 50 hidden directions, with noise and an offset."""
    rng = np.random.default_rng(seed)
    hidden = min(50, d, n)
    directions = np.linalg.qr(rng.standard_normal((d, hidden)))[0].T
    directions *= np.sqrt(d / np.arange(1.0, hidden + 1.0))[:, None]
    offset = rng.normal(scale=3.0, size=d)
    table = np.lib.format.open_memmap(path, "w+", dtype, (n, d))
    for a in range(0, n, PIECE):
        piece = table[a : a + PIECE]
        piece[:] = (
            rng.standard_normal((len(piece), hidden)) @ directions + offset + rng.standard_normal(piece.shape)
        )
    table.flush()


def mixture_table(
    path: Path, n: int, d: int, k: int, dtype: str, *, apart: bool = True, seed: int = 0
) -> np.ndarray:
    """Write n rows in k normal groups; returns labels of the first rows, each at its nearest centre, to start from.

    Groups are 4 standard deviations apart in the mean, each with axes of its own and standard deviations between 1/2
    and 2 along them: what full covariances are for. Not ``apart``: round groups of one size, 1 apart.
    """
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=(4.0 if apart else 1.0) / np.sqrt(2.0 * d), size=(k, d))
    axes = np.linalg.qr(rng.standard_normal((k, d, d)))[0]
    axes *= 2.0 ** rng.uniform(-1.0, 1.0, size=(k, 1, d)) if apart else 1.0
    table = np.lib.format.open_memmap(path, "w+", dtype, (n, d))
    for a in range(0, n, PIECE):
        piece = table[a : a + PIECE]
        group = rng.integers(k, size=len(piece))
        noise = rng.standard_normal(piece.shape)
        for c in range(k):
            mine = group == c
            piece[mine] = centers[c] + noise[mine] @ axes[c].T
    table.flush()
    first = table[:PIECE].astype(np.float64)
    return np.asarray(np.argmin((centers**2).sum(axis=1) - 2.0 * first @ centers.T, axis=1))
