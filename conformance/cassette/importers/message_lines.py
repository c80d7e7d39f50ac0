"""Messages of a WebSocket, one a line of JSON.

A line is an envelope, whose `from`, `direction` or `type` names the sender of the message in it, or
the message itself, whose own type shows a request; without either, the server sent it.
Lines of one answer without a lane may as well be the payloads of a stream: another importer reads
those.

Programs on the server's side write `in` for messages of the client: if such words make a request
come from the server, all sides are swapped. An unreadable line only loses itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.socket_messages import (
    GatheredMessages,
    is_time,
    other_side,
    side_named,
)
from conformance.core.events import Exchange, Fidelity, Side
from conformance.core.json_values import decode_json
from conformance.core.lines import BOM
from conformance.dialects import SOCKET_FORMS, SUPPORTED
from conformance.dialects.recognition import shown_by_messages

_SIDES: Final = ("from", "direction", "dir", "side", "sender", "type")
_CONTENTS: Final = ("data", "message", "payload", "text", "body", "content", "event", "frame")
_TIMES: Final = ("time", "timestamp", "ts", "at")
_LOOKED_AT: Final = 64  # lines
_SECONDS: Final = 1e8  # since 1970: smaller numbers may have any unit
_MILLISECONDS: Final = 1e11


class _Line(NamedTuple):
    """A message, who sent it as far as the line says so, and when, in seconds."""

    number: int
    data: bytes
    payload: Any
    side: Side | None
    at: float | None
    is_spelled: bool


def _holds_messages(file: ForeignFile) -> bool:
    if not file.head.removeprefix(BOM).lstrip().startswith(b"{"):
        return False
    return any(_is_certain(each) for each in _read_lines(file, _LOOKED_AT) if each is not None)


def _is_certain(line: _Line) -> bool:
    """Whether a line is of a WebSocket, and of no stream that was kept payload by payload."""
    shown = shown_by_messages([line.payload])
    form = SOCKET_FORMS.get(shown or "")
    if line.side is not None:
        return form is not None or (shown is not None and shown not in SUPPORTED)
    return form is not None and (
        form.request_body(line.payload) is not None or bool(line.payload.get(form.lane))
    )


def _read_messages(file: ForeignFile) -> ImportedRecording | None:
    if not _holds_messages(file):
        return None
    lines = list(_read_lines(file))
    found = [each for each in lines if each is not None]
    sides = _message_sides(found)
    gathered = GatheredMessages()
    for line, side in zip(found, sides, strict=True):
        gathered.add(side, line.data, line.at, line.number)
    fidelity: Fidelity = "text" if all(each.is_spelled for each in found) else "events"
    is_torn = lines[-1] is None and not file.data.endswith(b"\n")
    exchange = Exchange(
        chunks=tuple(gathered.messages),
        end="open" if is_torn else "eof",
        dialect=file.dialect,
    )
    header = Header(origin="imported", fidelity=fidelity, dialect=file.dialect)
    lost = len(lines) - len(found)
    notes = (f"lines that cannot be read were skipped: {lost}",) if lost else ()
    cassette = Cassette(header, (exchange,), notes=notes)
    return ImportedRecording(cassette, (gathered.layout(1),))


def _message_sides(lines: list[_Line]) -> list[Side]:
    asking = {each.side for each in lines if _is_request(each.payload)}
    is_turned = "server" in asking and "client" not in asking
    return [_side_of(each, is_turned=is_turned) for each in lines]


def _side_of(line: _Line, *, is_turned: bool) -> Side:
    if line.side is None:
        return "client" if _is_request(line.payload) else "server"
    return other_side(line.side) if is_turned else line.side


def _is_request(payload: Any) -> bool:
    return any(form.request_body(payload) is not None for form in SOCKET_FORMS.values())


def _read_lines(file: ForeignFile, most: int | None = None) -> Iterator[_Line | None]:
    """The non-empty lines; None for one that is not an object."""
    data = file.data.removeprefix(BOM)
    lines = data.split(b"\n") if most is None else data.split(b"\n", most)[:most]
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text:
            value = decode_json(text.decode("utf-8", "replace"))
            yield _line_of(number, text, value) if isinstance(value, dict) else None


def _line_of(number: int, text: bytes, value: dict[str, Any]) -> _Line:
    found = next(((k, s) for k in _SIDES if (s := side_named(value.get(k)))), None)
    at = next((t for k in _TIMES if (t := _as_seconds(value.get(k))) is not None), None)
    if found is None:
        return _Line(number, text, value, None, None, is_spelled=True)
    key, side = found
    other_keys = {name: each for name, each in value.items() if name not in (key, *_TIMES)}
    held = next((value[k] for k in _CONTENTS if isinstance(value.get(k), str | dict)), None)
    content = other_keys if key != "type" and shown_by_messages([other_keys]) is not None else held
    if isinstance(content, str):
        return _Line(number, content.encode(), decode_json(content), side, at, is_spelled=True)
    if content is None:
        return _Line(number, text, value, None, None, is_spelled=True)
    return _Line(number, msgspec.json.encode(content), content, side, at, is_spelled=False)


def _as_seconds(value: Any) -> float | None:
    if is_time(value):
        return value / 1e3 if value > _MILLISECONDS else value if value > _SECONDS else None
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


IMPORTER: Final = Importer(
    "messages",
    (".jsonl", ".ndjson", ".json", ""),
    _holds_messages,
    _read_messages,
    says="messages of a WebSocket, one a line of JSON, with `from`, `direction` or `type` of each",
    trusted="`text` for messages in strings, else `events`",
    keeps="requests, times",
)
