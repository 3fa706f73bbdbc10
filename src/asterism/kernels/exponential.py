"""exp, log and shares that a compiler can run in vector lanes: no branches, no tables, no calls.

    exp(x) = 2^n exp(f),   n = round(x / log 2),   f = x - n log 2 in [-0.347, 0.347],   exp(f) = 1 + f + f^2 q(f)
    log(x) = e log 2 + 2 artanh(s),   x = m 2^e,  m in [0.707, 1.414),   s = (m - 1) / (m + 1)

n is found by adding 1.5 2^52 (2^23 for float32): the sum has room for whole numbers only, and its last bits are n.
log 2 is subtracted in two parts, the first with so many trailing zeros that n times it is exact. q is the polynomial
through (exp(f) - 1 - f) / f^2 at Chebyshev's points, of the least degree whose error is a small part of a rounding,
made with many digits in ``tests/oracles/exponential.py``. The series of log is cut where the next term is below the
rounding of the result. exp is within 1 unit in the last place, log within 2.

A share is exp(x) of x at most 0, and none at all below CUT: exp(CUT) is 2^-57 in float64, 2^-36 in float32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from asterism.kernels.compiled import kernel

LEAST64, MOST64 = -708.0, 709.0  # beyond, the result is no normal number
CUT64, CUT32 = -40.0, np.float32(-25.0)  # nats
FLIP64, FLIP32 = 1.5 * 2.0**52, np.float32(1.5 * 2.0**23)
PER_LOG2 = 1.0 / math.log(2.0)
HIGH64, LOW64 = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
HIGH32, LOW32 = np.float32(float.fromhex("0x1.62e4p-1")), np.float32(float.fromhex("0x1.7f7d1cp-20"))
Q9, Q8, Q7, Q6, Q5 = (
    float.fromhex(digits)
    for digits in (
        "0x1.af38a9b0ec855p-26",
        "0x1.289185613a3d6p-22",
        "0x1.71de0dae63bb3p-19",
        "0x1.a019b90d2ae7ap-16",
        "0x1.a01a01a7c41d5p-13",
    )
)
Q4, Q3, Q2, Q1, Q0 = (
    float.fromhex(digits)
    for digits in (
        "0x1.6c16c1788bd90p-10",
        "0x1.11111111109b3p-7",
        "0x1.5555555553d63p-5",
        "0x1.5555555555556p-3",
        "0x1.0000000000001p-1",
    )
)
R4, R3, R2, R1, R0 = (
    np.float32(float.fromhex(digits))
    for digits in ("0x1.6d110ap-10", "0x1.120b6ep-7", "0x1.55551ap-5", "0x1.5554dcp-3", "0x1p-1")
)
ZERO32, PER32 = np.float32(0.0), np.float32(PER_LOG2)
BIAS64, BIAS32 = np.int64(1023), np.int32(127)
MANTISSA64, ONE_BITS64 = np.uint64((1 << 52) - 1), np.uint64(1023 << 52)
BITS_2_52, BIASED_2_52, SHIFT_UNSIGNED = np.uint64(1075 << 52), 2.0**52 + 1023.0, np.uint64(52)
L21, L19, L17, L15, L13, L11 = (2.0 / i for i in (21, 19, 17, 15, 13, 11))
L9, L7, L5, L3 = (2.0 / i for i in (9, 7, 5, 3))
ROOT2 = math.sqrt(2.0)
SHIFT64, SHIFT32 = np.int64(52), np.int32(23)


@kernel
def power64(x: float) -> Any:
    """exp of a float64 from LEAST64 to MOST64, and NaN of NaN."""
    t = x * PER_LOG2 + FLIP64
    n = t - FLIP64
    f = (x - n * HIGH64) - n * LOW64
    g = f * f
    h = g * g
    low = (Q3 * f + Q2) * g + (Q1 * f + Q0)
    high = (Q7 * f + Q6) * g + (Q5 * f + Q4)
    high = (Q9 * f + Q8) * h + high
    p = (high * h + low) * g + f
    power = np.int64((np.float64(t).view(np.int64) + BIAS64) << SHIFT64).view(np.float64)
    return power + power * p


@kernel
def exp64(x: float) -> Any:
    """exp of a float64; 0 below LEAST64, exp(MOST64) above that."""
    y = LEAST64 if x < LEAST64 else x  # so that NaN stays NaN
    y = MOST64 if y > MOST64 else y
    z = power64(y)
    return 0.0 if x < LEAST64 else z


@kernel
def share64(x: float) -> Any:
    """exp of a float64, 0 or less; 0 below CUT64."""
    z = power64(CUT64 if x < CUT64 else x)
    return 0.0 if x < CUT64 else z


@kernel
def share32(x: Any) -> Any:
    """exp of a float32, 0 or less; 0 below CUT32."""
    y = CUT32 if x < CUT32 else x
    t = y * PER32 + FLIP32
    n = t - FLIP32
    f = (y - n * HIGH32) - n * LOW32
    g = f * f
    high = (R4 * f + R3) * g + (R2 * f + R1)
    p = (high * f + R0) * g + f
    power = np.int32((np.float32(t).view(np.int32) + BIAS32) << SHIFT32).view(np.float32)
    z = power + power * p
    return ZERO32 if x < CUT32 else z


def lane_share(x: Any) -> Any:
    """exp in the precision of its argument, 0 or less, and 0 below CUT; in compiled code only."""
    return np.exp(x)


@overload(lane_share, strict=False, inline="always")
def _lane_share(x: Any) -> Any:
    return (lambda x: share32(x)) if x == types.float32 else (lambda x: share64(x))


@kernel
def lane_log(x: float) -> Any:
    """log of a normal positive float64."""
    bits = np.float64(x).view(np.uint64)
    m = np.uint64((bits & MANTISSA64) | ONE_BITS64).view(np.float64)
    # No vector instruction turns 64-bit whole numbers into floats: put e into the last bits of 2^52 instead.
    e = np.uint64((bits >> SHIFT_UNSIGNED) | BITS_2_52).view(np.float64) - BIASED_2_52
    large = m > ROOT2
    m = 0.5 * m if large else m
    e = e + 1.0 if large else e
    s = np.divide(m - 1.0, m + 1.0)  # the operator would ask whether to raise, and run in no lanes
    q = s * s
    p = L21 * q + L19
    p = p * q + L17
    p = p * q + L15
    p = p * q + L13
    p = p * q + L11
    p = p * q + L9
    p = p * q + L7
    p = p * q + L5
    p = p * q + L3
    return e * HIGH64 + ((e * LOW64 + (s * q) * p) + 2.0 * s)
