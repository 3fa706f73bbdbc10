"""The lists of kernels that a second process compiles on a first run."""

import os
import subprocess
import sys

import numpy as np
import pytest

from asterism.kernels.ahead import KINDS, arguments, compile_one, in_order, is_compiled, kernel

# Which kernels a run calls from Python, and with what: asked of Numba in a process of its own.
ASK = """
import sys
from pkgutil import iter_modules
from asterism.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert end.code == 0
import asterism.kernels
for info in iter_modules(asterism.kernels.__path__):
    module = sys.modules.get(f"asterism.kernels.{info.name}")
    for name, kernel in vars(module).items() if module else ():
        if getattr(kernel, "py_func", None) and kernel.py_func.__module__ == module.__name__:
            for signature in kernel.signatures:
                words = [
                    f"{a.dtype.name}|{a.ndim}|{'F' if a.layout == 'F' else ''}{'' if a.mutable else 'r'}"
                    if hasattr(a, "ndim") else f"{a.name}||" for a in signature
                ]
                print("CALLED", f"{info.name}.{name}", *words)
"""
BEGIN_A_RUN = ("moments.", "distance.", "decide.", "levels.")  # or its search, and are left to it
LINES = sorted({line for kind in KINDS for line in in_order((), kind)})


def python(*arguments_, **environment):
    return subprocess.run(
        [sys.executable, *arguments_],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, **environment},
    )


def line(called):
    """A line of what a run has called, as the lists have it."""
    name, *words = called.split()
    letters = ((np.dtype(word.split("|")[0]).char, *word.split("|")[1:]) for word in words)
    return name, " ".join({"l": "q"}.get(letter, letter) + axes + more for letter, axes, more in letters)


def table(kind):
    """A small table of three groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 30)
    columns = 9 if kind == "wide gaps" else 3
    rows = [[f"{cell:.2f}" for cell in row] for row in rng.normal(6.0 * groups[:, None], 1.0, (90, columns))]
    if kind.endswith("gaps"):
        rows[7][1] = ""
    if kind == "mixed":
        rows = [[*row, "abc"[group]] for row, group in zip(rows, groups, strict=True)]
        rows[7][3] = ""
    head = [f"x{j}" for j in range(len(rows[0]))]
    return "\n".join(",".join(row) for row in [head, *rows]) + "\n"


@pytest.mark.parametrize("kind", ["mixed", "numbers", "gaps", "wide gaps"])
def test_everything_a_first_run_needs_late_is_on_the_lists(kind, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(table(kind))
    done = python("-c", ASK, "find", str(path), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    called = {line(text[7:]) for text in done.stdout.splitlines() if text.startswith("CALLED")}
    missing = {found for found in called if not found[0].startswith(BEGIN_A_RUN)}
    missing -= set(in_order(KINDS["any"].certain, kind.split()[-1]))
    assert called
    assert not missing, "\n".join(map(str, sorted(missing)))


def test_all_of_the_lists_compiles_and_is_found_again_on_disk():
    for known in LINES:
        compile_one(known)
    assert all(map(is_compiled, KINDS))


def test_what_a_kind_of_table_needs_last_goes_before_what_was_told_earlier():
    [*first, last], certain = KINDS["any"].certain, KINDS["numbers"].certain
    assert in_order([last], "numbers")[:3] == [certain[0], last, certain[1]]
    assert set(in_order(first, "gaps")) >= {*first, *KINDS["gaps"].certain, *certain}


@pytest.mark.parametrize("name", sorted({name for name, _ in LINES}))
def test_the_lists_name_kernels_by_their_place(name):
    function = kernel(name).py_func
    assert f"{function.__module__}.{function.__name__}" == f"asterism.kernels.{name}"


def test_words_are_types():
    assert str(arguments("d2F ?")[0]) == "array(float64, 2d, F)"


def test_an_empty_folder_means_a_first_run(tmp_path):
    code = "from asterism.kernels.ahead import is_compiled; print(is_compiled('any'))"
    assert python("-c", code, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "False\n"


def test_the_process_compiles_what_it_is_told_and_ends_with_its_standard_input(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # empty: there is a lot to compile
    process = subprocess.Popen(
        [sys.executable, "-m", "asterism.kernels.ahead"], stdin=subprocess.PIPE, env=environment
    )
    process.stdin.write(b"any\n")
    process.stdin.flush()
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(timeout=30) == 0
