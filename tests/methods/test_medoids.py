"""k-medoids against brute force, R's pam and the laws of weights, blocks and threads."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import asterism
from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.distances.numeric import PNorm
from asterism.errors import DataError, ParameterError, TooFewRowsError
from asterism.methods.medoid_starts import build
from asterism.methods.medoids import candidates_of, fit_medoids
from asterism.methods.swaps import Pool, Swaps

ORACLE = Path(__file__).parent.parent / "oracles" / "cluster"
TABLES = json.loads((ORACLE / "tables.json").read_text())
VALUES = json.loads((ORACLE / "values.json").read_text())


def groups(n: int, d: int, k: int, seed: int = 0, spread: float = 3.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(scale=spread, size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def cost(D: np.ndarray, medoids, w=1.0) -> float:
    return float((D[:, list(medoids)].min(axis=1) * w).sum())


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_small_tables_get_the_best_medoids_there_are(seed, k):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(12, 2)), rng.integers(1, 4, size=12)
    D = cdist(X, X)
    best = min(cost(D, medoids, w) for medoids in combinations(range(12), k))
    assert fit_medoids(ArraySource(X, w), k, seed=0).inertia == pytest.approx(best)


@pytest.mark.parametrize("case", range(5))
def test_cost_is_never_above_that_of_pam_in_r(case):
    table = TABLES["numbers"][case]
    fit = fit_medoids(ArraySource(np.array(table["rows"])), table["k"], seed=0)
    assert fit.inertia <= VALUES["numbers"][case]["pam"] * (1 + 1e-9)


def test_build_takes_the_row_that_lowers_the_cost_most():
    D = cdist(X := groups(40, 2, 3), X)
    chosen: list[int] = []
    for _ in range(4):
        chosen.append(min(range(40), key=lambda i: (cost(D, [*chosen, i]), i)))
    assert build(D, np.ones(40), 4).tolist() == chosen


def test_changes_are_the_differences_of_cost_that_exchanges_make():
    X, rng = groups(60, 3, 4), np.random.default_rng(1)
    w = rng.integers(0, 3, size=60).astype(float)
    D, medoids = cdist(X, X), [3, 17, 40]
    fitted = PNorm(2).prepare(ArraySource(X))
    rows = fitted.ready(X)
    method = Swaps(fitted, Pool(np.arange(60), rows), "test")
    found = method.summarize(method.begin(medoids), block_of(rows, w))
    assert found.cost == pytest.approx(cost(D, medoids, w))
    for candidate in range(60):
        for place in range(3):
            others = [m for i, m in enumerate(medoids) if i != place]
            expected = cost(D, [*others, candidate], w) - cost(D, medoids, w)
            assert found.joins[candidate] + found.leaves[place, candidate] == pytest.approx(
                expected, abs=1e-9
            )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "gower"])
def test_no_exchange_lowers_the_cost_of_what_is_found(metric):
    X = groups(700, 2, 5, spread=1.5)
    fit = fit_medoids(ArraySource(X), 5, metric=metric, init="random", seed=3)
    D = {
        "euclidean": lambda: cdist(X, X),
        "manhattan": lambda: cdist(X, X, "cityblock"),
        "gower": lambda: (np.abs(X[:, None] - X) / np.ptp(X, axis=0)).mean(axis=2),
    }[metric]()
    medoids = fit.model.numbers.tolist()
    assert fit.status == "settled"
    assert fit.inertia == pytest.approx(cost(D, medoids))
    for place in range(5):
        others = D[:, [m for i, m in enumerate(medoids) if i != place]].min(axis=1)
        assert np.minimum(D, others[:, None]).sum(axis=0).min() >= fit.inertia * (1 - 1e-9)


def test_history_never_rises_and_ends_with_the_cost():
    fit = fit_medoids(ArraySource(groups(3000, 4, 6, spread=1.0)), 6, init=[0, 1, 2, 3, 4, 5], seed=0)
    assert fit.swaps > 3
    assert (np.diff(fit.history) <= 1e-9 * fit.inertia).all()
    assert fit.history[-1] == fit.inertia


def test_same_bits_for_any_number_of_threads_and_order_of_memory():
    X = groups(3000, 5, 4)
    fits = []
    for threads, rows in [(1, X), (3, X), (2, np.asfortranarray(X))]:
        with asterism.engine(n_threads=threads):
            fits.append(fit_medoids(ArraySource(rows), 4, seed=5))
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.model.numbers, fits[0].model.numbers)
        np.testing.assert_array_equal(fit.labels, fits[0].labels)
        assert fit.history == fits[0].history


def test_weight_is_copies_and_weight_zero_is_absent():
    X, w = groups(300, 2, 4, spread=1.0), np.random.default_rng(0).integers(0, 4, size=300)
    dirty = X.copy()
    dirty[w == 0] = np.inf
    weighted = fit_medoids(ArraySource(dirty, w), 4, seed=0)
    repeated = fit_medoids(ArraySource(np.repeat(X, w, axis=0)), 4, seed=0)
    assert weighted.inertia == pytest.approx(repeated.inertia, rel=1e-12)
    rows = np.repeat(X, w, axis=0)[repeated.model.numbers]
    np.testing.assert_array_equal(X[weighted.model.numbers], rows)
    np.testing.assert_array_equal(np.repeat(weighted.labels, w), repeated.labels)


def test_sampled_candidates_come_close_and_say_so():
    X = groups(6000, 3, 5)
    everyone = fit_medoids(ArraySource(X), 5, seed=0)
    some = fit_medoids(ArraySource(X), 5, candidates=500, seed=0)
    assert everyone.quality.startswith("All 6,000 rows")
    assert some.quality.startswith("500 of 6,000 rows")
    assert everyone.inertia <= some.inertia * (1 + 1e-9) <= everyone.inertia * 1.02
    assert some.inertia == pytest.approx(cost(cdist(X, X[some.model.numbers]), range(5)))


def test_candidates_are_all_rows_while_pairs_are_few():
    assert candidates_of("auto", 30_000, 10, 8, costly=False) == 30_000
    assert candidates_of("auto", 200_000, 10, 8, costly=False) == 5000
    assert candidates_of("auto", 10**7, 100, 8, costly=False) == 4000
    assert candidates_of("all", 10**6, 10, 8, costly=False) == 10**6


def test_precomputed_and_functions_give_what_the_metric_gives():
    X = groups(200, 2, 3)
    by_name = fit_medoids(ArraySource(X), 3, metric="manhattan", seed=0)
    by_matrix = fit_medoids(ArraySource(cdist(X, X, "cityblock")), 3, metric="precomputed", seed=0)
    by_function = fit_medoids(ArraySource(X), 3, metric=lambda x, y: np.abs(x - y).sum(), seed=0)
    for fit in (by_matrix, by_function):
        assert fit.inertia == pytest.approx(by_name.inertia)
        assert set(fit.model.numbers) == set(by_name.model.numbers)


def test_rows_that_cannot_be_compared_are_a_table_apart():
    nan = np.nan
    X = np.array([[0.0, nan], [0.1, nan], [0.5, nan], [nan, 9.0], [nan, 9.1], [nan, 9.5], [nan, nan]])
    fit = fit_medoids(ArraySource(X), 2, seed=0)
    assert sorted(fit.model.numbers) == [1, 4]
    assert len(set(fit.labels[:3])) == len(set(fit.labels[3:6])) == 1
    within = 2 * (0.1 + 0.4) * np.sqrt(2.0)  # one column of two, so times two under the root
    assert fit.inertia == pytest.approx(within + np.hypot(0.5, 0.5))  # the empty row, and the table's corners


def test_an_interrupted_search_goes_on_from_its_checkpoint(tmp_path):
    source, start = ArraySource(groups(2000, 3, 5, spread=1.0)), [0, 1, 2, 3, 4]
    whole = fit_medoids(source, 5, init=start, seed=0)
    seen = []

    def stop(event):
        seen.append(event)
        if len(seen) == 4:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"), asterism.engine(checkpoint=tmp_path, progress=stop):
        fit_medoids(source, 5, init=start, seed=0)
    with asterism.engine(checkpoint=tmp_path):
        resumed = fit_medoids(source, 5, init=start, seed=0)
    np.testing.assert_array_equal(resumed.model.numbers, whole.model.numbers)
    assert resumed.history == whole.history


def test_wrong_settings_are_refused():
    source = ArraySource(np.arange(6.0).reshape(3, 2))
    with pytest.raises(TooFewRowsError, match="only 3 rows count"):
        fit_medoids(source, 4)
    with pytest.raises(TooFewRowsError, match="only 1 distinct rows"):
        fit_medoids(ArraySource(np.ones((5, 2))), 2)
    with pytest.raises(ParameterError, match="init is 'best'"):
        fit_medoids(source, 2, init="best")
    for init in ([0, 0], [0, 3], [0.0, 1.0], [1]):
        with pytest.raises(ParameterError, match="2 different row numbers"):
            fit_medoids(source, 2, init=init)
    with pytest.raises(ParameterError, match="candidates is 1"):
        fit_medoids(source, 2, candidates=1)
    with pytest.raises(DataError, match="infinite"):
        fit_medoids(ArraySource(np.array([[1e200], [-1e200], [0.0]])), 2, metric="sqeuclidean")
