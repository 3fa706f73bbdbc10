"""What is kept of compiled kernels is used only while all kernels are as they were."""

from __future__ import annotations

from asterism.kernels.claims import wide_blocks

from asterism.kernels.compiled import SOURCES, digest_of


def test_kept_code_is_that_of_all_kernels_as_they_are():
    assert SOURCES in wide_blocks._cache._cache_file._source_stamp


def test_a_change_in_any_file_is_seen(tmp_path):
    (tmp_path / "outer.py").write_text("a = 1")
    (tmp_path / "inner.py").write_text("b = 1")
    before = digest_of(tmp_path)
    assert digest_of(tmp_path) == before
    (tmp_path / "inner.py").write_text("b = 2")
    assert digest_of(tmp_path) != before
