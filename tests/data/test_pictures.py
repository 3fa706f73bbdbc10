"""Pictures from files, against Pillow."""

import io
import struct
import zlib

import numpy as np
import pytest

from asterism.data.pictures import as_picture, read_picture, write_picture
from asterism.data.png import MAGIC, indexed_png_bytes, png_bytes, read_png
from asterism.errors import DataError, FileError

Image = pytest.importorskip("PIL.Image")
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def picture(channels, seed=0, shape=(37, 53)):
    rng = np.random.default_rng(seed)
    smooth = np.add.outer(np.arange(shape[0]) * 3, np.arange(shape[1]) * 2)[:, :, None] + 40 * np.arange(
        channels
    )
    return ((smooth + rng.integers(0, 20, (*shape, channels))) % 256).astype(np.uint8)


def pillow_png(pixels, **options):
    out = io.BytesIO()
    squeezed = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    Image.fromarray(squeezed).save(out, "PNG", **options)
    return out.getvalue()


def png_file(header, lines):
    """A PNG file written by hand: its lines as they are, filters and all."""
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b"")]
    return MAGIC + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_files_of_pillow_are_read_and_ours_are_read_by_pillow(channels):
    pixels = picture(channels)
    np.testing.assert_array_equal(read_png(pillow_png(pixels)), pixels)  # with all its filters
    theirs = np.asarray(Image.open(io.BytesIO(png_bytes(pixels))))
    np.testing.assert_array_equal(theirs.reshape(pixels.shape), pixels)
    assert Image.open(io.BytesIO(png_bytes(pixels))).mode == MODES[channels]
    np.testing.assert_array_equal(read_png(png_bytes(pixels)), pixels)


@pytest.mark.parametrize("how", range(5))
def test_every_filter_is_undone(how):
    pixels = picture(3).astype(int)
    height, width, step = *pixels.shape[:2], 3
    flat = pixels.reshape(height, -1)
    left = np.pad(flat, ((0, 0), (step, 0)))[:, :-step]
    up = np.pad(flat, ((1, 0), (0, 0)))[:-1]
    corner = np.pad(flat, ((1, 0), (step, 0)))[:-1, :-step]
    guess = left + up - corner
    away = np.abs(np.stack([guess - left, guess - up, guess - corner]))
    paeth = np.choose(away.argmin(axis=0), [left, up, corner])  # the first of the nearest
    guesses = [np.zeros_like(flat), left, up, (left + up) // 2, paeth]
    lines = np.full((height, 1 + flat.shape[1]), how, np.uint8)
    lines[:, 1:] = (flat - guesses[how]) % 256
    data = png_file(np.array([width, height], ">u4").tobytes() + bytes([8, 2, 0, 0, 0]), lines)
    np.testing.assert_array_equal(read_png(data), pixels)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), pixels)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_palettes_become_colours(channels):
    rng = np.random.default_rng(1)
    palette = rng.integers(0, 256, (17, channels)).astype(np.uint8)
    indices = rng.integers(0, 17, (20, 30)).astype(np.uint8)
    data = indexed_png_bytes(indices, palette)
    wanted = np.repeat(palette, 3, axis=1)[indices] if channels == 1 else palette[indices]
    np.testing.assert_array_equal(read_png(data), wanted)
    mode = "RGBA" if channels == 4 else "RGB"
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data)).convert(mode)), wanted)


@pytest.mark.parametrize("ending", ["png", "ppm", "npy"])
def test_pictures_are_read_as_they_were_written(tmp_path, ending):
    path, pixels = tmp_path / f"a.{ending}", picture(3)
    write_picture(path, pixels)
    np.testing.assert_array_equal(read_picture(path), pixels)
    if ending == "ppm":
        np.testing.assert_array_equal(np.asarray(Image.open(path)), pixels)


def test_grey_is_one_channel(tmp_path):
    pixels = picture(1)
    write_picture(tmp_path / "a.pgm", pixels)
    np.testing.assert_array_equal(read_picture(tmp_path / "a.pgm"), pixels)
    commented = (tmp_path / "a.pgm").read_bytes().replace(b"P5\n", b"P5\n# a remark\n")
    (tmp_path / "b.pgm").write_bytes(commented)
    np.testing.assert_array_equal(read_picture(tmp_path / "b.pgm"), pixels)


def test_other_formats_go_through_pillow(tmp_path):
    pixels = picture(3)
    Image.fromarray(pixels).save(tmp_path / "a.bmp")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.bmp"), pixels)
    Image.fromarray(pixels).quantize(8).save(tmp_path / "few.png", bits=4)  # 4 bits a pixel
    theirs = np.asarray(Image.open(tmp_path / "few.png").convert("RGB"))
    np.testing.assert_array_equal(read_picture(tmp_path / "few.png"), theirs)


def test_of_16_bits_a_channel_the_upper_8_are_kept(tmp_path):
    deep = np.arange(0, 65536, 97, dtype=np.uint16)[:600].reshape(20, 30)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "deep.png"), (deep >> 8)[:, :, None])


def test_damaged_files_are_told(tmp_path):
    data = pillow_png(picture(3))
    path = tmp_path / "a.png"
    for at in (20, 60, len(data) // 2, len(data) - 3):
        for bad in (data[:at], data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]):
            path.write_bytes(bad)
            with pytest.raises(FileError, match="damaged"):
                read_picture(path)
    (tmp_path / "a.ppm").write_bytes(b"P6\n100 100\n255\nshort")
    with pytest.raises(FileError, match="30000 bytes"):
        read_picture(tmp_path / "a.ppm")
    (tmp_path / "a.txt").write_text("words")
    with pytest.raises(FileError, match=r"a\.txt"):
        read_picture(tmp_path / "a.txt")
    with pytest.raises(FileError, match="not there"):
        read_picture(tmp_path / "absent.png")
    with pytest.raises(FileError, match="folder"):
        read_picture(tmp_path)


def test_fractions_and_whole_numbers_become_bytes():
    np.testing.assert_array_equal(as_picture(np.array([[0.0, 0.5, 1.0]])), [[[0], [128], [255]]])
    np.testing.assert_array_equal(as_picture(np.array([[0, 255]])), [[[0], [255]]])
    for bad in (np.zeros(3), np.zeros((2, 2, 5)), np.array([[300]]), np.array([[1.5]]), np.array([[np.nan]])):
        with pytest.raises(DataError):
            as_picture(bad)
