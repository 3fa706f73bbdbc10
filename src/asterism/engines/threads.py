"""Blocks on the threads of this process.

Kernels release the GIL, so plain threads are enough. BLAS is held to one thread inside, or each of ours would
start its own pool. Threads take the next block from one shared iterator: reading is in order, and a slow
block delays nobody.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager, suppress
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.gather import Gather, Gathering, Parts, Visit

MOST_CORES = 512  # where nobody says how many
REST = 1.0  # seconds that a thread waits for more to do


class ThreadEngine:
    """Runs visits on ``n_threads`` threads, the calling thread among them."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads or available_cores()

    def walk(
        self, source: Source, visit: Visit, gather: Gather, first: int = 0, last: int | None = None
    ) -> Any:
        """Visit each of the blocks ``first:last`` once and gather what the visits give."""
        size = source.block_rows
        stop = source.n_rows if last is None else min(last * size, source.n_rows)
        parts = Parts(stop - first * size, size)
        work = _Blocks(source.blocks(first, last), visit, gather(parts))
        # A visit that itself walks a table stays on its own thread: pools are never nested.
        n_threads = 1 if _visiting.yes else min(self.n_threads, parts.count)
        with one_blas_thread(), crew() as helpers:
            job = Job(work.run)
            try:
                helpers.give(job, n_threads - 1)
                work.run()
                job.close()
            except BaseException as stopped:  # Ctrl-C between two blocks, or no thread to be had
                work.fail(stopped)
                job.close()  # each ends with the block it is on
        if work.failure is not None:
            raise work.failure
        return work.out.result()


class _Blocks:
    """The blocks that all threads draw from, and the first failure of any thread."""

    def __init__(self, blocks: Iterator[Block], visit: Visit, out: Gathering) -> None:
        self.failure: BaseException | None = None
        self.out = out
        self._visit = visit
        self._blocks = enumerate(blocks)
        self._lock = threading.Lock()

    def run(self) -> None:
        """Visit blocks until none is left or a thread has failed. Raises nothing: ``failure`` says it."""
        outside, _visiting.yes = _visiting.yes, True
        try:
            while self.failure is None:
                with self._lock:  # iterators are not thread-safe
                    number, block = next(self._blocks, (-1, None))
                if block is None:
                    return
                self.out.add(number, self._visit(block))
        except BaseException as failure:  # raised again, once, by the thread that called ``walk``
            self.fail(failure)
        finally:
            _visiting.yes = outside

    def fail(self, failure: BaseException) -> None:
        """Every thread stops before its next block; the first failure is the one that is raised."""
        self.failure = self.failure or failure


class _Visiting(threading.local):
    yes = False  # whether this thread is inside a visit


_visiting = _Visiting()


# --- helpers ------------------------------------------------------------------------------------------------------


class Job:
    """Work that several threads do together, and how many are at it.

    Counts are kept by the threads that work: so Ctrl-C, which may strike the calling thread anywhere, loses none.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work  # it raises nothing
        self._lock = threading.Lock()
        self._busy, self._closed = 0, False
        self._ended: SimpleQueue[None] = SimpleQueue()

    def help(self) -> None:
        """Do it, on a helping thread; one that arrives too late finds it closed."""
        with self._lock:
            if self._closed:
                return
            self._busy += 1
        try:
            self._work()
        finally:
            with self._lock:
                self._busy -= 1
            self._ended.put(None)

    def close(self) -> None:
        """Let no thread begin any more, and wait for those at work."""
        with self._lock:
            self._closed = True
        while self._busy:
            with suppress(Empty):
                self._ended.get(timeout=1.0)


class Crew:
    """Threads that wait for jobs. Handing one over takes a hundredth of a millisecond, a tenth with futures."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = 0  # that will take what is given
        self._given: SimpleQueue[Job] = SimpleQueue()

    def give(self, job: Job, times: int) -> None:
        """Let so many threads help."""
        with self._lock:
            while self._threads < times:
                threading.Thread(target=self._help, name=f"asterism_{self._threads}", daemon=True).start()
                self._threads += 1
            for _ in range(times):
                self._given.put(job)

    def _help(self) -> None:
        while (job := self._next()) is not None:
            job.help()
            del job  # with the table it is about

    def _next(self) -> Job | None:
        """What to do next; None, and nobody counts on this thread any more, after a rest."""
        with suppress(Empty):
            return self._given.get(timeout=REST)
        with self._lock:
            with suppress(Empty):
                return self._given.get_nowait()  # it came in the last moment
            self._threads -= 1
        return None


class _Here(threading.local):
    crew: Crew | None = None  # who helps the walks of this thread


_here = _Here()
_resting: list[Crew] = []  # helps nobody now
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_resting.clear)  # threads stay with the parent


@contextmanager
def crew() -> Iterator[Crew]:
    """Threads that help the walks inside, and then rest for a while before they end.

    To start one takes as long as a small block: so one crew helps many walks (``loop.iterate``), and fits that
    follow each other.
    """
    if _here.crew is not None:
        yield _here.crew
        return
    try:
        helpers = _resting.pop()
    except IndexError:
        helpers = Crew()
    _here.crew = helpers
    try:
        yield helpers
    finally:
        _here.crew = None
        _resting.append(helpers)


# --- cores and BLAS -----------------------------------------------------------------------------------------------


def available_cores() -> int:
    """Cores this process may use: its affinity, and its control group's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min(count, _quota()), 1)


@cache
def _quota() -> int:
    """Cores the control group grants, read once: every walk asks."""
    try:
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, int(limit) // int(period))
    except (OSError, ValueError):  # no control group, or no limit ("max")
        return MOST_CORES


@cache
def _blas() -> Any:
    import scipy.linalg.blas  # noqa: F401  loads SciPy's BLAS, which compiled kernels call
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


class OneBlasThread(ContextDecorator):
    """A limit that belongs to the process. Walks may overlap: the first in sets it, the last out lifts it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0  # walks under way, on any threads of this process
        self._before: list[int] = []  # threads of every BLAS

    def __enter__(self) -> None:
        with self._lock:
            if self._holders == 0:
                self._before = [blas.num_threads for blas in _blas()]
                self._set([1] * len(self._before))
            self._holders += 1

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._set(self._before)

    def _set(self, numbers: list[int]) -> None:
        for blas, number in zip(_blas(), numbers, strict=True):
            blas.set_num_threads(number)


_held = OneBlasThread()


def one_blas_thread() -> OneBlasThread:
    """Hold every BLAS of this process to one thread, inside a block or a function."""
    return _held
