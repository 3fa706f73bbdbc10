"""Tables with known groups, the scores of labels, and the changes that cannot matter."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.metrics import adjusted_rand_score

pytest.importorskip("bench")
from bench import choose_answers as asked
from bench import choose_score as score
from bench.choose_answers import Answer, Kept
from bench.choose_none import an_uneven_ring
from bench.choose_pieces import centers_apart, factors, with_noise
from bench.choose_same import CHANGES, changed, compared
from bench.choose_tables import KINDS, LabelledTable, recipes, register
from bench.choose_times import TIMED, drawn_table

ROOT = Path(__file__).resolve().parent.parent


def table_of(name: str, labels: list[int], kind: str = "round", half: str = "older") -> LabelledTable:
    rows = np.arange(2.0 * len(labels)).reshape(-1, 2)
    return LabelledTable(name, kind, rows, np.array(labels), half)


# --- tables -------------------------------------------------------------------------------------------------------


def test_there_are_as_many_tables_of_each_kind_as_the_benchmark_promises() -> None:
    kinds = Counter(recipe.kind for recipe in recipes() if recipe.half == "older")
    assert kinds["shape"] >= 109
    assert kinds["round"] >= 42
    assert kinds["noise"] >= 20
    assert kinds["wide"] >= 33
    assert kinds["none"] >= 85
    assert set(kinds) < set(KINDS)
    fresh = Counter(recipe.kind for recipe in recipes() if recipe.half == "fresh")
    assert fresh == {"shape": 80, "round": 21, "noise": 13, "wide": 22, "none": 50}
    names = [recipe.name for recipe in recipes()]
    assert len(set(names)) == len(names)
    with pytest.raises(ValueError, match="there already"):
        register("none", {names[0]: lambda rng: (rng.normal(size=(3, 1)), np.ones(3, np.int64))})


def test_every_table_has_finite_rows_and_groups_of_several_rows() -> None:
    for table in [recipe.table(seed) for recipe in recipes() for seed in range(3)]:
        assert np.isfinite(table.rows).all(), table.name
        assert table.labels.shape == (len(table.rows),)
        sizes = np.bincount(table.labels)[1:]
        assert sizes.min() >= 10, table.name
        if table.kind == "none":
            assert (table.labels == 1).all()
        else:
            assert table.k == len(sizes) > 1, table.name
        assert (table.labels == 0).any() or table.kind != "noise", table.name


@pytest.mark.parametrize(
    ("name", "k", "columns", "noise"),
    [
        ("bowl and a ball", 2, 2, 0.0),
        ("pairs of three kinds", 6, 2, 0.0),
        ("shell around bars", 3, 3, 0.0),
        ("nodes and edges 10", 10, 2, 0.0),
        ("ring around a core, corners", 2, 2, 12 / 770),
        ("noise 15, zigzags", 3, 2, 0.15),
        ("noise 10, seven shapes", 7, 2, 0.10),
        ("seven of many sizes", 7, 2, 0.0),
        ("scattered 5 of 20", 5, 2, 0.0),
        ("wide 4, flowers", 3, 4, 0.0),
        ("wide 6, own covariances", 5, 6, 0.0),
        ("wide 20, skewed by factors", 2, 20, 0.0),
    ],
)
def test_a_classic_table_has_its_groups_columns_and_share_of_noise(
    name: str, k: int, columns: int, noise: float
) -> None:
    recipe = next(recipe for recipe in recipes() if recipe.name == name)
    assert recipe.half == "older"
    for seed in range(3):
        table = recipe.table(seed)
        assert (table.k, table.rows.shape[1]) == (k, columns)
        assert np.mean(table.labels == 0) == pytest.approx(noise, abs=0.005)


@pytest.mark.parametrize(
    ("name", "k", "columns", "noise"),
    [
        ("gears 2 and axles", 4, 2, (0.0, 0.0)),
        ("river with 4 islands", 5, 2, (0.0, 0.0)),
        ("islands 9 in noise, large", 9, 2, (0.2, 0.3)),
        ("snakes 5 in noise, large", 5, 2, (0.15, 0.25)),
        ("helix around a rod", 2, 3, (0.0, 0.0)),
        ("families of three, 4", 12, 2, (0.0, 0.0)),
        ("noise thinning, five round", 5, 2, (0.2, 0.2)),
        ("wide 45, markers", 5, 45, (0.0, 0.0)),
        ("wide 36, pictures", 6, 36, (0.0, 0.0)),
    ],
)
def test_a_fresh_table_has_its_groups_columns_and_share_of_noise(
    name: str, k: int, columns: int, noise: tuple[float, float]
) -> None:
    recipe = next(recipe for recipe in recipes() if recipe.name == name)
    assert recipe.half == "fresh"
    for seed in range(3):
        table = recipe.table(seed)
        assert (table.k, table.rows.shape[1]) == (k, columns)
        assert noise[0] - 0.005 <= np.mean(table.labels == 0) <= noise[1] + 0.005


def test_groups_of_a_fresh_shape_have_a_gap_wider_than_the_spacing_of_their_rows() -> None:
    shapes = [r for r in recipes() if (r.half, r.kind) == ("fresh", "shape") and "blobs on" not in r.name]
    for table in [recipe.table(seed) for recipe in shapes for seed in range(3)]:
        parts = [table.rows[table.labels == group] for group in range(1, table.k + 1)]
        trees = [cKDTree(part) for part in parts]
        spacing = [np.median(tree.query(part, 4)[0][:, 3]) for tree, part in zip(trees, parts, strict=True)]
        for i, part in enumerate(parts):
            for j in range(i):
                gap = trees[j].query(part)[0].min()
                assert gap > 1.2 * max(spacing[i], spacing[j]), table.name


def test_a_table_without_groups_has_the_rows_and_columns_of_its_name() -> None:
    for recipe in [r for r in recipes() if r.kind == "none"]:
        n, d = (int(word) for word in recipe.name.rsplit(", ", 1)[1].split(" x "))
        rows = recipe.table(seed=1).rows
        assert rows.shape[1] == d, recipe.name
        assert abs(len(rows) - n) <= 0.15 * n + 1, recipe.name


def test_an_uneven_ring_is_at_most_three_times_as_dense_on_one_side_and_has_no_valley_elsewhere() -> None:
    for seed in range(3):
        rows = an_uneven_ring(np.random.default_rng(seed), 200_000, 2)
        counts, _ = np.histogram(np.arctan2(rows[:, 1], rows[:, 0]), bins=12, range=(-np.pi, np.pi))
        assert 1.5 < counts.max() / counts.min() < 3.1
        steps = np.sign(np.diff(counts))  # from the thin side to the dense one and back
        assert steps[:5].tolist() == [1] * 5
        assert steps[6:].tolist() == [-1] * 5


def test_a_seed_gives_the_same_table_and_another_seed_another_size() -> None:
    same_size = 0
    for recipe in [r for r in recipes() if "normals 50" not in r.name]:
        first, again, other = (recipe.table(seed) for seed in (1, 1, 2))
        assert np.array_equal(first.rows, again.rows)
        same_size += len(first.rows) == len(other.rows)
    assert same_size < 0.1 * len(recipes())


def test_centers_are_as_far_apart_as_asked_for_along_the_lines_between_them() -> None:
    rng = np.random.default_rng(3)
    shapes = factors(rng, 8, 3, (0.5, 2.0), 2.0)
    places = centers_apart(rng, shapes, 4.0)
    ratios = []
    for i in range(8):
        for j in range(i):
            unit = (places[i] - places[j]) / np.linalg.norm(places[i] - places[j])
            sds = [np.sqrt(unit @ (shapes[m].T @ shapes[m]) @ unit) for m in (i, j)]
            ratios.append(np.linalg.norm(places[i] - places[j]) / np.mean(sds))
    assert min(ratios) >= 4.0 - 1e-9
    assert min(ratios) < 6.0  # and the nearest are near


def test_noise_is_the_share_of_all_rows_that_was_asked_for() -> None:
    rng = np.random.default_rng(0)
    rows, labels = with_noise(rng, (rng.normal(size=(800, 2)), np.ones(800, np.int64)), 0.2)
    assert np.mean(labels == 0) == pytest.approx(0.2, abs=1e-3)
    assert len(rows) == len(labels) == 1000


def test_timed_tables_have_the_rows_and_missing_cells_that_their_names_say() -> None:
    rows = drawn_table(TIMED["missing"], 3000, np.random.default_rng(0))
    assert rows.shape == (3000, 12)
    assert np.mean(np.isnan(rows)) == pytest.approx(0.05, abs=0.01)
    assert not np.isnan(drawn_table(TIMED["many"], 5000, np.random.default_rng(0))).any()


def test_measured_tables_have_the_classes_that_scikit_learn_gives() -> None:
    from bench.choose_measured import measured_tables
    from sklearn.datasets import load_wine

    tables = {table.name: table for table in measured_tables()}
    assert np.array_equal(tables["wine"].labels, load_wine().target + 1)
    assert tables["penguins"].k == 3
    assert np.bincount(tables["penguins"].labels).tolist() == [
        0,
        151,
        68,
        123,
    ]  # published counts, two birds unmeasured


# --- answers and scores -------------------------------------------------------------------------------------------


def test_answers_are_kept_and_no_table_is_labelled_twice(tmp_path: Path, monkeypatch) -> None:
    calls = []

    def label(table: LabelledTable) -> Answer:
        calls.append(table.name)
        return asked.counted([0, -1, 300, 0])

    monkeypatch.setitem(asked.CONTESTANTS, "plscan", asked.Contestant(label, "sklearn"))
    tables = [table_of(name, [1, 1, 2, 2]) for name in ("a", "b")]
    assert asked.answers(Kept(tmp_path), ["plscan"], tables[:1]) == 0
    assert asked.answers(Kept(tmp_path), ["plscan"], tables, seconds=-1.0) == 1  # no time: one is missing
    assert asked.answers(Kept(tmp_path), ["plscan"], tables) == 0
    assert calls == ["a", "b"]
    again = Kept(tmp_path).get("plscan", tables[1])
    assert again.labels.tolist() == [0, -1, 300, 0]
    assert again.k == 2
    changed_cells = replace(tables[0], rows=tables[0].rows + 1)
    assert Kept(tmp_path).get("plscan", changed_cells) is None


def test_a_peer_that_fails_has_found_nothing_and_ours_may_not_fail(monkeypatch, capsys) -> None:
    def fail(table: LabelledTable) -> Answer:
        raise ValueError("ill-shaped")

    for name in ("plscan", asked.FIND):
        monkeypatch.setitem(asked.CONTESTANTS, name, asked.Contestant(fail, "sklearn"))
    table = table_of("t", [1, 1, 2])
    assert asked.ask("plscan", table).labels.tolist() == [-1, -1, -1]
    assert "plscan fails on t: ill-shaped" in capsys.readouterr().err
    with pytest.raises(ValueError, match="ill-shaped"):
        asked.ask(asked.FIND, table)


def test_noise_of_the_table_is_left_out_and_noise_of_an_answer_is_one_label() -> None:
    table = table_of("t", [1, 1, 1, 2, 2, 2, 0])
    answer = asked.counted([0, 0, -1, 1, 1, -1, 0])
    expected = adjusted_rand_score([1, 1, 1, 2, 2, 2], [0, 0, 9, 1, 1, 9])
    mark = score.marked(table, answer)
    assert mark.rand == pytest.approx(expected)
    assert mark.right
    assert mark.alarm is None
    assert score.marked(table, asked.counted([-1] * 7)).rand == 0.0
    assert asked.counted([-1] * 7).k == 1


def test_tables_count_once_whatever_the_number_of_seeds_and_alarms_only_where_there_are_no_groups() -> None:
    grouped, single = [1, 1, 2, 2], [1, 1, 1, 1]
    perfect, none = asked.counted([0, 0, 1, 1]), asked.counted([0, 0, 0, 0])
    marks = [
        score.marked(table_of("a", grouped), perfect),
        score.marked(table_of("a", grouped), perfect),
        score.marked(table_of("b", grouped, half="fresh"), none),
        score.marked(table_of("c", single, "none"), perfect),
        score.marked(table_of("c", single, "none"), none),
    ]
    assert score.rand(marks) == pytest.approx(0.5)  # (1 + 0) / 2, not 2 / 3
    assert score.rand(marks, half="fresh") == 0.0
    assert score.right(marks) == pytest.approx(0.5)
    assert score.alarms(marks) == pytest.approx(0.5)
    assert score.rand(marks, "wide") is None


def test_a_table_without_classes_counts_for_numbers_alone() -> None:
    table = replace(table_of("t", [0, 0, 0, 0], "measured"), accepted=2)
    mark = score.marked(table, asked.counted([0, 0, 1, 1]))
    assert mark.rand is None
    assert mark.right


def test_find_and_choose_k_agree_only_where_rows_are_grouped_alike() -> None:
    kept, tables = Kept(), [table_of(name, [1, 1, 2, 2]) for name in ("a", "b")]
    for table, labels in zip(tables, ([1, 1, 0, 0], [0, 1, 0, 1]), strict=True):
        kept.put(asked.FIND, table, asked.counted([0, 0, 1, 1]))
        kept.put(asked.CHOOSE, table, asked.counted(labels))
    assert score.scored(kept, asked.OURS, tables).agree == [True, False]


# --- what cannot matter -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_keeps_every_column_up_to_its_sign_and_unit(change: str) -> None:
    rng = np.random.default_rng(5)
    table = LabelledTable("t", "round", rng.normal(size=(200, 3)), np.ones(200, np.int64))
    c = changed(table, change)
    before, after = table.rows[c.origin], c.rows
    alike = np.abs(np.corrcoef(before.T, after.T)[:3, 3:])
    assert np.sort(alike.max(axis=1)) == pytest.approx([1.0] * 3)
    assert len(c.rows) == {"written twice": 400, "left out": 190}.get(change, 200)
    assert not (np.array_equal(after, table.rows) and not c.settings)
    answer = Answer(table.rows[:, 0] > 0, 2)
    assert compared(answer, Answer(before[:, 0] > 0, 2), c.origin) == 1.0


# --- runs ---------------------------------------------------------------------------------------------------------


def test_the_benchmark_scores_those_installed_on_the_same_tables_and_goes_on_where_it_stopped(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "bench", "choose", "--tiny", "--only", "tables", "--keep", str(tmp_path)]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert first.returncode == 0, first.stderr
    assert "2 tables, 1 of them without groups" in first.stdout
    for name in ("asterism", "hdbscan 15", "k-means, silhouette", "mixture, BIC"):
        assert f"  {name:22}" in first.stdout
    assert "tables: adjusted Rand above every peer by 0.1" in first.stdout
    written = {file.name: file.read_text() for file in tmp_path.glob("*.jsonl")}
    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert second.returncode == 0, second.stderr
    assert {file.name: file.read_text() for file in tmp_path.glob("*.jsonl")} == written


def test_the_same_answer_is_measured_for_every_change() -> None:
    command = [sys.executable, "-m", "bench", "choose", "--tiny", "--only", "same"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    for change in CHANGES:
        assert f"{change:16}      2 " in done.stdout
