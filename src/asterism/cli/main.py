"""The command ``asterism``: finds the command that was asked for, and turns errors into words and exit codes.

    0 done   1 failure   2 usage   3 bad data   4 not converged with --strict   5 memory   6 bad model file
    130 interrupted

Nothing heavy is imported here, so that ``asterism --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from typing import Any, NoReturn

import click

from asterism import __version__
from asterism.errors import AsterismError, MemoryBudgetError

INTERRUPTED = 130
DEBUG = "asterism.debug"  # where --debug leaves its mark: ``meta`` is shared by all contexts of a call

COMMANDS = {  # name -> module that holds a click command of that name
    "find": "asterism.cli.find",
    "columns": "asterism.cli.columns",
    "assign": "asterism.cli.assign",
    "check": "asterism.cli.check",
    "report": "asterism.cli.report",
    "export": "asterism.cli.export",
    "choose": "asterism.cli.choose",
    "tree": "asterism.cli.tree",
    "reduce": "asterism.cli.reduce",
    "compare": "asterism.cli.compare",
    "compress": "asterism.cli.compress",
}


class LazyGroup(click.Group):
    """Commands are imported when they are asked for; errors end in one line and the right exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """In the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  the same
        """The command, or None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; no error but click's own leaves as an exception."""
        try:
            return super().invoke(ctx)
        except click.exceptions.Exit:
            raise
        except click.ClickException:
            raise  # click writes usage errors itself, with the usage line
        except BrokenPipeError:
            # The reader of our stdout has gone (`| head`): files are written by then, nothing is wrong.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except (KeyboardInterrupt, click.Abort):
            _leave(ctx, "Interrupted. Nothing was written.", INTERRUPTED)
        except AsterismError as error:
            _leave(ctx, str(error), error.exit_code)
        except MemoryError:
            _leave(ctx, "The memory of this machine is not enough.", MemoryBudgetError.exit_code)
        except OSError as error:
            _leave(ctx, f"{error.strerror or error}: {error.filename or ''}".rstrip(": ") + ".", 1)
        except Exception as error:
            text = f"Something inside Asterism went wrong: {type(error).__name__}: {error}."
            _leave(ctx, f"{text} Run again with --debug for the details to report.", 1)


def _leave(ctx: click.Context, text: str, code: int) -> NoReturn:
    if ctx.meta.get(DEBUG):
        traceback.print_exc()
    click.echo(f"asterism: {text}", err=True)
    ctx.exit(code)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="asterism", message="%(prog)s %(version)s")
def main() -> None:
    """Find the groups in a table.

    `asterism find TABLE` is the main job; `asterism find --help` shows its options.
    """


if __name__ == "__main__":
    main(prog_name="asterism")
