"""Bags of visual words in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.data.source import checked_weights
from asterism.errors import DataError, ParameterError
from asterism.estimators.base import seed_of
from asterism.methods.patches import DIRECTIONS, FEATURES, Parts, as_image, grid_parts, segment_parts
from asterism.methods.words import checked_pictures, fit_vocabulary, histograms, scaled_histograms

BATCH = 256  # pictures whose parts are in memory together
NORMS = ("l1", "hellinger", "l2")


class BagOfVisualWords(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Pictures as histograms of visual words, ready for a classifier.

    Parameters
    ----------
    n_words : int or "auto"
        Words of the vocabulary; "auto" chooses by the shortest description of the training pictures' parts.
    patch : int, default 8
        Side of the square patches in pixels.
    step : int or None
        Pixels from patch to patch; half a patch by default.
    segments : int or None
        Take so many segments of pixels near and alike instead of patches.
    features : sequence of "colour", "gradient", "pixels"
        Mean and spread of channels, histograms of edge directions, the patch itself.
    pyramid : sequence of int, default (1,)
        Grids whose fields have a histogram each: (1, 2) is the whole picture, then its quarters.
    norm : "l1", "hellinger", "l2"
        Shares of words, their roots (good for linear classifiers), or unit length.
    max_iter : int, default 50
        Steps of k-means.
    random_state : int, RandomState or None

    Attributes
    ----------
    words_ : (n_words_, f) the vocabulary, in the features' own units
    n_words_ : int
    description_length_ : dict of the bits of the description for each number of words that was tried
    n_channels_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import BagOfVisualWords
    >>> dark, light = np.zeros((16, 16)), np.ones((16, 16))
    >>> half = np.hstack([dark[:, :8], light[:, :8]])
    >>> bag = BagOfVisualWords(2, patch=8, step=8, features=["colour"], random_state=0).fit([dark, light])
    >>> bag.transform([dark, half]).max(axis=1).tolist()
    [1.0, 0.5]
    """

    def __init__(
        self,
        n_words: Any = "auto",
        *,
        patch: int = 8,
        step: int | None = None,
        segments: int | None = None,
        features: Sequence[str] = ("colour", "gradient"),
        pyramid: Sequence[int] = (1,),
        norm: str = "l1",
        max_iter: int = 50,
        random_state: Any = None,
    ) -> None:
        self.n_words = n_words
        self.patch = patch
        self.step = step
        self.segments = segments
        self.features = features
        self.pyramid = pyramid
        self.norm = norm
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the words of pictures: a list of (height, width[, channels]) arrays of any sizes, or one array."""
        self._check_settings()
        pictures = checked_pictures(X)
        weights = (
            np.ones(len(pictures)) if sample_weight is None else checked_weights(sample_weight, len(pictures))
        )
        self.n_channels_ = as_image(pictures[0]).shape[2]
        parts = [self._parts(picture, number) for number, picture in enumerate(pictures)]
        vocabulary = fit_vocabulary(
            parts,
            weights,
            None if self.n_words == "auto" else self.n_words,
            self._groups(),
            max_iter=self.max_iter,
            seed=seed_of(self.random_state),
        )
        self._vocabulary = vocabulary
        self.words_ = vocabulary.words.positions * vocabulary.spread
        self.n_words_ = vocabulary.size
        self.description_length_ = vocabulary.lengths
        self._n_features_out = self.n_words_ * sum(side * side for side in self.pyramid)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(n, n_words * fields) the histogram of every picture."""
        check_is_fitted(self)
        pictures = checked_pictures(X)
        rows = []
        for a in range(0, len(pictures), BATCH):
            parts = [self._parts(p, number) for number, p in enumerate(pictures[a : a + BATCH], start=a)]
            rows.append(histograms(self._vocabulary, parts, self.pyramid))
        return scaled_histograms(np.vstack(rows), self.norm)

    def _parts(self, picture: Any, number: int) -> Parts:
        image = as_image(picture, number)
        if image.shape[2] != self.n_channels_:
            raise DataError(
                f"picture {number} has {image.shape[2]} channels, the first had {self.n_channels_}.",
                "Bring all pictures to the same channels.",
            )
        kinds: Any = self.features
        if self.segments is not None:
            return segment_parts(image, self.segments, kinds)
        return grid_parts(image, self.patch, self.step or -(-self.patch // 2), kinds)

    def _groups(self) -> list[int]:
        """Columns of each sort of feature, in the order they are joined in."""
        c = self.n_channels_
        edges = DIRECTIONS if self.segments is not None else 4 * DIRECTIONS
        widths = {"colour": 2 * c, "gradient": edges, "pixels": self.patch**2 * c}
        return [widths[kind] for kind in FEATURES if kind in self.features]

    def _check_settings(self) -> None:
        whole = {"patch": self.patch, "step": self.step, "segments": self.segments, "max_iter": self.max_iter}
        if self.n_words != "auto":
            whole["n_words"] = self.n_words
        for name, value in [*whole.items(), *(("pyramid", side) for side in self.pyramid)]:
            if value is None and name in ("step", "segments"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ParameterError(f"{name} is {value!r}.", "Give a whole number, 1 or more.")
        if not self.features or any(kind not in FEATURES for kind in self.features):
            raise ParameterError(f"features is {self.features!r}.", f"Give some of {', '.join(FEATURES)}.")
        if not len(self.pyramid):
            raise ParameterError("pyramid is empty.", "Give (1,) for the picture as a whole.")
        if self.norm not in NORMS:
            raise ParameterError(f"norm is {self.norm!r}.", f"Give one of {', '.join(NORMS)}.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = []
        return tags
