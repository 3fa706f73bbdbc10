"""Every error and warning of Asterism. Each says what is wrong, where, and what to do about it.

Errors that scikit-learn's users expect as ``ValueError`` are ``ValueError`` too.
``exit_code`` is what the command line ends with.
"""

from __future__ import annotations


class AsterismError(Exception):
    """Base of all our errors: ``what`` happened, and the ``remedy``."""

    exit_code = 1

    def __init__(self, what: str, remedy: str = "") -> None:
        self.what = what
        self.remedy = remedy
        super().__init__(f"{what} {remedy}".strip())


class ParameterError(AsterismError, ValueError):
    """A parameter has a value that cannot work."""

    exit_code = 2


class OutputExistsError(AsterismError, FileExistsError):
    """The result would overwrite something."""

    exit_code = 2


class DataError(AsterismError, ValueError):
    """The table cannot be used as it is; ``row`` (counted from 0) and ``column`` say where."""

    exit_code = 3

    def __init__(
        self, what: str, remedy: str = "", *, row: int | None = None, column: str | None = None
    ) -> None:
        self.row = row
        self.column = column
        place = [f"row {row}"] if row is not None else []
        place += [f"column {column!r}"] if column is not None else []
        super().__init__(f"{', '.join(place)}: {what}" if place else what, remedy)


class TooFewRowsError(DataError):
    """More groups were asked for than there are distinct rows."""


class WeightError(DataError):
    """Row weights are negative, missing, all zero or of the wrong length."""


class FileError(DataError):
    """A file is missing, unreadable, truncated or not of the kind its name says."""


class NotConvergedError(AsterismError):
    """The fit did not settle, and the user asked for nothing less (``--strict``)."""

    exit_code = 4


class MemoryBudgetError(AsterismError, MemoryError):
    """The work does not fit the memory that was allowed."""

    exit_code = 5


class ModelFileError(AsterismError, ValueError):
    """A model or checkpoint file is damaged, of another version, or belongs to another job."""

    exit_code = 6


class AsterismWarning(UserWarning):
    """Base of all our warnings."""


class NotConvergedWarning(AsterismWarning):
    """The fit stopped at a limit before it settled; the result is usable but could improve."""


class InterruptedWarning(AsterismWarning):
    """The fit was interrupted; what was returned is the best so far."""


class CollapsedComponentWarning(AsterismWarning):
    """A component of a mixture shrank onto rows that do not differ in some columns; the model is usable."""


class SlowPathWarning(AsterismWarning):
    """The result is right, but there is a much faster way to ask for it."""


class CompressedWarning(AsterismWarning):
    """The table was too large for the method as asked for: its rows were brought together first."""
