"""Files that hold no table of a kind that is read: what they are by their first bytes, and what to do instead.

Nothing is guessed to be CSV because it is nothing else. Files that could run a program when they are loaded (pickles)
are never loaded.
"""

from __future__ import annotations

import re

from asterism.data.files import Head
from asterism.errors import FileError

AS_TABLE = "Save the table as CSV or Parquet."
IN_PYTHON = (
    "Read it in Python with pandas.{} and give the data frame to asterism.find, or save it as Parquet."
)
PICKLE = (
    "Pickles are not loaded: they could run any program. If you trust it, save the table in it as Parquet."
)
PICTURE = "A picture is no table; `asterism compress` works on pictures."
UNPACK = "Unpack it, and give the table inside."
R = "In R: write.csv(table, 'table.csv', row.names = FALSE), or arrow::write_parquet(table, 'table.parquet')."

MARKS = (  # first bytes, what it is, what to do
    (b"%PDF", "a PDF document", "Copy the table into a spreadsheet, or take the file it was made from."),
    (b"\x89PNG", "a picture", PICTURE),
    (b"\xff\xd8\xff", "a picture", PICTURE),
    (b"GIF8", "a picture", PICTURE),
    (b"II*\0", "a picture", PICTURE),
    (b"MM\0*", "a picture", PICTURE),
    (b"\x89HDF", "an HDF5 file", IN_PYTHON.format("read_hdf")),
    (b"ORC", "an ORC file", IN_PYTHON.format("read_orc")),
    (b"Obj\x01", "an Avro file", "Save the table as Parquet."),
    (
        b"FEA1",
        "a Feather file of version 1",
        "Write it again: pyarrow.feather.write_feather makes version 2.",
    ),
    (b"RDX", "an R data file", R),
    (b"RDA", "an R data file", R),
    (b"X\n\0\0\0", "an R data file", R),
    (b"A\n2\n", "an R data file", R),
    (b"A\n3\n", "an R data file", R),
    (b"<stata_dta>", "a Stata file", IN_PYTHON.format("read_stata")),
    (b"$FL2", "an SPSS file", IN_PYTHON.format("read_spss")),
    (b"$FL3", "an SPSS file", IN_PYTHON.format("read_spss")),
    (b"MATLAB 5.0", "a MATLAB file", "In MATLAB: writetable(table, 'table.csv')."),
    (b"{\\rtf", "a text document", AS_TABLE),
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"PK\x05\x06", "an empty zip archive", AS_TABLE),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!", "a RAR archive", UNPACK),
    (b"\xfd7zXZ", "a file packed by xz", "Unpack it: unxz; or pack it by gzip, zstd or bz2."),
    (b"\x04\x22\x4d\x18", "a file packed by lz4", "Unpack it: unlz4; or pack it by gzip, zstd or bz2."),
    (b"\xd0\xcf\x11\xe0", "an old Office document", AS_TABLE),
    (b"\x7fELF", "a program", AS_TABLE),
    (b"MZ\x90", "a program", AS_TABLE),
)
PICKLES = re.compile(rb"^\x80[\x02-\x05]")
ENDINGS = {  # of files that have no mark of their own
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), ("a pickle", PICKLE)),
    **dict.fromkeys((".rds", ".rda", ".rdata"), ("an R data file", R)),
    **dict.fromkeys((".dta",), ("a Stata file", IN_PYTHON.format("read_stata"))),
    **dict.fromkeys((".sas7bdat", ".xpt"), ("a SAS file", IN_PYTHON.format("read_sas"))),
    **dict.fromkeys((".npz",), ("a file of several arrays", "Save the one table as .npy.")),
    **dict.fromkeys((".doc", ".docx", ".odt", ".rtf"), ("a text document", AS_TABLE)),
    **dict.fromkeys((".yaml", ".yml", ".toml"), ("a file of settings", AS_TABLE)),
    **dict.fromkeys(
        (".asterism",),
        ("a model of Asterism", "Give a table; the model goes first: asterism assign MODEL TABLE."),
    ),
}
HTML = re.compile(
    r"^(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body|table|div|meta|style)\b", re.I | re.S
)
CONTROL = bytes({*range(32)} - set(b"\t\n\r\x0b\x0c\x1b") | {127})


def require_table(head: Head) -> None:
    """A ``FileError`` that says what a file is, where it is known to be no table; nothing else is decided here."""
    name, start = head.path.name, head.start
    if PICKLES.match(start):
        raise FileError(f"{name!r} is a pickle.", PICKLE)
    for mark, what, remedy in MARKS:
        if start.startswith(mark):
            raise FileError(f"{name!r} is {what}.", remedy)
    if start[257:262] == b"ustar":
        raise FileError(f"{name!r} is a tar archive.", UNPACK)
    if head.ending in ENDINGS:
        what, remedy = ENDINGS[head.ending]
        raise FileError(f"{name!r} is {what}.", remedy)
    if HTML.match(head.text):
        raise FileError(
            f"{name!r} is a web page (HTML), whatever its name says.",
            "Open it in a spreadsheet and save it as .xlsx or CSV; or read its tables with pandas.read_html.",
        )
    if head.text.startswith("<"):
        raise FileError(f"{name!r} is an XML document.", IN_PYTHON.format("read_xml"))


def require_text(head: Head) -> None:
    """A ``FileError`` for bytes that are no text in any usual encoding."""
    start = head.start
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or len(start) < 2:
        return  # UTF-16, whose letters may hold any byte
    strange = sum(map(start.count, (bytes([code]) for code in CONTROL)))
    zeros = start.count(b"\0")
    if (zeros and not _like_utf16(start)) or strange - zeros > len(start) // 100:
        raise FileError(f"{head.path.name!r} is not text.", AS_TABLE)


def _like_utf16(start: bytes) -> bool:
    """Whether every other byte is mostly 0: UTF-16 without a mark."""
    halves = sorted((start[::2].count(0), start[1::2].count(0)))
    return halves[1] > 0.4 * len(start) / 2 > 10 * halves[0]
