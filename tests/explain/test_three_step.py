"""The third step against numerical optimisers, resampling and worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.stats import norm

from asterism.explain.three_step import Membership, bch, ml_levels, ml_numbers, naive


def three_groups(
    n: int = 600, seed: int = 0
) -> tuple[Membership, np.ndarray, np.ndarray, np.random.Generator]:
    """Probabilities as a normal mixture of known parameters gives them, weights, and the true groups."""
    rng = np.random.default_rng(seed)
    share = np.array([0.5, 0.3, 0.2])
    z = rng.choice(3, n, p=share)
    centers = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.2]])
    x = centers[z] + rng.normal(size=(n, 2))
    density = share * np.exp(-0.5 * ((x[:, None] - centers) ** 2).sum(axis=2))
    weights = rng.integers(1, 4, n).astype(float)
    return Membership(density / density.sum(axis=1, keepdims=True), weights), weights, z, rng


def test_what_labels_hold_is_the_literatures_classification_table_turned_round() -> None:
    known, w, _, _ = three_groups()
    at = np.eye(3)[known.labels]
    table = (known.shares * w[:, None]).T @ at  # (group, label)
    d = table / table.sum(axis=1, keepdims=True)  # P(label | group)
    group, label = table.sum(axis=1) / w.sum(), table.sum(axis=0) / w.sum()
    assert known.mixing * label[:, None] == pytest.approx((d * group[:, None]).T)


def test_bch_is_that_of_the_literature() -> None:
    """Weights (row of the label) x D^-1, then a weighted mean (Vermunt 2010, equation 9)."""
    known, w, z, rng = three_groups()
    y = rng.normal(z, 1.0)[:, None]
    at = np.eye(3)[known.labels]
    d = (known.shares * w[:, None]).T @ at
    d /= d.sum(axis=1, keepdims=True)
    b = (at @ np.linalg.inv(d)) * w[:, None]
    assert bch(known, y).means == pytest.approx(b.T @ y / b.sum(axis=0)[:, None], rel=1e-9)


def test_bch_is_least_squares_by_instruments() -> None:
    known, w, z, rng = three_groups()
    y = rng.normal(z, 1.0)[:, None]
    s = np.eye(3)[known.labels] * w[:, None]
    assert bch(known, y).means == pytest.approx(np.linalg.solve(s.T @ known.shares, s.T @ y))


def log_likelihood(known: Membership, y: np.ndarray, theta: np.ndarray) -> float:
    k = known.k
    f = norm.pdf(y, theta[:k], np.sqrt(theta[k:]))
    return float(known.weights @ np.log((known.mixing[known.labels] * f).sum(axis=1)))


def test_ml_of_numbers_is_the_maximum_of_its_likelihood() -> None:
    known, _, z, rng = three_groups()
    y = rng.normal(2.0 * z, 1.0)[:, None]
    found = ml_numbers(known, y)
    best = minimize(
        lambda t: -log_likelihood(known, y, np.r_[t[:3], np.exp(t[3:])]),
        np.r_[0.0, 2.0, 4.0, 0.0, 0.0, 0.0],
        method="BFGS",
        options={"gtol": 1e-4},
    )
    assert found.means[:, 0] == pytest.approx(best.x[:3], abs=2e-4)
    assert (found.psi * known.weights[:, None]).sum(axis=0) == pytest.approx(0.0, abs=0.05)


def test_ml_of_levels_is_the_maximum_of_its_likelihood() -> None:
    known, w, z, rng = three_groups()
    true = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.1, 0.6]])
    cells = np.array([rng.choice(3, p=true[g]) for g in z])
    y = np.eye(3)[cells][:, :2]
    found = ml_levels(known, y)

    def minus(t: np.ndarray) -> float:
        p = np.column_stack([np.exp(t.reshape(3, 2)), np.ones(3)])
        p /= p.sum(axis=1, keepdims=True)
        return -float(w @ np.log((known.mixing[known.labels] * p[:, cells].T).sum(axis=1)))

    best = minimize(minus, np.zeros(6), method="BFGS", options={"gtol": 1e-5})
    p = np.column_stack([np.exp(best.x.reshape(3, 2)), np.ones(3)])
    assert found.means == pytest.approx((p / p.sum(axis=1, keepdims=True))[:, :2], abs=1e-4)
    assert found.means == pytest.approx(bch(known, y).means, abs=1e-4)  # as long as BCH's are shares


def with_mixing(known: Membership, mixing: np.ndarray) -> Membership:
    changed = Membership(known.shares, known.weights)
    changed.__dict__["mixing"] = mixing
    return changed


@pytest.mark.parametrize("what", ["bch", "ml_numbers", "ml_levels"])
def test_slopes_are_those_of_numerical_differences(what: str) -> None:
    """A and G of the sandwich: how the summed estimating functions change with parameters and with Q."""
    known, w, z, rng = three_groups(200)
    levels = np.eye(3)[rng.integers(3, size=len(z))][:, :2]
    y = levels if what == "ml_levels" else rng.normal(z, 1.0)[:, None]
    solve = {"bch": bch, "ml_numbers": ml_numbers, "ml_levels": ml_levels}[what]
    found = solve(known, y)
    v = found.psi.shape[1]

    def summed(theta: np.ndarray, mixing: np.ndarray) -> np.ndarray:
        q = mixing[known.labels]
        if what == "bch":
            left = y[:, 0] - q @ theta
            return np.bincount(known.labels, w * left, 3)
        if what == "ml_numbers":
            return approx_fprime(theta, lambda t: log_likelihood(with_mixing(known, mixing), y, t), 1e-6)
        p = np.column_stack([theta.reshape(2, 3).T, 1 - theta.reshape(2, 3).sum(axis=0)])
        every = np.column_stack([y, 1 - y.sum(axis=1)])
        height = (q * (every @ p.T)).sum(axis=1)
        rises = every[:, :-1] - every[:, -1:]
        return np.concatenate([(q * (w / height * rises[:, c])[:, None]).sum(axis=0) for c in range(2)])

    theta = found.means.T.ravel()
    if what == "ml_numbers":
        spread = minimize(
            lambda t: -log_likelihood(known, y, np.r_[theta, np.exp(t)]), np.zeros(3), method="BFGS"
        )
        theta = np.r_[theta, np.exp(spread.x)]
    assert v == len(theta)
    step, tolerance = 1e-4, 2e-3 if what == "ml_numbers" else 1e-6
    slope = np.empty((v, v))
    for j in range(v):
        up, down = theta.copy(), theta.copy()
        up[j] += step
        down[j] -= step
        slope[:, j] = -(summed(up, known.mixing) - summed(down, known.mixing)) / (2 * step)
    assert found.slope == pytest.approx(slope, rel=tolerance, abs=tolerance * abs(slope).max())
    for s in range(3):
        for t in range(3):
            up, down = known.mixing.copy(), known.mixing.copy()
            up[s, t] += step
            down[s, t] -= step
            change = (summed(theta, up) - summed(theta, down)) / (2 * step)
            scale = abs(found.mixing_slope).max()
            assert found.mixing_slope[:, s, t] == pytest.approx(change, abs=3 * tolerance * scale)


def test_errors_are_those_of_resampled_rows() -> None:
    known, _, z, rng = three_groups(800, seed=3)
    known = Membership(known.shares, np.ones(800))
    y = rng.normal(z, 1.0)[:, None]
    for solve in (bch, ml_numbers):
        error = np.sqrt(np.diag(solve(known, y).covariance(known))[:3])
        again = []
        for _ in range(150):
            rows = rng.integers(800, size=800)
            some = Membership(known.shares[rows], np.ones(800))
            again.append(solve(some, y[rows]).means[:, 0])
        assert error == pytest.approx(np.std(again, axis=0), rel=0.2)


def test_sure_groups_leave_nothing_to_correct() -> None:
    z = np.arange(90) % 3
    known = Membership(np.eye(3)[z], np.ones(90))
    y = np.random.default_rng(0).normal(z, 1.0)[:, None]
    plain = naive(known, y)
    for solve in (bch, ml_numbers):
        found = solve(known, y)
        assert found.means == pytest.approx(plain.means, abs=1e-6)
        assert np.diag(found.covariance(known))[:3] == pytest.approx(
            np.diag(plain.covariance(known)), rel=1e-4
        )
    assert known.entropy == 1.0


def test_weight_two_is_two_rows() -> None:
    known, _, z, rng = three_groups(200)
    y = rng.normal(z, 1.0)[:, None]
    w = rng.integers(1, 4, 200)
    rows = np.repeat(np.arange(200), w)
    once, often = (
        Membership(known.shares, w.astype(float)),
        Membership(known.shares[rows], np.ones(len(rows))),
    )
    for solve in (naive, bch, ml_numbers):
        a, b = solve(once, y), solve(often, y[rows])
        assert a.means == pytest.approx(b.means, rel=1e-8)
        assert a.covariance(once) == pytest.approx(b.covariance(often), rel=1e-6)


def test_sampling_weights_have_no_unit() -> None:
    known, w, z, rng = three_groups(200)
    y = rng.normal(z, 1.0)[:, None]
    a, b = (Membership(known.shares, w * unit, sampling=True) for unit in (1.0, 1000.0))
    assert bch(a, y).covariance(a) == pytest.approx(bch(b, y).covariance(b))
    assert a.group_rows == pytest.approx(b.group_rows)
