"""The build backend: scikit-build-core, and Zig's C++ compiler from PyPI where the machine has none."""

from __future__ import annotations

import os
import shutil
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

# Zig spells the kinds of processors its own way, and takes one word for each tool as CMake wants it.
WRAPPER = """#!{python}
import os, sys
words = [word.replace("-march=x86-64-", "-mcpu=x86_64_") for word in sys.argv[1:]]
os.execv({zig!r}, [{zig!r}, *{tool!r}, *words])
"""


def has_compiler() -> bool:
    """Whether a C++ compiler is named (CXX) or found."""
    named = os.environ.get("CXX", "").split()[:1]
    return os.name == "nt" or any(shutil.which(name) for name in named or ("c++", "g++", "clang++"))


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """What a wheel needs: the compiler too, if there is none."""
    return _with_zig(_build.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """What an editable install needs: the compiler too, if there is none."""
    return _with_zig(_build.get_requires_for_build_editable(config_settings))


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build a wheel."""
    return _build_with(_build.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build an editable wheel."""
    return _build_with(_build.build_editable, wheel_directory, config_settings, metadata_directory)


def _with_zig(needs: list[str]) -> list[str]:
    return needs if has_compiler() else [*needs, COMPILER]


def _build_with(build: Callable[..., str], *arguments: Any) -> str:
    if has_compiler():
        return build(*arguments)
    with zig():
        return build(*arguments)


@contextmanager
def zig() -> Iterator[None]:
    """Zig's compiler as CC and CXX, for as long as a build takes."""
    import ziglang

    before = dict(os.environ)
    folder = Path(tempfile.mkdtemp(prefix="zig-"))
    try:
        tools = {"cxx": ["c++", *_target()], "cc": ["cc", *_target()], "ar": ["ar"], "ranlib": ["ranlib"]}
        program = str(Path(ziglang.__file__).parent / "zig")
        for name, tool in tools.items():
            script = folder / name
            script.write_text(WRAPPER.format(python=sys.executable, zig=program, tool=tool))
            script.chmod(0o755)
        cache = str(folder / "cache")
        os.environ.update(
            ZIG_GLOBAL_CACHE_DIR=cache,
            ZIG_LOCAL_CACHE_DIR=cache,
            CXX=str(folder / "cxx"),
            CC=str(folder / "cc"),
            CMAKE_ARGS=f"{before.get('CMAKE_ARGS', '')} -DCMAKE_AR={folder}/ar -DCMAKE_RANLIB={folder}/ranlib",
        )
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)


def _target() -> list[str]:
    """The C library to link with: an old glibc, so that the wheel runs on any machine of this kind."""
    if sys.platform != "linux":
        return []
    machine = sysconfig.get_platform().rsplit("-", 1)[-1]
    library = "gnu.2.17" if "CS_GNU_LIBC_VERSION" in os.confstr_names else "musl"
    return ["-target", f"{machine}-linux-{library}"]
