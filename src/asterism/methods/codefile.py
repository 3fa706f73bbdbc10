"""The code file: codebooks and packed codes, compact and safe to read from a stranger.

    8 bytes    magic, with the version as its last byte
    4 bytes    size of the header, little-endian as all that follows
    header     JSON: shape, sizes and type of the codebooks, how codes are packed
    codebooks  k_s x d_s numbers, book after book
    codes      book after book; "packed": ceil(log2 k_s) bits each, highest bit first, filled up to a whole byte;
               "deflate": whole bytes each, compressed by zlib
    4 bytes    CRC-32 of everything before

Everything is measured against the header before it is used; nothing is unpacked beyond what the header announces.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.data.whole import write_whole
from asterism.errors import ModelFileError
from asterism.methods.quantize import Codes, checked_codes, code_bits, code_type, decode

MAGIC = b"\x8fAQCODE\x01"
TYPES = ("uint8", "float32", "float64")  # of codebooks
MOST_HEADER = 1 << 20
MOST_CODES = 1 << 31
GROUP = 1 << 16  # codes packed at a time: a multiple of 8, so that groups end at whole bytes

Coding = Literal["auto", "packed", "deflate"]


@dataclass(frozen=True)
class CodedRows:
    """Rows as codes, with what brings them back."""

    books: tuple[NDArray[Any], ...]  # each (k_s, d_s), of one type
    codes: Codes  # (n, s)
    shape: tuple[int, ...]  # of the array that rows are cut from, for those who put it together again
    about: dict[str, Any]  # anything that fits JSON: names, tile of a picture

    def rows(self) -> NDArray[Any]:
        """(n, d) the rows again."""
        return decode(self.books, self.codes)


# --- bits -------------------------------------------------------------------------------------------------------


def pack(codes: NDArray[Any], bits: int) -> bytes:
    """Numbers below 2^bits, one after the other, highest bit first.

    >>> pack(np.array([1, 2, 3]), 2).hex()  # 01 10 11, then 00 to fill the byte
    '6c'
    """
    places = np.arange(bits - 1, -1, -1, dtype=np.uint32)
    groups = (codes[a : a + GROUP].astype(np.uint32) for a in range(0, len(codes), GROUP))
    return (
        b"".join(np.packbits((group[:, None] >> places) & 1).tobytes() for group in groups) if bits else b""
    )


def unpack(data: bytes, n: int, bits: int) -> NDArray[np.uint32]:
    """(n,) the numbers again.

    >>> unpack(bytes.fromhex("6c"), 3, 2).tolist()
    [1, 2, 3]
    """
    out = np.zeros(n, np.uint32)
    powers = (1 << np.arange(bits - 1, -1, -1)).astype(np.uint32)
    for a in range(0, n if bits else 0, GROUP):
        count = min(GROUP, n - a)
        piece = np.frombuffer(data, np.uint8, -(-count * bits // 8), a * bits // 8)
        out[a : a + count] = np.unpackbits(piece, count=count * bits).reshape(count, bits) @ powers
    return out


def packed_size(n: int, k: int) -> int:
    """Bytes that n codes of a book of k take."""
    return -(-n * code_bits(k) // 8)


# --- writing ----------------------------------------------------------------------------------------------------


def code_bytes(coded: CodedRows, coding: Coding = "auto") -> bytes:
    """The whole file. "auto" takes the shorter of both ways to store codes."""
    books = [np.ascontiguousarray(book) for book in coded.books]
    kind = books[0].dtype.name
    if kind not in TYPES or any(book.dtype != books[0].dtype for book in books):
        raise TypeError(f"codebooks are {', '.join(TYPES)}, all alike; these are {kind}")
    codes = checked_codes(books, coded.codes)
    columns = [codes[:, s] for s in range(codes.shape[1])]
    whole = code_type([len(book) for book in books]).newbyteorder("<")
    ways = {
        "packed": lambda: b"".join(pack(c, code_bits(len(b))) for c, b in zip(columns, books, strict=True)),
        "deflate": lambda: zlib.compress(b"".join(c.astype(whole).tobytes() for c in columns), 9),
    }
    made = {name: ways[name]() for name in (ways if coding == "auto" else [coding])}
    name = min(made, key=lambda way: len(made[way]))  # "packed" where they are equal
    header = {
        "rows": len(codes),
        "books": [list(book.shape) for book in books],
        "type": kind,
        "coding": name,
        "size": len(made[name]),
        "shape": list(coded.shape),
        "about": coded.about,
    }
    words = json.dumps(header, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()
    plain = [book.astype(book.dtype.newbyteorder("<")).tobytes() for book in books]
    body = MAGIC + struct.pack("<I", len(words)) + words + b"".join(plain) + made[name]
    return body + struct.pack("<I", zlib.crc32(body))


def write_codes(path: Path, coded: CodedRows, coding: Coding = "auto") -> int:
    """Write the file, whole or not at all. Returns its size in bytes."""
    data = code_bytes(coded, coding)
    write_whole(path, data)
    return len(data)


# --- reading ----------------------------------------------------------------------------------------------------


def read_codes(path: Path) -> CodedRows:
    """The file of ``write_codes``; a ``ModelFileError`` says what is wrong with it."""
    try:
        data = path.read_bytes()
    except OSError as bad:
        raise ModelFileError(f"{str(path)!r} cannot be read: {bad.strerror}.", "Check the path.") from bad
    return codes_of(data, path.name)


def codes_of(data: bytes, name: str = "the code file") -> CodedRows:
    """What the bytes of a code file say."""
    try:
        return _parsed(data)
    except (ValueError, KeyError, TypeError, struct.error, zlib.error, RecursionError) as bad:
        raise ModelFileError(
            f"{name!r} is not a code file, or is damaged: {bad}.", "Copy it again in full, or write it again."
        ) from bad


def _parsed(data: bytes) -> CodedRows:
    if data[:7] != MAGIC[:7]:
        raise ValueError("it begins with other bytes")
    if data[7:8] != MAGIC[7:]:
        raise ValueError(f"its version is {data[7:8].hex() or 'cut off'}, this program reads {MAGIC[7]:02x}")
    if len(data) < 16 or zlib.crc32(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        raise ValueError("its checksum does not fit")
    size = struct.unpack_from("<I", data, 8)[0]
    if size > min(MOST_HEADER, len(data) - 16):
        raise ValueError("its header is longer than the file")
    header = json.loads(data[12 : 12 + size])
    n, shapes, shape = _sizes(header)
    kind = header["type"]
    if kind not in TYPES:
        raise ValueError(f"its codebooks are of type {kind!r}")
    at, end, books = 12 + size, len(data) - 4, []
    for k, d in shapes:
        width = k * d * np.dtype(kind).itemsize
        if at + width > end:
            raise ValueError("its codebooks are cut off")
        little = np.dtype(kind).newbyteorder("<")
        books.append(np.frombuffer(data, little, k * d, at).reshape(k, d).astype(kind))
        at += width
    if header["size"] != end - at:
        raise ValueError(f"{end - at} bytes of codes are there, {header['size']!r} are announced")
    codes = _columns(data[at:end], n, [k for k, _ in shapes], header["coding"])
    return CodedRows(tuple(books), checked_codes(books, codes), shape, header["about"])


def _sizes(header: Any) -> tuple[int, list[tuple[int, int]], tuple[int, ...]]:
    """Rows, books and shape, all in bounds."""
    if not isinstance(header, dict) or not isinstance(header["about"], dict):
        raise ValueError("its header is not one")
    n, books, shape = header["rows"], header["books"], header["shape"]
    if not (isinstance(books, list) and books and all(isinstance(b, list) and len(b) == 2 for b in books)):
        raise ValueError("its header names no codebooks")
    if not isinstance(shape, list) or len(shape) > 8:
        raise ValueError("its header names no shape")
    for number in (n, *shape, *(size for book in books for size in book)):
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_CODES:
            raise ValueError(f"its header has {number!r} where a size belongs")
    if n * len(books) > MOST_CODES or prod(shape) > MOST_CODES or any(0 in book for book in books):
        raise ValueError("its header announces impossible sizes")
    return n, [(k, d) for k, d in books], tuple(shape)


def _columns(data: bytes, n: int, sizes: list[int], coding: Any) -> Codes:
    """(n, s) codes; ``data`` is exactly theirs."""
    kind = code_type(sizes)
    if coding == "deflate":
        wanted = n * len(sizes) * kind.itemsize
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(data, wanted) if wanted else b""
        if len(raw) != wanted or (wanted and unpacker.decompress(unpacker.unconsumed_tail, 1)):
            raise ValueError("its codes unpack to another size than announced")
        return np.frombuffer(raw, kind.newbyteorder("<")).reshape(len(sizes), n).T.astype(kind)
    if coding != "packed":
        raise ValueError(f"its codes are stored in an unknown way, {coding!r}")
    if len(data) != sum(packed_size(n, k) for k in sizes):
        raise ValueError("its codes are of another size than announced")
    if not any(map(code_bits, sizes)) and n > (1 << 24):
        raise ValueError("it announces many rows and has no codes for them")
    codes, at = np.empty((n, len(sizes)), kind), 0
    for s, k in enumerate(sizes):
        stop = at + packed_size(n, k)
        column = unpack(data[at:stop], n, code_bits(k))
        if n and int(column.max()) >= k:  # before it is narrowed, which would hide it
            raise ValueError(f"it has a code {int(column.max())} for a book of {k}")
        codes[:, s], at = column, stop
    return codes
