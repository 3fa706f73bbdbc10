"""The start of a single fit: several guesses on a sample, a few steps each, the best one improved by moves.

Where the usual sample has too few rows for the parameters of a family, a larger one is drawn: twenty full
covariances of 32 columns are 11,000 numbers, and fitted to 4,000 rows they say more of those rows than of the table.
There only the cheap guesses are made, and fewer steps.

References
----------
1. Biernacki, Celeux, Govaert (2003), Choosing starting values for the EM algorithm for getting the highest likelihood
   in multivariate Gaussian mixture models. CSDA 41:561-575.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from asterism.data.source import Source
from asterism.engines.context import current, engine
from asterism.errors import ParameterError
from asterism.families.base import Array, Collapsible, Family
from asterism.methods.discriminant import Sphering, hidden_groups, with_common_covariance
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import Frame
from asterism.methods.moves import best_after, improved
from asterism.methods.seeding import sample_size
from asterism.methods.starts import (
    Sample,
    by_chance,
    by_kmeans,
    by_rows,
    by_seeds,
    by_ward,
    in_order,
    model_of,
    one_hot,
    sample_of,
)
from asterism.stats.moments import ColumnMoments

SHORT, SHORTEST = 10, 3  # EM steps of a guess; where there are many parameters
ENOUGH = 2.0  # rows a parameter: with fewer, a sample is too small
MOST_BYTES = 1 << 27  # of a larger sample
ALIKE = 2.0  # spreads of columns that differ by less than this factor are one unit
ROWS_A_COLUMN = 4  # of a sample that tells which directions have spread
CLEARLY = 0.05  # nats a row: from here on groups in any direction are tried, too

Guess = Callable[[Sample, int, np.random.Generator], Array]
by_standard_kmeans = partial(by_kmeans, view="standard")
GUESSES: dict[str, tuple[Guess, ...]] = {
    "auto": (by_kmeans, by_standard_kmeans, by_ward),
    "kmeans": (by_kmeans,),
    "k-means++": (by_seeds,),
    "ward": (by_ward,),
    "random": (by_chance,),
    "random_from_data": (by_rows,),
}


def check_init(init: str) -> None:
    """A ``ParameterError`` for a way to start that does not exist."""
    if init not in GUESSES:
        raise ParameterError(f"init_params is {init!r}.", f"Give one of {', '.join(map(repr, GUESSES))}.")


@dataclass(frozen=True)
class Search:
    """A sample, and how starts are looked for in it."""

    em: EM
    sample: Sample
    k: int
    crowded: bool  # more rows than usual for the sake of many parameters

    @classmethod
    def of(cls, em: EM, source: Source, frame: Frame, moments: ColumnMoments, k: int, seed: int) -> Search:
        """On a sample that is large enough for the family."""
        usual = sample_size(k, source.n_columns)
        wanted = min(_rows_enough(em.family, k), MOST_BYTES // (8 * source.n_columns))
        crowded = min(wanted, source.n_rows) > usual
        sample = sample_of(source, frame, moments, k, seed, at_least=wanted if crowded else 0)
        return cls(em, sample, k, crowded)

    def starts(self, init: str, n_starts: int, seed: int) -> list[MixtureModel]:
        """``n_starts`` starts; the first of them do not depend on how many more there are."""
        if self.k == 1:
            return [model_of(self.em, self.sample.block, np.ones((len(self.sample.w), 1)))]
        rng = np.random.default_rng(seed)
        # On the sample there is no time limit, checkpoint, cluster or progress of its own.
        with engine(n_threads=current().n_threads):
            seen = replace(self, sample=self.sample.seen_by(self.em.family))
            return [seen._start(init, rng) for _ in range(n_starts)]

    def _start(self, init: str, rng: np.random.Generator) -> MixtureModel:
        """The best of several guesses after a few steps each, and after moves."""
        em, sample = self.em, self.sample
        guesses = [guess(sample, self.k, rng) for guess in self._kinds(init)]
        if init == "auto":
            guesses += self._in_any_direction(rng, guesses)
        models = [model_of(em, sample.block, in_order(sample, shares)) for shares in guesses]
        if self.crowded:
            return best_after(em, sample, models, SHORTEST) if len(models) > 1 else models[0]
        best = best_after(em, sample, models, SHORT)
        return improved(em, sample, best) if em.assignment == "soft" else best

    def _kinds(self, init: str) -> tuple[Guess, ...]:
        kinds = GUESSES[init]
        if not self.crowded:
            return kinds * 2 if len(kinds) == 1 else kinds
        spread = self.sample.unit[np.ptp(self.sample.y, axis=0) > 0]
        alike = not len(spread) or spread.max() <= ALIKE * spread.min()
        return kinds[:1] if alike else kinds[:2]

    def _in_any_direction(self, rng: np.random.Generator, others: list[Array]) -> list[Array]:
        """Groups of components that share one covariance, where components may lie in any direction.

        On a sample that is not the table only where they win clearly more than others in as many steps as a guess
        gets: the best of many guesses is the best of the sample alone.
        """
        sample, (m, d) = self.sample, self.sample.y.shape
        if not getattr(self.em.family, "oriented", False) or d == 1 or m < ROWS_A_COLUMN * d:
            return []
        some = slice(None, None, max(m // sample_size(self.k, d), 1))  # in the order of values: evenly
        rows, w = sample.standard[some], sample.w[some]
        sphering = Sphering.of(rows, w)
        z = sphering.sphered(rows)
        found, height = hidden_groups(z, w, self.k, rng)
        if not sample.whole or len(w) < m:
            known = max(with_common_covariance(z, w, shares[some].T, SHORT)[1] for shares in others)
            if height < known + CLEARLY:
                return []
        return [one_hot(sphering.undone(found).labels(sample.standard), self.k)]


def _rows_enough(family: Family, k: int) -> int:
    """Rows of a sample for as many parameters, of a kind that cling to its rows."""
    return int(ENOUGH * family.n_parameters(k)) if k > 1 and isinstance(family, Collapsible) else 0
