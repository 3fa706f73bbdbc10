"""Photographs in 64 colours, beside scikit-learn's recipe: k-means on 1000 pixels, then all pixels to their nearest.

Timed from the array of bytes to the picture in few colours, ten times in a row with other seeds: one takes so few
milliseconds that a turn would tell how long a processor needs to wake up. The objective is the mean squared error of
a value of the last, taken from the pictures themselves; ours is rounded to bytes as it would be stored, theirs not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.harness import Contestant, race
from bench.report import Bar, Report, Session, Size, bar, bar_below, objective_excess

COLOURS = 64
SAMPLE = 1000  # pixels that the recipe fits on
REPEATS = 7
IN_A_ROW = 10
PHOTOGRAPHS = ("china.jpg", "flower.jpg")


@dataclass(frozen=True)
class Case:
    """One photograph of scikit-learn's, 427 x 640 pixels; in ``rows`` pixels where fewer are asked for."""

    photograph: str
    rows: int | None
    rounds: int

    @property
    def name(self) -> str:
        return f"compress {self.photograph} {COLOURS} colours"


def cases(size: Size) -> list[Case]:
    rows = {"full": None, "quick": None, "tiny": 20_000}[size]
    return [Case(name, rows, 1 if size == "tiny" else REPEATS) for name in PHOTOGRAPHS]


def run(case: Case, session: Session) -> Report:
    """Measure a case; seeds differ from round to round."""
    from sklearn.datasets import load_sample_image

    table = session.folder / "pixels.npy"
    np.save(table, load_sample_image(case.photograph).reshape(-1, 3)[: case.rows])
    contestants = [
        Contestant("asterism", "asterism", "asterism", compress_asterism),
        Contestant("scikit-learn recipe", "scikit-learn", "sklearn", compress_sklearn),
    ]
    rounds = [{"seed": seed} for seed in range(case.rounds)]
    results = race(contestants, judge, table, rounds)
    return Report(case.name, "compress", results, over="mean", objective="squared error", dtype="uint8")


def compress_asterism(X: np.ndarray, seed: int) -> np.ndarray:
    for i in range(IN_A_ROW):
        found = colours_asterism(X, IN_A_ROW * seed + i)
    return found


def colours_asterism(X: np.ndarray, seed: int) -> np.ndarray:
    from asterism import VectorQuantizer
    from asterism.methods.quantize import decode

    # The means of halved colour cells: thirty steps of k-means would win 8 %.
    vq = VectorQuantizer(COLOURS, max_iter=0, random_state=seed).fit(X)
    return decode([np.rint(vq.codebooks_[0]).astype(np.uint8)], vq.codes_)


def compress_sklearn(X: np.ndarray, seed: int) -> np.ndarray:
    for i in range(IN_A_ROW):
        found = colours_sklearn(X, IN_A_ROW * seed + i)
    return found


def colours_sklearn(X: np.ndarray, seed: int) -> np.ndarray:
    """https://scikit-learn.org/stable/auto_examples/cluster/plot_color_quantization.html"""
    from sklearn.cluster import KMeans
    from sklearn.utils import shuffle

    pixels = np.array(X, dtype=np.float64) / 255
    sample = shuffle(pixels, random_state=seed, n_samples=SAMPLE)
    kmeans = KMeans(n_clusters=COLOURS, random_state=seed).fit(sample)
    return kmeans.cluster_centers_[kmeans.predict(pixels)] * 255


def judge(X: np.ndarray, found: np.ndarray, seed: int) -> dict[str, float]:  # noqa: ARG001  one signature for all
    return {"objective": float(((X.astype(np.float64) - found) ** 2).mean())}


def bars(reports: list[Report]) -> list[Bar]:
    """What compression is held to."""
    peers = [(r, r.fastest(["scikit-learn"])) for r in reports]
    ratios = [r.ratio(peer) for r, peer in peers]
    worse = [-excess if (excess := objective_excess(r, p)) is not None else None for r, p in peers if p]
    return [
        bar("compress: least ratio to scikit-learn's recipe >= 3", ratios, 3.0),
        bar_below("compress: squared error above scikit-learn's, at most 0", worse, 0.0, "%"),
    ]
