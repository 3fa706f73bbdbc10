"""Models whose groups get the numbers of an earlier one, and models without such numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.groups.model import GroupModel
from asterism.groups.numbered import NumberedJudge, numbers_of, plain_judge


def numbered(model: GroupModel, numbers: Sequence[int], places: int) -> GroupModel:
    """The model with these numbers for its groups, out of so many."""
    numbers = [int(number) for number in numbers]
    if sorted(numbers) == list(range(places)):
        return model.reordered([numbers.index(g) for g in range(places)])
    at = np.asarray(numbers, np.int64)
    typicality = model.typicality
    if typicality is not None:

        def spread(values: NDArray[Any]) -> NDArray[Any]:
            out = np.zeros((places, *values.shape[1:]))
            out[at] = values
            return out

        fields = ("scores", "shares", "weights", "cell_scores")
        typicality = replace(typicality, **{name: spread(getattr(typicality, name)) for name in fields})
    return replace(
        model, judge=NumberedJudge(model.judge, at, places), typicality=typicality, known_layers=None
    )


def unnumbered(model: GroupModel) -> GroupModel:
    """The model for those who count groups 0 .. k - 1: vacant numbers left out, groups in their order."""
    if not isinstance(model.judge, NumberedJudge):
        return model
    at = list(numbers_of(model.judge))
    known = None if model.typicality is None else model.typicality.reordered(at)
    counted = None if model.baseline is None else model.baseline.reordered(at)
    names = tuple(model.names[g] for g in at) if model.names else ()
    return replace(
        model,
        judge=plain_judge(model.judge),
        typicality=known,
        baseline=counted,
        names=names,
        known_layers=None,
    )
