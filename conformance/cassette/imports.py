"""Recordings that are not cassettes: raw bodies, payload lines, JSON answers, and others' tapes.

What an import cannot know it does not make up: a bare `.sse` file has neither request, status nor
headers. `fidelity` says how far the bytes may be trusted: `bytes` for raw bodies, `text` for VCR
(serialisers normalise text), `events` where the framing is rebuilt (payload lines, fixtures of
Opal, recordings of OGX). What a `.json` file is, its shape says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from conformance.cassette.header import Cassette, Fidelity, Header
from conformance.cassette.importers import ogx, opal
from conformance.cassette.payloads import rebuild
from conformance.cassette.positions import Layout, line_starts
from conformance.cassette.source import beginning, lines, plain_name, whole
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Chunk, Exchange, Response

if TYPE_CHECKING:
    from conformance.cassette.importers.vcr import Interaction

Kind = Literal["cassette", "sse", "jsonl", "ndjson", "json", "vcr", "opal", "ogx"]

SUFFIXES: Final[tuple[tuple[str, Kind], ...]] = (
    (".cassette.jsonl", "cassette"),
    (".chunks.txt", "jsonl"),
    (".sse", "sse"),
    (".ndjson", "ndjson"),
    (".jsonl", "jsonl"),
    (".json", "json"),
    (".yaml", "vcr"),
    (".yml", "vcr"),
)
_MAX_IMPORT: Final = 64 * 1024 * 1024
_PEEK: Final = 4096
_SSE_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":", b"\xef\xbb\xbf")
_HEADER: Final = b'{"cassette":'


class Imported(NamedTuple):
    """A cassette made of another file, per exchange where its bytes stand in it, and what it is."""

    cassette: Cassette
    layouts: tuple[Callable[[], Layout], ...]
    kind: Kind


def kind_of(path: Path) -> Kind:
    """What the file is, by its name, or by its first line where the name leaves it open.

    Raises CassetteError if it is nothing we know, or cannot be read.
    """
    name = plain_name(path)
    kind = next((kind for suffix, kind in SUFFIXES if name.endswith(suffix)), None)
    if kind is not None and kind != "jsonl":
        return kind
    first = next(lines(path), None)
    start = first.data.lstrip() if first else b""
    if start.replace(b" ", b"").startswith(_HEADER):
        return "cassette"
    if start.startswith(_SSE_FIELDS):
        return "sse"
    if kind is None:
        known = ", ".join(suffix for suffix, _ in SUFFIXES)
        raise CassetteError(f"unknown kind of recording, expected {known}", place=Place(str(path)))
    return kind


def import_file(path: Path | str, *, dialect: str | None = None) -> Cassette:
    """The file as a cassette of origin `imported`; nothing is redacted. Raises CassetteError."""
    return import_with_layout(Path(path), dialect=dialect).cassette


def import_with_layout(path: Path, *, dialect: str | None = None) -> Imported:
    """As `import_file`, with the means to find lines again."""
    kind = kind_of(path)
    if kind == "cassette":
        message = "expected a foreign recording, got a cassette"
        raise CassetteError(message, place=Place(str(path)))
    data = whole(path, max_bytes=_MAX_IMPORT)
    if not data.strip():
        raise CassetteError("the file is empty", place=Place(str(path)))
    return _IMPORTERS[kind](str(path), data, dialect)


def is_foreign_json(path: Path) -> bool:
    """Whether a `.json` file is a fixture of Opal or an answer that OGX recorded, or a broken one.

    Other files are told by their first bytes. Raises nothing.
    """
    try:
        head = beginning(path, _PEEK)
        if opal.begins_like_one(head):
            return True
        recorded = ogx.begins_like_one(head)
        return recorded and ogx.is_an_answer(whole(path, max_bytes=_MAX_IMPORT))
    except CassetteError:
        return False


def export_sse(exchange: Exchange) -> bytes:
    """The response body, as it came over the wire."""
    return b"".join(chunk.data for chunk in exchange.chunks)


def _sse(file: str, data: bytes, dialect: str | None) -> Imported:
    del file
    return _body(data, Response(), dialect, "bytes", "sse")


def _ndjson(file: str, data: bytes, dialect: str | None) -> Imported:
    del file
    return _body(data, _typed("application/x-ndjson"), dialect, "bytes", "ndjson")


def _json(file: str, data: bytes, dialect: str | None) -> Imported:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise CassetteError(f"broken JSON: {err}", place=Place(file)) from err
    if isinstance(value, dict) and isinstance(value.get("interactions"), list):
        return _vcr_json(file, value, dialect)  # vcrpy can write it, too
    if opal.is_fixture(value):
        return _rebuilt(opal.fixture(file, data, value, dialect), "opal")
    if ogx.is_recording(value):
        return _rebuilt(ogx.recording(file, data, value, dialect), "ogx")
    return _body(data, _typed("application/json"), dialect, "bytes", "json")


def _rebuilt(found: tuple[Cassette, Layout], kind: Kind) -> Imported:
    cassette, layout = found
    return Imported(cassette, (partial(_same, layout),), kind)


def _jsonl(file: str, data: bytes, dialect: str | None) -> Imported:
    rebuilt = rebuild(file, data)
    one = _body(rebuilt.body, Response(), dialect, "events", "jsonl", notes=rebuilt.notes)
    return one._replace(layouts=(partial(_same, rebuilt.layout),))


# PyYAML takes a while to import, and few need it: hence the imports inside.


def _vcr(file: str, data: bytes, dialect: str | None) -> Imported:
    from conformance.cassette.importers.vcr import interactions  # noqa: PLC0415
    from conformance.cassette.yaml_tree import load_tree  # noqa: PLC0415

    return _interactions(interactions(file, load_tree(file, data), dialect=dialect), dialect)


def _vcr_json(file: str, value: object, dialect: str | None) -> Imported:
    from conformance.cassette.importers.vcr import interactions  # noqa: PLC0415
    from conformance.cassette.yaml_tree import tree_of  # noqa: PLC0415

    return _interactions(interactions(file, tree_of(value), dialect=dialect), dialect)


def _interactions(found: Sequence[Interaction], dialect: str | None) -> Imported:
    header = Header(origin="imported", fidelity="text", dialect=dialect)
    notes = ("VCR keeps neither chunks nor times",)
    cassette = Cassette(header, tuple(one.exchange for one in found), notes=notes)
    return Imported(cassette, tuple(partial(_same, one.layout) for one in found), "vcr")


def _same(layout: Layout) -> Layout:
    return layout


def _body(
    data: bytes,
    response: Response,
    dialect: str | None,
    fidelity: Fidelity,
    kind: Kind,
    *,
    notes: tuple[str, ...] = (),
) -> Imported:
    exchange = Exchange(response=response, chunks=(Chunk(data),), dialect=dialect)
    header = Header(origin="imported", fidelity=fidelity, dialect=dialect)
    cassette = Cassette(header, (exchange,), notes=notes)
    return Imported(cassette, (partial(line_starts, data),), kind)


def _typed(content_type: str) -> Response:
    return Response(headers=(("content-type", content_type),))


_IMPORTERS: Final[dict[Kind, Callable[[str, bytes, str | None], Imported]]] = {
    "sse": _sse,
    "ndjson": _ndjson,
    "json": _json,
    "jsonl": _jsonl,
    "vcr": _vcr,
}
