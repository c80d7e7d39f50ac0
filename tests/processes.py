"""The end of a process that is not ours to wait for, awaited without polling (Linux)."""

from __future__ import annotations

import os
import select
from typing import Final

PATIENCE_S: Final = 60.0


def has_ended(pid: int) -> bool:
    """Whether a process ends within PATIENCE_S; a kill takes effect a little after it is sent."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], PATIENCE_S)[0])
    finally:
        os.close(handle)
