"""Columns to mean 0 and variance 1, in scikit-learn's manner."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from asterism.data.block import Block, Vector
from asterism.data.finite import infinite_cell, require_finite
from asterism.data.source import ArraySource
from asterism.engines.reduce import map_rows, reduce
from asterism.errors import DataError
from asterism.estimators.base import FLOATS, as_source
from asterism.stats.moments import ColumnMoments


class Standardizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Subtract the mean of each column and divide by its standard deviation.

    Missing cells (NaN) are left out of both and stay missing. A constant column is only centred.

    Parameters
    ----------
    with_mean, with_std : bool
        Whether to centre, and whether to divide.

    Attributes
    ----------
    mean_, var_, scale_ : (d,) weighted mean, variance (by the sum of weights), and the divisor;
        None where ``with_mean`` and ``with_std`` leave them without use
    n_samples_seen_ : the sum of weights; (d,) of them where cells are missing
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import Standardizer
    >>> Standardizer().fit_transform(np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0], [nan, 0.0]]
    """

    def __init__(self, *, with_mean: bool = True, with_std: bool = True) -> None:
        self.with_mean = with_mean
        self.with_std = with_std

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Measure the columns of ``X`` (n, d); a row of weight w counts as w rows."""
        source = as_source(self, X, sample_weight, reset=True)
        moments: ColumnMoments = reduce(source, ColumnMoments.of)
        if moments.infinite is not None:
            raise infinite_cell(source.names, *moments.infinite)
        self.mean_ = moments.mean if self.with_mean or self.with_std else None
        self.var_ = moments.variance if self.with_std else None
        self.scale_ = _scale(moments) if self.with_std else None
        self.n_samples_seen_ = moments.weight if moments.missing else moments.total
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """``(X - mean_) / scale_``, (n, d)."""
        check_is_fitted(self)
        source = as_source(self, X, reset=False)
        return map_rows(source, partial(_standardized, *self._mean_and_scale(), source.names))

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """``X * scale_ + mean_``, (n, d)."""
        check_is_fitted(self)
        rows = check_array(X, dtype=FLOATS, ensure_all_finite="allow-nan", input_name="X")
        if rows.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {rows.shape[1]} columns, but {self.n_features_in_} were standardised.",
                "Give what transform returned.",
            )
        return map_rows(ArraySource(rows), partial(_restored, *self._mean_and_scale()))

    def _mean_and_scale(self) -> tuple[Vector, Vector]:
        d = self.n_features_in_
        mean = self.mean_ if self.with_mean and self.mean_ is not None else np.zeros(d)
        return mean, self.scale_ if self.scale_ is not None else np.ones(d)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _scale(moments: ColumnMoments) -> Vector:
    """Standard deviations, and 1 for columns that do not vary."""
    constant = ~(moments.low < moments.high)  # of nothing, too
    scale = np.sqrt(moments.variance)
    return np.where(constant | (scale == 0), 1.0, scale)


def _standardized(mean: Vector, scale: Vector, names: tuple[str, ...], block: Block) -> NDArray[Any]:
    require_finite(block, names, missing_ok=True)
    rows = block.rows - mean
    rows /= scale
    return rows.astype(block.rows.dtype, copy=False)


def _restored(mean: Vector, scale: Vector, block: Block) -> NDArray[Any]:
    rows = block.rows * scale
    rows += mean
    return rows.astype(block.rows.dtype, copy=False)
