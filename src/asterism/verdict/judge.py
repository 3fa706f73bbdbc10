"""The judge: from the evidence of a proposal to how near it is likely to be to the truth.

    score = b + v' tanh(a + W' z),      z = evidence in units of what is usual over tables

the mean of several such functions. Their numbers are measured: fitted to the adjusted Rand index of proposals over
tables whose groups are known: ``bench/train_judge.py`` draws tables of numbers, fits and writes ``judge.json``,
``bench/train_mixed_judge.py`` those with columns of several kinds and ``mixed_judge.json``. They are smooth: a table
that hardly changes hardly changes a score. A single group is a proposal like any other.

Confidence is a frequency: how often, of tables that were not fitted to, the number of groups was right when the best
score and its lead over the best proposal of another number were as they are here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FARTHEST = 5.0  # convention: usual spreads beyond which evidence says no more


@dataclass(frozen=True, eq=False)
class Layer:
    """One function of the mean."""

    weights: Array  # (evidence, hidden)
    bias: Array  # (hidden,)
    out: Array  # (hidden,)
    offset: float


@dataclass(frozen=True, eq=False)
class Judge:
    """What was measured."""

    names: tuple[str, ...]  # of the evidence
    usual: Array  # mean of each
    spread: Array
    layers: tuple[Layer, ...]
    lead: float  # by which groups must beat a single group, for at most 2 alarms in 100 tables without groups
    frequency: tuple[float, ...]  # intercept, of the best score, of its lead, of a single group: log odds

    @classmethod
    def of(cls, told: dict[str, Any]) -> Judge:
        """From what ``judge.json`` holds."""
        layers = tuple(
            Layer(np.array(one["weights"]), np.array(one["bias"]), np.array(one["out"]), float(one["offset"]))
            for one in told["layers"]
        )
        return cls(
            tuple(told["names"]), np.array(told["usual"]), np.array(told["spread"]), layers,
            float(told["lead"]), tuple(told["frequency"]),
        )  # fmt: skip

    def scores(self, names: tuple[str, ...], evidence: Array) -> Array:
        """(proposals,) the adjusted Rand index expected of each."""
        assert names == self.names, (
            "the judge was fitted to other evidence: run bench/train_judge.py or train_mixed_judge.py"
        )
        z = np.clip((evidence - self.usual) / self.spread, -FARTHEST, FARTHEST)
        return np.asarray(
            np.mean(
                [np.tanh(z @ one.weights + one.bias) @ one.out + one.offset for one in self.layers], axis=0
            )
        )

    def confidence(self, score: float, lead: float, single: bool) -> float:
        """How often a number of groups that leads like this is right."""
        start, of_score, of_lead, of_single = self.frequency
        odds = start + of_score * score + of_lead * min(lead, 0.5) + of_single * single
        return float(np.clip(1.0 / (1.0 + np.exp(-odds)), 0.05, 0.99))


@cache
def judge(of: Literal["numbers", "mixed"] = "numbers") -> Judge:
    """The judge of this version: of rows of numbers, or of rows with columns of several kinds."""
    name = {"numbers": "judge.json", "mixed": "mixed_judge.json"}[of]
    return Judge.of(json.loads(files("asterism.verdict").joinpath(name).read_text(encoding="utf-8")))
