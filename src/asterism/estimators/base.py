"""The one place where scikit-learn's ``X`` becomes a ``Source``.

``fit``                 ``source = as_source(self, X, sample_weight, reset=True)``
``predict``, ``transform``  ``source = as_source(self, X, reset=False)``

Afterwards ``n_features_in_`` is set or checked, and ``feature_names_in_`` wherever the table has names.
Cells are not looked at here, for that would be a pass over the data: when fitting, ``ColumnMoments.infinite``
with ``data.finite.infinite_cell`` tells of infinite cells; afterwards ``data.finite.require_finite`` does,
block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_random_state, validate_data

from asterism.data.block import Vector
from asterism.data.columns import Column, numbered_columns
from asterism.data.source import ArraySource, Piece, Source, checked_weights
from asterism.data.sparse import SparseSource
from asterism.errors import DataError

FLOATS = [np.float64, np.float32]
# Whole numbers in an array stay as they are: the source converts them block by block, never all at once.
REALS = [*FLOATS, np.float16, *(np.dtype(code) for code in "bhilqBHILQ"), np.bool_]


@dataclass(frozen=True)
class Taxonomy:
    """What sort of clustering an estimator makes."""

    division: Literal["monothetic", "polythetic"]  # groups by one column at a time, or by all together
    assignment: Literal["hard", "soft"]  # a row is of one group, or of each to a degree
    structure: Literal["flat", "hierarchical"]  # groups side by side, or groups within groups


def as_source(
    estimator: Any, X: Any, sample_weight: Any = None, *, reset: bool, sparse: bool = False, **checks: Any
) -> Source:
    """Rows ``X`` as a source: a ``Source``, a path or glob, a data frame, or anything like an (n, d) array.

    ``sparse``: whether a SciPy sparse matrix will do as well; its blocks have rows in CSR.
    ``reset=True`` (fit) sets ``n_features_in_`` and ``feature_names_in_``, ``reset=False`` checks them.
    ``checks`` go to ``sklearn.utils.check_array``, for instance ``ensure_min_samples=2``.

    >>> from sklearn.base import BaseEstimator
    >>> estimator = BaseEstimator()
    >>> source = as_source(estimator, [[1, 2], [3, 4], [5, 6]], [1, 0, 2.5], reset=True)
    >>> source.n_rows, source.weights.tolist(), estimator.n_features_in_
    (3, [1.0, 0.0, 2.5], 2)
    """
    if isinstance(X, str | PathLike):
        from asterism.data.read import read

        X = read(X)
    if isinstance(X, Source):
        _check_columns(estimator, X, reset=reset)
        if X.sparse and not sparse:
            raise DataError(
                f"{type(estimator).__name__} takes no sparse tables.", "Give rows that are not sparse."
            )
        if isinstance(X, SparseSource):
            return X if sample_weight is None else X.weighted(sample_weight)
        return X if sample_weight is None else WeightedSource(X, sample_weight)
    if sparse and hasattr(X, "tocsr"):
        return _sparse_source(estimator, X, sample_weight, reset=reset, **checks)
    if _needs_no_check(X, **checks):
        if reset:  # what follows takes as long as a tenth of a step of EM, or more
            _keep_columns(estimator, X.shape[1], None)
            return ArraySource(X, sample_weight)
        checks = {"skip_check_array": True}
    else:
        dtype = REALS if isinstance(X, np.ndarray) else FLOATS
        checks = {"dtype": dtype, "ensure_all_finite": False, **checks}
    try:
        array = validate_data(estimator, X, reset=reset, **checks)
    except ValueError as bad:  # scikit-learn's words are good; but every error of ours has one base
        raise DataError(str(bad)) from bad
    names = getattr(estimator, "feature_names_in_", None)
    columns = None if names is None else tuple(Column(str(name)) for name in names)
    return ArraySource(array, sample_weight, columns)


def _sparse_source(estimator: Any, X: Any, sample_weight: Any, *, reset: bool, **checks: Any) -> SparseSource:
    checks = {"accept_sparse": "csr", "dtype": REALS, "ensure_all_finite": False, **checks}
    try:
        rows = validate_data(estimator, X, reset=reset, **checks)
    except ValueError as bad:
        raise DataError(str(bad)) from bad
    return SparseSource(rows, sample_weight)


def _needs_no_check(X: Any, ensure_min_samples: int = 1, **others: Any) -> bool:
    """Whether an array is, beyond doubt, a table of real numbers: scikit-learn would give it back as it is."""
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float32, np.float64) and not others
    return plain and len(X) >= ensure_min_samples and X.shape[1] > 0


def as_mixed_source(
    estimator: Any, X: Any, sample_weight: Any = None, *, reset: bool, kinds: Any = None
) -> Source:
    """As ``as_source``, for methods that take columns of every kind: frames and files are read with their kinds.

    ``kinds`` are as in ``asterism.read``; when fitting, the user's, afterwards the columns fitted with.
    """
    from asterism.data.read import read

    if not isinstance(X, Source):
        numbers = isinstance(X, np.ndarray) and X.dtype.kind in "fiubc"
        plain = numbers or isinstance(X, list | tuple) or hasattr(X, "tocsr")
        if plain and (kinds is None or all(column.kind == "numeric" for column in kinds if not reset)):
            return as_source(estimator, X, sample_weight, reset=reset)
        X = read(X, kinds=kinds)
    _check_columns(estimator, X, reset=reset, mixed=True)
    return X if sample_weight is None else WeightedSource(X, sample_weight)


class WeightedSource(Source):
    """A source whose rows count ``weights`` times what they did."""

    def __init__(self, inner: Source, weights: Any, start: int = 0) -> None:
        self.inner = inner
        self.columns, self.n_rows, self.dtype = inner.columns, inner.n_rows, inner.dtype
        self.weights: Vector = checked_weights(weights, self.n_rows - start)
        self.start = start  # global number of the first weight: not 0 in a part sent to a worker

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces."""
        at = start - self.start
        for rows, own in self.inner.pieces(start, stop):
            weights = self.weights[at : at + len(rows)]
            at += len(rows)
            yield rows, weights if own is None else weights * own

    def part(self, first: int, last: int) -> Source:
        """The inner source's part, with its weights alone."""
        inner = self.inner.part(first, last)
        a, b = first * self.block_rows, min(last * self.block_rows, self.n_rows)
        piece = WeightedSource.__new__(WeightedSource)  # its weights are checked already, and may all be 0
        piece.inner, piece.columns, piece.dtype = inner, self.columns, self.dtype
        piece.n_rows, piece.start = b, a
        piece.weights = self.weights[a - self.start : b - self.start]
        return piece


def _keep_columns(estimator: Any, count: int, names: tuple[str, ...] | None) -> None:
    """The columns an estimator is fitted with, as scikit-learn's keep them; ``names`` None: they have none."""
    estimator.n_features_in_ = count
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _check_columns(estimator: Any, source: Source, *, reset: bool, mixed: bool = False) -> None:
    """What ``validate_data`` does for arrays and frames, for a source."""
    who = type(estimator).__name__
    for column in source.columns:
        if column.kind == "categorical" and not mixed:
            raise DataError(
                f"the cells are names without an order, but {who} calculates with numbers.",
                "Leave the column out, encode it, or use asterism.find, which takes mixed tables.",
                column=column.name,
            )
    names = None if source.columns == numbered_columns(source.n_columns) else source.names
    if reset:
        _keep_columns(estimator, source.n_columns, names)
        return
    if source.n_columns != estimator.n_features_in_:
        raise DataError(
            f"X has {source.n_columns} features, but {who} is expecting {estimator.n_features_in_} "
            "features as input.",
            "Give the columns the model was fitted with.",
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or names is None:
        return
    for place, (name, expected) in enumerate(zip(names, known, strict=True)):
        if name != expected:
            raise DataError(
                f"Column {place} is {name!r}, but {who} was fitted with {expected!r} there.",
                "Give the columns in the order the model was fitted with.",
                column=name,
            )


def seed_of(random_state: Any) -> int:
    """One whole number from scikit-learn's ``random_state``: None, an int, or a generator of either kind."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))
