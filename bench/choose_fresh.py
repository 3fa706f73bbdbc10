"""The fresh half of the tables with known groups: written after the rule of the verdict was fixed, without knowledge
of it, and of other kinds than the older half. The draws are in the modules imported here."""

from __future__ import annotations

from bench.choose_fresh_areas import AREAS
from bench.choose_fresh_groups import NOISE, ROUND
from bench.choose_fresh_none import NONE
from bench.choose_fresh_space import SPACE
from bench.choose_fresh_strokes import STROKES
from bench.choose_fresh_wide import WIDE
from bench.choose_tables import register

for _kind, _draws in (
    ("shape", AREAS), ("shape", STROKES), ("shape", SPACE), ("round", ROUND), ("noise", NOISE),
    ("wide", WIDE), ("none", NONE),
):  # fmt: skip
    register(_kind, _draws, half="fresh")
