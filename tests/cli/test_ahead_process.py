"""The process that compiles ahead lives no longer than the command."""

import gc
import subprocess

import pytest

from asterism.cli import ahead


@pytest.fixture
def started(monkeypatch):
    """Processes that were started; a first run is pretended."""
    processes = []

    class Watched(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            processes.append(self)

    monkeypatch.setattr("asterism.kernels.ahead.is_compiled", lambda _: False)
    monkeypatch.setattr("asterism.engines.threads.available_cores", lambda: 2)
    monkeypatch.setattr(ahead.subprocess, "Popen", Watched)
    return processes


def test_ends_with_the_command_and_says_so_once(started, capsys):
    often = gc.get_threshold()
    with ahead.compiling_ahead(quiet=False, n_threads=None) as compiling:
        compiling.expect("mixed")
        assert len(started) == 1
        assert started[0].poll() is None
    assert started[0].poll() is not None
    assert started[0].stdin.closed
    assert gc.get_threshold() == often
    said = capsys.readouterr()
    assert (said.out, said.err.count("First run")) == ("", 1)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_ends_when_the_command_fails(started, error):
    with pytest.raises(error), ahead.compiling_ahead(quiet=True, n_threads=None):
        raise error
    assert started[0].poll() is not None


def test_a_process_that_cannot_start_is_no_reason_to_fail(started, monkeypatch, capsys):
    monkeypatch.setattr(ahead.sys, "executable", "/no/such/python")
    with ahead.compiling_ahead(quiet=True, n_threads=None):
        pass
    assert capsys.readouterr().err == ""


def test_a_process_that_has_died_is_no_reason_to_fail(started):
    with ahead.compiling_ahead(quiet=True, n_threads=None) as compiling:
        started[0].kill()
        started[0].wait()
        compiling.expect("mixed")
    assert started[0].stdin.closed


def test_what_only_this_kind_of_table_needs_begins_when_it_is_known(started, monkeypatch):
    monkeypatch.setattr("asterism.kernels.ahead.is_compiled", lambda tables: tables == "any")
    with ahead.compiling_ahead(quiet=True, n_threads=None) as compiling:
        assert not started
        compiling.expect("gaps")
        assert len(started) == 1


@pytest.mark.parametrize(("threads", "cores"), [(1, 2), (None, 1)])
def test_one_core_compiles_alone(started, monkeypatch, threads, cores):
    monkeypatch.setattr("asterism.engines.threads.available_cores", lambda: cores)
    with ahead.compiling_ahead(quiet=True, n_threads=threads):
        assert not started


def test_a_later_run_starts_no_process_and_says_nothing(started, monkeypatch, capsys):
    monkeypatch.setattr("asterism.kernels.ahead.is_compiled", lambda _: True)
    with ahead.compiling_ahead(quiet=False, n_threads=None):
        assert not started
    assert capsys.readouterr().err == ""
