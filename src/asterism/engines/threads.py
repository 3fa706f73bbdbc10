"""Blocks on the threads of this process.

Kernels release the GIL, so plain threads are enough. BLAS is held to one thread inside, or each of ours would
start its own pool. Workers take the next block from one shared iterator: reading is in order, and a slow block
delays nobody.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

from asterism.data.block import Block
from asterism.data.source import Source

Visit = Callable[[Block], Any]
Collect = Callable[[int, Block, Any], None]  # number of the block, the block, what the visit gave


class ThreadEngine:
    """Runs visits on ``n_threads`` threads, the calling thread among them."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads or available_cores()

    def walk(self, source: Source, visit: Visit, collect: Collect) -> None:
        """Visit every block once; ``collect`` is called from the thread that visited."""
        work = _Shared(source.blocks())
        helpers = [
            threading.Thread(target=work.drain, args=(visit, collect), daemon=True)
            for _ in range(min(self.n_threads, source.n_blocks) - 1)
        ]
        with one_blas_thread():
            try:
                for thread in helpers:
                    thread.start()
                work.drain(visit, collect)
            except BaseException as stop:  # Ctrl-C included: helpers finish their block and go home
                work.failure = work.failure or stop
            for thread in helpers:
                thread.join()
        if work.failure is not None:
            raise work.failure


class _Shared:
    """The iterator all workers draw from, and the first failure of any of them."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = enumerate(blocks)
        self._lock = threading.Lock()
        self.failure: BaseException | None = None

    def drain(self, visit: Visit, collect: Collect) -> None:
        try:
            while self.failure is None:
                with self._lock:
                    number, block = next(self._blocks, (-1, None))
                if block is None:
                    return
                collect(number, block, visit(block))
        except BaseException as failure:
            self.failure = self.failure or failure
            if threading.current_thread() is threading.main_thread():
                raise


def available_cores() -> int:
    """Cores this process may use: its affinity, and its control group's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = Path("/sys/fs/cgroup/cpu.max")
    try:
        limit, period = quota.read_text().split()
        count = min(count, max(1, int(limit) // int(period)))
    except (OSError, ValueError):
        pass  # no control group, or no limit ("max")
    return max(count, 1)


@cache
def _blas() -> Any:
    import scipy.linalg.blas  # noqa: F401  loads SciPy's BLAS, which compiled kernels call
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold every BLAS of this process to one thread."""
    limited: AbstractContextManager[Any] = _blas().limit(limits=1)
    return limited
