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
    """The table cannot be used as it is; ``row`` (an index, from 0) and ``column`` say where to a program.

    To a person the message does: it counts rows from 1, and names the line of a text file (``place``).

    >>> str(DataError("the weight is -2.", row=0, column="w"))
    "row 1, column 'w': the weight is -2."
    """

    exit_code = 3

    def __init__(
        self, what: str, remedy: str = "", *, row: int | None = None, column: str | None = None
    ) -> None:
        self.row = row
        self.column = column
        self.place: str | None = None  # of the row, as a person finds it: "line 10"; None: "row 9"
        super().__init__(what, remedy)

    def __str__(self) -> str:
        place = [] if self.row is None else [self.place or row_name(self.row)]
        place += [] if self.column is None else [f"column {self.column!r}"]
        where = f"{', '.join(place)}: " if place else ""
        return f"{where}{self.what} {self.remedy}".strip()


def row_name(row: int) -> str:
    """How messages call the row of this index: rows are counted from 1.

    >>> row_name(8)
    'row 9'
    """
    return f"row {row + 1}"


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
