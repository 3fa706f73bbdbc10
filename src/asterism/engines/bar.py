"""A moving bar on a terminal: what the command line and ``progress=True`` show of a long job."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from asterism.engines.progress import Event, Progress


@contextmanager
def moving_bar() -> Iterator[Progress | None]:
    """A function that shows an event on stderr, or None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    layout = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Bar(*layout, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None, note="")

        def show(event: Event) -> None:
            note = f"step {event.step}, {event.active} searches moving, at most {event.left:.0f} s left"
            bar.update(task, description=event.job, completed=event.step, total=event.max_steps, note=note)

        yield show
