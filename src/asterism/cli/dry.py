"""``asterism find TABLE --dry-run``: what would be done, and about how much memory and time that would take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asterism.data.options import ReadKeywords

SECONDS_TO_CHOOSE = 8.0  # about what the search on a sample takes, whatever the size of the table
PASSES = 60  # over the whole table, at most
CELLS_A_SECOND = 2e8  # that one pass of a mixture reads on two cores
BASE_BYTES = 350 << 20  # the program itself, with what it compiles


def dry_run_text(
    table: str,
    how: ReadKeywords,
    look: Mapping[str, Any],
    method: str,
    k: Any,
    memory: str | None,
    as_json: bool,
) -> str:
    """The plan as text or JSON."""
    from asterism.cli.summary import shown
    from asterism.data.encode import Encoding
    from asterism.data.opening import opened
    from asterism.data.source import ArraySource
    from asterism.engines.context import engine
    from asterism.search.task import looked_at

    rows = opened(table, **how) if how else table
    with engine(memory=memory):
        source = looked_at(rows, **look)
    width = Encoding.plain(source.columns).width
    n, cells = source.n_rows, source.n_rows * width
    held = n * source.n_columns * source.dtype.itemsize if isinstance(source, ArraySource) else 0
    plan: dict[str, Any] = {
        "version": 1,
        "table": table,
        "rows": n,
        "columns": [{"name": c.name, "kind": c.kind, "why": c.reason} for c in source.columns],
        "ignored": [{"name": c.name, "why": c.reason} for c in source.ignored],
        "method": method,
        "k": "1 to 10" if k is None else f"{k.start} to {k.stop - 1}" if isinstance(k, range) else str(k),
        "memory_bytes": int(BASE_BYTES + held + 40 * n),
        "seconds": round(SECONDS_TO_CHOOSE + (PASSES * cells / CELLS_A_SECOND if n > 2000 else 0.0), 1),
        "notes": list(source.notes),
        "writes": ["labels.csv", "groups.asterism", "report.html", "summary.json"],
    }
    if as_json:
        return json.dumps(plan, indent=2, ensure_ascii=False) + "\n"
    lines = [
        f"{shown(table)}: {n:,} rows, {len(source.columns)} columns used, {len(source.ignored)} ignored",
        f"Numbers of groups: {plan['k']}; method: {method}",
        f"Memory: about {plan['memory_bytes'] / 1e6:,.0f} MB; time: about {plan['seconds']:,.0f} s",
        "Would write labels.csv, groups.asterism, report.html and summary.json. Nothing was written.",
        *(shown(note) for note in source.notes),
        "",
        *(f"  {shown(c.name)}  {c.kind}  {shown(c.reason)}" for c in source.columns),
        *(f"  {shown(c.name)}  ignored  {shown(c.reason)}" for c in source.ignored),
    ]
    return "\n".join(lines) + "\n"
