"""How long a user waits before anything happens, and what an installation takes.

    python -m bench.start                      in the environment it runs in
    python -m bench.start --python OTHER       in another one, such as that of the version before

* first fits of a fresh process beside scikit-learn's, imports included and not;
* `import asterism`, `asterism --help`, `import asterism` and a first KMeans;
* `asterism find examples/penguins.csv`, the first and the second time;
* megabytes of the library and all it needs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import geometric_mean

ROOT = Path(__file__).resolve().parent.parent
PENGUINS = ROOT / "examples" / "penguins.csv"
TURNS = 5
BARS = {"import asterism": 0.4, "asterism --help": 0.5}  # seconds, warm

FITS = {  # name -> estimator, by the names both libraries have, and its type of rows
    "KMeans float32": ("cluster", "KMeans(8, n_init=1, random_state=0)", "float32"),
    "GaussianMixture full": ("mixture", "GaussianMixture(5, random_state=0)", "float64"),
    "GaussianMixture diag float32": (
        "mixture",
        "GaussianMixture(5, covariance_type='diag', random_state=0)",
        "float32",
    ),
}
# Prints seconds: imports and the first fit; the first fit alone.
FIRST_FIT = """
import time, warnings
import numpy as np
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = (rng.standard_normal((20_000, 8)) + 3 * rng.standard_normal((5, 8))[rng.integers(0, 5, 20_000)]).astype("{dtype}")
began = time.perf_counter()
from {package} import {name}
loaded = time.perf_counter()
{call}.fit(X)
print(time.perf_counter() - began, time.perf_counter() - loaded)
"""
# Prints bytes and name of every distribution the library needs, itself included.
SIZES = """
import re
from importlib.metadata import distribution, PackageNotFoundError
seen, left = set(), ["asterism"]
while left:
    name = re.sub(r"[-_.]+", "-", left.pop()).lower()
    if name in seen:
        continue
    seen.add(name)
    try:
        found = distribution(name)
    except PackageNotFoundError:
        continue  # for another system or version
    needs = [need for need in found.requires or () if "extra ==" not in need]
    left += [re.match(r"[A-Za-z0-9._-]+", need)[0] for need in needs]
    places = [file.locate() for file in found.files or ()]
    print(sum(place.stat().st_size for place in places if place.is_file()), name)
"""


def run(*command: str, **variables: str) -> tuple[float, str]:
    """Seconds of a process, and what it printed."""
    began = time.perf_counter()
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **variables}
    )
    return time.perf_counter() - began, done.stdout


def first_fit(python: str, package: str, call: str, dtype: str) -> tuple[float, float]:
    """Seconds with imports, and without, in a process of its own."""
    code = FIRST_FIT.format(package=package, name=call.partition("(")[0], call=call, dtype=dtype)
    together, alone = run(python, "-c", code)[1].split()
    return float(together), float(alone)


def show_first_fits(python: str) -> None:
    """Medians of some turns of each, ours and scikit-learn's by turns; 20,000 x 8."""
    ratios: dict[str, list[float]] = {"with imports": [], "the fit alone": []}
    print(f"{'first fit of a process, 20,000 x 8':36s} {'ours':>8s} {'theirs':>8s} {'ratio':>7s}")
    for name, (module, call, dtype) in FITS.items():
        packages = ("asterism", f"sklearn.{module}")
        turns = [[first_fit(python, package, call, dtype) for package in packages] for _ in range(TURNS)]
        for i, kind in enumerate(ratios):
            ours, theirs = (statistics.median(turn[who][i] for turn in turns) for who in (0, 1))
            ratios[kind].append(theirs / ours)
            print(f"{name + ', ' + kind:36s} {ours:7.3f}s {theirs:7.3f}s {theirs / ours:6.2f}x")
    for kind, found in ratios.items():
        print(f"{kind}: geometric mean {geometric_mean(found):.2f}, least {min(found):.2f}")


def show_commands(python: str) -> None:
    """The best of some turns of each, beside its bar."""
    commands = {
        "import asterism": ("-c", "import asterism"),
        "asterism --help": ("-m", "asterism.cli.main", "--help"),
        "import asterism, first KMeans": (
            "-c",
            "import numpy, asterism; asterism.KMeans(3).fit(numpy.arange(200.0).reshape(100, 2))",
        ),
    }
    for name, words in commands.items():
        seconds = min(run(python, *words)[0] for _ in range(TURNS))
        print(f"{name:36s} {seconds:7.3f}s{f'   bar {BARS[name]} s' if name in BARS else ''}")


def show_find(python: str) -> None:
    """The first time and the second; what was kept of earlier runs is out of sight."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        kept = str(Path(folder) / "kept")  # where versions that compiled at run time kept the code
        for time_of in ("first", "second"):
            words = (
                "-m",
                "asterism.cli.main",
                "find",
                str(PENGUINS),
                "--out",
                f"{folder}/{time_of}",
                "--quiet",
            )
            print(
                f"{'asterism find, ' + time_of + ' time':36s} {run(python, *words, NUMBA_CACHE_DIR=kept)[0]:7.3f}s"
            )


def show_sizes(python: str) -> None:
    """Megabytes of everything `pip install asterism` brings, the largest first."""
    lines = [line.split() for line in run(python, "-c", SIZES)[1].splitlines()]
    sizes = sorted(((int(size) / 1e6, name) for size, name in lines), reverse=True)
    largest = ", ".join(f"{name} {size:.0f}" for size, name in sizes[:6])
    print(f"{'installed':36s} {sum(size for size, _ in sizes):6.0f} MB in {len(sizes)} packages: {largest}")


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(prog="python -m bench.start", description="Before anything happens.")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environment to measure")
    python = parser.parse_args().python
    show_first_fits(python)
    show_commands(python)
    show_find(python)
    show_sizes(python)


if __name__ == "__main__":
    main()
