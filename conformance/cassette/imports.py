"""Recordings that are not cassettes: raw bodies, payload lines, JSON answers, VCR files.

What an import cannot know it does not make up: a bare `.sse` file has neither request, status nor
headers. `fidelity` says how far the bytes may be trusted: `bytes` for raw bodies, `text` for VCR
(serialisers normalise text), `events` where the framing is rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from conformance.cassette.header import Cassette, Fidelity, Header
from conformance.cassette.payloads import rebuild
from conformance.cassette.positions import Layout, line_starts
from conformance.cassette.source import lines, plain_name, whole
from conformance.errors import CassetteError, Place
from conformance.events import Chunk, Exchange, Response

if TYPE_CHECKING:
    from conformance.cassette.vcr import Interaction

Kind = Literal["cassette", "sse", "jsonl", "ndjson", "json", "vcr"]

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
_SSE_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":", b"\xef\xbb\xbf")
_HEADER: Final = b'{"cassette":'


class Imported(NamedTuple):
    """A cassette made of another file, and per exchange where its bytes stand in that file."""

    cassette: Cassette
    layouts: tuple[Callable[[], Layout], ...]


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


def export_sse(exchange: Exchange) -> bytes:
    """The response body, as it came over the wire."""
    return b"".join(chunk.data for chunk in exchange.chunks)


def _sse(file: str, data: bytes, dialect: str | None) -> Imported:
    del file
    return _body(data, Response(), dialect, "bytes")


def _ndjson(file: str, data: bytes, dialect: str | None) -> Imported:
    del file
    return _body(data, _typed("application/x-ndjson"), dialect, "bytes")


def _json(file: str, data: bytes, dialect: str | None) -> Imported:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise CassetteError(f"broken JSON: {err}", place=Place(file)) from err
    if isinstance(value, dict) and isinstance(value.get("interactions"), list):
        return _vcr_json(file, value, dialect)  # vcrpy can write it, too
    return _body(data, _typed("application/json"), dialect, "bytes")


def _jsonl(file: str, data: bytes, dialect: str | None) -> Imported:
    rebuilt = rebuild(file, data)
    notes = ("a final [DONE] was added with the rebuilt framing",) if rebuilt.added_done else ()
    layout = rebuilt.layout
    one = _body(rebuilt.body, Response(), dialect, "events", notes)
    return one._replace(layouts=(partial(_same, layout),))


# PyYAML takes a while to import, and few need it: hence the imports inside.


def _vcr(file: str, data: bytes, dialect: str | None) -> Imported:
    from conformance.cassette.vcr import interactions  # noqa: PLC0415
    from conformance.cassette.yaml_tree import load_tree  # noqa: PLC0415

    return _interactions(interactions(file, load_tree(file, data), dialect=dialect), dialect)


def _vcr_json(file: str, value: object, dialect: str | None) -> Imported:
    from conformance.cassette.vcr import interactions  # noqa: PLC0415
    from conformance.cassette.yaml_tree import tree_of  # noqa: PLC0415

    return _interactions(interactions(file, tree_of(value), dialect=dialect), dialect)


def _interactions(found: Sequence[Interaction], dialect: str | None) -> Imported:
    header = Header(origin="imported", fidelity="text", dialect=dialect)
    notes = ("VCR keeps neither chunks nor times",)
    cassette = Cassette(header, tuple(one.exchange for one in found), notes=notes)
    return Imported(cassette, tuple(partial(_same, one.layout) for one in found))


def _same(layout: Layout) -> Layout:
    return layout


def _body(
    data: bytes,
    response: Response,
    dialect: str | None,
    fidelity: Fidelity,
    notes: tuple[str, ...] = (),
) -> Imported:
    exchange = Exchange(response=response, chunks=(Chunk(data),), dialect=dialect)
    header = Header(origin="imported", fidelity=fidelity, dialect=dialect)
    cassette = Cassette(header, (exchange,), notes=notes)
    return Imported(cassette, (partial(line_starts, data),))


def _typed(content_type: str) -> Response:
    return Response(headers=(("content-type", content_type),))


_IMPORTERS: Final[dict[Kind, Callable[[str, bytes, str | None], Imported]]] = {
    "sse": _sse,
    "ndjson": _ndjson,
    "json": _json,
    "jsonl": _jsonl,
    "vcr": _vcr,
}
