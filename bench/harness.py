"""Contestants race: each in a process of its own, one at a time, turn by turn, on the same two cores.

A process a contestant keeps thread pools and allocators apart and makes peak memory attributable; taking turns
(A, B, C, A, B, C, ...) shares the noise of the machine fairly. Before the first turn everybody works on a slice of
the table once: imports, compilation and thread pools are warm then and belong to nobody's time or memory.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

THREADS = 2  # for everyone
WARM_ROWS = 16_384  # of the slice everyone warms up on; more than any sample our seeding draws
PAUSE = 0.3  # seconds between turns: idle thread pools spin for a while before they sleep
DIED = "its process died"  # out of memory, most likely
SPAN = 1.0  # seconds of a turn: shorter calls are made again until it is over; 0 where it only has to run
SLOW = 30.0  # seconds after which a contestant need not show the same again
THREAD_LIMITS = ("OMP", "OPENBLAS", "MKL", "BLIS")
ROOT = Path(__file__).resolve().parent.parent

Params = Mapping[str, Any]
Fit = Callable[..., Any]  # fit(X, **params) -> found: what is timed
Judge = Callable[..., dict[str, float]]  # judge(X, found, **params) -> facts about it, not timed


@dataclass(frozen=True)
class Environment:
    """Another interpreter, with the libraries that are installed there."""

    python: str
    path: str = ""  # a folder of packages that come before those

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """Run it in the root of this project, so that it finds ``bench``."""
        others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        variables = {**others, **({"PYTHONPATH": self.path} if self.path else {})}
        return subprocess.Popen([self.python, *words], cwd=ROOT, env=variables, text=True, **options)


@dataclass(frozen=True)
class Contestant:
    """One way to do the work of a case."""

    name: str
    package: str  # the distribution it comes from
    module: str  # what must be importable
    fit: Fit  # a function of a module: processes find it by name
    counted: bool = True  # whether ratios are taken to it
    gemm: str = (
        ""  # precision it multiplies matrices in, "" where it does something cleverer; "own": the rows'
    )
    note: str = ""
    environment: Environment | None = None  # None: this one

    @property
    def absent(self) -> bool:
        """Whether it is not installed."""
        return self.environment is None and importlib.util.find_spec(self.module) is None


@dataclass(frozen=True)
class Turn:
    """One measured call."""

    seconds: float
    memory: int  # bytes: peak resident size during the call minus resident size before it
    facts: dict[str, float]  # what the judge found
    resident: int = 0  # bytes: the peak itself, interpreter and table included


@dataclass
class Result:
    """All turns of one contestant, or why there are none."""

    contestant: Contestant
    turns: list[Turn] = field(default_factory=list)
    failure: str = ""

    @property
    def best(self) -> float:
        return min(turn.seconds for turn in self.turns)

    @property
    def mean(self) -> float:
        return statistics.fmean(turn.seconds for turn in self.turns)

    @property
    def memory(self) -> int:
        return max(turn.memory for turn in self.turns)

    @property
    def resident(self) -> int:
        return max(turn.resident for turn in self.turns)

    def fact(self, name: str) -> float | None:
        """The mean over turns; None where the judge did not say."""
        values = [turn.facts[name] for turn in self.turns if name in turn.facts]
        return statistics.fmean(values) if values else None


# --- in the parent ----------------------------------------------------------------------------------------------


def race(
    contestants: Sequence[Contestant],
    judge: Judge,
    table: Path,
    rounds: Sequence[Params],
    *,
    same: bool = True,
) -> list[Result]:
    """A turn of everybody for each of ``rounds``; ``same``: the rounds repeat each other, so slow ones skip some."""
    results = [Result(c, failure="not installed" if c.absent else "") for c in contestants]
    with _workers([r.contestant for r in results if not r.failure], judge, table, rounds[0]) as lines:
        for result in results:
            if not result.failure:
                result.failure = _hear(lines[result.contestant.name])
        for params in rounds:
            for result in results:
                if result.failure or (same and result.turns and result.best > SLOW):
                    continue
                time.sleep(PAUSE)
                said = _ask(lines[result.contestant.name], params)
                if isinstance(said, Turn):
                    result.turns.append(said)
                    _tell(f"  {result.contestant.name}: {said.seconds:.3f} s")
                else:
                    result.failure = said
    return results


@contextmanager
def _workers(
    contestants: Sequence[Contestant], judge: Judge, table: Path, params: Params
) -> Iterator[dict[str, Connection]]:
    """A process for each contestant, and the line to it."""
    lines, processes = {}, []
    with _thread_limits():
        for contestant in contestants:
            lines[contestant.name], theirs = multiprocessing.Pipe()
            start = _start_here if contestant.environment is None else _start_elsewhere
            processes.append(start(contestant, theirs, (contestant.fit, judge, table, params, SPAN)))
            theirs.close()  # the child's end lives in the child alone: its death is heard as EOF
            if contestant.environment is not None:
                lines[contestant.name].send((contestant.fit, judge, table, params, SPAN))
    try:
        yield lines
    finally:
        for line in lines.values():
            line.close()
        for wait, stop in processes:
            if not wait(5.0):
                stop()


Ending = tuple[Callable[[float], bool], Callable[[], None]]  # wait(seconds) -> whether it has ended; stop


def _start_here(_: Contestant, line: Connection, work: tuple[Any, ...]) -> Ending:
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(line, *work), daemon=True)
    process.start()

    def wait(seconds: float) -> bool:
        process.join(seconds)
        return not process.is_alive()

    return wait, process.terminate


def _start_elsewhere(contestant: Contestant, line: Connection, _: tuple[Any, ...]) -> Ending:
    """By hand: multiprocessing would give the child this interpreter's own path. Its work is sent down the line."""
    code = f"from bench.harness import serve_from; serve_from({line.fileno()})"
    assert contestant.environment is not None
    process = contestant.environment.start("-c", code, pass_fds=[line.fileno()])

    def wait(seconds: float) -> bool:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    return wait, process.terminate


@contextmanager
def _thread_limits() -> Iterator[None]:
    """What processes started inside inherit."""
    limits = {f"{name}_NUM_THREADS": str(THREADS) for name in THREAD_LIMITS}
    before = {name: os.environ.get(name) for name in limits}
    os.environ.update(limits)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _ask(line: Connection, params: Params) -> Any:
    try:
        line.send(params)
    except ConnectionError:
        return DIED
    return _hear(line)


def _hear(line: Connection) -> Any:
    try:
        return line.recv()
    except (EOFError, ConnectionError):
        return DIED


def _tell(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


# --- in a worker ------------------------------------------------------------------------------------------------


def serve_from(descriptor: int) -> None:
    """In another environment: what to do is the first message of the line."""
    line: Connection = Connection(descriptor)
    _serve(line, *line.recv())


def _serve(line: Connection, fit: Fit, judge: Judge, table: Path, warm_up: Params, span: float) -> None:
    """Warm up, then measure one call for every message until the line closes. Says "" when ready, or what failed."""
    _pin()
    warnings.simplefilter("ignore")  # of limits reached before convergence, which is what the case asks for
    try:
        X = np.load(table)  # plain memory of this process, not a map of the file
        fit(X[:WARM_ROWS].copy(), **warm_up)
        line.send("")
        while True:
            params = line.recv()
            line.send(measured(fit, judge, X, params, span))
    except EOFError:
        return
    except Exception as failure:
        line.send(f"{type(failure).__name__}: {failure}".splitlines()[0])


def measured(fit: Fit, judge: Judge, X: np.ndarray, params: Params, span: float = SPAN) -> Turn:
    """One call: its time, its peak memory beyond what was there before, and the judge's facts.

    A short call is made again and again for as long as ten matrix products take, and the best counts, as it does of
    those: the first one wakes cores from their sleep and finds the caches full of what others left there, and on a
    shared machine who is measured for a fifth of the time meets fewer of its quiet moments.

    A contestant of another language has a clock of its own: the fact ``seconds``, without starting and reading.
    """
    _tidy()
    before = _resident("VmRSS")
    began = time.perf_counter()
    found = fit(X, **params)
    seconds = time.perf_counter() - began
    peak = _resident("VmHWM")
    over = began + span
    while (began := time.perf_counter()) < over:
        fit(X, **params)
        seconds = min(seconds, time.perf_counter() - began)
    facts = judge(X, found, **params)
    return Turn(facts.pop("seconds", seconds), max(peak - before, 0), facts, peak)


def _pin() -> None:
    """Two cores: some pools (oneTBB's) know no variable and go by the affinity."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


def _tidy() -> None:
    """Give freed memory back and forget the old peak, so that the next peak is the next call's."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        pass  # not Linux with glibc: memory is not measured


def _resident(what: str) -> int:
    """Bytes: VmRSS is the resident size now, VmHWM its peak since the last ``_tidy``. 0 where unknown."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{what}:")), 0)


# --- how fast this machine multiplies ---------------------------------------------------------------------------


def product_seconds(X: np.ndarray, dtype: str) -> float:
    """The best of ten products of a square matrix, too large to be bound by memory."""
    square, times = X.astype(dtype), []
    for _ in range(10):
        began = time.perf_counter()
        np.dot(square, square)
        times.append(time.perf_counter() - began)
    return min(times)


def judge_seconds(X: np.ndarray, found: float, dtype: str) -> dict[str, float]:  # noqa: ARG001  one signature for all
    return {"product": found}


def gemm_speed(folder: Path, side: int) -> dict[str, float]:
    """Flops a second of a (side, side) product on two threads, in each precision."""
    table, dtypes = folder / "square.npy", ("float32", "float64")
    np.save(table, np.random.default_rng(0).standard_normal((side, side)))
    contestant = Contestant("matrix product", "numpy", "numpy", product_seconds)
    [result] = race([contestant], judge_seconds, table, [{"dtype": dtype} for dtype in dtypes], same=False)
    if result.failure:
        raise RuntimeError(f"The matrix product failed: {result.failure}")
    return {
        dtype: 2.0 * side**3 / turn.facts["product"] for dtype, turn in zip(dtypes, result.turns, strict=True)
    }
