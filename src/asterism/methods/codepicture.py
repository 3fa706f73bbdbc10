"""Pictures as codes of their pixels or tiles, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.pictures import Picture
from asterism.data.source import ArraySource
from asterism.errors import DataError, ModelFileError, ParameterError, TooFewRowsError
from asterism.methods.codefile import CodedRows
from asterism.methods.patches import cut_tiles, join_tiles
from asterism.methods.quantize import entropy_of, fit_quantizer

KIND = "picture"


@dataclass(frozen=True)
class Loss:
    """What came of a picture."""

    rate: float  # bits a value, as stored, the codebook left aside
    entropy: float  # bits a value, at best
    distortion: float  # mean squared error of a value
    signal_to_noise: float | None  # 10 log10(255^2 / distortion), decibels; None where nothing was lost


def code_picture(picture: Picture, k: int, *, tile: int = 1, seed: int | None = None) -> CodedRows:
    """Squares of ``tile`` x ``tile`` pixels as numbers of k codes; all of them where there are no more than k."""
    if not 1 <= tile <= min(picture.shape[:2]):
        raise ParameterError(f"tile is {tile}.", f"Give 1 to {min(picture.shape[:2])} pixels.")
    rows = cut_tiles(picture, tile)
    about = {"kind": KIND, "tile": tile}
    try:
        fit = fit_quantizer(ArraySource(rows), k, seed=seed)
    except TooFewRowsError:  # nothing need be lost
        book, codes = np.unique(rows, axis=0, return_inverse=True)
        return CodedRows((book,), _narrow(codes.reshape(-1, 1), len(book)), picture.shape, about)
    book = np.rint(np.clip(fit.model.books[0], 0.0, 255.0)).astype(np.uint8)
    return CodedRows((book,), fit.codes, picture.shape, about)


def restore_picture(coded: CodedRows) -> Picture:
    """The picture that codes stand for."""
    tile = coded.about.get("tile")
    if coded.about.get("kind") != KIND or not isinstance(tile, int) or tile < 1 or len(coded.shape) != 3:
        raise ModelFileError("The codes are those of a table, not of a picture.", "Use them from Python.")
    height, width, channels = coded.shape
    tiles = -(-height // tile) * -(-width // tile)
    wide = coded.books[0].shape[1]
    if coded.books[0].dtype != np.uint8 or len(coded.codes) != tiles or wide != tile * tile * channels:
        raise ModelFileError(
            "The codes do not make a picture of the size they are said to.", "It is damaged."
        )
    picture: Picture = join_tiles(coded.rows(), coded.shape, tile)
    return picture


def loss_of(picture: Picture, restored: Picture, coded: CodedRows) -> Loss:
    """Rate and distortion, from the picture itself and what came back of it."""
    if picture.shape != restored.shape:
        raise DataError(f"A picture of {picture.shape} came back as {restored.shape}.")
    squares: NDArray[Any] = (picture.astype(np.int32) - restored) ** 2
    distortion, k = float(squares.mean()), len(coded.books[0])
    mass = np.bincount(coded.codes[:, 0], minlength=k).astype(np.float64)
    bits, values = (k - 1).bit_length() * len(coded.codes), picture.size
    entropy = entropy_of(mass) * len(coded.codes) / values
    noise = 10.0 * float(np.log10(255.0**2 / distortion)) if distortion else None
    return Loss(bits / values, entropy, distortion, noise)


def _narrow(codes: NDArray[Any], k: int) -> NDArray[Any]:
    return codes.astype(np.min_scalar_type(k - 1))
