"""Saves a client's reports as recordings: `run --client CMD --save DIR`.

Rule 1: recordings of one name from different folders are kept apart, by the names of the two
folders above them: many that ship are called alike.
Rule 2: the header says who reported, and when: `recorded_at` is the day of the recording itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import Cassette, Header, Redactor, write
from conformance.core.events import Exchange
from conformance.judging.client_view import IMPLEMENTATION
from conformance.recordings.redaction import redact_evidence

REPORTED_AT: Final = "seen_at"
_FOLDERS: Final = 2


def kept_path(folder: Path, recording: Path) -> Path:
    """Where in the folder a recording is kept with what the client reported of it (rule 1)."""
    above = recording.resolve().parent.parts[1:][-_FOLDERS:]
    return folder.joinpath(*above, recording.name)


def keep_reports(
    path: Path, header: Header, exchanges: Sequence[Exchange], implementation: dict[str, Any]
) -> None:
    """Writes the recording, redacted (rule 2); nothing where the client got no case."""
    if not exchanges:
        return
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    extra = {**header.extra, IMPLEMENTATION: implementation, REPORTED_AT: now}
    cassette = Cassette(replace(header, extra=extra), tuple(exchanges))
    clean = redact_evidence(cassette, Redactor(opaque=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, clean)
