"""The build backend: scikit-build-core, and Zig's C++ compiler from PyPI where the machine has none that will do.

``pip install .`` then needs Python and nothing else. CMake and Ninja come from PyPI by scikit-build-core itself.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403  the hooks that need no compiler are as they are

COMPILER = "ziglang>=0.13,<0.16"
FOUND_BY_NAME = (
    ("clang-cl", "clang++") if os.name == "nt" else ("c++", "g++", "clang++")
)  # what CMake tries too

# What the core asks of a compiler: C++20 and vector extensions (GCC from 12 on, Clang).
PROBE = """
#include <bit>
typedef float four __attribute__((vector_size(16)));
extern "C" int probe(int x) {
  const four v = __builtin_shufflevector(four{1, 2, 3, 4}, four{5, 6, 7, 8}, 0, 4, 1, 5);
  return std::popcount(unsigned(x)) + int((v < 2.f ? v : -v)[0]);
}
"""


# --- hooks ------------------------------------------------------------------------------------------------------


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """What a wheel needs: the compiler too, if there is none."""
    return _with_zig(_build.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """What an editable install needs: the compiler too, if there is none."""
    return _with_zig(_build.get_requires_for_build_editable(config_settings))


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel."""
    return _build_with(_build.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build an editable wheel."""
    return _build_with(_build.build_editable, wheel_directory, config_settings, metadata_directory)


def _with_zig(needs: list[str]) -> list[str]:
    return [*needs, COMPILER] if compiler() is None else needs


def _build_with(build: Callable[..., str], *arguments: Any) -> str:
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise SystemExit(
            "Python.h is missing: install the headers of this Python (python3-dev or python3-devel)."
        )
    found = compiler()
    with zig() if found is None else environment(**({} if found == "" else {"CC": found, "CXX": found})):
        return build(*arguments)


# --- compilers --------------------------------------------------------------------------------------------------


@functools.cache
def compiler() -> str | None:
    """What to name to CMake: "" where it finds a compiler by itself, None where there is none that will do.

    One that is named (CXX) is taken at its word: if it fails, its own message says why.
    """
    if os.environ.get("CXX", "").strip():
        return ""
    if sys.platform == "darwin" and not _runs(["xcode-select", "-p"]):
        return None  # /usr/bin/c++ is there, but only asks to install one
    for name in FOUND_BY_NAME:
        if shutil.which(name) and _compiles(name):
            # c++ is CMake's own choice on Unix; on Windows that would be Microsoft's, without vector extensions.
            return name if os.name == "nt" else "" if name == "c++" else shutil.which(name)
    return None


def _compiles(name: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(PROBE)
        if name == "clang-cl":
            return _runs([name, "/std:c++20", "/LD", str(source)], folder)
        return _runs(
            [name, "-std=c++20", "-fPIC", "-shared", str(source), "-o", str(source.with_suffix(".so"))]
        )


def _runs(command: list[str], folder: str | None = None) -> bool:
    try:
        return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0
    except OSError:
        return False


@contextmanager
def environment(**changes: str) -> Iterator[None]:
    """Environment variables, for as long as a build takes."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def zig() -> Iterator[None]:
    """Zig's compiler as CC and CXX. CMake wants one word for each tool, so each gets a script."""
    import ziglang

    program = Path(ziglang.__file__).parent / ("zig.exe" if os.name == "nt" else "zig")
    with tempfile.TemporaryDirectory(prefix="zig-", ignore_cleanup_errors=True) as folder:
        tools = {
            name: _script(Path(folder) / name, [str(program), *words])
            for name, words in {
                "cc": ["cc", *_target()],
                "cxx": ["c++", *_target()],
                "ar": ["ar"],
                "ranlib": ["ranlib"],
            }.items()
        }
        cache = str(Path(folder) / "cache")
        arguments = f"-DCMAKE_AR={tools['ar']} -DCMAKE_RANLIB={tools['ranlib']}"
        with environment(
            ZIG_GLOBAL_CACHE_DIR=cache,
            ZIG_LOCAL_CACHE_DIR=cache,
            CC=tools["cc"],
            CXX=tools["cxx"],
            CMAKE_ARGS=f"{os.environ.get('CMAKE_ARGS', '')} {arguments}",
        ):
            yield


def _script(path: Path, words: list[str]) -> str:
    """An executable file that runs these words and what is given to it."""
    if os.name == "nt":
        path = path.with_suffix(".bat")
        path.write_text(f"@{subprocess.list2cmdline(words)} %*\n")
        return path.as_posix()
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)
    return str(path)


def _target() -> list[str]:
    """The C library to link with: an old glibc, so that the wheel runs on any machine of this kind."""
    if sys.platform != "linux":
        return []
    machine = sysconfig.get_platform().rsplit("-", 1)[-1]
    library = "gnu.2.17" if "CS_GNU_LIBC_VERSION" in os.confstr_names else "musl"
    return ["-target", f"{machine}-linux-{library}"]
