"""Contrast functions of independent components, in vector lanes.

    logcosh   g = tanh(a u),            g' = a (1 - g^2)        tanh(x) = 1 - 2 / (exp(2x) + 1)
    exp       g = u exp(-u^2 / 2),      g' = (1 - u^2) exp(-u^2 / 2)
    cube      g = u^3,                  g' = 3 u^2

``u`` becomes ``w g(u)`` in place, and the sum of ``w g'(u)`` is returned. 1 - 2/(e + 1) loses digits of tanh near 0
relative to its size, but none relative to 1, and sums of u tanh(u) ask for no more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asterism.kernels.compiled import lane_sum_kernel
from asterism.kernels.exponential import exp64

FAR = 350.0  # tanh of more is 1, and exp(2x) still a number


@lane_sum_kernel
def logcosh(
    u: Any,  # (n,) in and out: w g(u)
    weights: Any,  # (n,) in
    a: float,
) -> float:
    """tanh(a u)."""
    total = 0.0
    for i in range(len(u)):
        x = a * u[i]
        w = weights[i]
        x = -FAR if x < -FAR else x
        x = FAR if x > FAR else x
        g = 1.0 - np.divide(2.0, exp64(2.0 * x) + 1.0)
        u[i] = w * g
        total += w * (1.0 - g * g)
    return a * total


@lane_sum_kernel
def bell(
    u: Any,  # (n,) in and out: w g(u)
    weights: Any,  # (n,) in
    a: float,  # noqa: ARG001  one signature for all
) -> float:
    """u exp(-u^2 / 2)."""
    total = 0.0
    for i in range(len(u)):
        x = u[i]
        w = weights[i]
        e = w * exp64(-0.5 * x * x)
        u[i] = x * e
        total += (1.0 - x * x) * e
    return total


@lane_sum_kernel
def cube(
    u: Any,  # (n,) in and out: w g(u)
    weights: Any,  # (n,) in
    a: float,  # noqa: ARG001  one signature for all
) -> float:
    """u^3"""
    total = 0.0
    for i in range(len(u)):
        x = u[i]
        w = weights[i]
        square = x * x
        u[i] = w * (square * x)
        total += w * square
    return 3.0 * total


CONTRASTS = {"logcosh": logcosh, "exp": bell, "cube": cube}
