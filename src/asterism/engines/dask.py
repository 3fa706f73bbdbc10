"""Blocks on the workers of a Dask cluster.

A task is an aligned run of ``2^L`` blocks: a subtree of the merge tree. It reads its own rows and gathers
what its visits give; only the merged statistic or the rows out travel back. The driver gathers the tasks'
results as a thread gathers those of blocks. So the number of workers, the length of the runs and the order of
arrival change no bit of the result.

Tasks are pure and data are never scattered: what a killed worker had done or still had to do, another does.
"""

from __future__ import annotations

import pickle
from collections.abc import Generator
from itertools import islice
from typing import Any
from warnings import warn

from asterism.data.source import Source
from asterism.engines.gather import Gather, Parts, Visit
from asterism.engines.threads import ThreadEngine
from asterism.errors import ParameterError, SlowPathWarning

TASKS_PER_THREAD = 4  # enough that no worker idles for long at the end of a pass
IN_FLIGHT_PER_THREAD = 2  # one being worked on, one waiting: bounds what the scheduler has to hold
LONGEST_RUN = 64  # blocks: about 128 MB are read a task, one block at a time
MOST_SENT = 10_000_000  # bytes of rows in memory that travel with a task
MUCH_TO_SEND = 100_000_000  # bytes of rows in memory that travel in a pass


class DaskEngine:
    """Runs visits on the workers of ``client``, a ``distributed.Client``.

    Workers read files themselves, so a file must be where they can open it. An array in memory is sent, the
    rows of a task with the task, anew in every pass: right, but slow when it is large. Better keep it as .npy
    or Parquet.
    """

    def __init__(self, client: Any) -> None:
        if not isinstance(client, _distributed().Client) or client.asynchronous:
            raise ParameterError(
                f"dask is {client!r}.", "Give a connected distributed.Client that is not asynchronous."
            )
        self.client: Any = client

    def walk(self, source: Source, visit: Visit, gather: Gather) -> Any:
        """Visit every block once and gather what the visits give."""
        from dask.config import set as dask_settings

        n_threads = max(sum(self.client.nthreads().values()), 1)
        run = run_length(source, n_threads)
        out = gather(Parts(source.n_rows, run * source.block_rows))
        in_flight: dict[Any, int] = {}  # tasks and their numbers
        arriving = _distributed().as_completed(loop=self.client.loop, with_results=True)
        # Dask would warn of a model above 10 MB, and advise what we do.
        with dask_settings({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            tasks = self._tasks(source, visit, gather, run, in_flight)
            try:
                arriving.update(list(islice(tasks, IN_FLIGHT_PER_THREAD * n_threads)))
                for task, result in arriving:  # raises what a task raised
                    out.add(in_flight.pop(task), result)
                    arriving.update(list(islice(tasks, 1)))
            finally:
                tasks.close()
                if in_flight:  # a task failed, or Ctrl-C: those being worked on end with their run of blocks
                    self.client.cancel(list(in_flight))
        return out.result()

    def _tasks(
        self, source: Source, visit: Visit, gather: Gather, run: int, in_flight: dict[Any, int]
    ) -> Generator[Any, None, None]:
        """Submit task after task, each when it is drawn."""
        # What all tasks need (the visit carries the model) is a task of its own: it is sent once a worker, not
        # once a task, and unlike scattered data it is made again when the worker that held it dies.
        shared_visit = self.client.submit(_same, visit, pure=False)
        shared_source = self.client.submit(_same, source, pure=False) if is_shared(source) else None
        for number, first in enumerate(range(0, source.n_blocks, run)):
            last = min(first + run, source.n_blocks)
            part = shared_source or source.part(first, last)
            task = self.client.submit(visit_run, part, shared_visit, gather, first, last, pure=False)
            in_flight[task] = number
            yield task


def visit_run(source: Source, visit: Visit, gather: Gather, first: int, last: int) -> Any:
    """One task: what one thread makes of blocks ``first:last``."""
    return ThreadEngine(1).walk(source, visit, gather, first, last)


def run_length(source: Source, n_threads: int) -> int:
    """Blocks of a task: the longest power of two that gives every thread several tasks and sends little."""
    longest = min(LONGEST_RUN, source.n_blocks // (n_threads * TASKS_PER_THREAD))
    one = _bytes_sent(source.part(0, 1))
    a_block = _bytes_sent(source.part(0, 2)) - one if source.n_blocks > 1 else one
    if a_block > 0:  # rows travel with their task
        longest = min(longest, MOST_SENT // a_block)
    run = 1 << (max(longest, 1).bit_length() - 1)
    n_tasks = 1 if is_shared(source) else -(-source.n_blocks // run)
    _warn_if_much((one - a_block) * n_tasks + a_block * source.n_rows // source.block_rows)
    return run


def is_shared(source: Source) -> bool:
    """Whether the source is sent as it is, a file as its path: then once a worker is enough."""
    return source.part(0, 1) is source


def _warn_if_much(sent: int) -> None:
    if sent > MUCH_TO_SEND:
        warn(
            f"{sent // 10**6} MB of a table in memory are sent to the cluster in every pass. Save it as .npy or "
            "Parquet and read it with asterism.read: workers then read their own rows.",
            SlowPathWarning,
            stacklevel=7,
        )


def _bytes_sent(part: Source) -> int:
    """What it takes to send this; arrays are counted, not copied."""
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(part, protocol=5, buffer_callback=buffers.append)
    return len(text) + sum(buffer.raw().nbytes for buffer in buffers)


def _same(value: Any) -> Any:
    return value


def _distributed() -> Any:
    import distributed

    return distributed
