"""A small table in many blocks, and a small method, for the tests of the engines."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from asterism.data.block import Block
from asterism.data.source import ArraySource, Piece, Source


class SmallBlocks(ArraySource):
    """An array in blocks of 8 rows, so that few rows make many blocks. Counts how often it is read whole."""

    passes = 0
    block_rows = 8

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        self.passes += start == 0 and stop == self.n_rows
        return super().pieces(start, stop)

    def part(self, first: int, last: int) -> Source:
        part = super().part(first, last)
        part.__class__ = type(self)
        return part


class BreaksOff(SmallBlocks):
    """A file that cannot be read to its end."""

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        for i, piece in enumerate(super().pieces(start, stop)):
            if i == 3:
                raise OSError("the disk is gone")
            yield piece


def table(n_blocks: int = 20, d: int = 3, seed: int = 0) -> np.ndarray:
    """Rows of very different size: another order of additions gives other bits. The last block is short."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(8 * n_blocks - 3, d)) * 10.0 ** rng.integers(-6, 6, size=(8 * n_blocks - 3, 1))


@dataclass(frozen=True)
class Pull:
    """What rows say to a point: their weight, and the weighted sums of their deviations and squares."""

    weight: float
    pull: np.ndarray  # (d,)
    squares: float

    def merge(self, other: Pull) -> Pull:
        return Pull(self.weight + other.weight, self.pull + other.pull, self.squares + other.squares)


@dataclass(frozen=True)
class Walk:
    """A point walks to the mean, a share of the way each step."""

    share: float = 0.5
    tol: float = 1e-6
    pause: float = 0.0  # seconds a block
    name: str = "walk"

    def summarize(self, model: np.ndarray, block: Block) -> Pull:
        time.sleep(self.pause)
        deviations = block.rows - model
        w = block.weights
        return Pull(float(w.sum()), w @ deviations, float(w @ (deviations**2).sum(axis=1)))

    def update(self, model: np.ndarray, statistic: Pull) -> np.ndarray:
        return model + self.share * statistic.pull / statistic.weight

    def objective(self, model: np.ndarray, statistic: Pull) -> float:
        return statistic.squares

    def settled(self, before: np.ndarray, after: np.ndarray) -> bool:
        return bool(np.abs(after - before).max() < self.tol)

    def pack(self, model: np.ndarray) -> dict[str, np.ndarray]:
        return {"point": model}

    def unpack(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        return arrays["point"]


@dataclass(frozen=True)
class Trace:
    """Which blocks were merged, and how: a statistic that shows the shape of its tree."""

    shape: str

    def merge(self, other: Trace) -> Trace:
        return Trace(f"({self.shape} {other.shape})")


def trace(block: Block) -> Trace:
    return Trace(str(block.start // 8))


@dataclass(frozen=True)
class Slowly:
    """The same visit, ``pause`` seconds later."""

    visit: Callable[[Block], Any]
    pause: float

    def __call__(self, block: Block) -> Any:
        time.sleep(self.pause)
        return self.visit(block)


def explode(block: Block) -> Any:
    """A visit that fails on the fourth block."""
    if block.start == 3 * 8:
        raise ZeroDivisionError("block 3")
    return trace(block)


def fingerprint(value: Any) -> str:
    """SHA-256 of every bit of a result."""
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if is_dataclass(value):
        for field in fields(value):
            _feed(digest, getattr(value, field.name))
    elif isinstance(value, list | tuple):
        for part in value:
            _feed(digest, part)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
    else:
        digest.update(repr(value).encode())
