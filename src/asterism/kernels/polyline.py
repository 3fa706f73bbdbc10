"""Rows and the nearest point of a chain of straight pieces."""

from __future__ import annotations

from typing import Any

from asterism.kernels.compiled import lane_sum_kernel


@lane_sum_kernel
def nearest_on_polyline(
    rows: Any,  # (n, d) in
    knots: Any,  # (p, d) in
    place: Any,  # (n,) out: j + t, on the way from knot j to knot j + 1
    square: Any,  # (n,) out: squared distance
) -> None:
    """t = clip((x - a)'(b - a) / |b - a|^2) of every piece a to b; the nearest piece, the first of equals."""
    n, d = rows.shape
    for i in range(n):
        best, where = 1e308, 0.0
        for j in range(len(knots) - 1):
            along, length = 0.0, 0.0
            for c in range(d):
                side = knots[j + 1, c] - knots[j, c]
                along += (rows[i, c] - knots[j, c]) * side
                length += side * side
            t = along / length if length > 0.0 else 0.0
            t = min(max(t, 0.0), 1.0)
            total = 0.0
            for c in range(d):
                side = knots[j + 1, c] - knots[j, c]
                rest = rows[i, c] - knots[j, c] - t * side
                total += rest * rest
            if total < best:
                best, where = total, j + t
        place[i], square[i] = where, best
