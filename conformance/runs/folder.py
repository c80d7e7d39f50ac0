"""The folder in which a run is kept: its own alone, so that nothing of an earlier one stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from conformance.core.errors import Place, UsageError
from conformance.evidence.expectations import RUN
from conformance.scenarios.model import PATHS

SUFFIX: Final = ".cassette.jsonl"
_MOST_FILES: Final = 100_000
_LONGEST_HEADER: Final = 1 << 20


def earlier(folder: Path) -> tuple[Path, ...]:
    """Recordings of an earlier run below a folder. Raises UsageError where anything else is there.

    A folder that is not there, or empty, holds none.
    """
    try:
        found = [path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()]
        foreign = next((path for path in found if not _is_ours(path, folder)), None)
    except OSError as err:
        reason = (err.strerror or str(err)).lower()
        raise UsageError(f"cannot be read: {reason}", place=Place(str(folder))) from err
    if foreign is not None or len(found) > _MOST_FILES:
        hint = "--save takes a folder that is empty, or holds an earlier run and nothing else"
        place = Place(str(foreign or folder))
        raise UsageError("is no recording of a run, and would be left over", place=place, hint=hint)
    return tuple(found)


def _is_ours(path: Path, folder: Path) -> bool:
    if path.is_symlink() or not path.name.endswith(SUFFIX):
        return False
    if path.parent.parent != folder or path.parent.name not in PATHS:
        return False
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "cassette" in header and RUN in header
