"""The messages of a WebSocket in an entry of a recorder's file.

Those of `_webSocketMessages` of Chrome are in one list. Each has `type` (`send` or `receive`),
`time` in seconds, `opcode` and `data`, in base64 where the opcode is that of a binary message
(DevTools, `HARLog`; mitmproxy 11.0.2, `savehar.py`). Frames that hold no message are skipped.

claude-tap has two lists of values, and no order between them: the requests of a WebSocket are
answered in their order, so the client's may all come first.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from conformance.cassette.importers.recorders.coding import decode
from conformance.cassette.importers.recorders.entry import Entry
from conformance.cassette.importers.socket_messages import (
    BINARY,
    CLOSE,
    TEXT,
    GatheredMessages,
    closed_by,
    side_named,
)
from conformance.core.events import Ending, Side


class KeptSocket(NamedTuple):
    """The messages of one connection, how it ended, and how many could not be read."""

    gathered: GatheredMessages
    end: Ending
    unreadable: int


def kept_socket(entry: Entry, path: str) -> KeptSocket | None:
    """What an entry holds of a WebSocket; None where it holds none."""
    if ", " in path:
        return _of_two_lists(entry, *path.split(", "))
    values = entry.at(path)
    if not isinstance(values, list) or not values:  # then there may be a body instead
        return None
    parts = entry.parts_at(f"{path}[]")
    lines = [each.line for each in parts] if parts else [entry.line] * len(values)
    gathered = GatheredMessages()
    end: Ending = "eof"
    unreadable = 0
    for value, line in zip(values, lines, strict=True):
        side = side_named(value.get("type")) if isinstance(value, dict) else None
        opcode = value.get("opcode", TEXT) if side is not None else None
        if side is not None and opcode == CLOSE:
            end = closed_by(side, value.get("code"))
        elif side is not None and opcode in (TEXT, BINARY):
            data = _data_of(value, opcode)
            if data is None:
                unreadable += 1
            else:
                gathered.add(side, data, value.get("time"), line, binary=opcode == BINARY)
        elif not isinstance(opcode, int):
            unreadable += 1
    return KeptSocket(gathered, end, unreadable)


def _of_two_lists(entry: Entry, client: str, server: str) -> KeptSocket | None:
    if not isinstance(entry.at(server), list):
        return None
    gathered = GatheredMessages()
    sides: tuple[tuple[Side, str], ...] = (("client", client), ("server", server))
    for side, path in sides:
        kept = entry.at(path)
        for value in kept if isinstance(kept, list) else (kept,):
            gathered.add(side, json.dumps(value, ensure_ascii=False).encode(), None, entry.line)
    return KeptSocket(gathered, "eof", 0)


def _data_of(value: dict[str, Any], opcode: int) -> bytes | None:
    data = value.get("data")
    if not isinstance(data, str):
        return None
    try:
        return decode(data, "base64" if opcode == BINARY else "text")
    except ValueError:
        return None
