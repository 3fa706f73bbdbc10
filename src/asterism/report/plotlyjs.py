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
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

KINDS = (b"bar", b"heatmap")  # traces besides scatter, which every bundle has
TAIL = 100_000  # bytes at the end of a bundle that hold the call


@dataclass(frozen=True)
class Packed:
    """A script in a form that a page can hold and unpack."""

    base64: str  # of its gzip: two megabytes in place of five
    hash: str  # by which a content security policy knows it


@cache
def packing() -> Future[Packed]:
    """Plotly's script, being packed on a thread: that lets go of the interpreter, so that other work goes on."""
    thread = ThreadPoolExecutor(1, "asterism-packing")
    begun = thread.submit(_packed)
    thread.shutdown(wait=False)
    return begun


def packed_plotly() -> Packed:
    """Plotly's script."""
    return packing().result()


def _packed() -> Packed:
    script = lean(plotly_file().read_bytes())
    return Packed(base64.b64encode(gzip.compress(script, 6, mtime=0)).decode(), policy_hash(script))


def plotly_file() -> Path:
    """The bundle of everything. Not by ``importlib.resources``, which would import all of plotly to find it."""
    package = find_spec("plotly")
    assert package, "plotly is among the dependencies"
    return Path(str(package.origin)).parent / "package_data" / "plotly.min.js"


def policy_hash(script: bytes) -> str:
    """As a content security policy names a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script).digest()).decode()


def lean(script: bytes) -> bytes:
    """A bundle that registers only ``KINDS``.

    >>> bar = b'});var b=W((e,t)=>{"use strict";t.exports={moduleType:"trace",name:"bar"}});'
    >>> heat = bar.replace(b"var b=", b"var h=").replace(b'"bar"', b'"heatmap"')
    >>> pie = bar.replace(b"var b=", b"var p=").replace(b'"bar"', b'"pie"')
    >>> lean(bar + heat + pie + b"c.register([b(),p(),h()]);")[-23:]
    b';c.register([b(),h()]);'
    """
    start = max(0, len(script) - TAIL)
    calls = list(re.finditer(rb"\.register\(\[((?:[\w$]+\(\),?)+)\]\)", script[start:]))
    if not calls:
        return script
    last = calls[-1]
    listed = re.findall(rb"[\w$]+", last[1])
    found = [_modules(script, kind).intersection(listed) for kind in KINDS]
    if not all(found):
        return script
    names = b",".join(name + b"()" for name in listed if any(name in some for some in found))
    return script[: start + last.start(1)] + names + script[start + last.end(1) :]


def _modules(script: bytes, kind: bytes) -> set[bytes]:
    """Names of the module that is a trace, and of those that only hand it on."""
    place = script.find(b'moduleType:"trace",name:"' + kind + b'"')
    begin = script.rfind(b"});var ", 0, max(place, 0))
    if place < 0 or begin < 0:
        return set()
    [own] = re.findall(rb"[\w$]+", script[begin + 7 : begin + 40])[:1]
    body = rb'\{(?:"use strict";)?[\w$]+\.exports=' + re.escape(own) + rb"\(\)\}"
    return {own, *re.findall(rb"var ([\w$]+)=[\w$]+\([^{}]{1,20}" + body, script)}
