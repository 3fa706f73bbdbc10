"""exp and log that a compiler can run in vector lanes: no branches, no tables, no calls.

    exp(x) = 2^n exp(f),   n = round(x / log 2),   f = x - n log 2 in [-0.347, 0.347]
    log(x) = e log 2 + 2 artanh(s),   x = m 2^e,  m in [0.707, 1.414),   s = (m - 1) / (m + 1)

n is found by adding 1.5 2^52 (2^23 for float32): the sum has room for whole numbers only, and its last bits are n.
log 2 is subtracted in two parts, the first with so many trailing zeros that n times it is exact. Both series are cut
where the next term is below the rounding of the result. exp is within 1 unit in the last place, log within 2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from asterism.kernels.compiled import kernel

LEAST64, MOST64 = -708.0, 709.0  # beyond, the result is no normal number: there exp is 0, or exp(MOST64)
LEAST32, MOST32 = np.float32(-87.0), np.float32(88.0)
FLIP64, FLIP32 = 1.5 * 2.0**52, np.float32(1.5 * 2.0**23)
PER_LOG2 = 1.0 / math.log(2.0)
HIGH64, LOW64 = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
HIGH32, LOW32 = np.float32(float.fromhex("0x1.62e4p-1")), np.float32(float.fromhex("0x1.7f7d1cp-20"))
C13, C12, C11, C10, C9 = (1.0 / math.factorial(i) for i in (13, 12, 11, 10, 9))
C8, C7, C6, C5, C4, C3 = (1.0 / math.factorial(i) for i in (8, 7, 6, 5, 4, 3))
E7, E6, E5, E4, E3 = (np.float32(1.0 / math.factorial(i)) for i in (7, 6, 5, 4, 3))
HALF32, ONE32, ZERO32, PER32 = np.float32(0.5), np.float32(1.0), np.float32(0.0), np.float32(PER_LOG2)
BIAS64, BIAS32 = np.int64(1023), np.int32(127)
MANTISSA64, ONE_BITS64 = np.uint64((1 << 52) - 1), np.uint64(1023 << 52)
BITS_2_52, BIASED_2_52, SHIFT_UNSIGNED = np.uint64(1075 << 52), 2.0**52 + 1023.0, np.uint64(52)
L21, L19, L17, L15, L13, L11 = (2.0 / i for i in (21, 19, 17, 15, 13, 11))
L9, L7, L5, L3 = (2.0 / i for i in (9, 7, 5, 3))
ROOT2 = math.sqrt(2.0)
SHIFT64, SHIFT32 = np.int64(52), np.int32(23)


@kernel
def exp64(x: float) -> Any:
    """exp of a float64; 0 below LEAST64."""
    y = LEAST64 if x < LEAST64 else x  # so that NaN stays NaN
    y = MOST64 if y > MOST64 else y
    t = y * PER_LOG2 + FLIP64
    n = t - FLIP64
    f = (y - n * HIGH64) - n * LOW64
    p = C13 * f + C12
    p = p * f + C11
    p = p * f + C10
    p = p * f + C9
    p = p * f + C8
    p = p * f + C7
    p = p * f + C6
    p = p * f + C5
    p = p * f + C4
    p = p * f + C3
    p = p * f + 0.5
    p = (p * f) * f + f
    power = np.int64((np.float64(t).view(np.int64) + BIAS64) << SHIFT64).view(np.float64)
    z = power + power * p
    return 0.0 if x < LEAST64 else z


@kernel
def exp32(x: Any) -> Any:
    """exp of a float32; 0 below LEAST32."""
    y = LEAST32 if x < LEAST32 else x
    y = MOST32 if y > MOST32 else y
    t = y * PER32 + FLIP32
    n = t - FLIP32
    f = (y - n * HIGH32) - n * LOW32
    p = E7 * f + E6
    p = p * f + E5
    p = p * f + E4
    p = p * f + E3
    p = p * f + HALF32
    p = (p * f) * f + f
    power = np.int32((np.float32(t).view(np.int32) + BIAS32) << SHIFT32).view(np.float32)
    z = power + power * p
    return ZERO32 if x < LEAST32 else z


def lane_exp(x: Any) -> Any:
    """exp in the precision of its argument, in compiled code only."""
    return np.exp(x)


@overload(lane_exp, strict=False, inline="always")
def _lane_exp(x: Any) -> Any:
    return (lambda x: exp32(x)) if x == types.float32 else (lambda x: exp64(x))


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
