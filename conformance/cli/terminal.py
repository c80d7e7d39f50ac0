"""Where output goes: results on stdout, progress on stderr and only on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_CLEAR_LINE = "\r\x1b[K"


def put(text: str) -> None:
    """Write a result. A reader that has gone away (`| head`) does not change the exit code."""
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _unplug()


def _unplug() -> None:
    # What is still buffered would fail again when Python closes stdout.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def warn(line: str) -> None:
    """Write one line for people beside the results."""
    sys.stderr.write(f"{line}\n")


def has_colour() -> bool:
    """Whether stdout is a terminal that may be coloured (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Show what is going on while it goes on; silent where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    sys.stderr.write(text)
    sys.stderr.flush()
    try:
        yield
    finally:
        sys.stderr.write(_CLEAR_LINE)


def survive_any_text(*streams: TextIO) -> None:
    """Output never fails for a character that the terminal's encoding lacks."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
