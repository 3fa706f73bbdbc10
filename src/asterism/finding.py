"""The main job: a table in, a ``Finding`` out.

    read  ->  encode (scale, codes)  ->  k-means for every k, in the same passes  ->  choose k  ->  describe

For every k at once, in the same passes over the rows: a file is read as often as the slowest k needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.choose.scatter import Choice, choose_by_scatter, verdict
from asterism.data.block import Block
from asterism.data.columns import Column
from asterism.data.complete import CompleteRows
from asterism.data.encode import EncodedSource
from asterism.data.finite import missing_cell
from asterism.data.read import read
from asterism.data.source import Source
from asterism.engines.context import current
from asterism.engines.context import engine as engine_settings
from asterism.engines.progress import Progress
from asterism.engines.reduce import map_rows, reduce
from asterism.errors import DataError, ParameterError, TooFewRowsError
from asterism.explain.profiles import Profile, group_profiles
from asterism.methods.encoding import standard_encoding
from asterism.methods.kmeans import fit_kmeans_path
from asterism.methods.lloyd import Centers
from asterism.stats.moments import ColumnMoments

METHODS = ("auto", "kmeans")
MISSING = ("keep", "drop", "refuse")
USUAL_K = range(2, 11)
STARTS = 5  # of k-means per k: with one, k = 3 on the penguins ends 10% above the best sum of squares known


@dataclass(frozen=True, eq=False)
class Finding:
    """The groups of a table: how many, which row belongs where, and what each group is."""

    k: int
    labels: NDArray[np.int32]  # (n,) groups are numbered 0 .. k-1 from the largest down; -1: left out
    choice: Choice
    profiles: tuple[Profile, ...]  # one per group
    columns: tuple[Column, ...]  # used
    ignored: tuple[Column, ...]  # not used, each with its reason
    missing: dict[str, int]  # missing cells of each used column
    settings: dict[str, Any]  # method, scale, seed, missing: what it takes to get the same again
    encoded: EncodedSource  # the rows as k-means saw them
    centers: Centers  # of the groups, in the encoded columns

    @property
    def n_left_out(self) -> int:
        """Rows that belong to no group: those with missing cells under ``missing="drop"``."""
        return int(np.count_nonzero(self.labels < 0))

    @cached_property
    def verdict(self) -> str:
        """How many groups and why, in plain words."""
        return verdict(self.choice)

    def to_frame(self) -> Any:
        """A ``pyarrow.Table`` with one row per row of the input; ``.to_pandas()`` takes it on.

        ``row`` (from 0), ``group``, ``distance`` to the group's centre in the scaled columns, ``next_group``
        and ``next_distance``: a row whose two distances are nearly the same lies on a border. Groups and
        distances of rows that were left out are null.
        """
        import pyarrow as pa

        near = map_rows(self.encoded, partial(_nearest_two, self.centers, self.labels))
        out = self.labels < 0
        lonely = out | np.isinf(near[:, 2])  # with one group there is no next one
        return pa.table(
            {
                "row": pa.array(np.arange(len(self.labels))),
                "group": pa.array(self.labels, mask=out),
                "distance": pa.array(near[:, 0], mask=out),
                "next_group": pa.array(near[:, 1].astype(np.int32), mask=lonely),
                "next_distance": pa.array(near[:, 2], mask=lonely),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the labels; ``version`` is raised when a field changes its meaning."""
        return {
            "version": 1,
            "k": self.k,
            "verdict": self.verdict,
            "rows": len(self.labels),
            "rows_left_out": self.n_left_out,
            **self.settings,
            "choice": {
                "criterion": self.choice.criterion,
                "table": [asdict(row) for row in self.choice.table],
            },
            "groups": [asdict(profile) for profile in self.profiles],
            "columns": [{**asdict(c), "missing": self.missing[c.name]} for c in self.columns],
            "ignored": [asdict(c) for c in self.ignored],
        }


def find(
    table: Any,
    *,
    k: int | Iterable[int] | None = None,
    method: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    weights: Any = None,
    scale: bool = True,
    seed: int = 0,
    engine: AbstractContextManager[Any] | None = None,
    progress: Progress | None = None,
    missing: Literal["keep", "drop", "refuse"] = "keep",
) -> Finding:
    """Find the groups of a table.

    ``table``    path, glob, ``Source``, data frame or array
    ``k``        number of groups, or the numbers to choose from; None: 2 to 10, less where rows are few
    ``kinds``    what columns are, where the guess is wrong: ``{"size": "ordinal:S,M,L", "note": "ignored"}``
    ``weights``  a column's name, or one number a row
    ``scale``    give every column the same spread first
    ``engine``   ``asterism.engine(...)`` to run in; None: the one in force
    ``missing``  "keep" rows with missing cells, "drop" them (label -1) or "refuse" the table

    >>> import numpy as np, asterism
    >>> rng = np.random.default_rng(0)
    >>> finding = asterism.find(np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))]))
    >>> finding.k, np.bincount(finding.labels).tolist()
    (2, [60, 40])
    """
    _check_choices(method, missing)
    with ExitStack() as stack:
        if engine is not None:
            stack.enter_context(engine)
        if progress is not None:
            stack.enter_context(engine_settings(**vars(current()) | {"progress": progress}))
        source = read(table, kinds=kinds, weights=weights, memory=current().memory)
        used, holes, total = _rows_to_use(source, missing)
        encoded = EncodedSource(used, standard_encoding(used, scale=scale))
        ks = _numbers(k, encoded)
        fits = fit_kmeans_path(encoded, sorted({1, *ks}), n_init=STARTS, seed=seed)
        choice = choose_by_scatter(fits, ks, total, asked=len(ks) == 1 and k is not None)
        fit = fits[choice.k]
        labels = fit.labels if used is source else _left_out(source, fit.labels)
        profiles = group_profiles(used, labels, choice.k)
        order = sorted(range(choice.k), key=lambda g: -profiles[g].share)
        return Finding(
            k=choice.k,
            labels=_renumbered(labels, order),
            choice=choice,
            profiles=tuple(replace(profiles[old], group=new) for new, old in enumerate(order)),
            columns=source.columns,
            ignored=source.ignored,
            missing=dict(zip(source.names, holes, strict=True)),
            settings={"method": "kmeans", "scale": scale, "seed": seed, "missing": missing},
            encoded=encoded,
            centers=replace(fit.model, offsets=fit.model.offsets[order]),
        )


# ------------------------------------------------------------------------------------------------ checks


def _check_choices(method: str, missing: str) -> None:
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}.", f"Methods there are today: {', '.join(METHODS)}.")
    if missing not in MISSING:
        raise ParameterError(f"missing is {missing!r}.", f"Give one of {', '.join(MISSING)}.")


def _rows_to_use(source: Source, missing: str) -> tuple[Source, list[int], float]:
    """The rows that take part, the missing cells of each column, and the weight of those rows."""
    moments = reduce(source, ColumnMoments.of)
    holes: list[int] = (moments.rows - moments.observed).tolist()
    if not moments.missing or missing == "keep":
        return source, holes, moments.total
    if missing == "refuse":
        raise _first_missing(source)
    complete = CompleteRows(source)
    total = reduce(complete, ColumnMoments.of).total
    if total == 0:
        name = source.names[int(np.argmax(holes))]
        raise DataError(
            f"Every row has a missing cell, most of them in {name!r}, so that none is left.",
            'Ignore the columns that are mostly missing, or keep the rows (missing="keep").',
        )
    return complete, holes, total


def _first_missing(source: Source) -> DataError:
    for block in source.blocks():
        holes = np.isnan(block.rows) & (block.weights > 0)[:, None]
        if holes.any():
            row, column = divmod(int(holes.argmax()), source.n_columns)
            return missing_cell(source.names, block.start + row, column)
    raise AssertionError("no cell is missing")


def _numbers(k: int | Iterable[int] | None, encoded: Source) -> list[int]:
    """The numbers of groups to try, none of them more than there are distinct rows."""
    if k is None:
        # A group for every row is no grouping, whatever an index says of it.
        most = min(_distinct_rows(encoded, USUAL_K.stop), encoded.n_rows - 1)
        return [number for number in USUAL_K if number <= most] or [1]
    given = list(k) if isinstance(k, Iterable) else [k]
    whole = all(isinstance(number, int | np.integer) and not isinstance(number, bool) for number in given)
    if not given or not whole or min(given) < 1:
        raise ParameterError(f"k is {k!r}.", "Give a whole number, 1 or more, or several to choose from.")
    numbers = sorted({int(number) for number in given})
    there = _distinct_rows(encoded, numbers[-1])
    if there < numbers[-1]:
        raise TooFewRowsError(
            f"{numbers[-1]} groups were asked for, but the table has {there} distinct rows that count.",
            f"Ask for {there} or fewer.",
        )
    return numbers


def _distinct_rows(source: Source, enough: int) -> int:
    """The number of distinct rows of weight > 0, counted no further than ``enough``."""
    seen: set[bytes] = set()
    for block in source.blocks():
        rows = block.rows[block.weights > 0] + 0.0  # -0.0 becomes 0.0: equal rows, equal bytes
        for first in range(0, len(rows), 4096):
            seen.update(map(bytes, rows[first : first + 4096]))
            if len(seen) >= enough:
                return enough
    return len(seen)


# ------------------------------------------------------------------------------------------------ rows


def _left_out(source: Source, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Labels in which rows with a missing cell belong to no group."""
    holes = map_rows(source, _holes)
    return np.where(holes, np.int32(-1), labels)


def _holes(block: Block) -> NDArray[np.bool_]:
    return np.asarray(np.isnan(block.rows).any(axis=1))


def _renumbered(labels: NDArray[np.int32], order: list[int]) -> NDArray[np.int32]:
    new = np.full(len(order) + 1, -1, np.int32)  # the last stands for -1, which stays
    new[order] = np.arange(len(order))
    return new[labels]


def _nearest_two(centers: Centers, labels: NDArray[np.int32], block: Block) -> NDArray[np.float64]:
    """(n, 3) distance to the own centre, the nearest other group (-1: none), the distance to its centre."""
    from asterism.kernels.distance import distances_block

    own = labels[block.start : block.start + len(block)]
    every, each = np.arange(len(block)), np.empty((len(block), len(centers.offsets)))
    distances_block(block.rows, centers.frame.reference, centers.offsets, each)
    mine = each[every, own]
    each[every, own] = np.inf
    other = each.argmin(axis=1)
    least = each[every, other]
    return np.column_stack([mine, np.where(np.isinf(least), -1, other), least])
