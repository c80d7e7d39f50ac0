"""Unexpected exceptions while working on one file: our own fault, which fails only that file.

Callers continue with the next file. The error names the line of our code, never the text of the
exception: that may quote the file, and an error must not leak a secret.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final

from conformance.core.errors import CassetteError, ConformanceError, Place

_PACKAGE: Final = Path(__file__).parents[1]
_REPORT: Final = "our fault: please report this line, with the file if you may"


class UnexpectedError(CassetteError):
    """Our own code failed on a recording in a way that it does not document."""


@contextmanager
def refuse_unexpected(file: Path | str) -> Iterator[None]:
    """Makes of any exception but our own the refusal of this file.

    Raises UnexpectedError; with $CONFORMANCE_DEBUG the exception as it is.
    """
    try:
        yield
    except ConformanceError:
        raise
    except Exception as err:
        if is_debugging():
            raise
        raise UnexpectedError(
            f"internal error: {fault_of(err)}",
            place=Place(str(file)),
            hint=_REPORT,
        ) from err


def is_debugging() -> bool:
    """Whether the user asks for tracebacks."""
    return bool(os.environ.get("CONFORMANCE_DEBUG"))


def fault_of(error: BaseException) -> str:
    """The kind of an exception, and the line of this package on which it was raised."""
    name = type(error).__name__
    place = _own_place(error.__traceback__)
    return f"{name} in {place}" if place else name


def _own_place(raised: TracebackType | None) -> str:
    """Of the innermost call; empty where none is ours."""
    for frame, line in reversed(list(traceback.walk_tb(raised))):
        code = Path(frame.f_code.co_filename)
        if code.is_relative_to(_PACKAGE):
            return f"{code.relative_to(_PACKAGE.parent).as_posix()}:{line}"
    return ""
