"""The loop: when it stops, what it says, what it leaves on disk, and that it goes on where it was."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from toys import SmallBlocks, Walk, fingerprint, table

from asterism.engines.checkpoint import read_arrays, write_arrays
from asterism.engines.context import engine
from asterism.engines.loop import iterate
from asterism.errors import DataError, InterruptedWarning, ModelFileError

METHOD = Walk()
NEAR, FAR, FARTHER = np.full(3, 1.0), np.full(3, 1e3), np.full(3, 1e6)


@pytest.fixture
def source():
    return SmallBlocks(np.random.default_rng(0).normal(size=(157, 3)))


class StopsAt:
    """A method that presses Ctrl-C in its own step ``step``, while it updates or while blocks are visited."""

    def __init__(self, step: int, where: str = "update") -> None:
        self.left, self.where = step, where
        self.name = "walk"

    def __getattr__(self, name):
        return getattr(METHOD, name)

    def __repr__(self):
        return repr(METHOD)

    def summarize(self, model, block):
        if self.where == "summarize" and self.left == 1 and block.start == 40:
            raise KeyboardInterrupt
        return METHOD.summarize(model, block)

    def update(self, model, statistic):
        self.left -= 1
        if self.where == "update" and self.left == 0:
            raise KeyboardInterrupt
        return METHOD.update(model, statistic)


# --- stopping ----------------------------------------------------------------------------------------------


def test_it_settles_where_the_method_says_so(source):
    (run,) = iterate(METHOD, source, [FAR], max_iter=1000)
    assert run.status == "settled"
    assert run.model == pytest.approx(source.array.mean(axis=0), abs=2 * METHOD.tol)
    # The distance to the mean halves each step, from about 1e3 until a step is below 1e-6.
    assert run.steps == pytest.approx(np.log2(1e3 / 1e-6), abs=2)


def test_history_is_the_objective_of_the_model_before_each_step(source):
    (run,) = iterate(METHOD, source, [FAR], max_iter=4)
    points = [FAR]
    for _ in range(3):
        points.append(points[-1] + 0.5 * (source.array.mean(axis=0) - points[-1]))
    expected = [((source.array - p) ** 2).sum() for p in points]
    assert run.history == pytest.approx(expected, rel=1e-12)
    assert run.objective == run.history[-1]


def test_it_stops_at_the_step_limit(source):
    (run,) = iterate(METHOD, source, [FAR], max_iter=3)
    assert (run.status, run.steps) == ("step limit", 3)


def test_it_stops_at_the_time_limit_with_what_it_has(source):
    with engine(time_limit=0.15, n_threads=1):
        runs = iterate(replace(METHOD, pause=0.002), source, [FAR, NEAR], max_iter=10**6)
    assert {run.status for run in runs} == {"time limit"}
    assert 1 <= runs[0].steps < 15
    assert runs[0].history[-1] < runs[0].history[0] or runs[0].steps == 1


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match="0 sample"):
        iterate(METHOD, SmallBlocks(np.empty((0, 3))), [NEAR], max_iter=3)


# --- several candidates ------------------------------------------------------------------------------------


def test_candidates_share_every_pass(source):
    runs = iterate(METHOD, source, [NEAR, FAR, FARTHER], max_iter=1000)
    steps = [run.steps for run in runs]
    assert steps[0] < steps[1] < steps[2]
    assert source.passes == steps[2]  # as many as the slowest needs, not the sum


def test_a_candidate_does_not_notice_the_others(source):
    together = iterate(METHOD, source, [NEAR, FAR, FARTHER], max_iter=1000)
    alone = [iterate(METHOD, source, [start], max_iter=1000)[0] for start in (NEAR, FAR, FARTHER)]
    assert fingerprint(together) == fingerprint(alone)


def test_any_number_of_threads_gives_the_same_bits():
    source = SmallBlocks(table())
    prints = set()
    for n_threads in (1, 2, 5):
        with engine(n_threads=n_threads):
            prints.add(fingerprint(iterate(METHOD, source, [NEAR, FAR], max_iter=20)))
    assert len(prints) == 1


# --- what it says ------------------------------------------------------------------------------------------


def test_every_step_is_told(source):
    events = []
    with engine(progress=events.append):
        runs = iterate(METHOD, source, [NEAR, FAR], max_iter=100)
    assert [event.step for event in events] == list(range(1, runs[1].steps + 1))
    assert [event.active for event in events] == [2] * (runs[0].steps - 1) + [1] * (
        runs[1].steps - runs[0].steps
    ) + [0]
    elapsed = [event.elapsed for event in events]
    assert elapsed == sorted(elapsed)
    assert {event.job for event in events} == {"walk"}
    assert {event.max_steps for event in events} == {100}
    assert events[-1].objective == min(run.objective for run in runs)


def test_time_left_is_what_remains_at_this_pace(source):
    events = []
    with engine(progress=events.append, n_threads=1):
        iterate(replace(METHOD, pause=0.001), source, [FARTHER], max_iter=10)
    for event in events[:-1]:
        assert event.left == pytest.approx(event.elapsed / event.step * (10 - event.step), rel=1e-9)
    assert events[-1].left == 0


def test_time_left_respects_the_time_limit(source):
    events = []
    with engine(progress=events.append, time_limit=60):
        iterate(METHOD, source, [FAR], max_iter=10**9)
    assert all(event.left <= 60 - event.elapsed + 1e-9 for event in events)


def test_watchers_see_all_candidates_after_every_pass(source):
    seen = []
    iterate(
        METHOD, source, [NEAR, FAR], max_iter=5, watch=lambda runs: seen.append([run.steps for run in runs])
    )
    assert seen == [[i, i] for i in range(1, 6)]


# --- Ctrl-C ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["update", "summarize"])
def test_an_interrupted_fit_gives_the_best_so_far_and_says_so(source, where):
    with engine(n_threads=1), pytest.warns(InterruptedWarning, match="walk was interrupted after 4 steps"):
        (run,) = iterate(StopsAt(5, where), source, [FAR], max_iter=100)
    (four,) = iterate(METHOD, source, [FAR], max_iter=4)
    assert run.status == "interrupted"
    assert fingerprint((run.model, run.history)) == fingerprint((four.model, four.history))


def test_an_interrupt_before_the_first_step_is_passed_on(source):
    with pytest.raises(KeyboardInterrupt):
        iterate(StopsAt(1), source, [FAR], max_iter=100)


def test_candidates_that_had_settled_stay_settled(source):
    done = iterate(METHOD, source, [NEAR], max_iter=100)[0]
    steps_until_only_far_moves = 2 * done.steps + 3
    with pytest.warns(InterruptedWarning):
        near, far = iterate(StopsAt(steps_until_only_far_moves), source, [NEAR, FAR], max_iter=100)
    assert (near.status, far.status) == ("settled", "interrupted")
    assert fingerprint(near) == fingerprint(done)


# --- checkpoints -------------------------------------------------------------------------------------------


def stopped(source, path, steps=5, starts=(FAR, FARTHER)):
    """A fit interrupted in its step ``steps + 1``."""
    with engine(checkpoint=path), pytest.warns(InterruptedWarning):
        return iterate(StopsAt(len(starts) * steps + 1), source, list(starts), max_iter=1000)


def test_a_finished_job_leaves_no_checkpoint(source, tmp_path):
    with engine(checkpoint=tmp_path):
        iterate(METHOD, source, [FAR], max_iter=1000)
        iterate(METHOD, source, [FAR], max_iter=3)
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_is_written_after_every_pass(source, tmp_path):
    steps = []

    def look(runs):
        _, meta = read_arrays(tmp_path / "state.checkpoint", "asterism-checkpoint-1")
        steps.append(len(json.loads(meta["state"])["runs"][0]["history"]))

    with engine(checkpoint=tmp_path / "state.checkpoint"):
        iterate(METHOD, source, [FAR], max_iter=4, watch=look)
    assert steps == [1, 2, 3, 4]


def test_an_interrupted_job_goes_on_and_ends_with_the_same_bits(source, tmp_path):
    whole = iterate(METHOD, source, [FAR, FARTHER], max_iter=1000)
    halted = stopped(source, tmp_path)
    assert [run.steps for run in halted] == [5, 5]
    source.passes = 0
    with engine(checkpoint=tmp_path):
        resumed = iterate(METHOD, source, [FAR, FARTHER], max_iter=1000)
    assert fingerprint(resumed) == fingerprint(whole)
    assert source.passes == whole[1].steps - 5  # the first five were not done again
    assert list(tmp_path.iterdir()) == []


def test_a_time_limited_job_goes_on_where_it_was(source, tmp_path):
    whole = iterate(METHOD, source, [FAR], max_iter=1000)
    with engine(checkpoint=tmp_path, time_limit=1e-9):
        for steps in (1, 2, 3):
            (run,) = iterate(METHOD, source, [FAR], max_iter=1000)
            assert (run.steps, run.status) == (steps, "time limit")
    with engine(checkpoint=tmp_path):
        assert fingerprint(iterate(METHOD, source, [FAR], max_iter=1000)) == fingerprint(whole)


def test_progress_of_a_resumed_job_counts_all_steps(source, tmp_path):
    stopped(source, tmp_path)
    events = []
    with engine(checkpoint=tmp_path, progress=events.append):
        iterate(METHOD, source, [FAR, FARTHER], max_iter=1000)
    assert events[0].step == 6
    assert events[0].left == pytest.approx(events[0].elapsed * (1000 - 6), rel=1e-9)


def test_a_folder_keeps_a_file_for_every_job(source, tmp_path):
    folder = tmp_path / "made" / "when_missing"
    stopped(source, folder, starts=(FAR, FARTHER))
    stopped(source, folder, starts=(FAR, NEAR))
    assert len(list(folder.iterdir())) == 2


other_jobs = {
    "other rows": lambda x: (METHOD, x + 1, [FAR]),
    "other last row": lambda x: (METHOD, np.vstack([x[:-1], [[0.0, 0.0, 0.0]]]), [FAR]),
    "fewer rows": lambda x: (METHOD, x[:-1], [FAR]),
    "other parameters": lambda x: (replace(METHOD, share=0.25), x, [FAR]),
    "other start": lambda x: (METHOD, x, [FARTHER]),
    "more candidates": lambda x: (METHOD, x, [FAR, FARTHER]),
}


@pytest.mark.parametrize("job", other_jobs.values(), ids=other_jobs)
def test_the_checkpoint_of_another_job_is_refused(source, tmp_path, job):
    stopped(source, tmp_path / "a.checkpoint", starts=(FAR,))
    method, rows, starts = job(source.array)
    with engine(checkpoint=tmp_path / "a.checkpoint"), pytest.raises(ModelFileError, match="another job"):
        iterate(method, SmallBlocks(rows), starts, max_iter=10)


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_a_truncated_checkpoint_is_refused(source, tmp_path, keep):
    path = tmp_path / "a.checkpoint"
    stopped(source, path)
    path.write_bytes(path.read_bytes()[:keep])
    with engine(checkpoint=path), pytest.raises(ModelFileError, match=r"a\.checkpoint"):
        iterate(METHOD, source, [FAR, FARTHER], max_iter=10)


def test_a_file_of_another_kind_is_refused(source, tmp_path):
    path = tmp_path / "a.checkpoint"
    write_arrays(path, {"x": np.zeros(3)}, {"format": "something-else"})
    with engine(checkpoint=path), pytest.raises(ModelFileError, match="something-else"):
        iterate(METHOD, source, [FAR], max_iter=10)


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write_arrays(path, {"x": np.zeros(3)}, {"format": "f"})
    before = path.read_bytes()

    def no_space(fd):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        write_arrays(path, {"x": np.ones(3)}, {"format": "f"})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_arrays_are_kept_to_the_bit_whatever_their_strides(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {
        "f": np.asfortranarray(rng.normal(size=(4, 5))),
        "step": np.arange(20)[::3],
        "0": np.float32(2) * np.ones(()),
    }
    write_arrays(tmp_path / "a", arrays, {"format": "f"})
    back, _ = read_arrays(tmp_path / "a", "f")
    assert all(
        np.array_equal(back[name], value) and back[name].dtype == value.dtype
        for name, value in arrays.items()
    )


# --- killed ------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np
from toys import SmallBlocks, Walk, fingerprint, table
from asterism.engines.context import engine
from asterism.engines.loop import iterate
with engine(n_threads=2, checkpoint=sys.argv[1], progress=lambda event: print(event.step, flush=True)):
    runs = iterate(Walk(pause=float(sys.argv[2])), SmallBlocks(table()), [np.full(3, 1e3), np.ones(3)], max_iter=12)
print(fingerprint(runs))
"""


@dataclass
class Program:
    """The program above, run in its own process."""

    folder: Path
    pause: float = 0.003

    def start(self) -> subprocess.Popen:
        command = [sys.executable, "-c", PROGRAM, str(self.folder), str(self.pause)]
        return subprocess.Popen(command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True)

    def run(self) -> list[str]:
        with self.start() as process:
            return process.communicate(timeout=60)[0].split()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_job_goes_on_and_ends_with_the_same_bits(tmp_path):
    whole = Program(tmp_path / "whole").run()
    job = Program(tmp_path / "killed")
    with job.start() as process:
        for _ in range(4):
            process.stdout.readline()
        time.sleep(0.01)  # into the next pass
        process.send_signal(signal.SIGKILL)
    assert len(list((tmp_path / "killed").glob("*.checkpoint"))) == 1
    resumed = job.run()
    assert resumed[-1] == whole[-1]
    assert int(resumed[0]) >= 5
    assert len(whole) == 12 + 1
