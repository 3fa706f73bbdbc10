"""Mixtures of every number and structure: as good as elsewhere, and the same whatever cannot matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from asterism import engine
from asterism.data.source import ArraySource
from asterism.families.categorical import CategoricalFamily
from asterism.families.gaussian import GaussianFamily
from asterism.families.multinomial import MultinomialFamily
from asterism.families.product import ProductFamily
from asterism.families.student import StudentFamily
from asterism.methods.cells import Cells
from asterism.methods.path import fit_path

KINDS = {"VVV": "full", "EEE": "tied", "VVI": "diag", "VII": "spherical"}
UNITS_DO_NOT_MATTER = ("VVV", "EEE", "VVI", "EEI")


def normal(*names: str) -> dict[str, Any]:
    return {name: GaussianFamily(name) for name in names}


def groups(n: int = 400, k: int = 5, d: int = 3, apart: float = 3.0, seed: int = 0) -> np.ndarray:
    """Overlapping normal groups in rows of any orientation."""
    rng = np.random.default_rng(seed)
    centers = apart * rng.standard_normal((k, d))
    return centers[rng.integers(k, size=n)] + rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) * 0.7


def same(one: Cells, other: Cells, shift: float = 0.0) -> None:
    """The same cells with the same likelihoods and sizes, but for rounding."""
    assert one.keys() == other.keys()
    for place, cell in one.items():
        assert other[place].log_likelihood == pytest.approx(cell.log_likelihood + shift, rel=1e-6), place
        np.testing.assert_allclose(
            np.sort(other[place].mass), np.sort(cell.mass), rtol=1e-6, err_msg=str(place)
        )


# --- how good it is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_every_cell_is_as_good_as_the_best_of_three_starts_of_scikit_learn(seed: int) -> None:
    X = groups(seed=seed)
    cells = fit_path(ArraySource(X), normal(*KINDS), range(1, 7))
    with threadpool_limits(1):
        for (name, k), cell in cells.items():
            peer = GaussianMixture(
                k, covariance_type=KINDS[name], n_init=3, max_iter=500, random_state=0
            ).fit(X)
            assert cell.bic <= peer.bic(X) + 1.0, (name, k)


def test_the_figures_of_a_cell_are_those_of_its_rows() -> None:
    X = groups()
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    cell = fit_path(ArraySource(X, w), normal("VVV"), [1, 2, 3])["VVV", 3]
    peer = GaussianMixture(3)
    family, params = cell.mixture.family, cell.mixture.params
    peer.weights_, peer.means_ = cell.mixture.weights, params.means + family.reference
    peer.precisions_cholesky_ = np.linalg.cholesky(np.linalg.inv(params.covariances.full()))
    r = peer.predict_proba(X)
    assert cell.log_likelihood == pytest.approx(w @ peer.score_samples(X))
    assert cell.surprise == pytest.approx(-w @ np.log(r.max(axis=1)))
    np.testing.assert_allclose(cell.mass, np.bincount(r.argmax(axis=1), w, 3))
    assert cell.total == pytest.approx(w.sum())
    assert cell.bic == pytest.approx(-2 * cell.log_likelihood + (2 + 9 + 18) * np.log(w.sum()))
    assert cell.icl == pytest.approx(cell.bic + 2 * cell.surprise)


def test_more_components_and_freer_structures_are_never_much_lower() -> None:
    cells = fit_path(ArraySource(groups(900, 7, 2, 2.0)), normal("VVV", "VII", "EEE"), range(1, 10))
    heights = {place: cell.log_likelihood for place, cell in cells.items()}
    for name, k in heights:
        assert heights[name, k] >= heights.get((name, k - 1), -np.inf) - 3.0
        assert heights["VVV", k] >= heights[name, k] - 3.0


def test_twelve_groups_on_a_grid_are_twelve() -> None:
    rng = np.random.default_rng(5)
    X = rng.integers([4, 3], size=(900, 2)) * 8.0 + rng.standard_normal((900, 2))
    cells = fit_path(ArraySource(X), normal("VII", "VVV"), range(1, 16))
    assert min(cells.values(), key=lambda cell: cell.bic).k == 12


# --- what cannot matter -----------------------------------------------------------------------------------------

laws = settings(max_examples=8, deadline=None)


@given(seed=st.integers(0, 2**16), n=st.integers(60, 250), d=st.integers(1, 4))
@laws
def test_the_order_of_rows_and_columns_does_not_matter(seed: int, n: int, d: int) -> None:
    X, rng = groups(n, 4, d, seed=seed), np.random.default_rng(seed)
    families = normal("VVV", "VII")
    moved = X[rng.permutation(n)][:, rng.permutation(d)]
    same(fit_path(ArraySource(X), families, range(1, 6)), fit_path(ArraySource(moved), families, range(1, 6)))


@given(seed=st.integers(0, 2**16), n=st.integers(150, 300), d=st.integers(1, 3))
@laws
def test_units_and_offsets_of_columns_do_not_matter(seed: int, n: int, d: int) -> None:
    """With rows enough for their parameters: of 66 rows in 3 columns, 4 full covariances can end elsewhere."""
    X, rng = groups(n, 4, d, seed=seed), np.random.default_rng(seed)
    unit, offset = np.exp(rng.uniform(-7, 7, d)), rng.uniform(-100, 100, d)
    families = normal(*UNITS_DO_NOT_MATTER)
    plain = fit_path(ArraySource(X), families, range(1, 6))
    same(plain, fit_path(ArraySource((X + offset) * unit), families, range(1, 6)), -n * np.log(unit).sum())


@given(seed=st.integers(0, 2**16))
@laws
def test_rows_written_twice_with_half_the_weight_are_the_same_rows(seed: int) -> None:
    X, rng = groups(150, 4, 2, seed=seed), np.random.default_rng(seed)
    w, families = rng.uniform(0.5, 2.0, 150), normal("VVV", "VVI")
    twice = ArraySource(np.repeat(X, 2, axis=0), np.repeat(w / 2, 2))
    same(fit_path(ArraySource(X, w), families, range(1, 6)), fit_path(twice, families, range(1, 6)))


@pytest.mark.parametrize("seed", range(3))
def test_a_rotation_does_not_change_the_number_that_full_covariances_choose(seed: int) -> None:
    X = groups(500, 4, 3, 4.0, seed)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    best = [
        min(fit_path(ArraySource(x), normal("VVV"), range(1, 8)).values(), key=lambda cell: cell.bic)
        for x in (X, X @ turn)
    ]
    assert best[0].k == best[1].k
    assert best[0].log_likelihood == pytest.approx(best[1].log_likelihood, abs=1.0)


def test_absent_rows_may_hold_anything() -> None:
    X = groups(200)
    odd = np.vstack([X, np.full((3, 3), np.inf)])
    w = np.r_[np.ones(200), np.zeros(3)]
    same(
        fit_path(ArraySource(X), normal("VVV"), [1, 2, 3]),
        fit_path(ArraySource(odd, w), normal("VVV"), [1, 2, 3]),
    )


def test_threads_do_not_change_a_bit() -> None:
    found = []
    for n_threads in (1, 2):
        with engine(n_threads=n_threads):
            cells = fit_path(ArraySource(groups(2500)), normal("VVV", "EEE"), range(1, 5))
            found.append([cell.log_likelihood for cell in cells.values()])
    assert found[0] == found[1]


# --- what may be asked for --------------------------------------------------------------------------------------


def test_a_family_that_bic_likes_less_and_less_is_not_asked_for_larger_numbers() -> None:
    cells = fit_path(ArraySource(groups(300, 3, 2, 8.0)), normal("VVV", "VII"), range(1, 30), patience=2)
    for name in ("VVV", "VII"):
        mine = {k: cell.bic for (other, k), cell in cells.items() if other == name}
        assert max(mine) <= min(mine, key=lambda k: mine[k]) + 3
    assert max(k for _, k in cells) < 15


def test_cells_that_are_not_wanted_are_not_there() -> None:
    cells = fit_path(
        ArraySource(groups()),
        normal("VVV", "EEE"),
        range(1, 5),
        within=lambda name, k: name == "EEE" or k < 3,
    )
    assert sorted(cells) == [("EEE", 1), ("EEE", 2), ("EEE", 3), ("EEE", 4), ("VVV", 1), ("VVV", 2)]


def test_a_component_on_a_few_rows_does_not_win() -> None:
    """Four rows in a line within one normal group: as high a likelihood as one likes."""
    X = np.random.default_rng(0).standard_normal((200, 2))
    X[:4] = np.array([[0.3], [0.3], [0.3], [0.3]]) + 1e-6 * np.arange(4)[:, None]
    cells = fit_path(ArraySource(X), normal("VVV", "VVI", "EEE"), range(1, 5))
    assert min(cells.values(), key=lambda cell: cell.bic).k == 1


def test_heavy_tails_start_from_cells_that_are_known() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_t(3, (600, 2)) + 12.0 * rng.integers(3, size=(600, 1))
    plain = fit_path(ArraySource(X), normal("EEE"), range(1, 6))
    heavy = fit_path(
        ArraySource(X), {"student EEE": StudentFamily(GaussianFamily("EEE"))}, range(1, 5), known=plain
    )
    assert min([*plain.values(), *heavy.values()], key=lambda cell: cell.bic).structure == "student EEE"
    assert min(heavy.values(), key=lambda cell: cell.bic).k == 3


def test_missing_cells_are_welcome() -> None:
    X = groups(300, 3, 3, 6.0, seed=2)
    whole = fit_path(ArraySource(X), normal("VVV"), range(1, 6))
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    holes = fit_path(ArraySource(X), normal("VVV"), range(1, 6))
    assert (
        min(holes.values(), key=lambda cell: cell.bic).k
        == min(whole.values(), key=lambda cell: cell.bic).k
        == 3
    )


def test_names_and_numbers_and_counts_have_paths_too() -> None:
    rng = np.random.default_rng(1)
    group = rng.integers(3, size=400)
    mixed = np.column_stack([rng.normal(4.0 * group, 1.0), (group + (rng.random(400) < 0.1)) % 3])
    family = ProductFamily(((GaussianFamily("VVI"), (0,)), (CategoricalFamily((3,), "conjugate"), (1,))))
    cells = fit_path(ArraySource(mixed), {"VVI": family}, range(1, 6))
    assert min(cells.values(), key=lambda cell: cell.bic).k == 3
    counts = rng.multinomial(60, np.eye(3)[group] * 0.5 + 0.5 / 3)
    cells = fit_path(ArraySource(counts.astype(float)), {"counts": MultinomialFamily()}, range(1, 6))
    assert min(cells.values(), key=lambda cell: cell.bic).k == 3


def test_one_pass_and_none_are_quick_and_no_better() -> None:
    X = groups(400, 6, 2, 2.0)
    heights = [
        fit_path(ArraySource(X), normal("VVV"), range(1, 8), passes=passes)["VVV", 6].log_likelihood
        for passes in (0, 1, 3)
    ]
    assert heights[0] <= heights[1] + 0.1 <= heights[2] + 0.2
