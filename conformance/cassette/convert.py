"""Any recording to a cassette, redacted unless told otherwise."""

from __future__ import annotations

from pathlib import Path

from conformance.cassette.header import Cassette
from conformance.cassette.recording import open_recording
from conformance.cassette.redact import Redactor, redact
from conformance.cassette.write import write


def convert(
    source: Path | str,
    target: Path | str,
    *,
    dialect: str | None = None,
    redactor: Redactor | None = None,
    clean: bool = True,
    seal: bool | None = None,
) -> Cassette:
    """Writes `source` as a cassette and returns what was written. Raises CassetteError.

    With `clean`, secrets and opaque reasoning data are replaced first. `seal` states chunks, bytes
    and hash at every end (None: as the source does). Source and target may be one file.
    """
    cassette = open_recording(source, dialect=dialect).cassette
    if clean:
        cassette = redact(cassette, redactor)
    write(target, cassette, seal=seal)
    return cassette
