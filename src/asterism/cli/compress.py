"""``asterism compress IMAGE``: a picture as codes, and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asterism.cli import options as common
from asterism.cli.messages import say, spoken_warnings
from asterism.cli.tables import table_name

if TYPE_CHECKING:
    from asterism.data.pictures import Picture
    from asterism.methods.codefile import CodedRows
    from asterism.methods.codepicture import Loss

CODES, RESTORED = "picture.codes", "restored.png"
FILES = (CODES, RESTORED)


@dataclass(frozen=True)
class Options:
    """The command line of one call."""

    image: str
    codes: int
    tile: int
    out: str | None
    json: bool
    seed: int
    threads: int | None
    force: bool
    quiet: bool


@click.command(short_help="Store a picture in few colours, and restore it.")
@click.argument("image")
@click.option("--codes", type=click.IntRange(1, 65536), default=64, show_default=True,
              help="Codes to store the picture with: colours, unless --tile is more than 1.")  # fmt: skip
@click.option("--tile", type=click.IntRange(1, 64), default=1, show_default=True,
              help="Side of the squares that a code stands for, in pixels.")  # fmt: skip
@click.option("--out", metavar="DIR", help="Folder of results.  [default: NAME-codes in the current folder]")
@click.option("--json", is_flag=True, help="Print the summary as JSON.")
@common.seed
@common.threads
@common.force
@common.quiet
@common.debug
@click.pass_context
def compress(ctx: click.Context, /, **options: Any) -> None:
    """Store IMAGE as numbers of few codes, and restore it from them.

    IMAGE is a PNG, JPEG or any other picture that Pillow reads, a PPM, PGM or .npy file, or a file
    picture.codes of this command, from which the picture is restored.

    Writes picture.codes and restored.png into NAME-codes, where NAME is the picture's name without its ending.

    \b
    Examples:
      asterism compress photo.png
      asterism compress photo.jpg --codes 256 --tile 2
      asterism compress photo-codes/picture.codes --out again
    """
    ctx.exit(run(Options(**options)))


def run(options: Options) -> int:
    """Do the work; the exit code."""
    from asterism.cli.output import refuse_overwrite, whole_folder
    from asterism.data.pictures import read_picture
    from asterism.methods.codefile import MAGIC, read_codes, write_codes
    from asterism.methods.codepicture import loss_of, restore_picture

    path = Path(options.image).expanduser()
    target = Path(options.out or f"{_name(path)}-codes").resolve()
    refuse_overwrite(target, options.force, FILES)  # before the work, not after it
    with spoken_warnings():
        picture: Picture | None = None
        if _starts_with(path, MAGIC[:7]):
            coded = read_codes(path)
        else:
            picture = read_picture(path)
            coded = _coded(picture, options)
        restored = restore_picture(coded)
        with whole_folder(target, options.force, FILES) as folder:
            size = write_codes(folder / CODES, coded)
            _write_restored(folder / RESTORED, coded, restored)
    loss = None if picture is None else loss_of(picture, restored, coded)
    summary = summary_of(options.image, coded, restored, size, loss)
    click.echo(json.dumps(summary, indent=1) if options.json else _text(summary))
    if not options.quiet:
        say(f"Wrote {', '.join(FILES)} into {options.out or target.name}/")
    return 0


def _name(path: Path) -> str:
    """The picture's name; a code file is named after the folder it lies in."""
    return path.resolve().parent.name.removesuffix("-codes") if path.name == CODES else table_name(str(path))


def _starts_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False  # reading it as a picture says what is wrong


def _coded(picture: Picture, options: Options) -> CodedRows:
    from asterism.engines.context import engine
    from asterism.methods.codepicture import code_picture

    with engine(n_threads=options.threads):
        coded = code_picture(picture, options.codes, tile=options.tile, seed=options.seed)
    used = len(coded.books[0])
    if used < options.codes and not options.quiet:
        say(
            f"The picture has only {used} different {'colours' if options.tile == 1 else 'tiles'}: all are kept."
        )
    return coded


def _write_restored(path: Path, coded: CodedRows, restored: Picture) -> None:
    """With a palette where colours are few: that is what makes the file small."""
    from asterism.data.pictures import write_picture
    from asterism.data.png import indexed_png_bytes

    palette = coded.books[0]
    if coded.about["tile"] == 1 and len(palette) <= 256 and restored.shape[2] in (3, 4):
        path.write_bytes(indexed_png_bytes(coded.codes[:, 0].reshape(restored.shape[:2]), palette))
    else:
        write_picture(path, restored)


def summary_of(
    image: str, coded: CodedRows, restored: Picture, size: int, loss: Loss | None
) -> dict[str, Any]:
    """What is printed; ``loss`` is known only where the picture itself was given."""
    height, width, channels = restored.shape
    found: dict[str, Any] = {
        "version": 1,
        "image": image,
        "height": height,
        "width": width,
        "channels": channels,
        "codes": len(coded.books[0]),
        "tile": coded.about["tile"],
        "bytes": restored.size,
        "file_bytes": size,
        "times_smaller": restored.size / size,
    }
    if loss is not None:
        found |= {
            "bits_per_value": loss.rate,
            "entropy_bits_per_value": loss.entropy,
            "mean_squared_error": loss.distortion,
            "signal_to_noise_db": loss.signal_to_noise,
        }
    return found


def _text(found: dict[str, Any]) -> str:
    what = "colours" if found["tile"] == 1 else f"tiles of {found['tile']} x {found['tile']} pixels"
    lines = [
        f"{found['image']}: {found['width']} x {found['height']} pixels, {found['channels']} channels",
        f"{found['codes']} {what}",
        f"{found['bytes']:,} bytes became {found['file_bytes']:,}, {found['times_smaller']:.1f} times smaller",
    ]
    if "bits_per_value" in found:
        lines.append(
            f"{found['bits_per_value']:.3f} bits a value, {found['entropy_bits_per_value']:.3f} at best, instead of 8"
        )
        noise = found["signal_to_noise_db"]
        error = "nothing was lost" if noise is None else f"{noise:.1f} dB signal to noise"
        lines.append(f"mean squared error {found['mean_squared_error']:.2f} of a value, {error}")
    return "\n".join(lines)
