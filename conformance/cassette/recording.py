"""One door for every file that holds recorded streams, and the search for them in folders.

A file is a cassette; or a raw body, payload lines or a JSON answer, imported here; or a tape of
another tool, read by the importers of `conformance.cassette.importers`; a `.json` file that none
of them takes is one answer. What an import cannot know it does not make up: a bare `.sse` file has
neither request, status nor headers. `fidelity` says how far the bytes may be trusted: `bytes` for
raw bodies, `events` where the framing is rebuilt (payload lines).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording
from conformance.cassette.payloads import rebuild
from conformance.cassette.positions import cassette_layout, line_starts
from conformance.cassette.read import read
from conformance.cassette.source import plain_name, read_lines
from conformance.cassette.token_ids import HINT, holds_token_ids
from conformance.core.errors import CassetteError, Place, UsageError
from conformance.core.events import Chunk, Exchange, Fidelity, Response
from conformance.core.text import MARKER_BEGINNING

MUTANTS: Final = "mutants"
_SUFFIXES: Final = (
    (".cassette.jsonl", "cassette"),
    (".chunks.txt", "jsonl"),
    (".sse", "sse"),
    (".ndjson", "ndjson"),
    (".eventstream.bin", "binary"),
    (".eventstream", "binary"),
    (".jsonl", "jsonl"),
    (".json", "json"),
    (".yaml", "foreign"),
    (".yml", "foreign"),
)
_SSE_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":", b"\xef\xbb\xbf")
_PLAIN: Final = ".txt"
_HEADER: Final = b'{"cassette":'
_FOUND_IN_FOLDERS: Final = (".cassette.jsonl", ".sse")
_OF_OTHERS: Final = frozenset({"", "json", "foreign"})  # kinds that an importer may recognise
# Kinds that are one raw body, and the content type that the suffix tells.
_CONTENT_TYPES: Final = {
    "sse": "",
    "ndjson": "application/x-ndjson",
    "json": "application/json",
    "text": "text/plain",
    "binary": "application/vnd.amazon.eventstream",
}


class Recording(Struct, frozen=True):
    """A file, what it holds, and its kind: one of our formats, or the name of an importer."""

    path: Path
    kind: str
    cassette: Cassette

    @property
    def header(self) -> Header:
        return self.cassette.header

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        return self.cassette.exchanges

    @property
    def torn(self) -> bool:
        return self.cassette.torn

    @property
    def notes(self) -> tuple[str, ...]:
        return self.cassette.notes

    def locate(self, exchange: int, offsets: Sequence[int]) -> list[int]:
        """As `locate`, for this file."""
        return locate(self.path, exchange, offsets)


def open_recording(path: Path | str, *, dialect: str | None = None) -> Recording:
    """Reads a cassette or imports anything else. Raises CassetteError.

    `dialect` is what a foreign file is said to speak; a cassette says so itself.
    """
    where = path if isinstance(path, Path) else Path(path)
    kind = _kind_of(where)
    if kind == "cassette":
        return Recording(where, kind, read(where))
    imported = _import_recording(where, dialect=dialect)
    return Recording(where, imported.kind, imported.cassette)


def locate(path: Path | str, exchange: int, offsets: Sequence[int]) -> list[int]:
    """The 1-based lines of the file that hold these bytes of an exchange's body.

    Reads the file again: ask for findings only. A negative offset asks for the response head.
    Raises UsageError if there is no such exchange.
    """
    where = Path(path)
    if _kind_of(where) == "cassette":
        layout = cassette_layout(where, exchange)
    else:
        imported = _import_recording(where)
        if not 1 <= exchange <= len(imported.cassette.exchanges):
            raise UsageError(f"{path} has no exchange {exchange}")
        layout = imported.layout(exchange)
    return [layout.line(offset) for offset in offsets]


def is_recording(path: Path | str) -> bool:
    """Whether the file's name is that of a recording; for names of others, what an importer says.

    Raises nothing: a file that cannot be read is no recording.
    """
    where = Path(path)
    kind = _kind_by_name(where)
    return kind not in ("", "foreign") or _is_of_others(where, in_folders=False)


def discover(folder: Path | str) -> tuple[Path, ...]:
    """Cassettes, `.sse` files, and what importers look for in folders, below this one, sorted.

    Folders named `mutants` are skipped (their cassettes fail on purpose), unless that is what was
    asked for. Symbolic links are followed to files inside the folder only. Raises CassetteError.
    """
    root = Path(folder)
    if not root.is_dir():
        raise CassetteError("expected a folder", place=Place(str(root)))
    inside = root.resolve()
    return tuple(sorted(path for path in _files_below(root) if _is_found(path, inside)))


def _files_below(root: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(root):  # does not follow links to folders
        folders[:] = [name for name in folders if name != MUTANTS]
        yield from (Path(where, name) for name in names)


def _is_found(path: Path, root: Path) -> bool:
    name = plain_name(path)
    is_ours = name.endswith(_FOUND_IN_FOLDERS)
    if not (is_ours or _kind_by_name(path) in _OF_OTHERS) or not path.is_file():
        return False
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        return False
    return is_ours or _is_of_others(path, in_folders=True)


def _kind_of(path: Path) -> str:
    """Which of our formats the file has: `cassette`, `sse`, `ndjson`, `jsonl`, `json` or `text`.

    By its name, or by its first line where the name leaves it open; empty if that says nothing
    either, `foreign` if only other tools use the name. Raises CassetteError if it cannot be read.
    """
    kind = _kind_by_name(path)
    if kind not in ("", "jsonl"):
        return kind
    first = next(read_lines(path), None)
    start = first.data.lstrip() if first else b""
    if start.replace(b" ", b"").startswith(_HEADER):
        return "cassette"
    if start.startswith(MARKER_BEGINNING):
        return "text"
    return "sse" if start.startswith(_SSE_FIELDS) else kind


def _kind_by_name(path: Path) -> str:
    """As `_kind_of`, by the name alone."""
    name = plain_name(path)
    return next((kind for suffix, kind in _SUFFIXES if name.endswith(suffix)), "")


def import_file(path: Path | str, *, dialect: str | None = None) -> Cassette:
    """The file as a cassette of origin `imported`; nothing is redacted. Raises CassetteError."""
    return _import_recording(Path(path), dialect=dialect).cassette


def _import_recording(path: Path, *, dialect: str | None = None) -> ImportedRecording:
    kind = _kind_of(path)
    file = ForeignFile(path, dialect)
    if not kind and dialect and file.name.endswith(_PLAIN):
        kind = "text"  # without a marker only who names the dialect knows that it is raw text
    if kind == "cassette":
        raise file.error("expected a foreign recording, got a cassette")
    if kind in ("json", "jsonl") and holds_token_ids(file.head):
        raise CassetteError("holds token ids", place=Place(str(path)), hint=HINT)
    if kind == "jsonl":
        rebuilt = rebuild(str(path), file.data)
        cassette = _cassette_of(file, rebuilt.body, "events", notes=rebuilt.notes)
        return ImportedRecording(cassette, (rebuilt.layout,), kind)
    if kind in ("sse", "ndjson", "binary", "text"):
        return _raw_body(file, kind)
    from conformance.cassette.importers import registry  # noqa: PLC0415  # 20 ms that few files need

    found = registry.read_foreign(file)
    if found is not None:
        return found
    if kind == "json":
        return _raw_body(file, kind)
    if expected := registry.expected_of(file):
        raise file.error(f"expected {expected}", line=1)
    known = ", ".join(dict.fromkeys((*(suffix for suffix, _ in _SUFFIXES), *registry.suffixes())))
    raise file.error(f"unknown kind of recording, expected {known}")


def _raw_body(file: ForeignFile, kind: str) -> ImportedRecording:
    content_type = _CONTENT_TYPES[kind]
    headers = (("content-type", content_type),) if content_type else ()
    cassette = _cassette_of(file, file.data, "bytes", headers)
    return ImportedRecording(cassette, (partial(line_starts, file.data),), kind)


def _cassette_of(
    file: ForeignFile,
    body: bytes,
    fidelity: Fidelity,
    headers: tuple[tuple[str, str], ...] = (),
    notes: tuple[str, ...] = (),
) -> Cassette:
    response = Response(headers=headers)
    exchange = Exchange(response=response, chunks=(Chunk(body),), dialect=file.dialect)
    header = Header(origin="imported", fidelity=fidelity, dialect=file.dialect)
    return Cassette(header, (exchange,), notes=notes)


def _is_of_others(path: Path, *, in_folders: bool) -> bool:
    """Whether an importer recognises the file by its first bytes; as `registry.is_foreign`."""
    from conformance.cassette.importers import registry  # noqa: PLC0415  # as above

    return registry.is_foreign(ForeignFile(path), in_folders=in_folders)
