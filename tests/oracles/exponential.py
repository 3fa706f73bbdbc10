"""The polynomials of exp in ``src/core/simd.hpp``, with many digits.

exp(f) = 1 + f + f^2 q(f),   |f| <= log 2 / 2 (a little more, for n is rounded),   q through Chebyshev's points
"""

from __future__ import annotations

import mpmath
import numpy as np

DEGREES = {"float64": 9, "float32": 4}  # of q: the error of exp is 1.3e-17 and 8e-9, a tenth of a rounding


def polynomials() -> dict[str, list[float]]:
    """Coefficients, lowest first."""
    with mpmath.workdps(40):
        return {
            kind: [float(np.dtype(kind).type(float(c))) for c in _through(n)] for kind, n in DEGREES.items()
        }


def _through(degree: int) -> list[mpmath.mpf]:
    h = mpmath.log(2) / 2 * mpmath.mpf("1.0001")
    points = [h * mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    powers = mpmath.matrix([[f**j for j in range(degree + 1)] for f in points])
    return list(mpmath.lu_solve(powers, mpmath.matrix([_q(f) for f in points])))


def _q(f: mpmath.mpf) -> mpmath.mpf:
    return sum(f**i / mpmath.factorial(i + 2) for i in range(30))


if __name__ == "__main__":
    for kind, values in polynomials().items():
        print(kind, [value.hex() for value in values])
