"""A choice of k as plain data for a model file, and back: what a report of a saved model can still tell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from asterism.verdict.choice import Choice
from asterism.verdict.tabulate import Table


def told_of(choice: Choice) -> dict[str, Any]:
    """What JSON can hold of a choice: not its model and labels. Numbers that are none become None."""
    told: dict[str, Any] = plain(
        {
            "verdict": choice.verdict,
            "confidence": choice.confidence,
            "reasons": list(choice.reasons),
            "picks": choice.picks,
            "structure": choice.structure,
            "table": [dict(row) for row in choice.table],
        }
    )
    return told


def restored_choice(told: Any, k: int) -> Choice:
    """The choice again; of a file that says nothing of it, one that knows the number of groups."""
    told = told if isinstance(told, dict) else {}
    words = told.get("verdict")
    rows = [row for row in told.get("table") or [] if isinstance(row, dict) and isinstance(row.get("k"), int)]
    picks = told.get("picks")
    sure = told.get("confidence")
    return Choice(
        k=k,
        confidence=float(sure) if isinstance(sure, int | float) else 1.0,
        reasons=tuple(str(reason) for reason in told.get("reasons") or ()),
        verdict=words if isinstance(words, str) else f"{k} groups of a saved model.",
        table=Table(rows),
        picks=picks if isinstance(picks, dict) else {},
        structure=str(told["structure"]) if told.get("structure") else None,
        components=k,
        group_of=np.arange(k),
        model=None,
        labels=np.zeros(0, np.int32),
    )


def plain(value: Any) -> Any:
    """Values as JSON takes them: NumPy numbers as Python's, infinity and NaN as None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
