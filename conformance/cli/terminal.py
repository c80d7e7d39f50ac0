"""Where output goes: results on stdout, progress on stderr and only on a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

from conformance.core.excerpts import redacted
from conformance.core.own_keys import without_own_keys
from conformance.report.printable import visible

_CLEAR_LINE = "\r\x1b[K"
_LONGEST_LINE = 100  # characters of progress


def put(text: str) -> None:
    """Write a result. A reader that has gone away (`| head`) does not change the exit code."""
    put_pieces((redacted(text if text.endswith("\n") else f"{text}\n"),))


def put_pieces(texts: Iterable[str]) -> None:
    """As `put`, of a result that ends with a line end; no word continues in the next piece."""
    try:
        for text in texts:
            sys.stdout.write(without_own_keys(text))
        sys.stdout.flush()
    except BrokenPipeError:
        # The remaining buffer would fail again when Python closes stdout.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def warn(line: str) -> None:
    """Write one line for people, apart from the results."""
    sys.stderr.write(f"{redacted(line)}\n")


def warn_above(line: str) -> None:
    """As `warn`, above the line that shows progress: the next one is drawn below it."""
    warn(f"{_CLEAR_LINE}{line}" if sys.stderr.isatty() else line)
    sys.stderr.flush()


def warn_errors(errors: Iterable[str]) -> None:
    for error in errors:
        warn(f"error: {visible(redacted(error))}")


def has_colour() -> bool:
    """Whether stdout is a terminal that may be coloured (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def terminal_width() -> int:
    """Columns of the terminal that stdout is; 0 where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


@contextmanager
def progress_line(text: str = "") -> Iterator[Callable[[str], None]]:
    """Show progress in one line that is overwritten; silent if stderr is not a terminal.

    The line is erased at the end.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    try:
        _show_line(text)
        yield _show_line
    finally:
        sys.stderr.write(_CLEAR_LINE)
        sys.stderr.flush()


def _show_line(text: str) -> None:
    sys.stderr.write(f"{_CLEAR_LINE}{visible(redacted(text), _LONGEST_LINE)}")
    sys.stderr.flush()


def survive_any_text(*streams: TextIO) -> None:
    """Output never fails for a character that the terminal's encoding lacks."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
