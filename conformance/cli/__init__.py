"""The command line: one module per verb.

Exit codes, the first that applies: 4 internal error; 2 usage, bad spec, bad cassette; 1 findings;
3 target unreachable; 5 nothing selected, or no answer but an error; 0 conforms; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from conformance import __version__
from conformance.cli.failures import describe_failure, exit_code
from conformance.cli.terminal import put, survive_any_text, warn
from conformance.cli.verbs import VerbGroup
from conformance.core.configuration import unread_for_this_call

__all__ = ["app", "main"]

app = typer.Typer(
    cls=VerbGroup, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (default: `sys.argv`) and return the exit code."""
    survive_any_text(sys.stdout, sys.stderr)
    try:
        with unread_for_this_call():
            code = get_command(app).main(arguments, prog_name="conformance", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the last line of defence
        warn(describe_failure(error))
        return exit_code(error)
    return code if isinstance(code, int) else 0


def _print_version(wanted: bool) -> None:
    if wanted:
        put(f"conformance {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def conformance(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Judge LLM reasoning streams: say which event broke which rule."""
    del version
    if context.invoked_subcommand is None:
        put(context.get_help())
