"""A second process that compiles kernels on the first run, for as long as the command runs."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from asterism.cli.messages import say

# A compiler makes and keeps so many objects that to look through them often takes a tenth of its time.
MANY_OBJECTS = 100_000


@dataclass
class Ahead:
    """Who compiles ahead; never a reason to fail."""

    quiet: bool
    alone: bool  # there is no core to spare
    begun: bool = False  # something is compiled in this run
    process: subprocess.Popen[bytes] | None = None  # that shares the work

    def expect(self, kind: str) -> None:
        """Kernels for a kind of table (``kernels.ahead``) will be called: see to it that they are there."""
        from asterism.kernels.ahead import is_compiled

        if is_compiled(kind):
            return
        if not self.begun:
            self._begin()
        if self.process is not None and self.process.stdin is not None:
            with suppress(OSError):  # it has died
                self.process.stdin.write(f"{kind}\n".encode())
                self.process.stdin.flush()

    def _begin(self) -> None:
        self.begun = True
        gc.set_threshold(MANY_OBJECTS, *gc.get_threshold()[1:])
        if not self.quiet:
            say("First run on such a table: compiling (about 30 s; later runs start at once).")
        if not self.alone:
            self.process = _started()

    def end(self) -> None:
        """The process goes, with its pipe and its entry in the table of processes."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()


@contextmanager
def compiling_ahead(quiet: bool, n_threads: int | None) -> Iterator[Ahead]:
    """Where something is not compiled yet and there is a core to spare, share the compiling."""
    from asterism.engines.threads import available_cores

    ahead = Ahead(quiet, n_threads == 1 or available_cores() == 1)
    often = gc.get_threshold()
    try:
        ahead.expect("any")
        yield ahead
    finally:
        gc.set_threshold(*often)
        ahead.end()


def _started() -> subprocess.Popen[bytes] | None:
    """The process, which hears of our end by that of its standard input; None where none can be started."""
    nowhere = subprocess.DEVNULL
    # -P: a file numba.py in the user's folder is none of ours
    command = [sys.executable, "-P", "-m", "asterism.kernels.ahead"]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere)
    except OSError:
        return None
