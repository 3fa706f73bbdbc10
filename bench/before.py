"""Beside the version before: the cases of the other benchmarks in two environments, turn by turn, in one run.

    python -m bench.before OLD/bin/python                       OLD has the version before installed
    python -m bench.before OLD/bin/python --only "lloyd float32" --quick
    python -m bench.before OLD/bin/python --now NEW/bin/python --now-path src

The code of the benchmarks is that of this tree for both; the library is the one each environment has. A speed of 90%
says that what took 0.9 seconds takes 1. Peers are left out, and so are cases that measure memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench import compress, harness, kmeans, medoids, metrics, mixture, pca, reduce, trees
from bench.harness import Contestant, Environment, Judge, Params, Result
from bench.report import geometric_mean

MODULES = (kmeans, mixture, trees, medoids, metrics, pca, reduce, compress)
LEFT_OUT = ("memory", "mclust", "seeding")  # parts: no times of ours, or not by the public interface
SAME = 1e-6  # relative: objectives that differ by more are shown


@dataclass(frozen=True)
class Pair:
    """One case, before and now."""

    group: str
    name: str
    before: float  # seconds
    now: float
    objectives: tuple[float | None, float | None]

    @property
    def speed(self) -> float:
        """Of the version now, in those of the version before."""
        return self.before / self.now

    def __str__(self) -> str:
        text = f"{self.name:46s} {self.before:9.4f} s {self.now:9.4f} s {self.speed:8.1%}"
        old, new = self.objectives
        if old is None or new is None or abs(new - old) <= SAME * max(abs(old), abs(new)):
            return text
        return f"{text}   objective {old:.7g} -> {new:.7g}"


class Duel:
    """Takes the place of ``race`` in a benchmark: of its contestants, ours races alone, in both environments."""

    def __init__(self, before: Environment, now: Environment) -> None:
        self.environments = {"before": before, "now": now}
        self.results: list[Result] = []

    def __call__(
        self,
        contestants: Sequence[Contestant],
        judge: Judge,
        table: Path,
        rounds: Sequence[Params],
        *,
        same: bool = True,
    ) -> list[Result]:
        found = [Result(contestant, failure="left out") for contestant in contestants]
        for i, contestant in enumerate(contestants):
            if contestant.name == "asterism":
                pair = [replace(contestant, name=n, environment=e) for n, e in self.environments.items()]
                self.results = harness.race(pair, judge, table, rounds, same=same)
                found[i] = replace(self.results[1], contestant=contestant)
        return found


def measure(module: Any, case: Any, duel: Duel, folder: Path) -> Pair | str:
    """A case in both environments, or why there is nothing to compare."""
    duel.results = []
    module.race = duel
    report = module.run(case, SimpleNamespace(folder=folder))
    if len(duel.results) < 2 or any(result.failure for result in duel.results):
        return "; ".join(f"{r.contestant.name}: {r.failure}" for r in duel.results if r.failure) or "not run"
    before, now = duel.results
    times = [getattr(result, report.over) for result in (before, now)]
    return Pair(report.part, case.name, *times, (before.fact("objective"), now.fact("objective")))


def library_of(environment: Environment) -> str:
    """Where it has the library from; a mistake here would compare a version with itself."""
    code = "import asterism, os; print(os.path.dirname(os.path.realpath(asterism.__file__)))"
    process = environment.start("-c", code, stdout=subprocess.PIPE)
    place = process.communicate()[0].strip()
    if process.returncode:
        raise SystemExit(f"{environment.python} has no asterism.")
    return str(place)


def selected(options: argparse.Namespace) -> list[tuple[Any, Any]]:
    """(module, case) of the cases asked for."""
    size, words = "tiny" if options.tiny else "quick" if options.quick else "full", options.only.split()
    found = [(module, case) for module in MODULES for case in module.cases(size)]
    found = [(m, c) for m, c in found if not c.name.startswith(LEFT_OUT)]
    named = [(m, c, f"{m.__name__.rpartition('.')[2]} {c.name}") for m, c in found]
    return [(m, c) for m, c, name in named if all(word in name for word in words)]


def main() -> None:
    """Print each case as it is done, then the means."""
    parser = argparse.ArgumentParser(prog="python -m bench.before", description="Beside the version before.")
    parser.add_argument("before", metavar="PYTHON", help="interpreter of the version before")
    parser.add_argument("--before-path", default="", metavar="FOLDER", help="its packages, if not installed")
    parser.add_argument(
        "--now", default=sys.executable, metavar="PYTHON", help="interpreter of the version now"
    )
    parser.add_argument("--now-path", default="", metavar="FOLDER", help="its packages, if not installed")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--tiny", action="store_true", help="a few rows: does it run at all?")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="cases with all these in 'benchmark case'"
    )
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number measured")
    options = parser.parse_args()
    cases = selected(options)
    if options.list or not cases:
        print("\n".join(case.name for _, case in cases) or f"no case has {options.only!r} in its name")
        parser.exit(0 if options.list else 2)

    paths = {name: path and os.path.abspath(path) for name, path in vars(options).items() if "_path" in name}
    before = Environment(options.before, paths["before_path"])
    now = Environment(options.now, paths["now_path"])
    places = [library_of(before), library_of(now)]
    print(*(f"{name}: {place}" for name, place in zip(("before", "now"), places, strict=True)), sep="\n")
    if places[0] == places[1]:
        raise SystemExit("Both are the same library.")
    harness.SPAN = 0.0 if options.tiny else harness.SPAN

    pairs, duel = [], Duel(before, now)
    print(f"{'':46s} {'before':>11s} {'now':>11s} {'speed':>8s}")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for module, case in cases:
            found = measure(module, case, duel, Path(folder))
            print(f"{case.name:46s} {found}" if isinstance(found, str) else found, flush=True)
            pairs += [] if isinstance(found, str) else [found]
            if options.json:
                options.json.write_text(json.dumps([asdict(pair) for pair in pairs], indent=1))
    for group in dict.fromkeys(pair.group for pair in pairs):
        speeds = [pair.speed for pair in pairs if pair.group == group]
        print(f"{group:46s} mean {geometric_mean(speeds):7.1%}   least {min(speeds):7.1%}")
    if pairs:
        speeds = [pair.speed for pair in pairs]
        print(f"{'all':46s} mean {geometric_mean(speeds):7.1%}   least {min(speeds):7.1%}")


if __name__ == "__main__":
    main()
