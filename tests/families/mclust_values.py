"""R's mclust on twenty data sets (tests/oracles/mclust), and EM in plain NumPy to hold against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from asterism.families.covariance import Covariances

FILE = Path(__file__).resolve().parents[1] / "oracles" / "mclust" / "mclust.json"


@dataclass(frozen=True)
class DataSet:
    x: np.ndarray  # (n, d)
    start: np.ndarray  # (n,) labels
    k: int
    plain: dict[str, dict[str, Any]]  # structure -> what mclust found
    prior: dict[str, dict[str, Any]]  # the same with its default prior

    @property
    def responsibilities(self) -> np.ndarray:
        return np.eye(self.k)[self.start]


@cache
def oracle() -> tuple[tuple[DataSet, ...], tuple[int, ...]]:
    """Data sets, and the steps after which log-likelihoods were written."""
    read = json.loads(FILE.read_text())
    sets = tuple(
        DataSet(
            np.array(s["x"], dtype=float).reshape(s["n"], s["d"]),
            np.array(s["start"]),
            s["k"],
            s["plain"],
            s["prior"],
        )
        for s in read["sets"]
    )
    return sets, tuple(read["steps"])


def cases(which: str, structures: tuple[str, ...]) -> Iterator[tuple[DataSet, str, dict[str, Any]]]:
    for data in oracle()[0]:
        for name, found in getattr(data, which).items():
            if name in structures:
                yield data, name, found


MStep = Callable[[np.ndarray, np.ndarray, np.ndarray, Covariances | None], tuple[np.ndarray, Covariances]]


@dataclass(frozen=True)
class Trace:
    log_likelihoods: np.ndarray  # (steps,)
    counts: np.ndarray  # (k,) of the last M-step
    means: np.ndarray
    covariances: Covariances


def plain_em(x: np.ndarray, r: np.ndarray, steps: int, m_step: MStep) -> Trace:
    """M-step, then E-step, ``steps`` times; ``m_step(counts, means, scatters, previous)``."""
    found, history = None, []
    for _ in range(steps):
        counts, means, scatters = statistics(x, r)
        means, found = m_step(counts, means, scatters, found)
        scores = log_densities(x, means, found.full()) + np.log(counts / counts.sum())
        rows = np.logaddexp.reduce(scores, axis=1)
        r = np.exp(scores - rows[:, None])
        history.append(rows.sum())
    return Trace(np.array(history), counts, means, found)


def statistics(x: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    counts = r.sum(axis=0)
    means = r.T @ x / counts[:, None]
    away = x[None] - means[:, None]
    return counts, means, np.einsum("nc,cni,cnj->cij", r, away, away)


def log_densities(x: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    d = x.shape[1]
    away = x[None] - means[:, None]
    mahalanobis = np.einsum("cni,cij,cnj->nc", away, np.linalg.inv(covariances), away)
    return -0.5 * (d * np.log(2 * np.pi) + np.linalg.slogdet(covariances)[1] + mahalanobis)
