"""What families of independent cells share: which cells are known, which cannot be, and how nothing becomes NaN.

**Impossible cells.** Without a prior a level that a component has never seen has probability 0 there. Its logarithm
is taken of ``IMPOSSIBLE`` instead, the smallest normal number, about -708: added to anything real it is as good as
minus infinity, but 0 times it is 0, and a row that no component can produce goes to the component with the fewest
impossible cells instead of becoming NaN. Probabilities have no unit, so neither has the floor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from asterism.data.block import Block, Vector, is_sparse
from asterism.data.sparse import row_numbers
from asterism.errors import DataError, ParameterError

Array = NDArray[np.float64]
IMPOSSIBLE = float(np.finfo(np.float64).tiny)


def log_of(p: Array) -> Array:
    """log p, and log of ``IMPOSSIBLE`` where p is 0."""
    return np.asarray(np.log(np.maximum(p, IMPOSSIBLE)))


# --- cells ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Domain:
    """Values that a family can have produced."""

    holds: Callable[[Array], NDArray[np.bool_]]  # of an array: which cells are such values; NaN is not
    what: str  # what is wrong with others
    remedy: str


def _counts(x: Array) -> NDArray[np.bool_]:
    return np.asarray((x >= 0) & (x < np.inf) & (x == np.floor(x)))


def _binary(x: Array) -> NDArray[np.bool_]:
    return np.asarray((x == 0) | (x == 1))


COUNTS = Domain(_counts, "not a count.", "Counts are whole numbers, 0 or more; NaN where one is missing.")
BINARY = Domain(_binary, "not 0 or 1.", "Write 0 and 1, and NaN where the value is missing.")


def known_cells(block: Block, domain: Domain, names: tuple[str, ...]) -> tuple[Array, Array | None]:
    """Rows (n, d) with 0 in unknown cells, and 0/1 (n, d) where cells are known; None where all are.

    A cell outside the domain is a ``DataError``, in a row of weight 0 it is merely unknown. Of a sparse block every
    cell is known, and the rows stay CSR; those of weight 0 become empty.
    """
    if is_sparse(block.rows):
        return _stored_cells(block, domain, names), None
    x = np.asarray(block.rows, np.float64)
    with np.errstate(invalid="ignore"):
        holds = domain.holds(x)
    if holds.all():
        return x, None
    wrong = ~(holds | np.isnan(x) | (block.weights == 0)[:, None])
    if wrong.any():
        raise bad_cell(block, int(wrong.argmax()), domain.what, domain.remedy, names)
    return np.where(holds, x, 0.0), holds.astype(np.float64)


def _stored_cells(block: Block, domain: Domain, names: tuple[str, ...]) -> Any:
    """(n, d) CSR in float64; cells that are not stored are 0, which is in every domain."""
    x: Any = block.rows.astype(np.float64, copy=False)
    holds = domain.holds(x.data)
    if holds.all():
        return x
    row = row_numbers(x)
    wrong = ~holds & (block.weights[row] > 0)
    if wrong.any():
        negative = wrong & (x.data < 0)
        at = int((negative if negative.any() else wrong).argmax())
        why = "Negative values in data: " if negative.any() else ""
        column = names[x.indices[at]] if names else f"x{x.indices[at]}"
        raise DataError(
            f"{why}the value {x.data[at]:g} is {domain.what}",
            domain.remedy,
            row=block.start + int(row[at]),
            column=column,
        )
    return csr_array((np.where(holds, x.data, 0.0), x.indices, x.indptr), x.shape)


def bad_cell(block: Block, place: int, what: str, remedy: str, names: tuple[str, ...]) -> DataError:
    """The error for the cell ``place`` = i d + j of a block; a negative one is told first, for it tells most."""
    below = (block.rows < 0) & (block.weights > 0)[:, None]
    i, j = divmod(int(below.argmax()) if below.any() else place, block.rows.shape[1])
    column = names[j] if names else f"x{j}"
    why = "Negative values in data: " if below.any() else ""
    value = f"the value {block.rows[i, j]:g} is {what}"
    return DataError(why + value, remedy, row=block.start + i, column=column)


# --- statistics -------------------------------------------------------------------------------------------------


class Adding:
    """For families whose statistic is a dataclass of sums, ``mass`` among them: EM can extrapolate it."""

    def flatten(self, statistic: Any) -> Vector:
        """All sums, a row."""
        n = float(statistic.mass.sum())
        return np.concatenate([getattr(statistic, f.name).ravel() for f in fields(statistic)]) / n

    def unflatten(self, vector: Vector, like: Any) -> Any | None:
        """The statistic again; no sum of ours can be negative."""
        if not (vector >= 0).all():
            return None
        shapes = [getattr(like, f.name).shape for f in fields(like)]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = np.split(vector * float(like.mass.sum()), ends[:-1])
        return type(like)(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))


# --- estimates --------------------------------------------------------------------------------------------------


def ratio(total: Array, seen: Array, previous: Array | None, default: Any) -> Array:
    """total / seen; where nothing was seen the previous value, or the default."""
    fill = np.broadcast_to(default, total.shape) if previous is None else previous
    return np.divide(total, seen, out=np.array(fill, np.float64), where=seen > 0)


def strength(prior: Any) -> float:
    """How many observations of each column a prior is worth: None is 0, "conjugate" is 1, or a number.

    >>> strength(None), strength("conjugate"), strength(2.5)
    (0.0, 1.0, 2.5)
    """
    if prior is None or prior == "conjugate":
        return 0.0 if prior is None else 1.0
    if isinstance(prior, int | float) and not isinstance(prior, bool) and 0 <= prior < np.inf:
        return float(prior)
    raise ParameterError(
        f"prior is {prior!r}.", "Give None, 'conjugate', or how many observations it is worth."
    )


def filled(block: Block, values: Array) -> Array:
    """(n, d) the rows, with ``values`` (n, d) in place of missing cells."""
    return np.asarray(np.where(np.isnan(block.rows), values, block.rows), np.float64)
