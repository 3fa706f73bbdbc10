"""The whole job: starts that find the groups, the same bits everywhere, and no table that breaks it."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

from asterism import engine, read
from asterism.data.source import ArraySource
from asterism.errors import (
    CollapsedComponentWarning,
    DataError,
    NotConvergedWarning,
    ParameterError,
    TooFewRowsError,
)
from asterism.families.covariance import STRUCTURES
from asterism.families.gaussian import GaussianFamily
from asterism.methods.em import EM
from asterism.methods.frame import survey
from asterism.methods.mixture import Settings, Start, fit_mixture
from asterism.methods.moves import height_of, improved
from asterism.methods.posterior import told
from asterism.methods.starts import model_of, one_hot, sample_of

every_structure = pytest.mark.parametrize("structure", list(STRUCTURES))


def groups(n=600, d=3, k=4, apart=5.0, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    rows = rng.normal(size=(n, d)) + apart * rng.normal(size=(k, d))[labels]
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows, labels


def fit(rows, structure="VVV", k=4, weights=None, start=None, **settings):
    source = rows if not isinstance(rows, np.ndarray) else ArraySource(rows, weights)
    prior = settings.pop("prior", None)
    return fit_mixture(source, GaussianFamily(structure, prior=prior), k, Settings(**settings), start)


def bic(found):
    return -2.0 * found.log_likelihood + found.mixture.n_parameters * np.log(found.total)


# --- starts -------------------------------------------------------------------------------------------------------


def test_ten_round_groups_are_ten_by_bic():
    rng = np.random.default_rng(0)
    centers = 4.0 * rng.normal(size=(10, 8))
    rows = centers[rng.integers(0, 10, 3000)] + rng.normal(size=(3000, 8))
    scores = {
        (structure, k): bic(fit(rows, structure, k))
        for structure in ("VVV", "EEE", "VVI", "VII")
        for k in (8, 9, 10, 11, 12)
    }
    assert min(scores, key=scores.get) == ("VII", 10)


@pytest.mark.parametrize("init", ["auto", "kmeans", "k-means++", "ward", "random_from_data"])
def test_every_start_finds_clear_groups(init):
    rows, labels = groups()
    found = fit(rows, start=Start(init))
    assert adjusted_rand_score(labels, found.labels) > 0.97


def test_an_unknown_start_is_told():
    with pytest.raises(ParameterError, match="init_params is 'best'"):
        fit(groups()[0], start=Start("best"))


def test_moves_lead_out_of_an_optimum_with_two_groups_in_one():
    """Two components share a group, one covers two: EM alone stays there."""
    rows, labels = groups(800, 2, 4, 12.0, seed=1)
    source = ArraySource(rows)
    frame, moments = survey(source)
    from asterism.methods.mixture import facts_of

    family = GaussianFamily("VVV")
    em = EM(family.prepared(facts_of(source, family, frame, moments)))
    sample = sample_of(source, frame, moments, 4, 0)
    by_value = np.argmin(((sample.block.rows[:, None] - rows[None]) ** 2).sum(axis=2), axis=1)
    truth = labels[by_value]
    halves = (np.arange(len(truth)) % 2).astype(np.int32)
    wrong = np.where(truth == 0, halves, np.where(truth == 1, 2, np.where(truth == 2, 2, 3)))
    poor = model_of(em, sample.block, one_hot(wrong.astype(np.int32), 4))
    good = model_of(em, sample.block, one_hot(truth.astype(np.int32), 4))
    better = improved(em, sample, poor)
    assert height_of(em, sample, poor) < height_of(em, sample, good) - 100
    assert height_of(em, sample, better) > height_of(em, sample, good) - 10


@pytest.mark.parametrize("seed", range(6))
def test_more_starts_never_end_lower(seed):
    """Overlapping groups and a loose tolerance: runs end at different places of their way."""
    rng = np.random.default_rng(seed)
    rows = 2.0 * rng.standard_normal((6, 3))[rng.integers(6, size=600)] + rng.standard_normal((600, 3))
    fits = [
        fit_mixture(ArraySource(rows), GaussianFamily("VVV"), 6, Settings(tol=1e-2, n_init=n, seed=seed))
        for n in (1, 2, 4)
    ]
    heights = [fit.log_likelihood for fit in fits]
    assert heights == sorted(heights)


def test_given_responsibilities_are_the_start():
    rows, labels = groups()
    found = fit(rows, start=Start(shares=np.eye(4)[labels]))
    assert (found.labels == labels).mean() > 0.97


@pytest.mark.parametrize("shares", [np.ones((600, 3)), np.full((600, 4), -1.0), np.zeros((600, 4))])
def test_responsibilities_that_are_none_are_told(shares):
    with pytest.raises((ParameterError, DataError), match="responsibilities"):
        fit(groups()[0], start=Start(shares=shares))


@pytest.mark.parametrize("assignment", ["hard", "stochastic"])
def test_other_assignments_find_clear_groups(assignment):
    rows, labels = groups()
    found = fit(rows, assignment=assignment, max_iter=30)
    assert adjusted_rand_score(labels, found.labels) > 0.97


def test_the_best_place_of_a_stochastic_run_is_returned():
    rows, _ = groups(apart=1.5)
    found = fit(rows, assignment="stochastic", max_iter=40)
    assert found.history[-1] == pytest.approx(max(found.history[:-1]), rel=1e-9)


# --- laws ---------------------------------------------------------------------------------------------------------


def state(found):
    params = found.mixture.family.pack(found.mixture.params)
    return [found.mixture.weights.tobytes(), *(a.tobytes() for a in params.values()), found.labels.tobytes()]


@pytest.mark.parametrize("structure", ["VVV", "EEE", "VVI", "VVE"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_same_bits_for_any_number_of_threads_and_from_parquet(structure, missing, tmp_path):
    d = 2 if missing else 8 if structure == "VVE" else 24
    rows, _ = groups({2: 140_000, 8: 100_000, 24: 40_000}[d], d, 3, missing=missing)
    start = Start("kmeans")
    found = []
    for n_threads in (1, 2, 8):
        with engine(n_threads=n_threads):
            found.append(state(fit(rows, structure, 3, max_iter=2, start=start)))
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({f"x{j}": rows[:, j] for j in range(d)}), path, row_group_size=7001)
    found.append(state(fit(read(path), structure, 3, max_iter=2, start=start)))
    assert all(one == found[0] for one in found)


def test_weight_is_copies_and_weight_0_is_absent():
    rows, _ = groups(200)
    weights = np.random.default_rng(0).integers(0, 4, 200).astype(float)
    holed = rows.copy()
    holed[weights == 0] = np.inf
    weighted = fit(holed, weights=weights)
    copies = fit(np.repeat(rows, weights.astype(int), axis=0))
    assert weighted.log_likelihood == pytest.approx(copies.log_likelihood, rel=1e-9)
    np.testing.assert_allclose(weighted.mixture.weights, copies.mixture.weights, rtol=1e-8)
    np.testing.assert_array_equal(np.repeat(weighted.labels, weights.astype(int)), copies.labels)


@every_structure
def test_offset_and_unit_change_nothing(structure):
    rows, _ = groups(400, 3, 3)
    shifted = rows + 1e10
    plain = fit(rows, structure, 3)
    back = fit(shifted - 1e10, structure, 3)
    np.testing.assert_array_equal(fit(shifted, structure, 3).labels, back.labels)
    for unit in (1e-30, 1e30):
        np.testing.assert_array_equal(fit(rows * unit, structure, 3).labels, plain.labels)


@every_structure
def test_means_with_missing_cells_are_near_those_without(structure):
    rows, labels = groups(3000, 3, 3, seed=2)
    holed = rows.copy()
    holed[np.random.default_rng(1).random(rows.shape) < 0.3] = np.nan
    start = Start(shares=np.eye(3)[labels])
    whole, part = (fit(x, structure, 3, start=start) for x in (rows, holed))
    error = 5.0 / np.sqrt(0.7 * 1000)  # five standard errors of a mean of unit normals
    np.testing.assert_allclose(part.mixture.params.means + part.mixture.family.reference,
                               whole.mixture.params.means + whole.mixture.family.reference, atol=error)  # fmt: skip
    assert told(part.mixture, ArraySource(holed)).log_likelihood == pytest.approx(
        part.log_likelihood, rel=1e-12
    )


# --- nothing breaks it --------------------------------------------------------------------------------------------


def plain(rng):
    rows = rng.normal(size=(120, 3))
    rows[:60] += 5.0
    return rows


HARD = {
    "more columns than rows": lambda rng: rng.normal(size=(10, 12)),
    "a column twice": lambda rng: (lambda x: np.column_stack([x, x[:, 0]]))(plain(rng)),
    "one-hot columns": lambda rng: np.column_stack([plain(rng), np.eye(3)[rng.integers(0, 3, 120)]]),
    "a constant column": lambda rng: np.column_stack([plain(rng), np.full(120, 7.0)]),
    "groups of identical rows": lambda rng: np.repeat(rng.normal(size=(3, 4)), 20, axis=0),
    "columns of very different units": lambda rng: plain(rng) * [1e-12, 1.0, 1e12],
    "few rows": lambda rng: rng.normal(size=(5, 2)),
    "small whole numbers": lambda rng: rng.integers(0, 3, size=(100, 2)).astype(float),
    "a row without cells": lambda rng: np.vstack([plain(rng), np.full((1, 3), np.nan)]),
}


@pytest.mark.parametrize("name", HARD)
@every_structure
def test_hard_tables_end_in_a_usable_model(name, structure):
    rows = HARD[name](np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedComponentWarning)
        # Rotated structures mix columns: units 1e24 apart are more than float64 holds, and EM says so.
        warnings.simplefilter("ignore", NotConvergedWarning)
        found = fit(rows, structure, 3, max_iter=5, start=Start("kmeans"))
    assert np.isfinite(found.history).all()
    assert np.isfinite(found.mixture.params.covariances.full()).all()
    assert found.mixture.weights.sum() == pytest.approx(1.0)


def test_too_few_distinct_rows_are_told():
    with pytest.raises(TooFewRowsError, match="3 groups were asked for"):
        fit(np.ones((10, 2)), k=3)


def test_a_collapsed_component_is_named_with_its_columns():
    rng = np.random.default_rng(0)
    rows = np.vstack([np.repeat([[9.0, 9.0]], 30, axis=0), rng.normal(size=(60, 2))])
    with pytest.warns(CollapsedComponentWarning, match=r"component 1 in 'x0', 'x1'"):
        fit(rows, k=2)


def test_a_component_on_a_few_rows_is_put_to_use():
    """A start that gives one component two rows of three columns: a spike of any height."""
    rows, labels = groups(300, 3, 2, 6.0)
    shares = np.eye(3)[labels]
    shares[:2] = [0, 0, 1]
    found = fit(rows, k=3, start=Start(shares=shares))
    sizes = np.bincount(found.labels, minlength=3)
    assert found.mixture.weights.min() * 300 > 4
    assert sizes.sum() == 300


@pytest.mark.parametrize(
    "settings", [{"tol": -1.0}, {"max_iter": 0}, {"n_init": 0}, {"assignment": "firm"}, {"stop": "soon"}]
)
def test_settings_that_cannot_work_are_told(settings):
    with pytest.raises(ParameterError):
        fit(groups()[0], **settings)
