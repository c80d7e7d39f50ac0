"""Inputs that can be read only once: standard input (`-`), and a shell's `<(...)`.

Their bytes are kept while the process lives, because a recording is read more than once: to find
its kind, to judge it, and for the lines of its findings.
"""

from __future__ import annotations

import os
import stat
import sys
from functools import lru_cache
from pathlib import Path
from typing import IO, Final

from conformance.core.regular_file import is_handed_over

_DASH: Final = "-"
STDIN: Final = Path(_DASH)
_MOST_HELD: Final = 4  # pipes


def is_pipe(path: Path) -> bool:
    """Whether the bytes at a path can be read only once."""
    if str(path) == _DASH:  # comparing paths takes its time
        return True
    return is_handed_over(path) and path.exists() and not stat.S_ISREG(path.stat().st_mode)


def pipe_bytes(path: Path, most: int) -> bytes:
    """All bytes as received, but at most one byte more than `most`. Raises OSError."""
    about = None if path == STDIN else path.stat()
    return _held_bytes(path, (about.st_dev, about.st_ino) if about else (), most)


@lru_cache(maxsize=_MOST_HELD)
def _held_bytes(path: Path, _identity: tuple[int, ...], most: int) -> bytes:
    if path != STDIN:
        with path.open("rb") as stream:
            return stream.read(most + 1)
    stdin: IO[bytes] = sys.stdin.buffer
    return stdin.read(most + 1)


def forget_pipes() -> None:
    """Lets go of what came through pipes: the next reader reads anew."""
    _held_bytes.cache_clear()


def refuse_terminal(path: Path) -> None:
    """Raises OSError if standard input is a terminal: the user would not know what it waits for."""
    if path == STDIN and os.isatty(sys.stdin.fileno()):
        raise OSError(0, "standard input is a terminal, and no recording comes from there")
