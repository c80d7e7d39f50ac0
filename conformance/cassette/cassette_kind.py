"""The kind of file that is a cassette: known by its name, or by its first line."""

from __future__ import annotations

from typing import Final

from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.read import read

_HEADER: Final = b'{"cassette":'
_CERTAIN: Final = (".sse", ".ndjson", ".eventstream", ".eventstream.bin")


def _is_cassette(file: ForeignFile) -> bool:
    """By its name, or by its first line where the name leaves it open. Raises CassetteError."""
    if is_named(file.name):
        return file.name.endswith(CASSETTE.suffixes[0])
    return file.head.lstrip().replace(b" ", b"").startswith(_HEADER)


def _read_cassette(file: ForeignFile) -> ImportedRecording | None:
    return ImportedRecording(read(file.path)) if _is_cassette(file) else None


CASSETTE: Final = Importer(
    "cassette",
    (".cassette.jsonl", ""),
    _is_cassette,
    _read_cassette,
    says="a cassette: exchanges with requests, chunks and times, exact to the byte",
    trusted="as the header says",
    keeps="request, head, times",
)


def is_named(name: str) -> bool:
    """Whether a name (in lower case, without `.gz`) says by itself that a file holds streams."""
    return name.endswith((CASSETTE.suffixes[0], *_CERTAIN))
