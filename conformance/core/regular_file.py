"""Which paths may be opened as files: reading must neither block nor go on for ever."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

_HANDED_OVER: Final = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def is_handed_over(path: Path) -> bool:
    """Whether a shell names it so: `<(...)`, /dev/stdin."""
    return str(path).startswith(_HANDED_OVER)


def expect_regular(path: Path) -> None:
    """Raises OSError for a named pipe, a socket and a device, as where nothing is.

    What a shell hands over under a name of its own is read.
    """
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or is_handed_over(path):
        return
    raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
