"""The third step: an outcome in groups whose rows are not known for sure.

Step one made the groups and gave every row its probabilities r_n (k,), step two gave it the label s_n of the largest.
What a label holds is known from the probabilities,

    Q[s, t] = mean of r_nt over the rows labelled s                          (k, k), each row adds up to 1

so that the mean of the outcome among rows labelled s is a mix of the means m_t of the groups, sum_t Q[s, t] m_t. The
naive estimate takes it for the mean of group s. Two corrections take Q into account:

    BCH    solve  mean of y over the rows labelled s = sum_t Q[s, t] m_t     for all s: nothing is assumed of y
    ML     maximise  sum_n w_n log sum_t Q[s_n, t] f(y_n | t)                f normal with a variance for each group,
                                                                             or shares of levels

Both are as in the literature, which writes them with D[t, s] = P(label s | group t): Q[s, t] P(s) = D[t, s] P(t).

Standard errors are sandwiches of the estimating functions psi_n, stacked with those of Q,

    V = A^-1 (sum_n w_n c_n c_n' + G U G') A^-T,         c_n = psi_n + G (r_n - Q[s_n]) / N_s,
    A = -sum w dpsi / dm,    G = sum w dpsi / dQ,        U: covariance of Q that step one leaves (``first_step``)

Step one adds up with the rest, for it rests on the columns of the search alone and psi_n has mean 0 given these.
Where weights are copies of rows, c c' counts w times; where they are sampling weights, w^2 times.

References
----------
1. Bolck, Croon, Hagenaars (2004), Estimating latent structure models with categorical variables: one-step versus
   three-step estimators. Political Analysis 12:3-27.
2. Vermunt (2010), Latent class modeling with covariates: two improved three-step approaches. Political Analysis
   18:450-469.
3. Bakk, Oberski, Vermunt (2014), Relating latent class assignments to external variables: standard errors for correct
   inference. Political Analysis 22:520-540.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
STEPS = 2000  # convention: EM steps of the third step at most; they are cheap, and most fits take a tenth
SETTLED = 1e-12  # convention: relative rise of the likelihood below which it has settled
LEAST_SPREAD = 1e-6  # convention: a group's variance as a share of the outcome's: no group shrinks onto a row

# --- what is known of groups ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Membership:
    """The rows of a third step and what is known of their groups.

    >>> sure = Membership(np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]]), np.ones(3))
    >>> sure.labels.tolist(), sure.mixing.round(2).tolist()
    ([0, 0, 1], [[0.8, 0.2], [0.2, 0.8]])
    """

    shares: Array  # (n, k) r; each row adds up to 1
    weights: Array  # (n,) more than 0
    sampling: bool = False  # weights are sampling weights, else copies of rows
    step_one: Array | None = (
        None  # (k, k, k, k) covariance U of Q by the making of the groups; None: not known
    )

    @property
    def k(self) -> int:
        """Groups."""
        return int(self.shares.shape[1])

    @cached_property
    def labels(self) -> Labels:
        """(n,) s, the likeliest group."""
        return np.asarray(self.shares.argmax(axis=1), np.int64)

    @cached_property
    def mass(self) -> Array:
        """(k,) N_s, the weight of each label."""
        return np.bincount(self.labels, self.weights, self.k).astype(np.float64)

    @cached_property
    def mixing(self) -> Array:
        """(k, k) Q."""
        total = np.zeros((self.k, self.k))
        np.add.at(total, self.labels, self.shares * self.weights[:, None])
        return total / self.mass[:, None]

    @property
    def meat_weights(self) -> Array:
        """(n,) how often the square of what a row adds counts."""
        return self.weights**2 if self.sampling else self.weights

    @cached_property
    def group_rows(self) -> Array:
        """(k,) how many rows a group has; of sampling weights, as many as would be equally sure (Kish)."""
        share = self.shares.T @ self.weights
        return np.asarray(share**2 / (self.shares.T @ self.meat_weights))

    @property
    def entropy(self) -> float:
        """1: every row's group is sure; 0: nothing is known. 1 - sum w H(r) / (sum w log k)."""
        if self.k == 1:
            return 1.0
        r = self.shares
        own = -np.where(r > 0, r * np.log(np.where(r > 0, r, 1.0)), 0.0).sum(axis=1)
        return float(1.0 - self.weights @ own / (self.weights.sum() * np.log(self.k)))


@dataclass(frozen=True, eq=False)
class Solved:
    """Estimates of a third step and the parts of their sandwich; parameters run over columns, then groups."""

    means: Array  # (k, L) of each column of the outcome
    psi: Array  # (n, q) estimating functions
    slope: Array  # (q, q) A
    mixing_slope: Array  # (q, k, k) G

    def covariance(self, known: Membership) -> Array:
        """(q, q) V of all parameters; the first k L are the means."""
        rest = (known.shares - known.mixing[known.labels]) / known.mass[known.labels][:, None]
        row = self.psi + np.einsum("qnt,nt->nq", self.mixing_slope[:, known.labels, :], rest)
        meat = (row * known.meat_weights[:, None]).T @ row
        if known.step_one is not None:
            g = self.mixing_slope.reshape(len(meat), -1)
            meat = meat + g @ known.step_one.reshape(g.shape[1], g.shape[1]) @ g.T
        bread = np.linalg.pinv(self.slope)
        return np.asarray(bread @ meat @ bread.T)


# --- naive, BCH -------------------------------------------------------------------------------------------------


def naive(known: Membership, y: Array) -> Solved:
    """Means of the rows labelled s, as if labels were groups. ``y`` (n, L)."""
    return _solved(known, y, np.eye(known.k))


def bch(known: Membership, y: Array) -> Solved:
    """Means of groups such that every label's mean is the mix of them that it holds.

    Instruments and regressors in other words: (S' W R) m = S' W y, with the labels for S.

    >>> known = Membership(np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]]), np.ones(3))
    >>> bch(known, np.array([[2.0], [2.0], [5.0]])).means[:, 0].round(6).tolist()
    [1.0, 6.0]
    """
    return _solved(known, y, known.mixing)


def _solved(known: Membership, y: Array, mixing: Array) -> Solved:
    """psi_(s, l) = 1(s_n = s) (y_nl - sum_t Q[s, t] m_tl)."""
    k, columns = known.k, y.shape[1]
    at = np.eye(k)[known.labels]
    seen = (at * known.weights[:, None]).T @ y / known.mass[:, None]
    means = np.linalg.lstsq(mixing, seen, rcond=None)[0]  # not ``solve``: of groups alike, Q is singular
    left = y - (mixing @ means)[known.labels]
    psi = np.concatenate([at * left[:, [column]] for column in range(columns)], axis=1)
    slope: Array = np.kron(np.eye(columns), known.mass[:, None] * mixing).astype(np.float64)
    mixing_slope = np.zeros((columns, k, k, k))
    if mixing is known.mixing:  # the naive estimate knows no Q
        for s in range(k):
            mixing_slope[:, s, s, :] = -known.mass[s] * means.T
    return Solved(means.astype(np.float64), psi, slope, mixing_slope.reshape(columns * k, k, k))


# --- ML ---------------------------------------------------------------------------------------------------------


def ml_numbers(known: Membership, y: Array) -> Solved:
    """Means of normal groups, a variance each. ``y`` (n, 1).

    EM from the BCH estimates. With f_t = N(y; m_t, v_t), L_n = sum_t Q[s_n, t] f_t, rho_nt = Q f_t / L_n and scores u
    of one normal distribution: psi_n = rho_t u_t, A = -sum w (rho_t (h_t + u_t u_t') - psi psi').
    """
    q, w, cells = known.mixing[known.labels], known.weights, y[:, 0]
    total = float(w.sum())
    center = float(w @ cells / total)
    spread = float(w @ (cells - center) ** 2 / total)
    m = np.clip(bch(known, y).means[:, 0], cells.min(), cells.max())
    v = np.full(known.k, spread)
    before = -np.inf
    for _ in range(STEPS):
        log_f = -0.5 * (np.log(2 * np.pi * v) + (cells[:, None] - m) ** 2 / v)
        top = log_f.max(axis=1, keepdims=True)
        f = q * np.exp(log_f - top)
        height = f.sum(axis=1, keepdims=True)
        mass = f / height * w[:, None]
        reached = float(w @ (np.log(height) + top)[:, 0])
        if reached - before <= SETTLED * abs(reached):
            break
        before, sums = reached, mass.sum(axis=0)
        m = mass.T @ cells / sums
        v = np.maximum((mass * (cells[:, None] - m) ** 2).sum(axis=0) / sums, LEAST_SPREAD * spread)
    return _normal_parts(known, cells, m, v)


def _normal_parts(known: Membership, cells: Array, m: Array, v: Array) -> Solved:
    k, q = known.k, known.mixing[known.labels]
    away = cells[:, None] - m
    log_f = -0.5 * (np.log(v) + away**2 / v)
    f = np.exp(log_f - log_f.max(axis=1, keepdims=True))
    ratio = f / (q * f).sum(axis=1, keepdims=True)  # f_t / L_n
    rho = q * ratio
    u = np.stack([away / v, 0.5 * (away**2 / v - 1.0) / v])  # (2, n, k) scores of mean and variance
    psi = np.concatenate(rho * u, axis=1)
    h = np.array([[-1.0 / v + 0 * away, -away / v**2], [-away / v**2, 0.5 / v**2 - away**2 / v**3]])
    slope = (psi * known.weights[:, None]).T @ psi
    own = np.einsum("n,abnt->abt", known.weights, rho * (h + u[:, None] * u[None]))
    for a in range(2):
        for b in range(2):
            slope[a * k + np.arange(k), b * k + np.arange(k)] -= own[a, b]
    mixing_slope = np.zeros((2 * k, k, k))
    for s in range(k):
        here = known.labels == s
        weighted = ratio[here] * known.weights[here, None]  # d psi / d Q_t = (f_t / L) (u_t - psi)
        mixing_slope[:, s, :] = -psi[here].T @ weighted
        for a in range(2):
            mixing_slope[a * k + np.arange(k), s, np.arange(k)] += (weighted * u[a][here]).sum(axis=0)
    return Solved(m[:, None], psi, slope, mixing_slope)


def ml_levels(known: Membership, y: Array) -> Solved:
    """Shares of levels in each group. ``y`` (n, L - 1): whether the cell is at each level but the last.

    f_t(y) is linear in the shares p, so A = sum w psi psi'. EM from the BCH estimates.
    """
    q, w = known.mixing[known.labels], known.weights
    every = np.column_stack([y, 1.0 - y.sum(axis=1)])
    p = np.clip(bch(known, every).means, 1e-3, None)
    p /= p.sum(axis=1, keepdims=True)
    before = -np.inf
    for _ in range(STEPS):
        f = q * (every @ p.T)
        height = f.sum(axis=1)
        reached = float(w @ np.log(height))
        if reached - before <= SETTLED * abs(reached):
            break
        before = reached
        mass = f / height[:, None] * w[:, None]
        p = mass.T @ every / mass.sum(axis=0)[:, None]
    return _level_parts(known, every, p)


def _level_parts(known: Membership, every: Array, p: Array) -> Solved:
    k, q, columns = known.k, known.mixing[known.labels], p.shape[1] - 1
    f = every @ p.T
    height = (q * f).sum(axis=1)
    rises = every[:, :-1] - every[:, -1:]  # (n, L - 1) d f_t / d p_tl, of every group
    psi = (rises[:, :, None] * q[:, None, :] / height[:, None, None]).reshape(len(q), columns * k)
    slope = (psi * known.weights[:, None]).T @ psi
    mixing_slope = np.zeros((columns * k, k, k))
    for s in range(k):
        here = known.labels == s
        weighted = known.weights[here] / height[here]
        mixing_slope[:, s, :] = -(psi[here] * weighted[:, None]).T @ f[here]
        sums = weighted @ rises[here]
        for column in range(columns):
            mixing_slope[column * k + np.arange(k), s, np.arange(k)] += sums[column]
    return Solved(p[:, :-1], psi, slope, mixing_slope)
