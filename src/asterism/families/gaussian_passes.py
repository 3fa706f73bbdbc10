"""Passes of normal components over rows: block by block, or a whole table whose threads take blocks by themselves."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Matrix, Vector, block_of, unit_weights
from asterism.engines.gather import Then, Together
from asterism.families.base import Array, Climb, Climbed
from asterism.families.covariance import FLOOR, Covariances, structure_of
from asterism.families.gaussian_gaps import pass_over
from asterism.families.gaussian_params import GaussianParams
from asterism.families.gaussian_statistic import Form, GaussianStatistic, GaussianSums
from asterism.families.missing import gappy

if TYPE_CHECKING:
    from asterism.kernels.visits import AllBlocks, Onward, Visit  # loads the compiler

MOST_LOOKED_AT = 1 << 20  # rows for which a number each is nothing

Found = tuple[Vector, float, GaussianSums]  # masses, what the assignment climbs, the statistic


class GaussianPasses:
    """What a family of normal components does with the rows of a table."""

    structure: str
    reference: Vector
    center: Vector
    variances: Vector
    surveyed: bool
    complete: bool
    added: float | str
    prior: Any
    frozen: frozenset[str]

    @cached_property
    def form(self) -> Form:
        """What the statistic has to tell."""
        kind = structure_of(self.structure, len(self.reference))
        if kind.diagonal:
            return "round" if kind.kind == "spherical" else "diag"
        return "tied" if kind.common else "full"

    def summarize(
        self,
        params: GaussianParams,
        log_weights: Vector,
        block: Block,
        assignment: str,
        draws: Vector | None = None,
    ) -> tuple[Vector, float, GaussianStatistic | GaussianSums]:
        """Shares, what they climb, and the statistic, in one pass that keeps nothing of size n x k."""
        found = self._complete_pass(params, log_weights, block, assignment, draws)
        # A missing cell lets no likelihood be finite: complete blocks, the usual ones, need not be searched for any.
        gaps = None if math.isfinite(found[1]) else gappy(block.rows)
        if gaps is None:
            return found
        whole = block_of(block.rows[~gaps], block.weights[~gaps], block.start)
        one = self._complete_pass(
            params, log_weights, whole, assignment, None if draws is None else draws[~gaps]
        )
        y, w = self._offsets(block.rows[gaps]), block.weights[gaps]
        two = pass_over(
            params, log_weights, y, w, self.form, assignment, None if draws is None else draws[gaps]
        )
        return one[0] + two[0], one[1] + two[1], one[2].merge(two[2])

    def _complete_pass(
        self, params: GaussianParams, log_weights: Vector, block: Block, assignment: str, draws: Vector | None
    ) -> Found:
        from asterism.kernels.density import MODES, NO_DRAWS

        visit = self.prepare(params, log_weights, block.rows.dtype)
        sums = visit.sums(block.rows, block.weights, MODES[assignment], NO_DRAWS if draws is None else draws)
        return self._told_by(visit, assignment, sums)

    def _told_by(self, visit: Visit, assignment: str, sums: Vector) -> Found:
        climbed = float(sums[1 if assignment == "hard" else 0])
        return visit.mass(sums), climbed, GaussianSums(sums, visit, self.form)

    def together(
        self,
        params: GaussianParams,
        log_weights: Vector,
        rows: Matrix,
        size: int,
        assignment: str,
        climb: Climb,
    ) -> Together | None:
        """``summarize`` of all rows of a table without gaps, where there is a kernel that takes blocks by itself.

        With the steps it took, or None, beside it; alone, where these came to their end.
        """
        from asterism.kernels.density import MODES, NO_DRAWS

        visit = self.prepare(params, log_weights, rows.dtype)
        onward = self._onward(climb._replace(look=climb.look and len(rows) <= MOST_LOOKED_AT))
        inner = self._together(visit, rows, size, MODES[assignment], NO_DRAWS, onward)
        if inner is None:
            return None
        return Then(inner, partial(self._climbed, inner, visit, assignment))

    def _onward(self, climb: Climb) -> Onward | None:
        """What compiled steps are told; none are taken where an M-step is more than means and variances."""
        from asterism.kernels.visits import Onward

        least = self._least
        return None if least is None or climb.most < 2 else Onward(*climb, least, self._single_size)

    def _climbed(
        self, inner: AllBlocks, visit: Visit, assignment: str, sums: Vector
    ) -> tuple[Found | None, Climbed | None]:
        came = inner.came()
        if came is None:
            return self._told_by(visit, assignment, sums), None
        models = [
            (weights, GaussianParams(means, Covariances(self.structure, len(means), variances)))
            for weights, means, variances in came.models
        ]
        if came.notes is not None:
            return None, Climbed(came.heights, came.gain, models, _looked(came.notes, sums))
        visit = visit.of(models[-1][1].normals)
        return self._told_by(visit, assignment, sums), Climbed(came.heights, came.gain, models, None)

    def _together(
        self, visit: Visit, rows: Matrix, size: int, mode: int, notes: Vector, onward: Onward | None = None
    ) -> AllBlocks | None:
        return visit.together(rows, unit_weights(size), mode, notes, onward) if self.complete else None

    def look(self, params: GaussianParams, log_weights: Vector, block: Block) -> tuple[Vector, float, float]:
        """(n,) labels, as -1 - label where rounding may have decided; sum w log p(x), and sum w max log pi p(x | c).

        As ``summarize`` without the sums; no likelihood is finite where a cell is missing. Absent rows have no label.
        """
        from asterism.kernels.shares import LOOK

        visit, notes = self.prepare(params, log_weights, block.rows.dtype), np.empty(len(block))
        sums = visit.sums(block.rows, block.weights, LOOK, notes)
        return _looked(notes, sums)

    def look_together(
        self, params: GaussianParams, log_weights: Vector, rows: Matrix, size: int
    ) -> Together | None:
        """``look`` at all rows of a table without gaps, where there is a kernel that takes blocks by itself."""
        from asterism.kernels.shares import LOOK

        if len(rows) > MOST_LOOKED_AT:
            return None
        visit, notes = self.prepare(params, log_weights, rows.dtype), np.empty(len(rows))
        inner = self._together(visit, rows, size, LOOK, notes)
        return None if inner is None else Then(inner, partial(_looked, notes))

    def prepare(self, params: GaussianParams, log_weights: Vector, dtype: np.dtype[Any]) -> Visit:
        """What all blocks of a step need, made when it is first asked for."""
        from asterism.kernels.density import visit_for

        return visit_for(params.normals, self.reference, log_weights, dtype, self._single_size)

    @cached_property
    def _single_size(self) -> Vector:
        from asterism.kernels.normals import single_size

        return single_size(self.reference, self.size)

    @cached_property
    def size(self) -> Vector:
        """(d,) mean squares of the columns about the reference; where nobody knows, too large for float32."""
        if not self.surveyed:
            return np.full(len(self.reference), np.inf)
        return np.asarray(self.variances + self.center**2)

    @cached_property
    def _least(self) -> Vector | None:
        """(d,) the floor under variances, where the M-step is no more than each group's own means and variances."""
        plain = self.prior is None and isinstance(self.added, str) and not self.frozen
        return FLOOR * self.variances if plain and self.structure in ("VII", "VVI") else None

    def _offsets(self, rows: NDArray[Any]) -> Array:
        return np.asarray(np.subtract(rows, self.reference, dtype=np.float64))


def _looked(notes: Vector, sums: Vector) -> tuple[Vector, float, float]:
    """What a pass that looks at rows tells: see ``GaussianPasses.look``."""
    return notes, float(sums[0]), float(sums[1])
