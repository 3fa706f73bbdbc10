"""The list of kernels that a second process compiles on a first run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from asterism.kernels.ahead import NEEDED, arguments, compile_all, is_first_run, kernels

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"

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
                print("CALLED", f"{info.name}.{name}", *map(repr, signature), sep="|")
"""
BEGIN_A_RUN = ("moments.", "distance.", "assign.", "decide.", "grouped.")  # and are left to it


def python(*arguments_, **environment):
    return subprocess.run(
        [sys.executable, *arguments_],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, **environment},
    )


def test_everything_a_first_run_needs_late_is_on_the_list(tmp_path):
    done = python("-c", ASK, "find", str(PENGUINS), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    called = {tuple(line.split("|")[1:]) for line in done.stdout.splitlines() if line.startswith("CALLED")}
    listed = {(name, *map(repr, arguments(words))) for name, words in NEEDED}
    missing = {line for line in called - listed if not line[0].startswith(BEGIN_A_RUN)}
    assert not missing, "\n".join(" ".join(line) for line in sorted(missing))


def test_all_of_the_list_compiles_and_is_found_again_on_disk():
    compile_all()
    assert not is_first_run()


@pytest.mark.parametrize("name", sorted(kernels()))
def test_the_list_names_kernels_by_their_place(name):
    kernel = kernels()[name]
    assert f"{kernel.py_func.__module__}.{kernel.py_func.__name__}" == f"asterism.kernels.{name}"


def test_an_empty_folder_means_a_first_run(tmp_path):
    code = "from asterism.kernels.ahead import is_first_run; print(is_first_run())"
    assert python("-c", code, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "True\n"


def test_the_process_ends_when_its_standard_input_does(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # empty: there is a lot to compile
    process = subprocess.Popen(
        [sys.executable, "-m", "asterism.kernels.ahead"], stdin=subprocess.PIPE, env=environment
    )
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(timeout=30) == 0
