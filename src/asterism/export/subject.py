"""What can be exported, and how each is described."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from asterism.data.columns import Column, numbered_columns
from asterism.errors import ParameterError
from asterism.explain.groups import Explanation
from asterism.export.describe import Entry, described
from asterism.export.describe_rules import Ruled, described_rules, described_tree
from asterism.groups.judges import CentersJudge, Judge, MedoidsJudge, MixtureJudge
from asterism.groups.model import GroupModel
from asterism.methods.kdtree import SplitTree
from asterism.methods.lloyd import Centers
from asterism.methods.medoids import Medoids
from asterism.methods.noise import WithNoise
from asterism.methods.posterior import Mixture
from asterism.verdict.view import View


def description_of(model: Any) -> Entry:
    """The description of a model, a finding, a file, a fitted estimator or the rules of an explanation."""
    if isinstance(model, str | os.PathLike):
        from asterism.modelfile import load

        return described(load(model))
    if isinstance(model, GroupModel):
        return described(model)
    if isinstance(model, Explanation):
        return _rules_of(model)
    if isinstance(getattr(model, "model", None), GroupModel):
        return described(model.model)
    if isinstance(getattr(model, "tree_", None), SplitTree):
        return described_tree(model.tree_)
    judge = _judge_of(model)
    if judge is None:
        raise ParameterError(
            f"{type(model).__name__} cannot be exported.",
            "Give a Finding, its model or explanation, a groups.asterism file, or a fitted KMeans, KMedoids, "
            "KDTreeClustering or mixture.",
        )
    return described(GroupModel(_columns_of(model), View(), judge))


def _judge_of(estimator: Any) -> Judge | None:
    """The judge that a fitted estimator is."""
    mixture, fitted = getattr(estimator, "_mixture", None), getattr(estimator, "_model", None)
    if isinstance(mixture, Mixture):
        if isinstance(mixture.family, WithNoise):
            raise ParameterError(
                "A mixture with a noise component cannot be exported.",
                "Let asterism.find look for rows that belong to none (outliers='auto'), and export its model.",
            )
        return MixtureJudge.of(mixture)
    if isinstance(fitted, Centers) and hasattr(estimator, "inertia_"):
        return CentersJudge(fitted, estimator.inertia_ / len(estimator.labels_))
    if isinstance(fitted, Medoids) and hasattr(estimator, "inertia_"):
        return MedoidsJudge(fitted, estimator.inertia_ / len(estimator.labels_))
    return None


def _columns_of(estimator: Any) -> tuple[Column, ...]:
    known = getattr(estimator, "columns_", ())
    if known:
        return tuple(known)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return numbered_columns(int(estimator.n_features_in_))
    return tuple(Column(str(name)) for name in names)


def _rules_of(explanation: Explanation) -> Entry:
    """Rules over the columns that they name; a group without a rule is met by no row."""
    rules = [(g, group.rule) for g, group in enumerate(explanation.groups) if group.rule is not None]
    columns = {c.column.name: c.column for _, rule in rules for c in rule.conditions}
    if not columns:
        raise ParameterError("No group has a rule.", "Export the model itself.")
    place = {name: j for j, name in enumerate(columns)}
    ruled = [
        Ruled(g, rule.precision, tuple(replace(c, place=place[c.column.name]) for c in rule.conditions))
        for g, rule in rules
    ]
    return described_rules(tuple(columns.values()), len(explanation.groups), ruled)
