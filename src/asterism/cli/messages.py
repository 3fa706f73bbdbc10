"""What the command says while it works: to stderr, with a moving bar on a terminal alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from asterism.engines.progress import Event


def say(text: str) -> None:
    """One line to stderr, so that stdout holds data alone."""
    click.echo(f"asterism: {text}", err=True)


@contextmanager
def spoken_warnings() -> Iterator[None]:
    """Warnings as plain lines, without the file and line number of a library the user never opened."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _spoken  # type: ignore[assignment]  # the place of a warning is not looked at
        yield


def _spoken(message: Warning | str, category: type[Warning], *_place: Any) -> None:
    from asterism.errors import AsterismWarning

    if issubclass(category, AsterismWarning):
        say(f"Warning: {message}")


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[Event], None] | None]:
    """A function that shows an event, or None where nobody would see it."""
    if quiet:
        yield None
        return
    from asterism.engines.bar import moving_bar

    with moving_bar() as show:
        yield show
