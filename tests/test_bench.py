"""The benchmarks run, on next to no rows, and judge by the rows rather than by what contestants say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return pytest.importorskip("bench")


def run_bench(*arguments: str) -> str:
    command = [sys.executable, "-m", "bench", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_bench_times_everyone_who_is_installed_and_lists_who_is_not(tmp_path: Path) -> None:
    out = run_bench(
        "kmeans", "--tiny", "--only", "lloyd x2 float32", "--json", str(tmp_path / "numbers.json")
    )
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    [case] = numbers["cases"]
    results = {result["name"]: result for result in case["results"]}
    assert set(results) == {
        "asterism",
        "scikit-learn lloyd",
        "scikit-learn elkan",
        "scikit-learn-intelex",
        "faiss",
    }
    for name, result in results.items():
        assert name in out
        assert result["turns"] or result["failure"] == "not installed"
    ours, theirs = results["asterism"]["turns"][0], results["scikit-learn lloyd"]["turns"][0]
    assert ours["seconds"] > 0
    assert ours["facts"]["steps"] == theirs["facts"]["steps"] == 20
    assert ours["facts"]["objective"] == pytest.approx(theirs["facts"]["objective"], rel=1e-5)
    assert case["ratio"] == pytest.approx(
        min(t["seconds"] for r in case["results"] if r["name"] != "asterism" for t in r["turns"])
        / ours["seconds"]
    )
    assert len(numbers["bars"]) == 2
    assert "lloyd: never slower than the fastest peer" in out


def test_the_bench_of_fewer_dimensions_judges_everybody(tmp_path: Path) -> None:
    run_bench("reduce", "--tiny", "--json", str(tmp_path / "numbers.json"))
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    ica, svd, ppca = numbers["cases"]
    distances = [result["turns"][0]["facts"]["objective"] for result in ica["results"]]
    assert min(distances) > 0
    assert max(distances) < 0.05
    left = [result["turns"][0]["facts"]["objective"] for result in svd["results"]]
    assert left[0] == pytest.approx(left[-1], rel=1e-2)
    assert len(ppca["remarks"]) == 5
    met = {bar["text"]: bar["met"] for bar in numbers["bars"]}
    assert len(met) == 7
    assert all(met[text] for text in met if text.startswith("ppca"))


def test_the_memory_of_indices_is_told_beside_table_and_labels() -> None:
    out = run_bench("metrics", "--tiny", "--only", "memory-moments 100000x10")
    assert "MB beyond the table (4 MB) and the labels" in out
    assert "met      memory-moments: below 64 MB" in out


def test_every_case_has_a_name_of_its_own(bench) -> None:
    from bench import kmeans, medoids, pca, trees

    for size in ("full", "quick", "tiny"):
        names = [case.name for method in (kmeans, medoids, pca, trees) for case in method.cases(size)]
        assert len(set(names)) == len(names)


def test_judges_agree_with_brute_force(bench) -> None:
    from bench import kmeans, pca

    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(50, 3)), rng.normal(size=(4, 3))
    squares = ((X[:, None] - centers) ** 2).sum(axis=2)
    labels = rng.integers(4, size=50)
    judged = kmeans.judge(X, kmeans.Found(centers, labels, 7))
    assert judged == {"objective": pytest.approx(squares[np.arange(50), labels].sum()), "steps": 7.0}
    assert kmeans.judge_centers(X, kmeans.Found(centers))["objective"] == pytest.approx(
        squares.min(axis=1).sum()
    )
    direction = np.array([[3.0, 4.0, 0.0]])  # not of length 1: no credit for that
    share = np.var(X @ direction[0] / 5.0) / X.var(axis=0).sum()
    assert pca.judge(X, direction)["objective"] == pytest.approx(share)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc"
)
def test_peak_memory_is_that_of_the_call_even_after_a_larger_one(bench) -> None:
    from bench.harness import measured

    def take(X: np.ndarray, megabytes: int) -> float:
        return float(np.ones(megabytes << 17).sum())

    def nothing(X: np.ndarray, found: float, megabytes: int) -> dict[str, float]:
        return {}

    X = np.zeros((1, 1))
    for megabytes in (100, 20):
        assert measured(take, nothing, X, {"megabytes": megabytes}, 0.0).memory / 2**20 == pytest.approx(
            megabytes, abs=5
        )


def test_a_contestant_with_a_clock_of_its_own_is_timed_by_it(bench) -> None:
    from bench.harness import measured

    def slow(X: np.ndarray) -> float:
        return 0.125

    turn = measured(slow, lambda X, found: {"seconds": found, "objective": 1.0}, np.zeros((1, 1)), {}, 0.0)
    assert turn.seconds == 0.125
    assert turn.facts == {"objective": 1.0}
    assert turn.resident >= turn.memory


@pytest.mark.parametrize(("method", "words"), [("medoids", "gower"), ("trees", "ward 100x8")])
def test_the_benchmarks_of_trees_and_medoids_run_and_agree_on_the_objective(
    method: str, words: str, tmp_path: Path
) -> None:
    run_bench(method, "--tiny", "--only", words, "--json", str(tmp_path / "numbers.json"))
    for case in json.loads((tmp_path / "numbers.json").read_text())["cases"]:
        found = {r["name"]: r["turns"][0]["facts"]["objective"] for r in case["results"] if r["turns"]}
        assert "asterism" in found
        if method == "trees":  # the same tree; medoids may differ, and are better or worse
            assert list(found.values()) == pytest.approx([found["asterism"]] * len(found), rel=1e-9)


def test_a_contestant_that_fails_is_reported_and_others_go_on(bench, tmp_path: Path) -> None:
    from bench.harness import Contestant, judge_seconds, product_seconds, race

    np.save(tmp_path / "rows.npy", np.ones((4, 4)))
    absent = Contestant("absent", "no-such", "no_such_module", product_seconds)
    wrong = Contestant("wrong", "numpy", "numpy", np.linalg.cholesky)
    works = Contestant("works", "numpy", "numpy", product_seconds)
    results = race([absent, wrong, works], judge_seconds, tmp_path / "rows.npy", [{"dtype": "float32"}])
    assert results[0].failure == "not installed"
    assert results[1].failure.startswith("TypeError")  # cholesky knows no dtype
    assert len(results[2].turns) == 1
    assert not results[2].failure


def test_ratios_are_the_peers_time_over_ours(bench) -> None:
    from bench.harness import Contestant, Result, Turn
    from bench.report import Report, bar, geometric_mean

    def entry(package: str, *seconds: float, counted: bool = True) -> Result:
        contestant = Contestant(package, package, package, max, counted=counted)
        return Result(contestant, [Turn(s, 0, {}) for s in seconds])

    report = Report(
        "x", "x", [entry("asterism", 3.0, 2.0), entry("a", 5.0, 8.0), entry("b", 1.0, counted=False)]
    )
    assert report.ratio(report.fastest()) == 2.5
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert bar("", [2.5, 3.0], 2.6).met is False
    assert bar("", [2.5, None], 1.0).met is None


def test_the_version_before_takes_turns_with_the_version_now(bench, tmp_path: Path) -> None:
    from bench import before, harness, kmeans

    import asterism

    here = harness.Environment(sys.executable, str(Path(asterism.__file__).parents[1]))
    race, span = kmeans.race, harness.SPAN
    harness.SPAN = 0.0
    try:
        pair = before.measure(kmeans, kmeans.cases("tiny")[0], before.Duel(here, here), tmp_path)
    finally:
        kmeans.race, harness.SPAN = race, span
    assert pair.group == "lloyd"
    assert min(pair.before, pair.now) > 0
    assert pair.objectives[0] == pair.objectives[1]
    assert "objective" not in str(pair)


def test_first_fits_are_timed_with_and_without_imports(bench) -> None:
    from bench import start

    _, call, dtype = start.FITS["KMeans float32"]
    together, alone = start.first_fit(sys.executable, "asterism", call, dtype)
    assert together >= alone > 0
