"""Next month's groups: same group, same number and name; what happened is said; files, labels and reports agree."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import asterism
from asterism.cli.main import main
from asterism.groups.judges import CentersJudge
from asterism.groups.numbered import NumberedJudge, numbers_of
from asterism.groups.numbering import numbered, unnumbered

CENTERS = {0: (0.0, 0.0), 1: (12.0, 0.0), 2: (0.0, 12.0), 3: (12.0, 12.0)}
SIZES = {0: 130, 1: 110, 2: 90, 3: 70}


def month(seed, groups, moved=None):
    rng = np.random.default_rng(seed)
    centers = CENTERS | {4: (25.0, -9.0)} | (moved or {})
    parts = [rng.normal(centers[g], 1.0, (SIZES.get(g, 60), 2)) for g in groups]
    return pd.DataFrame(np.vstack(parts), columns=["spend", "visits"]), np.repeat(
        groups, [len(p) for p in parts]
    )


@pytest.fixture(scope="module")
def first():
    table, truth = month(0, [0, 1, 2, 3])
    finding = asterism.find(table)
    assert finding.k == 4
    assert (finding.labels == truth).mean() > 0.99  # the largest first
    return finding


@pytest.fixture(scope="module")
def second(first):
    """Group 1 has gone, group 4 is new, group 2 has moved."""
    table, truth = month(1, [2, 0, 3, 4], {2: (1.5, 12.0)})
    return asterism.find(table, like=first.model), table, truth


def test_groups_keep_their_numbers_and_names_and_new_ones_get_new_numbers(first, second):
    finding, _, truth = second
    assert (finding.labels == truth).mean() > 0.99
    assert finding.numbers == (0, 2, 3, 4)
    assert finding.k == 4
    for g in (0, 2, 3):
        assert finding.model.name_of(g) == first.model.name_of(g) != ""
    assert [p.group for p in finding.profiles] == [0, 2, 3, 4]
    assert [g.profile.group for g in finding.explanation.groups] == [0, 2, 3, 4]
    assert [g.name for g in finding.explanation.groups[:3]] == [first.model.name_of(g) for g in (0, 2, 3)]
    assert len({g.name for g in finding.explanation.groups}) == 4


def test_what_happened_is_told_with_figures_in_the_units_of_the_table(second):
    events = {(e.kind, e.before, e.now): e for e in second[0].events}
    assert set(events) == {
        ("kept", (0,), (0,)), ("moved", (2,), (2,)), ("kept", (3,), (3,)), ("gone", (1,), ()), ("born", (), (4,)),
    }  # fmt: skip
    moved = events["moved", (2,), (2,)]
    assert [s.column for s in moved.shifts] == ["spend"]
    assert moved.shifts[0].now - moved.shifts[0].before == pytest.approx(1.5, abs=0.4)
    assert "'spend'" in moved.sentence
    assert events["gone", (1,), ()].p < 1e-9
    assert events["born", (), (4,)].p < 1e-9
    assert events["born", (), (4,)].share_now == pytest.approx(60 / 350)
    assert "1 moved, 1 born and 1 gone" in second[0].verdict


def test_probabilities_go_by_number_and_vacant_numbers_have_none(second):
    finding, table, _ = second
    assert finding.probabilities.shape == (350, 5)
    assert not finding.probabilities[:, 1].any()
    assert (finding.probabilities.argmax(axis=1) == finding.labels).all()
    assert set(finding.to_frame()["group"].to_pylist()) == {0, 2, 3, 4}
    assert (finding.model.assign(table).labels == finding.labels).all()


def test_a_model_with_vacant_numbers_comes_back_and_can_be_followed_again(second, tmp_path):
    finding, table, _ = second
    finding.save(tmp_path / "m.asterism")
    again = asterism.load(tmp_path / "m.asterism")
    assert numbers_of(again.judge) == (0, 2, 3, 4)
    assert (again.assign(table).labels == finding.labels).all()
    assert not asterism.check(again, month(2, [2, 0, 3, 4], {2: (1.5, 12.0)})[0]).drifted
    third, truth = month(3, [0, 1, 3, 4])
    follower = asterism.find(third, like=tmp_path / "m.asterism")
    assert follower.numbers == (0, 3, 4, 5)  # 1 came back as a stranger: its number is not given again
    assert (follower.labels == np.where(truth == 1, 5, truth)).mean() > 0.99
    assert {(e.kind, e.before, e.now) for e in follower.events if e.kind != "kept"} == {
        ("gone", (2,), ()), ("born", (), (5,)),
    }  # fmt: skip


def test_layers_and_outcomes_go_on_with_vacant_numbers(second):
    finding, table, truth = second
    assert finding.layers.k == 4
    assert len(np.unique(finding.model.assign(table, level=2).labels)) == 2
    plain = unnumbered(finding.model)
    assert (np.array(finding.numbers)[plain.assign(table).labels] == finding.labels).all()
    assert finding.outcome(truth.astype(float)).test.p < 1e-6
    assert set(finding.to_frame()["group_name"].to_pylist()) == {g.name for g in finding.explanation.groups}


def test_the_same_source_tells_nothing(first):
    table, truth = month(17, [3, 1, 0, 2])
    finding = asterism.find(table, like=first)
    assert {e.kind for e in finding.events} == {"kept"}
    assert (finding.labels == truth).mean() > 0.99


def test_strangers_are_warned_of_whatever_their_probabilities(first):
    quiet = first.model.assign(month(8, [0, 1, 2, 3])[0])
    loud = first.model.assign(month(9, [0, 1, 2, 3, 4])[0])
    assert quiet.strangers is None
    assert loud.probabilities[-60:].max(axis=1).min() > 0.9
    assert loud.strangers in loud.notes
    assert (
        "60 of 460 rows" in loud.strangers
        or "61 of 460" in loud.strangers
        or "typical of no group" in loud.strangers
    )


def test_the_command_keeps_numbers_and_tells_events(first, tmp_path):
    first.save(tmp_path / "old.asterism")
    month(1, [2, 0, 3, 4], {2: (1.5, 12.0)})[0].to_csv(tmp_path / "new.csv", index=False)
    done = CliRunner().invoke(
        main,
        [
            "find",
            str(tmp_path / "new.csv"),
            "--like",
            str(tmp_path / "old.asterism"),
            "--out",
            str(tmp_path / "o"),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "Gone: group 1" in done.stderr
    assert "Beside the old groups" in done.stdout
    told = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert sorted(e["kind"] for e in told["events"]) == ["born", "gone", "kept", "kept", "moved"]
    assert [g["group"] for g in told["groups"]] == [0, 2, 3, 4]
    labels = pd.read_csv(tmp_path / "o" / "labels.csv")
    assert set(labels["group"]) == {0, 2, 3, 4}
    assert "Gone: group 1" in (tmp_path / "o" / "report.html").read_text()


def test_numbers_of_any_judge_can_be_vacant(first):
    rows = month(0, [0, 1, 2, 3])[0]
    model = asterism.find(rows, k=3, method="kmeans").model
    assert isinstance(model.judge, CentersJudge)
    far = numbered(model, [4, 0, 2], 6)
    assert isinstance(far.judge, NumberedJudge)
    plain, other = model.assign(rows), far.assign(rows)
    assert (np.array([4, 0, 2])[plain.labels] == other.labels).all()
    np.testing.assert_array_equal(plain.typicality, other.typicality)
    np.testing.assert_array_equal(plain.probabilities, other.probabilities[:, [4, 0, 2]])
    assert isinstance(numbered(model, [2, 0, 1], 3).judge, CentersJudge)
