"""Rules of groups in plain numbers, lists and words: of a tree of splits, and of the explanation of a finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from asterism.data.columns import Column
from asterism.export.describe import Entry, head


@dataclass(frozen=True)
class Ruled:
    """Conditions of a group, and how good they are."""

    group: int
    precision: float
    conditions: tuple[Any, ...]  # of ``explain.rules``


def described_tree(tree: Any) -> Entry:
    """A tree of splits (``methods.kdtree.SplitTree``): every leaf is a group, from left to right."""
    number = {node: place for place, node in enumerate(tree.leaves())}
    nodes = [
        {"group": number[i]}
        if node.split is None
        else {
            "feature": node.split.column,
            **({"levels": sorted(node.split.levels)} if node.split.levels else {"at_most": node.split.at}),
            "missing_left": node.split.missing_left,
            "left": node.first,
            "right": node.first + 1,
        }
        for i, node in enumerate(tree.nodes)
    ]
    return _of_cells(tree.columns, len(number), {"kind": "tree", "nodes": nodes})


def described_rules(columns: tuple[Column, ...], k: int, rules: list[Ruled]) -> Entry:
    """Rules of groups: a row belongs to the most precise one whose conditions it meets; or to none, -1."""
    order = sorted(rules, key=lambda rule: (-rule.precision, rule.group))
    entries = [
        {
            "group": rule.group,
            "precision": rule.precision,
            "conditions": [_condition(c) for c in rule.conditions],
        }
        for rule in order
    ]
    return _of_cells(columns, k, {"kind": "rules", "rules": entries})


def _condition(condition: Any) -> Entry:
    if condition.levels is not None:
        return {"feature": condition.place, "levels": sorted(condition.levels)}
    limits = {"above": condition.low, "at_most": condition.high}
    return {"feature": condition.place, **{name: v for name, v in limits.items() if np.isfinite(v)}}


def _of_cells(columns: tuple[Column, ...], k: int, judge: Entry) -> Entry:
    return {
        **head(k, columns),
        "features": [{"name": c.name, "column": j, "form": "plain"} for j, c in enumerate(columns)],
        "directions": None,
        "judge": judge,
        "background": None,
        "typicality": None,
        "least_typicality": 0.0,
    }
