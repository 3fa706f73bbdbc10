"""The knee of a falling curve, by the largest second difference.

    knee = argmax_k  (J_{k-1} - J_k) - (J_k - J_{k+1})

It says where going on stops paying, not whether there is anything: a straight line has no knee, and one is returned
all the same.
"""

from __future__ import annotations


def second_differences(objective: dict[int, float]) -> dict[int, float]:
    """J_{k-1} - 2 J_k + J_{k+1} for every k that has both neighbours.

    >>> second_differences({1: 100.0, 2: 40.0, 3: 10.0, 4: 8.0})
    {2: 30.0, 3: 28.0}
    """
    return {
        k: objective[k - 1] - 2.0 * objective[k] + objective[k + 1]
        for k in sorted(objective)
        if k - 1 in objective and k + 1 in objective
    }


def knee(objective: dict[int, float]) -> int | None:
    """The k of the largest second difference, the smaller of two; None where no k has both neighbours.

    >>> knee({1: 100.0, 2: 90.0, 3: 10.0, 4: 8.0})
    3
    """
    bends = second_differences(objective)
    return max(bends, key=lambda k: (bends[k], -k)) if bends else None
