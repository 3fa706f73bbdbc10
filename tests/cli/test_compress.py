"""``asterism compress`` from the command line to the files it leaves."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from asterism.cli.main import main
from asterism.data.pictures import read_picture, write_picture
from asterism.methods.codefile import read_codes
from asterism.methods.codepicture import restore_picture


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    smooth = np.add.outer(np.arange(50) * 2.0, np.arange(70))[:, :, None] * [1.0, 0.7, 0.4]
    write_picture(
        tmp_path / "photo.png", (smooth + rng.normal(0, 4, smooth.shape)).clip(0, 255).astype(np.uint8)
    )
    return tmp_path


def compress(*words):
    return CliRunner().invoke(main, ["compress", *map(str, words)])


def test_a_picture_end_to_end(here):
    result = compress("photo.png", "--codes", 16, "--json")
    assert result.exit_code == 0, result.stderr
    folder, picture = here / "photo-codes", read_picture(here / "photo.png")
    assert sorted(entry.name for entry in folder.iterdir()) == ["picture.codes", "restored.png"]
    summary, restored = json.loads(result.stdout), read_picture(folder / "restored.png")
    assert (summary["version"], summary["codes"], summary["height"], summary["width"]) == (1, 16, 50, 70)
    assert summary["bits_per_value"] == pytest.approx(4 / 3)
    assert summary["file_bytes"] == (folder / "picture.codes").stat().st_size
    assert summary["mean_squared_error"] == pytest.approx(((picture.astype(float) - restored) ** 2).mean())
    assert len(np.unique(restored.reshape(-1, 3), axis=0)) <= 16
    np.testing.assert_array_equal(restore_picture(read_codes(folder / "picture.codes")), restored)


@pytest.mark.parametrize("tile", [1, 3])
def test_the_code_file_gives_the_picture_again(here, tile):
    assert compress("photo.png", "--codes", 32, "--tile", tile).exit_code == 0
    again = compress("photo-codes/picture.codes", "--out", "again")
    assert again.exit_code == 0, again.stderr
    for name in ("picture.codes", "restored.png"):
        assert (here / "again" / name).read_bytes() == (here / "photo-codes" / name).read_bytes()


def test_larger_tiles_take_fewer_bits(here):
    rates = [json.loads(compress("photo.png", "--tile", t, "--out", t, "--json").stdout) for t in (1, 2)]
    assert rates[0]["bits_per_value"] == pytest.approx(6 / 3)
    assert rates[1]["bits_per_value"] == pytest.approx(6 / 12)
    assert rates[0]["mean_squared_error"] < rates[1]["mean_squared_error"]


def test_few_colours_are_all_kept(here):
    flags = np.zeros((9, 9, 3), np.uint8)
    flags[3:6], flags[6:] = (255, 0, 0), (0, 0, 200)
    write_picture(here / "flag.ppm", flags)
    result = compress("flag.ppm")
    assert result.exit_code == 0, result.stderr
    assert "3 different colours" in result.stderr
    assert "nothing was lost" in result.stdout
    np.testing.assert_array_equal(read_picture(here / "flag-codes" / "restored.png"), flags)


@pytest.mark.parametrize("shape", [(12, 10), (12, 10, 4)])
def test_grey_and_opacity(here, shape):
    np.save(here / "a.npy", np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8))
    result = compress("a.npy", "--codes", 8)
    assert result.exit_code == 0, result.stderr
    assert read_picture(here / "a-codes" / "restored.png").shape == (*shape[:2], 4 if len(shape) == 3 else 1)


def test_nothing_is_overwritten_without_force(here):
    assert compress("photo.png").exit_code == 0
    again = compress("photo.png")
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert compress("photo.png", "--force", "--quiet").exit_code == 0


def test_bad_files_end_in_a_line_and_the_right_code(here):
    (here / "bad.png").write_bytes((here / "photo.png").read_bytes()[:-40])
    assert compress("bad.png").exit_code == 3
    assert compress("absent.png").exit_code == 3
    assert compress("photo.png", "--codes", 0).exit_code == 2
    assert compress("photo.png", "--out", "x").exit_code == 0
    (here / "bad.codes").write_bytes((here / "x" / "picture.codes").read_bytes()[:-1])
    damaged = compress("bad.codes", "--out", "y")
    assert damaged.exit_code == 6
    assert "Traceback" not in damaged.stderr
    assert not (here / "y").exists()
