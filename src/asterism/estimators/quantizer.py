"""Vector quantisation in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.estimators.base import as_source, seed_of
from asterism.methods.quantize import (
    Codes,
    RatePoint,
    decode,
    encode,
    encode_and_measure,
    fit_quantizer,
    rate_distortion,
)

CODES = (2, 4, 8, 16, 32, 64, 128, 256)


class VectorQuantizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Rows as numbers of their nearest codes, and back.

    Parameters
    ----------
    n_codes : int, default 256
        Codes of each codebook; a row takes ``n_subspaces * ceil(log2(n_codes))`` bits.
    n_subspaces : int, default 1
        Cut the columns into so many runs with a codebook each (product quantisation), for long rows.
    n_init, max_iter, tol : as in ``KMeans``; for pictures (see Notes) ``max_iter=0`` is the quickest
    random_state : int, RandomState or None

    Attributes
    ----------
    codebooks_ : list of (n_codes, columns of the run) float64
    codes_ : the training rows' codes, as ``encode`` gives them
    rate_ : float, bits a value as stored, codebooks left aside
    entropy_ : float, bits a value that an entropy coder could reach for the training rows
    distortion_ : float, weighted mean squared error of a value over observed cells of the training rows
    n_iter_, converged_, n_features_in_, feature_names_in_

    Notes
    -----
    An array of bytes with up to four columns is taken for the colours of a picture. Its codes are made from a grid
    of colour cells instead of single pixels: faster for a photograph, at a somewhat larger distortion, and without
    chance. Convert it to float for k-means on the pixels themselves.

    Missing cells (NaN) take no part in choosing a code, and come back as the code's value.

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import VectorQuantizer
    >>> X = np.array([[0.0, 0.0], [0.0, 2.0], [10.0, 10.0], [10.0, 12.0]])
    >>> vq = VectorQuantizer(2, random_state=0).fit(X)
    >>> vq.decode(vq.encode(X)).tolist()
    [[0.0, 1.0], [0.0, 1.0], [10.0, 11.0], [10.0, 11.0]]
    >>> vq.rate_, vq.distortion_  # one bit for two values; 1 a row is lost
    (0.5, 0.5)
    """

    def __init__(
        self,
        n_codes: int = 256,
        *,
        n_subspaces: int = 1,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_codes = n_codes
        self.n_subspaces = n_subspaces
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Make the codebooks for the rows ``X``: an array, a frame, a path or a Source."""
        source = as_source(self, X, sample_weight, reset=True)
        fit = fit_quantizer(source, self.n_codes, n_subspaces=self.n_subspaces, **self._settings())
        self._model = fit.model
        self.codebooks_ = list(fit.model.books)
        self.codes_ = self._shaped(fit.codes)
        self.rate_ = fit.model.rate
        self.entropy_ = fit.usage.entropy / source.n_columns
        self.distortion_ = fit.usage.distortion
        self.n_iter_ = fit.n_iter
        self.converged_ = fit.settled
        self._n_features_out = len(fit.model.books)
        return self

    def encode(self, X: Any) -> Codes:
        """(n,) the nearest code of every row; (n, n_subspaces) where there are several codebooks."""
        return self._shaped(self.transform(X))

    def decode(self, codes: Any) -> NDArray[np.float64]:
        """(n, d) the rows that codes stand for."""
        check_is_fitted(self)
        return decode(self.codebooks_, codes)

    def transform(self, X: Any) -> Codes:
        """(n, n_subspaces) codes."""
        check_is_fitted(self)
        return encode(self._model, as_source(self, X, reset=False))

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """``decode``."""
        return self.decode(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002  scikit-learn's signature
        """Minus the distortion of ``X``."""
        check_is_fitted(self)
        source = as_source(self, X, sample_weight, reset=False)
        return -encode_and_measure(self._model, source)[1].distortion

    def rate_distortion(
        self, X: Any, n_codes: Sequence[int] = CODES, sample_weight: Any = None
    ) -> list[RatePoint]:
        """The curve of rate against distortion of ``X``: one point for each number of codes, fitted anew."""
        source = as_source(type(self)(), X, sample_weight, reset=True)
        return rate_distortion(source, n_codes, n_subspaces=self.n_subspaces, **self._settings())

    def _settings(self) -> dict[str, Any]:
        seed = seed_of(self.random_state)
        return {"n_init": self.n_init, "max_iter": self.max_iter, "tol": self.tol, "seed": seed}

    def _shaped(self, codes: Codes) -> Codes:
        return codes[:, 0] if len(self.codebooks_) == 1 else codes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []  # codes are whole numbers
        return tags
