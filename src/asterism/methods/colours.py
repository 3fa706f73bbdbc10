"""Colour histograms: which cell of a colour space a pixel is in, and spaces that red, green, blue are brought to.

    joint      cell = (.. (b_1 B + b_2) B + ..) + b_c        B^c cells
    each       one histogram of B cells for every channel     c B cells,   b = floor(B value), at most B - 1

References
----------
1. Swain, Ballard (1991), Color indexing. Int. J. Comput. Vis. 7:11-32.
2. IEC 61966-2-1 (1999), sRGB; CIE 15 (2004), Colorimetry: L*a*b* with the white of daylight, D65.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from asterism.errors import DataError

Floats = NDArray[np.float64]
Space = Literal["grey", "rgb", "hsv", "lab"]
SPACES: tuple[Space, ...] = ("grey", "rgb", "hsv", "lab")

MOST_CELLS = 4096  # convention: 16 steps of three channels; every patch has a number for every cell
LUMA = (0.299, 0.587, 0.114)  # convention: ITU-R BT.601, as in JPEG and Pillow
TO_XYZ = (  # convention: sRGB, IEC 61966-2-1
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
LAB_LOW, LAB_HIGH = (
    (0.0, -110.0, -110.0),
    (100.0, 110.0, 110.0),
)  # derived: sRGB's a*: -86 to 98, b*: -108 to 94


@dataclass(frozen=True)
class ColourCells:
    """How colours are counted: in which space (``None``: channels as they are), in how many steps, and how."""

    space: Space | None = None
    bins: int = 4
    joint: bool = True

    def count(self, channels: int) -> int:
        """How many cells there are for pictures of so many channels."""
        c = channels if self.space is None else 1 if self.space == "grey" else 3
        cells = self.bins**c if self.joint else self.bins * c
        if cells > MOST_CELLS:
            raise DataError(
                f"A histogram of {c} channels in {self.bins} steps has {cells} cells, more than {MOST_CELLS}.",
                "Take fewer bins, or joint=False.",
            )
        return cells

    def cells(self, image: Floats) -> NDArray[np.intp]:
        """(height, width, t) numbers of the cells a pixel is in: one, or one for every channel.

        >>> ColourCells(bins=2).cells(np.array([[[0.0, 0.9, 0.9]]])).tolist()
        [[[3]]]
        >>> ColourCells(bins=2, joint=False).cells(np.array([[[0.0, 0.9, 0.9]]])).tolist()
        [[[0, 3, 5]]]
        """
        values = image if self.space is None else in_space(image, self.space)
        inner = np.linspace(0.0, 1.0, self.bins + 1)[
            1:-1
        ]  # what lies outside 0..1 is in the first or last cell
        steps = np.searchsorted(inner, values, side="right")
        c = values.shape[2]
        if self.joint:
            return (steps @ self.bins ** np.arange(c)[::-1])[:, :, None]
        return steps + self.bins * np.arange(c)


def as_rgb(image: Floats) -> Floats:
    """(height, width, 3) red, green, blue: grey is repeated, opacity (a second or fourth channel) left out.

    >>> as_rgb(np.array([[[0.5, 1.0]]])).tolist()
    [[[0.5, 0.5, 0.5]]]
    """
    channels = image.shape[2]
    if channels > 4:
        raise DataError(
            f"A picture of {channels} channels has no red, green and blue.",
            "Give pictures of 1 to 4 channels, or colour_space=None.",
        )
    return image[:, :, :3] if channels >= 3 else np.repeat(image[:, :, :1], 3, axis=2)


def in_space(image: Floats, space: Space) -> Floats:
    """(height, width, 1 or 3) the colours in another space, every channel from 0 to 1."""
    rgb = as_rgb(image)
    if space == "rgb":
        return rgb
    if space == "grey":
        return np.asarray(rgb @ np.array(LUMA))[:, :, None]
    rgb = np.clip(rgb, 0.0, 1.0)
    if space == "hsv":
        return hsv_of(rgb)
    low, high = np.array(LAB_LOW), np.array(LAB_HIGH)
    scaled: Floats = (lab_of(rgb) - low) / (high - low)
    return scaled


def hsv_of(rgb: Floats) -> Floats:
    """(..., 3) hue (a turn is 1), saturation, value; the hue of grey is 0.

    >>> hsv_of(np.array([0.0, 0.5, 0.0])).round(3).tolist()
    [0.333, 1.0, 0.5]
    """
    red, green, blue = np.moveaxis(rgb, -1, 0)
    value = rgb.max(axis=-1)
    range_ = value - rgb.min(axis=-1)
    unit = np.where(range_ > 0, range_, 1.0)
    hue = np.where(
        value == red,
        (green - blue) / unit,
        np.where(value == green, 2.0 + (blue - red) / unit, 4.0 + (red - green) / unit),
    )
    return np.stack([hue / 6.0 % 1.0, range_ / np.where(value > 0, value, 1.0), value], axis=-1)


def lab_of(rgb: Floats) -> Floats:
    """(..., 3) lightness L* from 0 to 100, a* from green to red, b* from blue to yellow.

    >>> lab_of(np.array([1.0, 0.0, 0.0])).round(1).tolist()
    [53.2, 80.1, 67.2]
    """
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    matrix = np.array(TO_XYZ)
    share = light @ matrix.T / matrix.sum(axis=1)  # of the white's X, Y, Z
    root = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=-1)
