"""What an exception means for the caller: one line on stderr and an exit code."""

from __future__ import annotations

import traceback
from typing import Final

import typer

from conformance.core.errors import (
    AdapterError,
    CassetteError,
    ConformanceError,
    RemoteError,
    SpecError,
    UsageError,
)
from conformance.core.excerpts import redacted
from conformance.core.unexpected import is_debugging
from conformance.report.printable import visible

CONFORMS: Final = 0
FINDINGS: Final = 1
USAGE: Final = 2
REMOTE: Final = 3
INTERNAL: Final = 4
NOTHING: Final = 5
INTERRUPTED: Final = 130

# Newer typer brings a click of its own, older typer uses the package: ask typer for the class.
_WRONG_CALL: Final = typer.BadParameter.__mro__[2]


def exit_code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return INTERRUPTED
    if isinstance(error, _WRONG_CALL | UsageError | SpecError | CassetteError | AdapterError):
        return USAGE
    return REMOTE if isinstance(error, RemoteError) else INTERNAL


def describe_failure(error: BaseException) -> str:
    """Say it in one line for people, and the traceback where $CONFORMANCE_DEBUG asks for it."""
    if is_debugging():
        return redacted("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return "interrupted"
    if isinstance(error, ConformanceError):
        return f"error: {visible(redacted(str(error)))}"
    if isinstance(error, _WRONG_CALL):
        return f"error: {_describe_call(error)}"
    name = type(error).__name__
    return (
        f"internal error: {visible(redacted(f'{name}: {error}'))} (CONFORMANCE_DEBUG=1 shows where)"
    )


def _describe_call(error: BaseException) -> str:
    message = getattr(error, "format_message", error.__str__)()
    message = message.replace("Value error, ", "").rstrip(".")  # typer quotes its own types
    context = getattr(error, "ctx", None)
    verb = getattr(context, "command_path", "conformance")
    return f"{visible(redacted(message))} (see {verb} --help)"
