"""A model of groups elsewhere: as a query, as a Python file that needs only NumPy, as JSON.

``describe`` says in plain numbers what a model does with a row; ``sql``, ``python`` and ``to_json`` write that down.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from asterism.export.subject import description_of

__all__ = ["to_json", "to_python", "to_sql"]


def to_sql(
    model: Any,
    dialect: str = "duckdb",
    *,
    table: str = "your_table",
    keep: Sequence[str] = (),
    patterns: int = 256,
) -> str:
    """A model as one query: the group of every row of a table, and the probabilities of all groups.

    ``model``     a Finding or its model, the path of a groups.asterism file, a fitted ``KMeans``, ``KMedoids``,
                  ``KDTreeClustering`` or mixture; or ``finding.explanation``, for the rules of the groups
    ``dialect``   "duckdb", "postgres", "bigquery", "snowflake" or "sqlite"
    ``table``     the name that follows FROM
    ``keep``      columns of the table to copy into the result, such as its key; none: the model's columns
    ``patterns``  of missing cells that are written out where columns depend on each other within groups; 1: rows
                  that lack a cell have the group NULL, and the query is short

    >>> import numpy as np, asterism
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))])
    >>> query = asterism.to_sql(asterism.find(X, k=2), "sqlite", table="visitors", keep=["id"])
    >>> print(query[query.rindex("SELECT") :])
    SELECT
      kept0 AS "id",
      own AS asterism_group,
      CASE WHEN own IS NOT NULL THEN p0 END AS asterism_probability_0,
      CASE WHEN own IS NOT NULL THEN p1 END AS asterism_probability_1
    FROM asterism_11_placed;
    <BLANKLINE>
    """
    from asterism.export.sql import written

    return written(description_of(model), dialect, table, keep, patterns)


def to_python(model: Any) -> str:
    """A model as one Python file that needs only NumPy: ``assign(columns)``, and a small command line for CSV.

    >>> import numpy as np, asterism
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))])
    >>> module = {"__name__": "groups"}
    >>> exec(asterism.to_python(asterism.find(X, k=2)), module)
    >>> labels, probabilities = module["assign"]({"x0": [0.0, 9.0], "x1": [0.0, None]})
    >>> labels.tolist(), probabilities.round(2).tolist()
    ([0, 1], [[1.0, 0.0], [0.0, 1.0]])
    """
    from asterism.export.python import written

    return written(description_of(model))


def to_json(model: Any) -> str:
    """A model as JSON, versioned; ``docs/methods/export.md`` says what each entry means.

    >>> import numpy as np, asterism, json
    >>> json.loads(asterism.to_json(asterism.KMeans(2).fit(np.eye(4))))["judge"]["kind"]
    'centers'
    """
    # Only ASCII, and no NaN: any reader takes it, whatever a column is called.
    return json.dumps(description_of(model), ensure_ascii=True, allow_nan=False, indent=1) + "\n"
