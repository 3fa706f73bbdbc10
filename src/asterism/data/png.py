"""PNG files of 8 bits a channel, read and written with the standard library's zlib.

References
----------
1. W3C (2003), Portable Network Graphics (PNG) Specification, 2nd ed.; ISO/IEC 15948.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # of each colour type: grey, colours, palette, grey and alpha, both
PALETTE = 3
MOST_PIXELS = 1 << 30


class UnusualPng(ValueError):
    """A PNG that is in order, but of a sort that is not read here: 16 bits, few bits, interlaced."""


def read_png(data: bytes) -> NDArray[np.uint8]:
    """(height, width, channels) of a PNG file; palettes become colours. ``ValueError`` where it is damaged."""
    parts = list(_chunks(data))
    if not parts or parts[0][0] != b"IHDR" or len(parts[0][1]) != 13:
        raise ValueError("it does not begin with a header")
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if kind not in CHANNELS or not 0 < width * height <= MOST_PIXELS:
        raise ValueError(f"its header says {width} x {height} pixels of type {kind}")
    if depth != 8 or interlaced:
        raise UnusualPng(f"it has {depth} bits a channel{' and is interlaced' if interlaced else ''}")
    size = CHANNELS[kind] * width
    lines = _inflated(b"".join(body for name, body in parts if name == b"IDAT"), height * (1 + size))
    rows = _unfiltered(lines.reshape(height, 1 + size), CHANNELS[kind])
    chunks = dict(parts)
    if kind == PALETTE:
        return _from_palette(rows, chunks.get(b"PLTE", b""), chunks.get(b"tRNS", b""))
    return rows.reshape(height, width, CHANNELS[kind])


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and bodies, each held to its checksum, up to the end mark."""
    at = len(MAGIC)
    while at + 12 <= len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + size]
        end = at + 8 + size
        if len(data) < end + 4 or zlib.crc32(name + body) != struct.unpack_from(">I", data, end)[0]:
            raise ValueError(f"its part {name.decode('latin-1')!r} is cut off or changed")
        yield name, body
        if name == b"IEND":
            return
        at = end + 4
    raise ValueError("it is cut off")


def _inflated(packed: bytes, size: int) -> NDArray[np.uint8]:
    """Exactly ``size`` bytes: a small file that would unpack to more never does."""
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(packed, size)
    except zlib.error as bad:
        raise ValueError(f"its pixels cannot be unpacked ({bad})") from bad
    if len(raw) != size:
        raise ValueError(f"it has {len(raw)} bytes of pixels instead of {size}")
    return np.frombuffer(raw, np.uint8)


def _unfiltered(lines: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    from asterism.kernels.unfilter import unfilter

    out = np.empty((len(lines), lines.shape[1] - 1), np.uint8)
    strange = unfilter(lines, step, out)
    if strange >= 0:
        raise ValueError(f"it uses a filter {strange}, which does not exist")
    return out


def _from_palette(rows: NDArray[np.uint8], palette: bytes, alpha: bytes) -> NDArray[np.uint8]:
    if not palette or len(palette) % 3 or int(rows.max()) >= len(palette) // 3:
        raise ValueError("its palette lacks colours that it uses")
    colours = np.frombuffer(palette, np.uint8).reshape(-1, 3)
    if alpha:
        opacity = np.full((len(colours), 1), 255, np.uint8)
        opacity[: len(alpha), 0] = np.frombuffer(alpha, np.uint8)[: len(colours)]
        colours = np.hstack([colours, opacity])
    return colours[rows]


def png_bytes(pixels: NDArray[Any]) -> bytes:
    """A PNG file of (height, width, 1 to 4) bytes."""
    height, width, channels = pixels.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    lines = np.zeros((height, 1 + width * channels), np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    # Each line as its difference from the one above: pictures with few colours repeat themselves.
    lines[1:, 0] = 2
    lines[1:, 1:] = pixels[1:].reshape(height - 1, -1) - pixels[:-1].reshape(height - 1, -1)
    return png_file(struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0), [], lines)


def indexed_png_bytes(indices: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """A PNG file of (height, width) numbers of colours, and the (at most 256, 1 to 4) colours."""
    height, width = indices.shape
    channels = palette.shape[1]
    colours = np.repeat(palette[:, :1], 3, axis=1) if channels < 3 else palette[:, :3]
    extra = [(b"PLTE", colours.tobytes())]
    if channels in (2, 4):
        extra.append((b"tRNS", palette[:, -1].tobytes()))
    lines = np.zeros((height, 1 + width), np.uint8)
    lines[:, 1:] = indices
    return png_file(struct.pack(">IIBBBBB", width, height, 8, PALETTE, 0, 0, 0), extra, lines)


def png_file(header: bytes, extra: list[tuple[bytes, bytes]], lines: NDArray[np.uint8]) -> bytes:
    """The whole file: header, other parts, pixels."""
    parts = [(b"IHDR", header), *extra, (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b"")]
    return MAGIC + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )
