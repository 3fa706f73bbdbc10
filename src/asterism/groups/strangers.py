"""Rows that no group of a model expects: are there more of them than there should be?"""

from __future__ import annotations

import numpy as np

from asterism.data.block import Vector
from asterism.explain.typicality import UNUSUAL
from asterism.groups.figures import Baseline
from asterism.stats.two_samples import more_often

CHANCE = 0.01  # convention: of tables of the model's own source, that are warned of
NOTICEABLE = 1.5  # convention: times the share expected


def note_on_strangers(baseline: Baseline | None, typicality: Vector) -> str | None:
    """A warning where more rows are untypical of their group than of the rows the model was fitted to; or None.

    What is expected is counted on rows of the fit as if they had taken no part in it.
    """
    known = typicality[~np.isnan(typicality)]
    if baseline is None or not len(known):
        return None
    figures = baseline.figures
    before = np.array([figures.unusual.sum(), (figures.known - figures.unusual).sum()])
    count = int(np.count_nonzero(known < UNUSUAL))
    now = np.array([count, len(known) - count], np.float64)
    shares = [counts[0] / max(counts.sum(), 1.0) for counts in (before, now)]
    if more_often(before, now).p > CHANCE or shares[1] < NOTICEABLE * shares[0]:
        return None
    return (
        f"{count:,} of {len(known):,} rows ({shares[1]:.1%}) are typical of no group (typicality below 1%); "
        f"{shares[0]:.1%} would be. Whatever their probabilities, they may belong to none of the groups: "
        "find them anew beside the old ones with like=MODEL (asterism find TABLE --like MODEL)."
    )
