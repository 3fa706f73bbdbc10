"""How many dimensions a table has: a function for any table, no mathematics."""

from __future__ import annotations

from typing import Any

from asterism.engines.reduce import require_rows
from asterism.estimators.base import seed_of
from asterism.methods.dimension import Dimensions, dimensions_of
from asterism.metrics.tables import source_of


def dimension(X: Any, *, sample_weight: Any = None, random_state: Any = 0) -> Dimensions:
    """The dimension of a table by what its eigenvalues, distances and nearest neighbours say.

    ``X``              array, data frame, path or ``Source``; columns are standardised
    ``sample_weight``  (n,) how often each row counts
    ``random_state``   of the rows whose distances are taken, where the table is long

    >>> import numpy as np
    >>> from asterism import dimension
    >>> rng = np.random.default_rng(0)
    >>> found = dimension(rng.normal(size=(2000, 20)))
    >>> round(found.concentration), round(found.distance_mean, 1), found.expected_variance
    (20, 2.0, 0.4)
    """
    source = source_of(X, sample_weight)
    require_rows(source)
    return dimensions_of(source, seed=seed_of(random_state))
