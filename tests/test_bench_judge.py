"""How the judge of proposals is fitted: cases, loss, cross-validation, lead, frequency, and the file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.metrics import adjusted_rand_score

pytest.importorskip("bench")
from bench import judge_cases
from bench.choose_scenes import scenes
from bench.choose_tables import LabelledTable
from bench.judge_cases import Case, drawn_tables, examined, gathered
from bench.train_judge import (
    FOLDS,
    MOST_ALARMS,
    RIDGE,
    Batch,
    Fitting,
    alarms,
    cross_validated,
    fit_judge,
    frequency,
    least_lead,
    logistic,
    loss_and_slopes,
    made,
    written,
)

from asterism.verdict.judge import FARTHEST, Judge

QUICK = Fitting(batch=8)


@pytest.fixture(scope="module")
def tables() -> list[LabelledTable]:
    """The first eight small scenes; of both kinds, with groups and without."""
    found = [table for table in scenes(seed=3, count=60) if len(table.rows) < 250 and table.rows.shape[1] < 4]
    some = [t for t in found if t.k > 1][:5] + [t for t in found if t.k == 1][:3]
    assert len(some) == 8
    return [replace(table, name=f"{i}: {table.name}") for i, table in enumerate(some)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


@pytest.fixture(scope="module")
def cases(tables: list[LabelledTable], folder: Path) -> list[Case]:
    return gathered(folder, ((table, True) for table in tables))


def case_of(ks: list[int], true: int, name: str = "t") -> Case:
    """A table on which proposals of these numbers were made."""
    k = np.array(ks)
    return Case(
        name, "shape", True, true, np.array(["a"]), np.zeros((len(ks), 1), np.float32), 1.0 * (k == true), k
    )


def loss_of(judge: Judge, cases: list[Case]) -> float:
    """Of the first function, over all cases."""
    z = [np.clip((case.evidence - judge.usual) / judge.spread, -FARTHEST, FARTHEST) for case in cases]
    one = judge.layers[0]
    weights = [one.weights, one.bias, one.out, np.array([one.offset])]
    return loss_and_slopes(
        weights, Batch.of([(a, c.target, c.weight) for a, c in zip(z, cases, strict=True)]), QUICK
    )[0]


# --- cases --------------------------------------------------------------------------------------------------------


def test_every_proposal_is_worth_its_adjusted_rand_index(tables, cases):
    for table, case in zip(tables, cases, strict=True):
        assert case.evidence.shape == (len(case.ks), len(case.names))
        assert np.isfinite(case.evidence).all()
        assert case.true == table.k
        assert case.rand[case.ks == 1].tolist() == [float(table.k == 1)]
        assert (case.target <= 1.0).all()
        perfect = (case.rand == 1.0) & (case.ks == case.true)
        np.testing.assert_array_equal(np.isclose(case.target, 1.0), perfect)


def test_adjusted_rand_is_that_of_scikit_learn(tables, cases, monkeypatch):
    monkeypatch.setattr(judge_cases, "adjusted_rand_score", adjusted_rand_score)
    np.testing.assert_allclose(examined(tables[0], True).rand, cases[0].rand, atol=1e-12)


def test_labels_are_those_of_the_rows_that_were_drawn_and_noise_does_not_count(monkeypatch):
    """Two groups far apart in shuffled rows, some of which have no label, of which 60 of 150 are drawn."""
    monkeypatch.setattr(judge_cases, "COMPARED_ROWS", 60)
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat([1, 2], 75))
    rows = rng.normal(size=(150, 2)) + 30.0 * truth[:, None]
    labels = np.where(rng.uniform(size=150) < 0.1, 0, truth)
    case = examined(LabelledTable("two", "round", rows, labels), True)
    assert case.rand[case.ks == 2].max() == 1.0
    assert case.rand.min() >= -0.5


def test_a_case_is_read_again_instead_of_measured_again(tables, cases, folder, monkeypatch):
    def refuse(*_):
        raise AssertionError("measured again")

    monkeypatch.setattr(judge_cases, "examined", refuse)
    for before, after in zip(cases, gathered(folder, ((table, True) for table in tables)), strict=True):
        assert (before.table, before.kind, before.judged, before.true) == (
            after.table, after.kind, after.judged, after.true,
        )  # fmt: skip
        for name in ("names", "evidence", "rand", "ks"):
            np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
    moved = replace(tables[0], rows=tables[0].rows + 1.0)
    with pytest.raises(AssertionError, match="measured again"):
        gathered(folder, [(moved, True)])


def test_scenes_come_first_measured_tables_once_and_walks_and_unknown_labels_never(monkeypatch):
    def fake(seed: int, *, measured: bool):
        rows, ones = np.zeros((4, 2)), np.ones(4, np.int64)
        yield LabelledTable("moons", "shape", rows + seed, np.array([1, 1, 2, 2]))
        yield LabelledTable("none: a walk", "none", rows, ones)
        yield LabelledTable("fresh one", "shape", rows, ones, half="fresh")
        if measured:
            yield LabelledTable("iris", "measured", rows, ones)
            yield LabelledTable("faithful", "measured", rows, 0 * ones, accepted=2)

    monkeypatch.setattr(judge_cases, "all_tables", fake)
    found = list(drawn_tables(5, [0, 1]))
    assert [judged for _, judged in found] == [False] * 5 + [True] * 3
    assert [table.name for table, _ in found[5:]] == ["moons", "iris", "moons"]


# --- fit ----------------------------------------------------------------------------------------------------------


def test_slopes_are_those_of_the_loss():
    rng = np.random.default_rng(0)
    batch = Batch.of([(rng.normal(size=(n, 3)), rng.uniform(size=n), float(n)) for n in (4, 1, 6)])
    shapes = [(3, 2), (2,), (2,), (1,)]
    sizes = np.cumsum([6, 2, 2])

    def unpacked(flat):
        return [part.reshape(shape) for part, shape in zip(np.split(flat, sizes), shapes, strict=True)]

    flat = 0.3 * rng.normal(size=11)
    how = Fitting(decay=0.1)
    slopes = np.concatenate([part.ravel() for part in loss_and_slopes(unpacked(flat), batch, how)[1]])
    numeric = approx_fprime(flat, lambda at: loss_and_slopes(unpacked(at), batch, how)[0], 1e-7)
    np.testing.assert_allclose(slopes, numeric, atol=1e-6)


def test_the_loss_is_least_where_scores_are_the_targets():
    rng = np.random.default_rng(1)
    target = rng.uniform(size=9)

    def loss(scores):
        one = Batch(scores[:, None], target, np.array([4, 5]), np.array([1.0, 2.0]))
        # A layer that passes its input on: tanh(x / 1000) * 1000.
        weights = [np.full((1, 1), 1e-3), np.zeros(1), np.full(1, 1e3), np.zeros(1)]
        return loss_and_slopes(weights, one, Fitting(decay=0.0))[0]

    best = minimize(loss, np.full(9, 0.5), method="BFGS").x
    np.testing.assert_allclose(best, target, atol=1e-3)


def test_a_table_that_counts_twice_is_a_table_given_twice():
    rng = np.random.default_rng(4)
    a, b = ((rng.normal(size=(n, 3)), rng.uniform(size=n)) for n in (4, 6))
    weights = [rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=2), np.zeros(1)]
    how = Fitting(decay=0.0)
    once, twice = (
        loss_and_slopes(weights, Batch.of(tables), how)
        for tables in ([(*a, 2.0), (*b, 1.0)], [(*a, 1.0), (*a, 1.0), (*b, 1.0)])
    )
    assert 2 * once[0] == pytest.approx(3 * twice[0])
    for one, two in zip(once[1], twice[1], strict=True):
        np.testing.assert_allclose(2 * one, 3 * two, rtol=1e-6, atol=1e-12)


def test_training_lowers_the_loss(cases):
    before, after = (fit_judge(cases, 1, steps, QUICK) for steps in (0, 50))
    assert loss_of(after, cases) < 0.5 * loss_of(before, cases)


def test_the_same_cases_give_the_same_judge(cases):
    first, second = (written(fit_judge(cases, 2, 5, QUICK)) for _ in range(2))
    assert first == second


def test_tables_are_scored_by_judges_that_have_not_seen_their_name(cases, monkeypatch):
    from bench import train_judge

    twice = [*cases, *cases]  # two seeds of each table
    seen: list[set[str]] = []

    def remember(some, *_):
        seen.append({case.table for case in some})
        return fit_judge(some, 1, 1, QUICK)

    monkeypatch.setattr(train_judge, "fit_judge", remember)
    scored = cross_validated(twice, 1, 1, QUICK)
    everything = {case.table for case in cases}
    assert len(seen) == FOLDS
    assert sorted(case.table for case, _ in scored) == sorted(case.table for case in twice)
    assert sorted(name for names in seen for name in everything - names) == sorted(everything)


# --- lead, frequency, file ----------------------------------------------------------------------------------------


def test_the_lead_is_the_least_that_leaves_few_alarms():
    ahead = np.linspace(-0.1, 0.1, 101)  # by how much groups beat a single group
    scored = [(case_of([1, 2], 1), np.array([0.5, 0.5 + lead])) for lead in ahead]
    lead = least_lead(scored)
    share = float((ahead > lead).mean())
    assert alarms(scored, lead) == share <= MOST_ALARMS
    assert alarms(scored, lead - 0.01) > MOST_ALARMS


def test_logistic_regression_is_that_of_a_general_optimiser():
    rng = np.random.default_rng(2)
    x = np.c_[np.ones(200), rng.normal(size=(200, 3))]
    right = (rng.uniform(size=200) < 1 / (1 + np.exp(-x @ [0.5, 2.0, -1.0, 0.0]))).astype(float)

    def cost(b):
        odds = x @ b
        return np.logaddexp(0, odds).sum() - right @ odds + 0.5 * RIDGE * (b[1:] ** 2).sum()

    np.testing.assert_allclose(logistic(x, right), minimize(cost, np.zeros(4), tol=1e-12).x, atol=1e-4)


def test_a_number_that_leads_by_more_is_said_to_be_right_more_often():
    rng = np.random.default_rng(3)
    scored = []
    for i in range(300):
        ahead = rng.uniform(0, 0.5)
        true = 2 if rng.uniform() < 0.3 + 1.3 * ahead else 3
        scored.append((case_of([1, 2, 3], true, str(i)), np.array([0.0, 0.9, 0.9 - ahead])))
    judge = Judge((), np.zeros(0), np.zeros(0), (), 0.0, frequency(scored, 0.0))
    said = [judge.confidence(0.9, ahead, False) for ahead in (0.05, 0.25, 0.45)]
    assert said == pytest.approx([0.365, 0.625, 0.885], abs=0.1)


def test_the_file_is_read_by_the_verdict_and_gives_finite_scores(cases):
    judge = made(cross_validated(cases, 1, 50, QUICK), fit_judge(cases, 2, 50, QUICK))
    text = written(judge)
    read = Judge.of(json.loads(text))
    assert max(map(len, text.splitlines())) < 3000
    for case in cases:
        scores = read.scores(tuple(case.names.tolist()), case.evidence)
        assert scores.shape == case.ks.shape
        assert np.isfinite(scores).all()
        np.testing.assert_allclose(scores, judge.scores(judge.names, case.evidence), atol=0.02)
    assert 0.0 < read.confidence(0.9, 0.2, False) < 1.0
