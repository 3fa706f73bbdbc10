"""An auto-associative network: rows squeezed through few units and back, so that those units hold what matters.

    z = encoder(y),   y' = decoder(z),   y = (x - mean) / scale            layers d, hidden..., m, ...hidden, d
    a_l = h(a_{l-1} W_l + b_l),   h = tanh in hidden layers, none at the bottleneck and at the end
    loss = sum w |y - y'|^2 / (2 sum w) + penalty/2 sum of squared W

Loss and gradient are sums over rows, so blocks add them up, and L-BFGS gets them exact: no learning rate, no batches,
the same bits anywhere. Without hidden layers the units are linear and the m of them span the first m principal
components (Baldi, Hornik). ``scale`` is one number for all columns, or units would change that.

References
----------
1. Kramer (1991), Nonlinear principal component analysis using autoassociative neural networks. AIChE J. 37:233-243.
2. Baldi, Hornik (1989), Neural networks and principal component analysis. Neural Networks 2:53-58.
3. Nocedal (1980), Updating quasi-Newton matrices with limited storage. Math. Computation 35:773-782.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from asterism.data.block import Block, Vector
from asterism.data.finite import raise_for_bad_cell, require_finite
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import NotConvergedWarning, ParameterError
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]
PART = 2048  # rows that go through together


@dataclass(frozen=True)
class Network:
    """Layers, and the place and scale of their input."""

    sizes: tuple[int, ...]  # units of every layer, first and last d
    mean: Vector  # (d,)
    scale: float
    weights: Vector  # all W and b, one after the other

    @property
    def bottleneck(self) -> int:
        """The layer in the middle."""
        return (len(self.sizes) - 1) // 2

    def layers(self, vector: Vector | None = None) -> list[tuple[Array, Vector]]:
        """W (in, out) and b (out,) of every layer, as views."""
        flat, at, out = self.weights if vector is None else vector, 0, []
        for a, b in pairwise(self.sizes):
            out.append((flat[at : at + a * b].reshape(a, b), flat[at + a * b : at + a * b + b]))
            at += a * b + b
        return out

    def bent(self, layer: int) -> bool:
        """Whether the units of a layer (counted from 1) are tanh."""
        return layer not in (self.bottleneck, len(self.sizes) - 1)

    def forward(self, y: Array, first: int, last: int, vector: Vector | None = None) -> list[Array]:
        """What every layer from ``first`` to ``last`` makes of rows that enter at ``first``."""
        found = [y]
        for number, (w, b) in enumerate(self.layers(vector)[first:last], first + 1):
            a = found[-1] @ w + b
            found.append(np.tanh(a) if self.bent(number) else a)
        return found

    def encode(self, names: tuple[str, ...], block: Block) -> Array:
        """(n, m) what the bottleneck says of rows."""
        require_finite(block, names)
        return self.forward((block.rows - self.mean) / self.scale, 0, self.bottleneck)[-1]

    def decode(self, block: Block) -> Array:
        """(n, d) the rows that these units (n, m) stand for."""
        last = len(self.sizes) - 1
        return self.mean + self.scale * self.forward(block.rows, self.bottleneck, last)[-1]


@dataclass(frozen=True, slots=True)
class Slope:
    """Loss and gradient over some rows: sums that add."""

    loss: float  # sum w |y - y'|^2 / 2
    gradient: Vector

    def merge(self, other: Slope) -> Slope:
        """Rows add up."""
        return Slope(self.loss + other.loss, self.gradient + other.gradient)


def slope_of(network: Network, vector: Vector, block: Block) -> Slope:
    """Back-propagation through a block, some rows at a time."""
    total, gradient = 0.0, np.zeros_like(vector)
    into, layers = network.layers(gradient), network.layers(vector)
    for a in range(0, len(block), PART):
        w = block.weights[a : a + PART]
        y = (block.rows[a : a + PART] - network.mean) / network.scale
        y[w == 0] = 0.0  # absent rows may hold anything, NaN included
        found = network.forward(y, 0, len(layers), vector)
        delta = found[-1] - y
        total += 0.5 * float(w @ np.einsum("nd,nd->n", delta, delta))
        delta *= w[:, None]
        for number in range(len(layers), 0, -1):
            if network.bent(number):
                delta = delta * (1.0 - found[number] ** 2)
            dw, db = into[number - 1]
            dw += found[number - 1].T @ delta
            db += delta.sum(axis=0)
            if number > 1:
                delta = delta @ layers[number - 1][0].T
    return Slope(total, gradient)


@dataclass(frozen=True)
class NetworkFit:
    """A trained network."""

    network: Network
    loss: float  # sum w |x - x'|^2
    explained: float  # 1 - loss / sum w |x - mean|^2
    history: list[float]  # loss a row after every step, in the network's scale
    n_iter: int
    converged: bool


@one_blas_thread()
def fit_network(
    source: Source,
    m: int,
    *,
    hidden: tuple[int, ...] = (16,),
    penalty: float = 1e-6,
    tol: float = 1e-7,
    max_iter: int = 1000,
    seed: int = 0,
) -> NetworkFit:
    """Train a network with ``m`` units in the middle and ``hidden`` layers on both sides of it."""
    _check(source, m, hidden, penalty, max_iter)
    moments: ColumnMoments = reduce(source, ColumnMoments.of)
    if moments.missing or moments.infinite is not None:
        raise_for_bad_cell(source)
    d, weight, total = source.n_columns, moments.total, float(moments.scatter.sum())
    scale = float(np.sqrt(total / weight / d)) or 1.0
    sizes = (d, *hidden, m, *hidden[::-1], d)
    network = Network(sizes, moments.mean, scale, _start(sizes, seed))
    history: list[float] = []

    def loss_and_slope(vector: Vector) -> tuple[float, Vector]:
        found: Slope = reduce(source, partial(slope_of, network, vector))
        size = 0.5 * penalty * float(vector @ vector)
        return found.loss / weight + size, found.gradient / weight + penalty * vector

    def note(intermediate_result: Any) -> None:
        history.append(float(intermediate_result.fun))

    done = minimize(
        loss_and_slope,
        network.weights,
        jac=True,
        method="L-BFGS-B",
        callback=note,
        options={"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": 0.0, "gtol": tol, "maxcor": 20},
    )
    converged = done.nit < max_iter
    if not converged:
        warnings.warn(
            f"The network did not settle in {max_iter} steps. The result is usable; give a larger max_iter or tol.",
            NotConvergedWarning,
            stacklevel=3,
        )
    trained = Network(sizes, moments.mean, scale, np.asarray(done.x))
    loss = 2.0 * scale**2 * float(reduce(source, partial(slope_of, trained, trained.weights)).loss)
    explained = 1.0 - loss / total if total > 0 else 1.0
    return NetworkFit(trained, loss, explained, history, max(int(done.nit), 1), converged)


def _start(sizes: tuple[int, ...], seed: int) -> Vector:
    """Weights that keep the variance of what goes through (Glorot, Bengio), and no offsets."""
    rng = np.random.default_rng(seed)
    parts: list[Vector] = []
    for a, b in pairwise(sizes):
        parts += [rng.standard_normal(a * b) * np.sqrt(2.0 / (a + b)), np.zeros(b)]
    return np.concatenate(parts)


def _check(source: Source, m: int, hidden: tuple[int, ...], penalty: float, max_iter: int) -> None:
    d = source.n_columns
    whole = all(isinstance(size, int | np.integer) and size >= 1 for size in (m, *hidden))
    if not whole or m > d:
        raise ParameterError(
            f"n_components={m!r} and hidden_layer_sizes={hidden!r} for {d} columns.",
            f"Give whole numbers: components from 1 to {d}, and 1 or more units a layer.",
        )
    if not penalty >= 0 or not max_iter >= 1:
        raise ParameterError(f"alpha={penalty!r}, max_iter={max_iter!r}.", "Give alpha 0 or more and a step.")
