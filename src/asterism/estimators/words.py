"""Bags of visual words in scikit-learn's manner: pictures and files in, histograms out; no mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.data.pictures import picture_list, read_picture
from asterism.data.source import checked_weights
from asterism.errors import DataError, ParameterError
from asterism.estimators.base import seed_of
from asterism.methods.colours import SPACES, ColourCells, as_rgb
from asterism.methods.descriptors import WIDTH, keypoint_parts
from asterism.methods.patches import DIRECTIONS, FEATURES, Floats, Parts, as_image, grid_parts, segment_parts
from asterism.methods.words import fit_vocabulary, histograms, scaled_histograms

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
    features : sequence of "colour", "histogram", "gradient", "pixels"; or "keypoints"
        Mean and spread of channels, colour histograms, histograms of edge directions, the patch itself.
        "keypoints" stands alone: blobs and corners of any size instead of patches, described by the gradients
        around them, whatever their turn and the light.
    colour_space : None, "grey", "rgb", "hsv", "lab"
        Where colour histograms are counted: in the channels as they are, or in a space; with a space, all pictures
        are brought to red, green and blue first, so that grey ones may stand among them.
    bins : int, default 4
        Steps of each channel of colour histograms.
    joint : bool, default True
        One histogram of ``bins`` to the power of the channels cells; or one of ``bins`` cells for each channel.
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
    files_ : list of the names of the training pictures' files, None for arrays

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
        features: str | Sequence[str] = ("colour", "gradient"),
        colour_space: str | None = None,
        bins: int = 4,
        joint: bool = True,
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
        self.colour_space = colour_space
        self.bins = bins
        self.joint = joint
        self.pyramid = pyramid
        self.norm = norm
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the words of pictures of any sizes.

        ``X`` is one array of pictures, or a list of (height, width[, channels]) arrays, paths and globs of picture
        files; a glob stands for its files, sorted by name.
        """
        self._check_settings()
        pictures = picture_list(X)
        weights = (
            np.ones(len(pictures)) if sample_weight is None else checked_weights(sample_weight, len(pictures))
        )
        self.n_channels_ = self._image(pictures[0], 0).shape[2]
        self.files_ = [str(picture) if isinstance(picture, Path) else None for picture in pictures]
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
        """(n, n_words * fields) the histogram of every picture; zeros for one without keypoints."""
        check_is_fitted(self)
        pictures = picture_list(X)
        rows = []
        for a in range(0, len(pictures), BATCH):
            parts = [self._parts(p, number) for number, p in enumerate(pictures[a : a + BATCH], start=a)]
            rows.append(histograms(self._vocabulary, parts, self.pyramid))
        return scaled_histograms(np.vstack(rows), self.norm)

    def _image(self, picture: Any, number: int) -> Floats:
        """The picture as numbers, in the channels that its features are computed from."""
        if isinstance(picture, Path):
            image = as_image(read_picture(picture), repr(str(picture)))
        else:
            image = as_image(picture, number)
        alike = self.colour_space is not None or (self._kinds == ["keypoints"] and image.shape[2] <= 4)
        return as_rgb(image) if alike else image

    def _parts(self, picture: Any, number: int) -> Parts:
        image = self._image(picture, number)
        if image.shape[2] != self.n_channels_:
            name = repr(str(picture)) if isinstance(picture, Path) else number
            raise DataError(
                f"picture {name} has {image.shape[2]} channels, the first had {self.n_channels_}.",
                'Bring all pictures to the same channels; colour_space="rgb" does.',
            )
        try:
            return self._parts_of(image)
        except DataError as bad:
            if isinstance(picture, Path):
                raise DataError(f"picture {str(picture)!r}: {bad.what}", bad.remedy) from bad
            raise

    def _parts_of(self, image: Floats) -> Parts:
        kinds: Any = self._kinds
        if kinds == ["keypoints"]:
            return keypoint_parts(image)
        if self.segments is not None:
            return segment_parts(image, self.segments, kinds, self._colours)
        return grid_parts(image, self.patch, self.step or -(-self.patch // 2), kinds, self._colours)

    @property
    def _kinds(self) -> list[str]:
        return [self.features] if isinstance(self.features, str) else list(self.features)

    @property
    def _colours(self) -> ColourCells:
        space: Any = self.colour_space
        return ColourCells(space, self.bins, self.joint)

    def _groups(self) -> list[int]:
        """Columns of each sort of feature, in the order they are joined in."""
        if self._kinds == ["keypoints"]:
            return [WIDTH]
        c = self.n_channels_
        widths = {
            "colour": 2 * c,
            "histogram": self._colours.count(c) if "histogram" in self._kinds else 0,
            "gradient": DIRECTIONS if self.segments is not None else 4 * DIRECTIONS,
            "pixels": self.patch**2 * c,
        }
        return [widths[kind] for kind in FEATURES if kind in self._kinds]

    def _check_settings(self) -> None:
        whole = {"patch": self.patch, "step": self.step, "segments": self.segments, "max_iter": self.max_iter}
        whole["bins"] = self.bins
        if self.n_words != "auto":
            whole["n_words"] = self.n_words
        for name, value in [*whole.items(), *(("pyramid", side) for side in self.pyramid)]:
            if value is None and name in ("step", "segments"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ParameterError(f"{name} is {value!r}.", "Give a whole number, 1 or more.")
        kinds = self._kinds
        if kinds != ["keypoints"] and (not kinds or any(kind not in FEATURES for kind in kinds)):
            raise ParameterError(
                f"features is {self.features!r}.",
                f'Give some of {", ".join(FEATURES)}; or "keypoints" alone.',
            )
        if kinds == ["keypoints"] and self.segments is not None:
            raise ParameterError(
                "segments and keypoints are two ways to take parts.", "Leave one of them out."
            )
        if self.colour_space is not None and self.colour_space not in SPACES:
            raise ParameterError(
                f"colour_space is {self.colour_space!r}.", f"Give None or one of {', '.join(SPACES)}."
            )
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
