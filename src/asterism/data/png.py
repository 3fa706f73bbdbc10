"""PNG files, through Pillow; and what Pillow does not do by itself: hold every part of a file to its checksum."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x89PNG\r\n\x1a\n"
END = b"IEND\xaeB`\x82"  # the last part, of which Pillow does not read the checksum


def read_png(data: bytes) -> NDArray[np.uint8]:
    """(height, width, channels) of a PNG file; palettes become colours. ``ValueError`` where it is damaged."""
    from PIL import Image

    if END not in data:
        raise ValueError("it is cut off, or its end is changed")
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.verify()  # checksums; then the picture must be opened again
    except SyntaxError as bad:
        raise ValueError(str(bad)) from bad
    return read_with_pillow(data)


def read_with_pillow(data: bytes) -> NDArray[np.uint8]:
    """(height, width, channels) of any picture that Pillow reads; of 16 bits a channel the upper 8."""
    from PIL import Image, UnidentifiedImageError

    try:
        opened = Image.open(io.BytesIO(data))
    except UnidentifiedImageError as bad:  # says nothing but the address of the bytes
        raise ValueError("it begins like no picture that can be read") from bad
    with opened as image:
        if image.mode.startswith("I;16"):
            pixels = (np.asarray(image) >> 8).astype(np.uint8)
        else:
            pixels = np.asarray(image if image.mode in PLAIN else image.convert(_mode(image)))
    return np.ascontiguousarray(pixels if pixels.ndim == 3 else pixels[:, :, None])


PLAIN = ("L", "LA", "RGB", "RGBA")  # a byte a channel


def _mode(image: Any) -> str:
    """The mode of bytes that keeps most of a picture."""
    if "transparency" in image.info or image.mode.endswith(("A", "a")):
        return "RGBA"
    return "L" if image.mode in ("1", "I", "F") else "RGB"


def png_bytes(pixels: NDArray[Any]) -> bytes:
    """A PNG file of (height, width, 1 to 4) bytes."""
    from PIL import Image

    return _saved(Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels))


def indexed_png_bytes(indices: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """A PNG file of (height, width) numbers of colours, and the (at most 256, 1 to 4) colours."""
    from PIL import Image

    channels = palette.shape[1]
    colours = np.repeat(palette[:, :1], 3, axis=1) if channels < 3 else palette[:, :3]
    image = Image.fromarray(indices)
    image.putpalette(colours.tobytes())
    return _saved(image, **({"transparency": palette[:, -1].tobytes()} if channels in (2, 4) else {}))


def _saved(image: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", **options)
    return file.getvalue()
