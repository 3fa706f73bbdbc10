"""Threads that take blocks by themselves do to the bit what blocks handed out one by one do."""

from __future__ import annotations

import numpy as np
import pytest

from asterism import GaussianMixture, engine
from asterism.data.source import ArraySource
from asterism.engines.tree import MergeTree
from asterism.kernels.claims import add_up
from asterism.methods import em


def groups(n: int, d: int, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(d)
    return (rng.normal(size=(n, d)) + 0.8 * rng.integers(0, 3, size=(n, 1))).astype(dtype)


def fitted(X: np.ndarray, structure: str, **fit: object) -> list[np.ndarray]:
    model = GaussianMixture(3, covariance_type=structure, random_state=0, max_iter=4, tol=0).fit(X, **fit)
    return [model.weights_, model.means_, model.covariances_, model.labels_, np.array(model.history_)]


@pytest.fixture
def passes(monkeypatch):
    """How many passes might follow each other, for each that took its blocks by itself; 0 for others."""
    found = []
    real = em.EM.together

    def together(self, model, rows, size, most):
        inner = real(self, model, rows, size, most)
        found.append(0 if inner is None else most)
        return inner

    monkeypatch.setattr(em.EM, "together", together)
    return found


@pytest.mark.parametrize("structure", ["diag", "spherical", "tied"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_same_bits_as_block_by_block_on_any_number_of_threads(structure, dtype, passes):
    X = groups(9000, 40, dtype)
    plain = fitted(X, structure, sample_weight=np.ones(len(X)))  # weights make every block a visit of its own
    assert not passes
    for n_threads in (1, 2, 5):
        with engine(n_threads=n_threads):
            mine = fitted(X, structure)
        assert all(np.array_equal(a, b) for a, b in zip(plain, mine, strict=True))
    assert all(passes)


def test_a_table_with_missing_cells_is_taken_block_by_block(passes):
    X = groups(9000, 40, "float64")
    X[17, 3] = np.nan
    assert np.isfinite(fitted(X, "diag")[-1]).all()
    assert not any(passes)


def test_whole_tables_are_those_that_need_nothing_done():
    X = groups(50, 3, "float64")
    assert ArraySource(X).whole is not None
    assert not ArraySource(X).whole.flags.writeable
    for source in (
        ArraySource(X, np.ones(50)),
        ArraySource(np.asfortranarray(X)),
        ArraySource(X.astype(np.int64)),
    ):
        assert source.whole is None


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_sums_are_added_in_the_order_of_the_merge_tree(n):
    class Sum(float):
        def merge(self, other: float) -> Sum:
            return Sum(self + other)

    sums, tree = np.random.default_rng(n).normal(size=(n, 1)), MergeTree(n)
    for i in reversed(range(n)):
        tree.add(i, Sum(sums[i, 0]))
    add_up(sums)
    assert sums[0, 0] == tree.result()
