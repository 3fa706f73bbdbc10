"""Pictures as arrays (height, width, channels) of bytes: PPM, PGM and NumPy files, all others through Pillow."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.files import file_errors, matching_files
from asterism.data.formats.npy import mapped
from asterism.data.png import MAGIC as PNG
from asterism.data.png import png_bytes, read_png, read_with_pillow
from asterism.errors import DataError, FileError

NUMPY = b"\x93NUMPY"
PNM = re.compile(
    rb"P([56])(?:\s+|#[^\n]*\n)+(\d+)(?:\s+|#[^\n]*\n)+(\d+)(?:\s+|#[^\n]*\n)+(\d+)\s", re.DOTALL
)

Picture = NDArray[np.uint8]  # (height, width, channels)


def read_picture(path: Path) -> Picture:
    """The picture in a file, told by its first bytes."""
    if not path.exists():
        raise FileError(f"{str(path)!r} is not there.", "Check the path and the current folder.")
    if path.is_dir():
        raise FileError(f"{str(path)!r} is a folder.", "Give one picture.")
    with file_errors(path, "a picture"):
        data = path.read_bytes()
        if data.startswith(PNG):
            return read_png(data)
        if PNM.match(data):
            return _read_pnm(data)
        if data.startswith(NUMPY):
            return as_picture(np.asarray(mapped(path)))
        return read_with_pillow(data)


def picture_list(pictures: Any) -> list[Any]:
    """The pictures meant, each an array or the ``Path`` of a file, which is not read yet.

    One array has pictures along its first axis. A list may mix arrays, paths and globs; a glob stands for its files,
    sorted by name. A path or glob by itself is a list of one.
    """
    if isinstance(pictures, str | Path):
        pictures = [pictures]
    elif isinstance(pictures, np.ndarray) and (pictures.ndim != 1 or pictures.dtype.kind not in "OU"):
        if pictures.ndim not in (3, 4):
            raise DataError(
                f"Pictures are an array of shape (n, height, width) or (n, height, width, channels), not "
                f"{pictures.shape}.",
                "Reshape rows of pixels to pictures, or give a list of pictures.",
            )
    elif not isinstance(pictures, Iterable) or isinstance(pictures, bytes):
        raise DataError(f"Pictures are given as a list or an array, not {type(pictures).__name__}.")
    found: list[Any] = []
    for picture in pictures:
        if isinstance(picture, str | Path):
            found += _picture_files(str(picture))
        else:
            found.append(picture)
    if not found:
        raise DataError("There are no pictures (0 sample(s)).", "Give at least one.")
    return found


def _picture_files(name: str) -> list[Path]:
    if Path(name).expanduser().is_dir():
        raise FileError(
            f"{name!r} is a folder.",
            f"Say which of its files are meant, for instance {str(Path(name) / '*.png')!r}.",
        )
    return matching_files(name, ())


def as_picture(array: Any) -> Picture:
    """An array as a picture: (height, width) or (height, width, 1 to 4), bytes or fractions of 1."""
    array = np.asarray(array)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or 0 in array.shape:
        raise DataError(
            f"A picture is (height, width) or (height, width, channels), not {array.shape}.",
            "Give 1 to 4 channels: grey, grey and opacity, or red, green, blue and perhaps opacity.",
        )
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
        raise DataError("A picture has finite numbers in every cell.", "Give bytes, or fractions of 1.")
    low, high = float(array.min()), float(array.max())
    top = 1.0 if array.dtype.kind == "f" else 255.0
    if low < 0.0 or high > top:
        raise DataError(
            f"The picture's values run from {low:g} to {high:g}.",
            "Give whole numbers from 0 to 255, or fractions from 0 to 1.",
        )
    picture: Picture = np.rint(array * (255.0 / top)).astype(np.uint8)
    return picture


def write_picture(path: Path, pixels: Picture) -> None:
    """Write PNG, PPM, PGM or .npy, by the ending of the name."""
    ending = path.suffix.lower()
    if ending == ".png":
        path.write_bytes(png_bytes(pixels))
    elif ending == ".npy":
        np.save(path, pixels, allow_pickle=False)
    elif ending in (".ppm", ".pgm") and pixels.shape[2] == (3 if ending == ".ppm" else 1):
        path.write_bytes(_pnm_bytes(pixels))
    else:
        raise FileError(
            f"A picture of {pixels.shape[2]} channels is not written as {ending or 'a file without ending'!r}.",
            "Use .png or .npy, .ppm for colours, .pgm for grey.",
        )


def _read_pnm(data: bytes) -> Picture:
    found = PNM.match(data)
    assert found is not None, "asked for a file that is none"
    channels = 3 if found[1] == b"6" else 1
    width, height, top = int(found[2]), int(found[3]), int(found[4])
    if top != 255:
        raise ValueError(f"its values go up to {top}, where 255 is read")
    size = width * height * channels
    if not size or len(data) - found.end() < size:
        raise ValueError(f"{size} bytes of pixels are announced, {len(data) - found.end()} are there")
    pixels = np.frombuffer(data, np.uint8, size, found.end())
    return pixels.reshape(height, width, channels).copy()


def _pnm_bytes(pixels: Picture) -> bytes:
    height, width, channels = pixels.shape
    return f"P{6 if channels == 3 else 5}\n{width} {height}\n255\n".encode() + pixels.tobytes()
