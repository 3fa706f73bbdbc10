"""Which distribution a column has within groups."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.families.base import Facts
from asterism.methods.frame import survey
from asterism.verdict.kinds import DISTRIBUTIONS, POSSIBLE, kinds_by_evidence

ROWS = 1000
TWO = np.repeat(np.eye(2), ROWS // 2, axis=0)  # groups: one after the other
MEANS = np.repeat([2.0, 7.0], ROWS // 2)


def widely(rng):
    return rng.poisson(MEANS * rng.gamma(1.0, 1.0, ROWS))


COUNTS = {
    "poisson": lambda rng: rng.poisson(MEANS),
    "negative binomial": widely,
    "hurdle": lambda rng: np.where(rng.random(ROWS) < np.where(MEANS > 4, 0.2, 0.5), 0, rng.poisson(MEANS)),
}
WITHOUT_ZEROS = {"hurdle": lambda rng: 1 + rng.poisson(MEANS * rng.gamma(2.0, 0.5, ROWS))}


def kind_of(x):
    return kinds_by_evidence([Column("x", "count")], x[:, None].astype(float), np.ones(ROWS), TWO)[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kind", "draw"), [*COUNTS.items(), *WITHOUT_ZEROS.items()], ids=[*COUNTS, "no zeros"]
)
def test_counts_have_the_distribution_that_they_were_drawn_from(kind, draw, seed):
    assert kind_of(draw(np.random.default_rng(seed))) == kind


def test_what_assumes_least_has_the_most_parameters():
    for kinds in POSSIBLE.values():
        sizes = [_parameters(kind) for kind in kinds]
        assert sizes == sorted(sizes, reverse=True), kinds


def _parameters(kind):
    cells = np.arange(5.0)[:, None] % (2 if kind == "bernoulli" else 5)
    frame, moments = survey(ArraySource(cells))
    family = DISTRIBUTIONS[kind]("EEI", (5,)).prepared(Facts(("x",), moments, frame.reference))
    return family.n_parameters(2)
