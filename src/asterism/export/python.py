"""A model as one Python file that needs only NumPy: its constants, and the functions of ``standalone`` that use them.

A function that the model does not need is left out, so that the file can be read. Constants are literals: floats
have as many digits as bring them back to the bit, names are written by ``repr``, so that nothing in a model file
can become code.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from asterism.export.describe import Entry

WIDTH = 110
DISPATCH = {
    "FORMS": "form",
    "FAMILIES": "family",
    "JUDGES": "kind",
}  # table of functions -> entry that chooses


def written(told: Entry) -> str:
    """The text of the file, of what ``describe`` says of a model."""
    text = (Path(__file__).parent / "standalone.py").read_text(encoding="utf-8")
    parts = _Parts.of(text)
    needed = parts.needed(_choices(told))
    out = []
    for name, above, source in parts.pieces(needed):
        own = f"MODEL: dict[str, Any] = {literal(_used(told))}\n" if name == "MODEL" else source
        out.append(above + own)
    return re.sub(r"\n{4,}", "\n\n\n", "".join(out))


def _used(told: Entry) -> Entry:
    return {name: value for name, value in told.items() if name != "format"}


def _choices(told: Entry) -> dict[str, set[str]]:
    """The functions of each table that the model asks for."""
    judge = told["judge"]
    return {
        "FORMS": {entry["form"] for entry in told["features"]},
        "FAMILIES": {part["family"] for part in judge.get("parts", [])},
        "JUDGES": {judge["kind"]},
    }


# --- constants --------------------------------------------------------------------------------------------------


def literal(value: Any, indent: int = 0) -> str:
    """A value as Python writes it, in lines that can be read.

    >>> literal({"share": 0.1, "name": "O'Hara", "none": None})
    '{"share": 0.1, "name": "O\\'Hara", "none": None}'
    """
    short = _in_line(value)
    if len(short) + indent <= WIDTH or not isinstance(value, dict | list):
        return short
    pad = " " * (indent + 4)
    if isinstance(value, dict):
        items = [f"{_in_line(key)}: {literal(own, indent + 4)}" for key, own in value.items()]
    elif all(isinstance(own, int | float) or own is None for own in value):
        return f"[\n{_filled(value, pad)}\n{' ' * indent}]"
    else:
        items = [literal(own, indent + 4) for own in value]
    return (
        ("{" if isinstance(value, dict) else "[")
        + "".join(f"\n{pad}{item}," for item in items)
        + (f"\n{' ' * indent}" + ("}" if isinstance(value, dict) else "]"))
    )


def _in_line(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_in_line(key)}: {_in_line(own)}" for key, own in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_in_line, value)) + "]"
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool | int):
        return repr(value)
    if not isinstance(value, float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no constant of a model")
    return repr(value)


def _quoted(text: str) -> str:
    """In double quotes, everything beyond ASCII letters escaped but letters that can be read."""
    body = repr('"' + text)[2:-1]  # repr chooses single quotes then: only \\ and ' are escaped by it
    return '"' + body.replace("\\'", "'").replace('"', '\\"') + '"'


def _filled(values: list[Any], pad: str) -> str:
    lines, line = [], pad
    for item in (f"{_in_line(value)}," for value in values):
        if len(line) + len(item) + 1 > WIDTH and line != pad:
            lines.append(line.rstrip())
            line = pad
        line += item + " "
    return "\n".join([*lines, line.rstrip()])


# --- functions --------------------------------------------------------------------------------------------------


class _Parts:
    """The top level of a module: its pieces in order, and the names that each uses."""

    def __init__(self, items: list[tuple[str, str, set[str]]]) -> None:
        self.items = items  # name ("" for what has none), text with what stands above it, names used
        self.uses = {name: uses for name, _, uses in items if name}
        self.tables: dict[str, dict[str, str]] = {}

    @classmethod
    def of(cls, text: str) -> _Parts:
        lines, items, last = text.splitlines(keepends=True), [], 0
        module = ast.parse(text)
        for node in module.body:
            assert node.end_lineno is not None
            source = "".join(lines[last : node.end_lineno])
            items.append((_name(node), source, _names(node)))
            last = node.end_lineno
        parts = cls(items)
        for node in module.body:
            if _name(node) in DISPATCH and isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
                pairs = zip(node.value.keys, node.value.values, strict=True)
                parts.tables[_name(node)] = {
                    key.value: value.id
                    for key, value in pairs
                    if isinstance(key, ast.Constant)
                    and isinstance(key.value, str)
                    and isinstance(value, ast.Name)
                }
        return parts

    def needed(self, choices: dict[str, set[str]]) -> dict[str, set[str]]:
        """Names that are reached from the command line, and the keys of each table of functions."""
        self.uses |= {table: {self.tables[table][key] for key in keys} for table, keys in choices.items()}
        reached, waiting = set(), {"main", "place"}
        while waiting:
            name = waiting.pop()
            reached.add(name)
            waiting |= {used for used in self.uses[name] if used in self.uses} - reached
        return {name: choices.get(name, set()) for name in reached}

    def pieces(self, needed: dict[str, set[str]]) -> Iterator[tuple[str, str, str]]:
        """Those to be written, comments above them included; headings without anything below are left out."""
        heading = ""
        for name, source, _ in self.items:
            above, code = _split(source)
            heading = above if above.strip() else heading
            if name and name not in needed:
                continue
            if name in self.tables:
                rows = [
                    f'    "{key}": {self.tables[name][key]},\n'
                    for key in self.tables[name]
                    if key in needed[name]
                ]
                code = f"{name} = {{\n{''.join(rows)}}}\n"
            yield name, (f"\n\n{heading}" if heading else _blank(source)), code
            heading = ""


def _split(source: str) -> tuple[str, str]:
    """The comment above a piece, and the piece."""
    lines = source.splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.strip() and not line.startswith("#"))
    above = "".join(lines[:start]).strip("\n")
    return (above + "\n\n\n" if above else ""), "".join(lines[start:])


def _blank(source: str) -> str:
    return source[: len(source) - len(source.lstrip("\n"))]


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def _names(node: ast.stmt) -> set[str]:
    """Names that a piece takes from elsewhere."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    own = {n.id for n in names if isinstance(n.ctx, ast.Store)} | {
        n.arg for n in ast.walk(node) if isinstance(n, ast.arg)
    }
    return {n.id for n in names} - (own if isinstance(node, ast.FunctionDef) else set())
