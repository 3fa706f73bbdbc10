"""Text of a file as UTF-8, whatever it is written and packed in; streamed, in constant memory.

The encoding is seen from the bytes: a mark at the start (UTF-8, UTF-16), every other byte zero (UTF-16 without a
mark), else UTF-8. At the first byte that UTF-8 does not allow the text is taken for Windows-1252, which includes
Latin-1, provided all before it was ASCII, so that nothing has been read otherwise; where letters of UTF-8 came
before it, the file is damaged.
"""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import Any

from asterism.data.files import file_errors, packing_of, unpacked
from asterism.errors import FileError, ParameterError

AUTO, LEGACY = "utf-8-sig", "cp1252"
NAMES = {"cp1252": "Windows-1252", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
PIECE = 1 << 20  # bytes read at a time


class Text:
    """The text of one file. ``encoding`` is what it is written in as far as it has been read."""

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path, self.packing = path, packing_of(path)
        self.asked = encoding is not None
        self.encoding = known_encoding(encoding) if encoding is not None else self._marked()

    def _marked(self) -> str:
        with file_errors(self.path, "a text file"), unpacked(self.path, self.packing) as file:
            start = file.read(PIECE)
        if start[:2] in UTF16_MARKS:
            return "utf-16"
        zeros = [start[j::2].count(0) for j in (0, 1)]
        if (
            max(zeros) > 0.4 * len(start) / 2 > 10 * min(zeros)
        ):  # letters of most languages have a byte of zero
            return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
        return AUTO

    @property
    def said(self) -> str:
        """What to say of the encoding; nothing of UTF-8, or where the user gave it."""
        if self.asked or self.encoding == AUTO:
            return ""
        name = NAMES.get(self.encoding, self.encoding)
        other = " (--encoding for another)" if self.encoding == LEGACY else ""
        return f"{self.path.name!r} is written in {name}, not UTF-8, and was read as that{other}."

    def stream(self, but: int = 0) -> Any:
        """The text from its start as a file of UTF-8 bytes, without its last ``but`` lines."""
        text = _Utf8(self, unpacked(self.path, self.packing))
        return _WithoutLast(text, but) if but else text

    def lines(self, but: int = 0) -> Any:
        """The same as lines of text, with their ends."""
        return io.TextIOWrapper(io.BufferedReader(self.stream(but), PIECE), "utf-8", newline="")

    def head(self, size: int) -> str:
        """The first ``size`` bytes, or up to the end of the first line, decoded."""
        data = b""
        with file_errors(self.path, "a text file"), self.stream() as stream:
            while chunk := stream.read(size):
                data += chunk
                if b"\n" in data or b"\r" in data:
                    break  # the line of names may be longer than any guess
        return data.decode("utf-8", "ignore")  # the last letter may be cut

    def tail(self, size: int) -> tuple[str, bool]:
        """About the last ``size`` bytes, and whether that is all of them."""
        with file_errors(self.path, "a text file"):
            length = self.path.stat().st_size
            if not self.packing and self.encoding in (AUTO, LEGACY) and length > 2 * size:
                with self.path.open("rb") as file:
                    file.seek(length - size)
                    return file.read().decode(self.encoding, "replace"), False
            kept, whole = b"", True
            with self.stream() as stream:
                while chunk := stream.read(PIECE):
                    kept += chunk
                    whole = whole and len(kept) <= 2 * size
                    kept = kept if whole else kept[-size:]
            return kept.decode("utf-8", "replace"), whole


def known_encoding(name: str) -> str:
    """The encoding by Python's name for it, or a ``ParameterError``."""
    try:
        info = codecs.lookup(name)
        "".encode(info.name)  # zip, rot13 and the like are no encodings of text
    except (LookupError, TypeError, ValueError):
        raise ParameterError(
            f"There is no encoding {name!r}.",
            "Usual ones are utf-8, latin-1, cp1252, utf-16, cp1250, mac-roman, shift-jis.",
        ) from None
    return AUTO if info.name in ("utf-8", "utf-8-sig") else info.name


def lines_of(text: bytes) -> list[bytes]:
    """Lines with their ends; splitlines would also end them at form feeds and the like.

    >>> lines_of(b"a\\r\\n\\nb")
    [b'a\\r\\n', b'\\n', b'b']
    """
    *lines, last = text.split(b"\n")
    return [*(line + b"\n" for line in lines), *([last] if last else [])]


class _Bytes(io.RawIOBase):
    """A file of bytes made piece by piece of another; closing it closes that."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._waiting = b""  # made but not asked for
        self._ended = False  # the other file has no more

    def _more(self, size: int) -> bytes:
        """The next bytes, about ``size``, or none for now; ``_ended`` is set with the last."""
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def read(self, size: int = PIECE) -> bytes:
        """The next ``size`` bytes, fewer only at the end: readers take a short piece for the last."""
        parts, have = [self._waiting], len(self._waiting)
        while have < size and not self._ended:
            parts.append(self._more(size))
            have += len(parts[-1])
        whole = parts[0] if len(parts) == 1 else b"".join(parts)
        self._waiting = whole[size:]
        return whole[:size]

    def readinto(self, buffer: Any) -> int:
        """The same for readers with a buffer of their own."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


class _Utf8(_Bytes):
    """Bytes of UTF-8 made of the bytes of a file. Plain ASCII passes through as it is."""

    def __init__(self, text: Text, file: Any) -> None:
        super().__init__(file)
        self._text = text
        self._decoder = codecs.getincrementaldecoder(text.encoding)()
        self._plain = text.encoding == AUTO
        self._ascii = True  # nothing but ASCII so far
        self._lines = 1

    def _more(self, size: int) -> bytes:
        chunk = self._file.read(size)
        self._ended = not chunk
        return self._utf8(chunk)

    def _utf8(self, chunk: bytes) -> bytes:
        if self._plain and chunk.isascii() and not self._decoder.getstate()[0]:
            return self._counted(chunk)
        try:
            text = self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as bad:
            text = self._otherwise(bad)
        self._ascii = self._ascii and text.isascii()
        return self._counted(text.encode())

    def _otherwise(self, bad: UnicodeDecodeError) -> str:
        """What UTF-8 does not allow, as Windows-1252, where that contradicts nothing before it."""
        text = self._text
        before = bad.object[: bad.start].decode(
            text.encoding if text.encoding == AUTO else "latin-1", "replace"
        )
        line = self._lines + before.count("\n")
        if text.encoding != AUTO or text.asked or not (self._ascii and before.isascii()):
            name = "UTF-8" if text.encoding == AUTO else NAMES.get(text.encoding, text.encoding)
            raise FileError(
                f"{text.path.name!r} is not written in {name}: line {line} holds the byte "
                f"{bad.object[bad.start]:#04x}, which does not belong there.",
                "Say how it is written, for instance --encoding cp1252; or save it as UTF-8.",
            ) from bad
        text.encoding = LEGACY
        self._plain = False
        self._decoder = codecs.getincrementaldecoder(LEGACY)()
        try:
            return self._decoder.decode(bytes(bad.object), final=self._ended)
        except UnicodeDecodeError as worse:
            raise FileError(
                f"{text.path.name!r} is written neither in UTF-8 nor in Windows-1252 (byte "
                f"{worse.object[worse.start]:#04x} near line {line}).",
                "Say how it is written, for instance --encoding cp1250, mac-roman or shift-jis.",
            ) from worse

    def _counted(self, data: bytes) -> bytes:
        self._lines += data.count(b"\n")
        return data


class _WithoutLast(_Bytes):
    """A file without its last lines: these are held back until it is known that no other follows."""

    def __init__(self, file: Any, lines: int) -> None:
        super().__init__(file)
        self._last = lines
        self._held = b""

    def _more(self, size: int) -> bytes:
        chunk = self._file.read(size)
        self._ended = not chunk
        self._held += chunk
        if self._ended:
            return b"".join(lines_of(self._held)[: -self._last])
        end = len(self._held)
        for _ in range(self._last + 1):  # the last of them ends a line that is handed out
            end = self._held.rfind(b"\n", 0, max(end, 0))
        out, self._held = self._held[: end + 1], self._held[end + 1 :]
        return out
