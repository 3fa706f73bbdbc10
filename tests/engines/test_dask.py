"""Dask: the bits of one process, whatever the workers do and whoever of them dies."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest
from toys import BreaksOff, SmallBlocks, Walk, explode, fingerprint, table, trace

import asterism
from asterism.data.source import ArraySource
from asterism.engines import dask as engine_file
from asterism.engines.context import engine
from asterism.engines.dask import DaskEngine, run_length
from asterism.engines.loop import iterate
from asterism.engines.reduce import map_reduce, map_rows, reduce
from asterism.errors import InterruptedWarning, ParameterError, SlowPathWarning
from asterism.stats.moments import ColumnMoments, Moments

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=[1, 3, 40])
def source(request):
    """Tables of one block, of an odd number of them, and of runs of several."""
    rows = table(request.param)
    return SmallBlocks(rows, weights=np.arange(1.0, len(rows) + 1))


# --- the same bits -----------------------------------------------------------------------------------------


def rows_and_moments(block):
    return np.abs(block.rows).sum(axis=1), Moments.of(block)


@pytest.mark.parametrize("statistic", [Moments, ColumnMoments])
def test_reduce_gives_the_bits_of_one_process(client, source, statistic):
    here = reduce(source, statistic.of)
    with engine(dask=client):
        assert fingerprint(reduce(source, statistic.of)) == fingerprint(here)


def test_map_gives_the_bits_of_one_process(client, source):
    rows, moments = map_reduce(source, rows_and_moments)
    with engine(dask=client):
        assert fingerprint(map_reduce(source, rows_and_moments)) == fingerprint((rows, moments))
        assert fingerprint(map_rows(source, lambda b: b.rows[:, ::-1])) == fingerprint(
            source.array[:, ::-1].copy()
        )


def test_a_loop_gives_the_bits_of_one_process(client):
    source, starts = SmallBlocks(table()), [np.ones(3), np.full(3, 1e3)]
    here = iterate(Walk(), source, starts, max_iter=8)
    with engine(dask=client):
        assert fingerprint(iterate(Walk(), source, starts, max_iter=8)) == fingerprint(here)


def test_a_task_is_a_subtree(client):
    source = SmallBlocks(table(40))
    assert run_length(source, n_threads=2) == 4
    with engine(dask=client):
        assert reduce(source, trace).shape == reduce_here(source)


def reduce_here(source):
    with engine(n_threads=1):
        return reduce(source, trace).shape


@pytest.fixture(params=["npy", "parquet"])
def file(request, tmp_path):
    """The same table as an array and as a file, in several of the usual blocks."""
    rows = np.random.default_rng(0).normal(size=(20_000, 60)) * 10.0 ** np.arange(60)
    if request.param == "npy":
        np.save(tmp_path / "table.npy", rows)
        return rows, tmp_path / "table.npy"
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({f"x{j}": rows[:, j] for j in range(60)}), path, row_group_size=7_001)
    return rows, path


def test_workers_read_files_themselves(client, file):
    rows, path = file
    source = asterism.read(path)
    here = reduce(ArraySource(rows), Moments.of)
    assert len(pickle.dumps(source.part(0, 1))) < 20_000  # no rows are sent
    with engine(dask=client):
        assert fingerprint(reduce(source, Moments.of)) == fingerprint(here)


def test_a_data_frame_is_sent(client):
    pandas = pytest.importorskip("pandas")
    rows = np.random.default_rng(0).normal(size=(20_000, 60))
    here = reduce(ArraySource(rows), Moments.of)
    with engine(dask=client):
        assert fingerprint(reduce(asterism.read(pandas.DataFrame(rows)), Moments.of)) == fingerprint(here)


# --- estimators --------------------------------------------------------------------------------------------


def clusters(n=30_000, d=20, k=5):
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=4, size=(k, d))
    return centers[rng.integers(k, size=n)] + rng.normal(size=(n, d)), centers + rng.normal(size=(k, d))


def kmeans(X, start):
    model = asterism.KMeans(len(start), init=start, n_init=1).fit(X)
    return model.cluster_centers_, model.labels_, model.inertia_, model.n_iter_


def kmeans_with_seeding(X, start):
    model = asterism.KMeans(len(start), n_init=2, random_state=0).fit(X)
    return model.cluster_centers_, model.labels_, model.inertia_, model.n_iter_


def pca(X, start):
    model = asterism.PCA(n_components=3).fit(X)
    return model.components_, model.explained_variance_, model.mean_, model.transform(X)


def mixture_started_on_the_table(X):
    # 5,500 parameters, more than the rows of a sample; columns in two units, so there are two views to choose from
    units = 10.0 ** (np.arange(X.shape[1]) % 2)
    model = asterism.GaussianMixture(24, max_iter=2, tol=0, random_state=0).fit(X[:9000] * units)
    return model.means_, model.covariances_, model.labels_, model.history_


def test_a_mixture_started_on_the_table_gives_the_bits_of_one_process(client):
    X, _ = clusters()
    here = fingerprint(mixture_started_on_the_table(X))
    with engine(dask=client):
        assert fingerprint(mixture_started_on_the_table(X)) == here


@pytest.mark.parametrize("fit", [kmeans, kmeans_with_seeding, pca])
def test_an_estimator_gives_the_bits_of_one_process(client, fit, tmp_path):
    X, start = clusters()
    np.save(tmp_path / "X.npy", X)
    here = fingerprint(fit(X, start))
    with engine(dask=client):
        assert fingerprint(fit(X, start)) == here
        assert fingerprint(fit(asterism.read(tmp_path / "X.npy"), start)) == here


# --- what travels ------------------------------------------------------------------------------------------


def test_an_array_in_memory_sends_a_task_only_its_rows():
    source = ArraySource(np.zeros((100_000, 8)))
    assert len(pickle.dumps(source.part(0, 1))) < 8 * 8 * source.block_rows + 10_000
    assert run_length(ArraySource(np.zeros((10**6, 8))), n_threads=1) == 4  # of 2 MB each


def test_a_large_array_in_memory_is_said_to_be_slow(monkeypatch, tmp_path):
    monkeypatch.setattr(engine_file, "MUCH_TO_SEND", 10**6)
    rows = np.zeros((100_000, 8))
    np.save(tmp_path / "rows.npy", rows)
    with pytest.warns(SlowPathWarning, match="6 MB .* in every pass.*Save it as .npy"):
        run_length(ArraySource(rows), n_threads=2)
    run_length(asterism.read(tmp_path / "rows.npy"), n_threads=2)  # says nothing


# --- failures ----------------------------------------------------------------------------------------------


def test_a_failing_visit_is_told_and_the_rest_is_cancelled(client):
    with engine(dask=client):
        with pytest.raises(ZeroDivisionError, match="block 3"):
            reduce(SmallBlocks(table(200)), explode)
        assert reduce(SmallBlocks(table(8)), trace).shape == reduce_here(SmallBlocks(table(8)))
    assert_nothing_is_left(client)


def test_a_table_that_breaks_off_is_told(client):
    with engine(dask=client), pytest.raises(OSError, match="the disk is gone"):
        reduce(BreaksOff(table(64)), trace)


def assert_nothing_is_left(client):
    deadline = time.monotonic() + 10
    while any(client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.processing().values())
    assert not any(state.status == "pending" for state in client.futures.values())


class InterruptsThePass:
    """A method that presses Ctrl-C on the driver while the workers are in its pass ``number``."""

    def __init__(self, number):
        self.number, self.walk = number, Walk(pause=0.02)
        self.name = "walk"

    def __getattr__(self, name):
        return getattr(self.__dict__["walk"], name)

    def __reduce__(self):
        return Walk, (0.5, 1e-6, 0.02)  # on the workers it only walks

    def update(self, model, statistic):
        self.number -= 1
        if self.number == 1:
            threading.Timer(0.1, signal.raise_signal, (signal.SIGINT,)).start()
        return self.walk.update(model, statistic)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to oneself there")
def test_control_c_gives_the_best_so_far_and_cancels_the_rest(client):
    source = SmallBlocks(table(40))
    with engine(dask=client):
        with pytest.warns(InterruptedWarning, match="after 2 steps"):
            (run,) = iterate(InterruptsThePass(3), source, [np.ones(3)], max_iter=100)
        assert_nothing_is_left(client)
        assert reduce(source, trace).shape == reduce_here(source)
    (two,) = iterate(Walk(), source, [np.ones(3)], max_iter=2)
    assert fingerprint(run.model) == fingerprint(two.model)


@pytest.mark.parametrize("wrong", ["tcp://127.0.0.1:8786", 2])
def test_anything_but_a_client_is_refused(wrong):
    with pytest.raises(ParameterError, match=r"distributed\.Client"):
        DaskEngine(wrong)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_worker_changes_nothing(client):
    client.wait_for_workers(2)
    source, starts = SmallBlocks(table(40)), [np.ones(3), np.full(3, 1e3)]
    here = iterate(Walk(), source, starts, max_iter=6)
    pids = client.run(os.getpid)
    passes = []

    def kill_in_the_third_pass(event):
        passes.append(event.step)
        if event.step == 2:
            threading.Timer(0.1, os.kill, (min(pids.values()), signal.SIGKILL)).start()

    with engine(dask=client, progress=kill_in_the_third_pass):
        there = iterate(Walk(pause=0.02), source, starts, max_iter=6)
    assert fingerprint(there) == fingerprint(here)
    assert passes == [1, 2, 3, 4, 5, 6]
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(pids.values())  # somebody did die
