"""Recordings that are not cassettes: raw bodies, payload lines, JSON answers, and others' tapes.

What an import cannot know it does not make up: a bare `.sse` file has neither request, status nor
headers. `fidelity` says how far the bytes may be trusted: `bytes` for raw bodies, `events` where
the framing is rebuilt (payload lines). What no format here claims is shown to the importers of
`conformance.cassette.importers`; a `.json` file that none of them takes is one answer.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from conformance.cassette.header import Cassette, Fidelity, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording
from conformance.cassette.payloads import rebuild
from conformance.cassette.positions import line_starts
from conformance.cassette.source import plain_name, read_lines
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Chunk, Exchange, Response

_SUFFIXES: Final = (
    (".cassette.jsonl", "cassette"),
    (".chunks.txt", "jsonl"),
    (".sse", "sse"),
    (".ndjson", "ndjson"),
    (".jsonl", "jsonl"),
    (".json", "json"),
    (".yaml", "foreign"),
    (".yml", "foreign"),
)
_SSE_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":", b"\xef\xbb\xbf")
_HEADER: Final = b'{"cassette":'


def kind_of(path: Path) -> str:
    """Which of our formats the file has: `cassette`, `sse`, `ndjson`, `jsonl` or `json`.

    By its name, or by its first line where the name leaves it open; empty if that says nothing
    either, `foreign` if only other tools use the name. Raises CassetteError if it cannot be read.
    """
    kind = kind_by_name(path)
    if kind not in ("", "jsonl"):
        return kind
    first = next(read_lines(path), None)
    start = first.data.lstrip() if first else b""
    if start.replace(b" ", b"").startswith(_HEADER):
        return "cassette"
    return "sse" if start.startswith(_SSE_FIELDS) else kind


def kind_by_name(path: Path) -> str:
    """As `kind_of`, by the name alone."""
    name = plain_name(path)
    return next((kind for suffix, kind in _SUFFIXES if name.endswith(suffix)), "")


def import_file(path: Path | str, *, dialect: str | None = None) -> Cassette:
    """The file as a cassette of origin `imported`; nothing is redacted. Raises CassetteError."""
    return import_recording(Path(path), dialect=dialect).cassette


def import_recording(path: Path, *, dialect: str | None = None) -> ImportedRecording:
    """As `import_file`, with the means to find lines again."""
    kind = kind_of(path)
    file = ForeignFile(path, dialect)
    if kind == "cassette":
        raise file.error("expected a foreign recording, got a cassette")
    if kind == "sse":
        return _body(file, kind, Response())
    if kind == "ndjson":
        return _body(file, kind, _typed("application/x-ndjson"))
    if kind == "jsonl":
        return _payload_lines(file)
    from conformance.cassette.importers import registry  # noqa: PLC0415  # 20 ms that few files need

    found = registry.read_foreign(file)
    if found is not None:
        return found
    if kind == "json":
        return _body(file, kind, _typed("application/json"))
    if expected := registry.expected_of(file):
        raise file.error(f"expected {expected}", line=1)
    known = ", ".join(dict.fromkeys((*(suffix for suffix, _ in _SUFFIXES), *registry.suffixes())))
    raise CassetteError(f"unknown kind of recording, expected {known}", place=Place(str(path)))


def is_recording_of_others(path: Path, *, in_folders: bool) -> bool:
    """Whether an importer recognises the file by its first bytes; as `registry.is_foreign`."""
    from conformance.cassette.importers import registry  # noqa: PLC0415  # as above

    return registry.is_foreign(ForeignFile(path), in_folders=in_folders)


def export_sse(exchange: Exchange) -> bytes:
    """The response body, as it came over the wire."""
    return b"".join(chunk.data for chunk in exchange.chunks)


def _payload_lines(file: ForeignFile) -> ImportedRecording:
    rebuilt = rebuild(str(file.path), file.data)
    cassette = _cassette(file, rebuilt.body, Response(), "events", notes=rebuilt.notes)
    return ImportedRecording(cassette, (rebuilt.layout,), "jsonl")


def _body(file: ForeignFile, kind: str, response: Response) -> ImportedRecording:
    cassette = _cassette(file, file.data, response, "bytes")
    return ImportedRecording(cassette, (partial(line_starts, file.data),), kind)


def _cassette(
    file: ForeignFile,
    body: bytes,
    response: Response,
    fidelity: Fidelity,
    notes: tuple[str, ...] = (),
) -> Cassette:
    exchange = Exchange(response=response, chunks=(Chunk(body),), dialect=file.dialect)
    header = Header(origin="imported", fidelity=fidelity, dialect=file.dialect)
    return Cassette(header, (exchange,), notes=notes)


def _typed(content_type: str) -> Response:
    return Response(headers=(("content-type", content_type),))
