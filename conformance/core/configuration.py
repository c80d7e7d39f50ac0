"""The file of a project, `conformance.yaml` in the folder where the user stands: who reads it.

Rule 1: it is read in that folder alone, never beside a recording or above.
Rule 2: where `CONFORMANCE_NO_CONFIG` is set, as `--no-config` does, nobody reads it: neither this
process nor those that it starts.
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
    """The file of a folder; None where there is none, or where nobody is to read it."""
    file = folder / CONFIGURATION
    return file if not os.environ.get(NO_CONFIG) and file.is_file() else None


def leave_unread() -> None:
    """From here on nobody reads the file, until the call is over."""
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
