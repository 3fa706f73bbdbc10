"""Code files: exact bit counts, round trips to the bit, and damage told rather than believed."""

import json
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.errors import ModelFileError
from asterism.methods.codefile import (
    MAGIC,
    CodedRows,
    code_bytes,
    codes_of,
    pack,
    packed_size,
    read_codes,
    unpack,
    write_codes,
)

few = settings(max_examples=60, deadline=None)


def example(n=100, sizes=(5, 8), kind="float64", seed=0):
    rng = np.random.default_rng(seed)
    books = tuple(rng.normal(size=(k, 3)).astype(kind) for k in sizes)
    codes = np.stack([rng.integers(k, size=n) for k in sizes], axis=1).astype(np.uint8)
    return CodedRows(books, codes, (n, 3 * len(sizes)), {"note": "é"})


def resealed(data, change):
    """A file with another header and a checksum that fits: what an attacker would send."""
    size = struct.unpack_from("<I", data, 8)[0]
    header = json.loads(data[12 : 12 + size])
    change(header)
    words = json.dumps(header).encode()
    body = data[:8] + struct.pack("<I", len(words)) + words + data[12 + size : -4]
    return body + struct.pack("<I", zlib.crc32(body))


@few
@given(st.integers(0, 17), st.lists(st.integers(0, 2**31), max_size=70))
def test_bits_are_those_of_the_binary_numbers(bits, numbers):
    numbers = np.array([x % 2**bits for x in numbers], np.uint32)
    text = "".join(f"{x:0{bits}b}" for x in numbers.tolist()) if bits else ""
    packed = pack(numbers, bits)
    assert "".join(f"{byte:08b}" for byte in packed) == text + "0" * (-len(text) % 8)
    np.testing.assert_array_equal(unpack(packed, len(numbers), bits), numbers)


def test_long_lists_are_packed_without_seams():
    numbers = np.random.default_rng(0).integers(0, 2**7, 200_001)
    packed = pack(numbers, 7)
    assert len(packed) == packed_size(200_001, 128) == -(-200_001 * 7 // 8)
    np.testing.assert_array_equal(unpack(packed, 200_001, 7), numbers)


@few
@given(
    n=st.integers(0, 50),
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=4),
    kind=st.sampled_from(["uint8", "float32", "float64"]),
    coding=st.sampled_from(["auto", "packed", "deflate"]),
    seed=st.integers(0, 2**31),
)
def test_files_round_trip_to_the_bit(n, sizes, kind, coding, seed):
    rng = np.random.default_rng(seed)
    books = tuple(
        rng.integers(0, 256, (k, rng.integers(1, 4))).astype(kind) / (1 if kind == "uint8" else 7)
        for k in sizes
    )
    books = tuple(book.astype(kind) for book in books)
    codes = np.stack([rng.integers(k, size=n) for k in sizes], axis=1)
    coded = CodedRows(books, codes.astype(np.uint16), (n, 2), {"a": [1, "b"]})
    data = code_bytes(coded, coding)
    back = codes_of(data)
    np.testing.assert_array_equal(back.codes, codes)
    for mine, theirs in zip(books, back.books, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes()
    assert (back.shape, back.about) == (coded.shape, coded.about)
    assert back.rows().tobytes() == coded.rows().tobytes()
    assert code_bytes(back, coding) == data


def test_a_packed_file_has_the_bits_it_needs_and_no_more():
    coded = example(1000, (5, 64), "float32")
    header = struct.unpack_from("<I", code_bytes(coded, "packed"), 8)[0]
    codes = -(-1000 * 3 // 8) + -(-1000 * 6 // 8)
    assert len(code_bytes(coded, "packed")) == 8 + 4 + header + (5 + 64) * 3 * 4 + codes + 4


def test_auto_takes_the_shorter_way():
    dull = CodedRows((np.zeros((200, 1)),), np.zeros((5000, 1), np.uint8), (5000, 1), {})
    noisy = example(5000, (256,))
    for coded in (dull, noisy):
        lengths = [len(code_bytes(coded, way)) for way in ("packed", "deflate")]
        assert len(code_bytes(coded)) == min(lengths)
    assert len(code_bytes(dull)) == len(code_bytes(dull, "deflate"))
    assert len(code_bytes(noisy)) == len(code_bytes(noisy, "packed"))


def test_the_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "rows.codes"
    size = write_codes(path, example())
    assert path.stat().st_size == size
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_codes(path, example(200))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.codes"]


@few
@given(st.data())
def test_any_changed_or_missing_byte_is_noticed(data):
    whole = code_bytes(example(20))
    at = data.draw(st.integers(0, len(whole) - 1))
    bit = data.draw(st.integers(0, 7))
    changed = whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :]
    for bad in (changed, whole[:at], whole + b"\0"):
        with pytest.raises(ModelFileError):
            codes_of(bad)


HOSTILE = {
    "rows": [-1, 2**40, 1.5, True, "many", None, 80],
    "books": [[], [[0, 3]], [[5, 3, 1]], [[2**31, 2**31]], "x", [[5, -3], [8, 3]]],
    "type": ["object", "complex128", "int64", 5],
    "coding": ["pickle", None],
    "size": [0, -1, "x", 10**9],
    "shape": [None, [-1], [2**31, 2**31], list(range(20))],
    "about": [None, []],
}


@pytest.mark.parametrize(("field", "value"), [(f, v) for f, values in HOSTILE.items() for v in values])
def test_headers_that_lie_are_refused(field, value):
    data = code_bytes(example(100, (5, 8)), "packed")
    with pytest.raises(ModelFileError):
        codes_of(resealed(data, lambda header: header.update({field: value})))


def test_a_small_file_that_would_unpack_to_much_never_does():
    bomb = CodedRows((np.zeros((200, 1)),), np.zeros((1_000_000, 1), np.uint8), (1_000_000, 1), {})
    data = code_bytes(bomb, "deflate")
    with pytest.raises(ModelFileError, match="another size"):
        codes_of(resealed(data, lambda header: header.update(rows=10)))
    none = code_bytes(CodedRows((np.zeros((1, 1)),), np.zeros((5, 1), np.uint8), (5, 1), {}), "packed")
    with pytest.raises(ModelFileError, match="no codes for them"):
        codes_of(resealed(none, lambda header: header.update(rows=2**30)))


def test_codes_beyond_their_book_are_refused():
    data = code_bytes(example(100, (8,)), "packed")
    size = struct.unpack_from("<I", data, 8)[0]
    books = data[12 + size : 12 + size + 5 * 3 * 8]  # 5 of 8 codes: 3 bits reach beyond
    header = json.loads(data[12 : 12 + size]) | {"books": [[5, 3]]}
    words = json.dumps(header).encode()
    body = data[:8] + struct.pack("<I", len(words)) + words + books + data[12 + size + 8 * 3 * 8 : -4]
    with pytest.raises(ModelFileError, match="for a book of 5"):
        codes_of(body + struct.pack("<I", zlib.crc32(body)))


def test_other_files_and_versions_are_told(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(b"not a code file at all")
    with pytest.raises(ModelFileError, match="begins with other bytes"):
        read_codes(path)
    later = code_bytes(example())
    path.write_bytes(later[:7] + b"\x02" + later[8:])
    with pytest.raises(ModelFileError, match="version is 02"):
        read_codes(path)
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_codes(tmp_path / "absent")
    assert MAGIC[0] >= 0x80  # no text file begins so
