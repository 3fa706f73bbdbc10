"""Bytes: how they are written, how many there are, how many a table may take."""

from __future__ import annotations

import os
from pathlib import Path

from asterism.errors import ParameterError

MOST_KEPT = 2 << 30  # a table read from a text file is kept in memory up to this, if nothing else is said


def parse_bytes(text: str | int | None) -> int | None:
    """'2GB', '512 MiB', 1000 -> bytes.

    >>> parse_bytes("2GB"), parse_bytes("512 MiB"), parse_bytes(1000)
    (2000000000, 536870912, 1000)
    """
    if text is None:
        return None
    units = {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
    units |= {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1, "": 1}
    clean = str(text).replace(" ", "").replace("_", "").upper()
    number = clean.rstrip("KMGTIB")
    try:
        size = int(float(number) * units[clean[len(number) :]])
    except (KeyError, ValueError, OverflowError) as bad:
        raise ParameterError(f"memory is {text!r}.", "Write it like '2GB' or '512MiB'.") from bad
    if size <= 0:
        raise ParameterError(f"memory is {text!r}.", "Give more than nothing.")
    return size


def memory_to_keep() -> int:
    """What a table may take when the user gave no budget: a quarter of what is free, 2 GiB at most."""
    return min(available_memory() // 4, MOST_KEPT)


def available_memory() -> int:
    """Bytes this process may still take: the machine's, and its control group's limit."""
    free = _machine_memory()
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        free = min(free, max(limit - used, 0))
    except (OSError, ValueError):
        pass  # no control group, or no limit ("max")
    return free


def _machine_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass  # not Linux
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return 4 << 30  # not POSIX either: a modest machine
