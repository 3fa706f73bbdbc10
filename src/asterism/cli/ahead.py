"""A second process that compiles kernels on the first run, for as long as the command runs."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from asterism.cli.messages import say

MANY_OBJECTS = (
    100_000  # a compiler makes and keeps so many: to look through them often takes a tenth of its time
)


@contextmanager
def compiling_ahead(quiet: bool, n_threads: int | None) -> Iterator[None]:
    """Where nothing is compiled yet and there is a core to spare, share the compiling; never a reason to fail."""
    from asterism.engines.threads import available_cores
    from asterism.kernels.ahead import is_first_run

    if not is_first_run():
        yield
        return
    if not quiet:
        say("First run: compiling (about 30 s; later runs start at once).")
    process = None if n_threads == 1 or available_cores() == 1 else _started()
    often = gc.get_threshold()
    gc.set_threshold(MANY_OBJECTS, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
        if process is not None:
            process.kill()
            process.communicate()  # takes its pipe and its entry in the table of processes along


def _started() -> subprocess.Popen[bytes] | None:
    """The process, which hears of our end by that of its standard input; None where none can be started."""
    nowhere = subprocess.DEVNULL
    # -P: a file numba.py in the user's folder is none of ours
    command = [sys.executable, "-P", "-m", "asterism.kernels.ahead"]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere)
    except OSError:
        return None
