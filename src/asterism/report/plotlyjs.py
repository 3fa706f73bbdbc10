"""Plotly's script for a page: without the traces that no figure of ours has, and packed.

A bundle of plotly.js ends in one call of ``register`` with a list of trace modules; plotly's own partial bundles have
a shorter list. The Python package has only the bundle of everything, so the list is shortened here. A module that is
not in it is never run. A text that looks otherwise is left as it is: slower to start, never wrong.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

KINDS = frozenset({"bar", "heatmap"})  # traces besides scatter, which every bundle has
TAIL = 100_000  # characters at the end of a bundle that hold the call


@dataclass(frozen=True)
class Packed:
    """A script in a form that a page can hold and unpack."""

    base64: str  # of its gzip: two megabytes in place of five
    hash: str  # by which a content security policy knows it


@cache
def packed_plotly() -> Packed:
    """Plotly's script."""
    text = lean((files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8"))
    return Packed(base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode(), policy_hash(text))


def policy_hash(script: str) -> str:
    """As a content security policy names a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def lean(text: str) -> str:
    """A bundle that registers only ``KINDS``.

    >>> bar = 'var b=W((e,t)=>{"use strict";t.exports={moduleType:"trace",name:"bar"}});'
    >>> heat = bar.replace("var b=", "var h=").replace('"bar"', '"heatmap"')
    >>> pie = bar.replace("var b=", "var p=").replace('"bar"', '"pie"')
    >>> lean(bar + heat + pie + "c.register([b(),p(),h()]);")[-23:]
    ';c.register([b(),h()]);'
    """
    start = max(0, len(text) - TAIL)
    calls = list(re.finditer(r"\.register\(\[((?:[\w$]+\(\),?)+)\]\)", text[start:]))
    if not calls:
        return text
    last = calls[-1]
    kept = {name: kind for name in re.findall(r"[\w$]+", last[1]) if (kind := _kind(text, name)) in KINDS}
    if set(kept.values()) != KINDS:
        return text
    names = ",".join(f"{name}()" for name in kept)
    return f"{text[: start + last.start(1)]}{names}{text[start + last.end(1) :]}"


def _kind(text: str, name: str, depth: int = 2) -> str | None:
    """The trace that a module is, itself or by handing on another."""
    place = text.find(f"var {name}=")
    if place < 0:
        return None
    end = text.find("});var ", place)
    body = text[place : end if end > 0 else None]
    if said := re.search(r'moduleType:"trace",name:"(\w+)"', body):
        return said[1]
    other = re.search(r"\.exports=([\w$]+)\(\)$", body[:200])
    return _kind(text, other[1], depth - 1) if other and depth else None
