"""ASTERISM_VARIANT names the code that runs; what cannot run is refused at import."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def run_with(variant):
    code = "from asterism import _core; print(_core.variant)"
    environment = {**os.environ, "ASTERISM_VARIANT": variant}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("variant", ["base", "v2", "v3", "v4"])
def test_the_variant_that_is_named_runs_or_is_refused(variant):
    done = run_with(variant)
    if done.returncode == 0:
        assert done.stdout.strip() == variant
    else:
        assert "ImportError: ASTERISM_VARIANT" in done.stderr


@pytest.mark.parametrize("variant", ["v5", "V3", "avx2"])
def test_a_variant_that_there_is_not_is_refused(variant):
    assert "ImportError: ASTERISM_VARIANT" in run_with(variant).stderr
