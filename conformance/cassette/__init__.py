"""Cassettes: recorded exchanges on disk, exact to the byte.

`read`, `exchanges` and `open_recording` read; `Writer`, `write` and `convert` write; `redact` takes
secrets out; `inspect` shows a stream; `locate` finds the line of a byte.
"""

from conformance.cassette.convert import as_cassette, convert
from conformance.cassette.header import (
    Cassette,
    CassetteClock,
    Header,
    RecordingOrigin,
    Redaction,
)
from conformance.cassette.inspect import inspect
from conformance.cassette.read import exchanges, read
from conformance.cassette.recording import (
    Recording,
    import_file,
    is_recording,
    locate,
    open_recording,
)
from conformance.cassette.redaction.body_redaction import BodyRedactor
from conformance.cassette.redaction.redact import Redactor, redact
from conformance.cassette.search import discover, find_recordings
from conformance.cassette.write import Writer, write

__all__ = [
    "BodyRedactor",
    "Cassette",
    "CassetteClock",
    "Header",
    "Recording",
    "RecordingOrigin",
    "Redaction",
    "Redactor",
    "Writer",
    "as_cassette",
    "convert",
    "discover",
    "exchanges",
    "find_recordings",
    "import_file",
    "inspect",
    "is_recording",
    "locate",
    "open_recording",
    "read",
    "redact",
    "write",
]
