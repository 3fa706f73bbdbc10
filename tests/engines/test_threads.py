"""Threads: same bits for any number of them; failures and Ctrl-C are told once and leave nothing behind."""

from __future__ import annotations

import _thread
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info
from toys import BreaksOff, SmallBlocks, explode, fingerprint, table, trace

from asterism.engines import threads
from asterism.engines.context import engine
from asterism.engines.gather import merged
from asterism.engines.reduce import map_reduce, map_rows, reduce
from asterism.engines.threads import ThreadEngine, available_cores, one_blas_thread
from asterism.errors import DataError
from asterism.stats.moments import ColumnMoments, Moments

THREADS = [1, 2, 3, 8]


def in_another_thread(job):
    """What ``job`` returns or raises when it is called from a thread that is not the main one."""
    outcome = []

    def run():
        try:
            outcome.append((job(), None))
        except BaseException as failure:
            outcome.append((None, failure))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(20)
    assert outcome, "the call never came back"
    result, failure = outcome[0]
    if failure is not None:
        raise failure
    return result


def here(job):
    return job()


anywhere = pytest.mark.parametrize("call", [here, in_another_thread])


# --- results -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", [Moments, ColumnMoments])
def test_same_bits_for_any_number_of_threads(statistic):
    source = SmallBlocks(table(), weights=np.arange(157.0))
    prints = set()
    for n_threads in THREADS:
        with engine(n_threads=n_threads):
            prints.add(fingerprint(reduce(source, statistic.of)))
    assert len(prints) == 1


@pytest.mark.parametrize("n_threads", THREADS)
def test_map_gives_one_row_out_per_row_in(n_threads):
    x = table()
    with engine(n_threads=n_threads):
        doubled = map_rows(SmallBlocks(x), lambda block: 2 * block.rows)
        norms, moments = map_reduce(SmallBlocks(x), lambda b: ((b.rows**2).sum(axis=1), Moments.of(b)))
    assert np.array_equal(doubled, 2 * x)
    assert np.array_equal(norms, (x**2).sum(axis=1))
    assert moments.weight == len(x)


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match="0 sample"):
        reduce(SmallBlocks(np.empty((0, 2))), trace)


def test_a_visit_may_walk_a_table_itself_and_stays_on_its_thread():
    inner = SmallBlocks(table(5))
    strays = []

    def visit(block):
        home = threading.get_ident()
        nested = reduce(inner, lambda b: strays.append(threading.get_ident() != home) or trace(b))
        return nested if block.start == 0 else trace(block)

    with engine(n_threads=3):
        assert reduce(SmallBlocks(table(2)), visit).shape == "((((0 1) (2 3)) 4) 1)"
        assert not any(strays)
        assert ThreadEngine(3).n_threads == 3


# --- failures ----------------------------------------------------------------------------------------------


@anywhere
@pytest.mark.parametrize("n_threads", THREADS)
def test_a_failing_visit_is_told_with_its_own_traceback(n_threads, call):
    with pytest.raises(ZeroDivisionError, match="block 3") as caught:
        call(lambda: ThreadEngine(n_threads).walk(SmallBlocks(table()), explode, no_gathering))
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] == "explode"
    assert names.count("explode") == 1
    assert caught.value.__context__ is None


@anywhere
@pytest.mark.parametrize("n_threads", THREADS)
def test_a_table_that_breaks_off_is_told(n_threads, call):
    with pytest.raises(OSError, match="the disk is gone"):
        call(lambda: ThreadEngine(n_threads).walk(BreaksOff(table()), trace, no_gathering))


def test_after_a_failure_nobody_takes_another_block():
    visited = []

    def visit(block):
        visited.append(block.start)
        time.sleep(0.02)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ThreadEngine(3).walk(SmallBlocks(table()), visit, no_gathering)
    assert len(visited) <= 3


def test_a_failure_leaves_no_thread_and_no_limit_behind(helpers):
    before = blas_threads()
    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            ThreadEngine(4).walk(SmallBlocks(table()), explode, no_gathering)
    assert blas_threads() == before
    assert helpers(none_after=10.0)


@pytest.fixture
def helpers(monkeypatch):
    """Names of the threads that help; with a time, whether there are none any more after it, or before."""
    monkeypatch.setattr(threads, "REST", 0.05)

    def names(none_after: float = 0.0) -> bool | set[str]:
        until = time.monotonic() + none_after
        while found := {each.name for each in threading.enumerate() if each.name.startswith("asterism_")}:
            if time.monotonic() > until:
                break
            time.sleep(0.01)
        return not found if none_after else found

    assert names(none_after=10.0)  # those of tests before
    return names


def no_gathering(parts):
    class Nothing:
        def add(self, number, result):
            pass

        def result(self):
            return None

    return Nothing()


# --- Ctrl-C ------------------------------------------------------------------------------------------------


def test_an_interrupt_stops_within_a_block_and_the_engine_goes_on_working(helpers):
    source = SmallBlocks(table(200))
    visited = []

    def visit(block):
        visited.append(block.start)
        if len(visited) == 10:
            _thread.interrupt_main()
        time.sleep(0.005)
        return trace(block)

    with engine(n_threads=3):
        with pytest.raises(KeyboardInterrupt):
            reduce(source, visit)
        assert len(visited) < 20
        assert reduce(source, trace).shape.count("(") == 199
        assert helpers(none_after=10.0)
        assert reduce(source, trace).shape.count("(") == 199


PROGRAM = """
import sys, threading, time
from toys import SmallBlocks, Slowly, table, trace
from asterism.engines import threads
from asterism.engines.context import engine
from asterism.engines.gather import merged
from asterism.engines.reduce import reduce
source = SmallBlocks(table(500))
with engine(n_threads=3):
    try:
        print("started", flush=True)
        reduce(source, Slowly(trace, 0.02))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print("again", reduce(source, trace).shape.count("("), flush=True)
    time.sleep(2 * threads.REST)
    print("threads", threading.active_count(), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT goes to the whole console there")
def test_control_c_from_outside():
    here = Path(__file__).parent
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=here, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 2  # 500 blocks would take 3 seconds and more
        assert process.stdout.readline() == "again 499\n"
        assert process.stdout.readline() == "threads 1\n"
        assert process.wait(10) == 0


# --- cores and BLAS ----------------------------------------------------------------------------------------


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_inside_and_its_own_number_after():
    before = blas_threads()
    inside = []
    with engine(n_threads=2):
        reduce(SmallBlocks(table()), lambda block: inside.append(blas_threads()) or trace(block))
    assert {n for numbers in inside for n in numbers} == {1}
    assert blas_threads() == before


def test_overlapping_walks_share_one_limit():
    with one_blas_thread():
        pass  # loads every BLAS there is
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}  # the second is still at work
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_cores_are_those_this_process_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 3, 5, 7}, raising=False)
    found = []
    try:
        for quota in ("max 100000", "250000 100000", "50000 100000"):  # no limit, two and a half, a half
            threads._quota.cache_clear()  # it is read once
            monkeypatch.setattr(Path, "read_text", lambda path, quota=quota: quota)
            found.append((available_cores(), ThreadEngine().n_threads))
    finally:
        threads._quota.cache_clear()
    assert found == [(4, 4), (2, 2), (1, 1)]


def test_a_crew_serves_many_walks_rests_and_is_gone(helpers, monkeypatch):
    source, seen = SmallBlocks(table()), set()

    def visit(block):
        seen.add(threading.get_ident())
        time.sleep(0.001)
        return trace(block)

    monkeypatch.setattr(threads, "REST", 30.0)
    with threads.crew():
        for _ in range(5):
            ThreadEngine(3).walk(source, visit, merged)
    for _ in range(5):
        ThreadEngine(3).walk(source, visit, merged)
    assert len(seen) <= 3  # the calling thread and two helpers, always the same
    assert len(helpers()) <= 2
    monkeypatch.setattr(threads, "REST", 0.05)
    ThreadEngine(3).walk(source, visit, merged)  # wakes them
    assert helpers(none_after=10.0)
    assert ThreadEngine(3).walk(source, trace, merged) == ThreadEngine(1).walk(source, trace, merged)


def test_walks_on_two_threads_at_a_time_have_crews_of_their_own(helpers):
    source, found = SmallBlocks(table()), []

    def walk():
        found.extend(ThreadEngine(2).walk(source, trace, merged) for _ in range(20))

    both = [threading.Thread(target=walk) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join(30)
    assert len(found) == 40
    assert all(each == found[0] for each in found)
    assert helpers(none_after=10.0)


def test_a_thread_at_rest_holds_on_to_no_table(monkeypatch):
    class Table(SmallBlocks):
        pass

    monkeypatch.setattr(threads, "REST", 30.0)
    source = Table(table())
    gone = weakref.ref(source)
    ThreadEngine(2).walk(source, lambda block: time.sleep(0.002) or trace(block), merged)
    del source
    until = time.monotonic() + 10.0
    while gone() is not None and time.monotonic() < until:
        gc.collect()
        time.sleep(0.01)
    assert gone() is None
    monkeypatch.setattr(threads, "REST", 0.05)
    ThreadEngine(2).walk(SmallBlocks(table()), trace, merged)  # wakes it, not to rest so long again


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_starts_threads_of_its_own():
    source = SmallBlocks(table())
    want = ThreadEngine(3).walk(source, trace, merged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of forking beside threads
        child = os.fork()
    if child == 0:
        seen = set()

        def visit(block):
            seen.add(threading.get_ident())
            time.sleep(0.002)
            return trace(block)

        fine = ThreadEngine(3).walk(source, visit, merged) == want and len(seen) > 1
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_job_waits_for_those_at_it_and_lets_nobody_begin_afterwards():
    entered, leave, done = threading.Event(), threading.Event(), []

    def work():
        entered.set()
        leave.wait(30)
        done.append(1)

    job = threads.Job(work)
    with threads.crew() as helpers:
        helpers.give(job, 1)
        assert entered.wait(30)
        threading.Timer(0.05, leave.set).start()
        job.close()
        assert done == [1]
        helpers.give(job, 1)  # too late
    assert done == [1]


def test_a_failed_walk_leaves_the_crew_ready_for_the_next():
    source = SmallBlocks(table())

    def fail(block):
        raise ValueError("no")

    with threads.crew():
        want = ThreadEngine(1).walk(source, trace, merged)
        for _ in range(20):
            with pytest.raises(ValueError, match="no"):
                ThreadEngine(3).walk(source, fail, merged)
            assert ThreadEngine(3).walk(source, trace, merged) == want
