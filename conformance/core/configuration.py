"""Which project file is read: `conformance.yaml` in the current folder.

Rule 1: only the current folder counts, never a parent folder or the folder of a recording.
Rule 2: with `CONFORMANCE_NO_CONFIG` set, as `--no-config` does, neither this process nor those
that it starts read the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

CONFIGURATION: Final = "conformance.yaml"
NO_CONFIG: Final = "CONFORMANCE_NO_CONFIG"
KEYS: Final = (
    *("recordings", "suites", "profile", "expected-failures", "strict", "require-exercised"),
    *("reports", "targets", "trust", "importers"),
)
"""What may be in it."""


def configuration_in(folder: Path) -> Path | None:
    """The file of a folder; None where there is none, or where it must not be read."""
    file = folder / CONFIGURATION
    return file if not os.environ.get(NO_CONFIG) and file.is_file() else None


def leave_unread() -> None:
    """Leave the file unread for the rest of the call."""
    os.environ.setdefault(NO_CONFIG, "1")


@contextmanager
def unread_for_this_call() -> Iterator[None]:
    """What a call leaves unread, the next one in this process reads."""
    before = os.environ.get(NO_CONFIG)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(NO_CONFIG, None)
