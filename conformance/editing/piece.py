"""One event of a recorded response with its bytes.

An edited payload is written compactly on one line of data. The other lines of its piece keep their
bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from conformance.core.binary import (
    EVENT_TYPE,
    EXCEPTION_TYPE,
    MESSAGE_TYPE,
    with_event_text,
    with_text_header,
)
from conformance.core.json_values import NOT_JSON, text_at, value_at

_LINES: Final = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_LAST_LINE_END: Final = re.compile(rb"(?:\r\n|\n|\r)?$")


def stated_type(payload: Any) -> str:
    return text_at(payload, "type")


class Piece(Struct, frozen=True):
    """One event, line, comment, ignored block or body, with the bytes up to the next one.

    `name` is what an `event:` line says, `payload` the decoded JSON or NOT_JSON; of raw text it is
    the text. `type_of` says where a payload states its type.
    """

    raw: bytes
    kind: str = "ignored"
    name: str = ""
    payload: Any = NOT_JSON
    type_of: Callable[[Any], str] = stated_type

    @property
    def type(self) -> str:
        """The type that the payload states, or the headers do; empty where neither does."""
        stated = self.type_of(self.payload)
        return stated or (self.name if self.kind == "binary" else "")

    def with_payload(self, payload: Any) -> Piece:
        """Another payload; an event line that named the type names the new one."""
        text = payload.encode() if self.kind == "text" else msgspec.json.encode(payload)
        if self.kind in ("text", "body"):
            return replace(self, raw=text, payload=payload)
        if self.kind == "binary":
            return replace(self, raw=with_event_text(self.raw, text), payload=payload)
        edited = replace(self, raw=_replace_data(self.raw, text, self.kind), payload=payload)
        return edited.with_name(edited.type) if self.name and self.name == self.type else edited

    def with_name(self, name: str) -> Piece:
        """Another event line, or header; empty: none."""
        if self.kind == "binary":
            return replace(self, raw=with_text_header(self.raw, EVENT_TYPE, name), name=name)
        lines: list[bytes] = [*_LINES.findall(self.raw)]
        kept = [line for line in lines if not line.startswith(b"event")]
        if name:
            kept.insert(0, f"event: {name}".encode() + line_end(self.raw))
        return replace(self, raw=b"".join(kept), name=name)

    def as_raised(self, name: str) -> Piece:
        """A binary message that raises an exception of this name."""
        raised = with_text_header(self.with_name("").raw, EXCEPTION_TYPE, name)
        raw = with_text_header(raised, MESSAGE_TYPE, "exception")
        return replace(self, raw=raw, name=name)

    def as_sentinel(self, text: str) -> Piece:
        """A sentinel written as this piece is."""
        unnamed = self.with_name("").raw
        return Piece(_replace_data(unnamed, text.encode(), self.kind), self.kind)

    def number(self, key: str) -> int | None:
        """The sequence number under this key; None where there is none."""
        number = value_at(self.payload, key)
        return number if isinstance(number, int) and not isinstance(number, bool) else None

    def with_number(self, key: str, number: int) -> Piece:
        """Another sequence number, and else the same bytes."""
        if number == self.number(key):
            return self
        payload = {**self.payload, key: number}
        digits = re.compile(rb'("%b"\s*:\s*)\d+' % key.encode())
        raw, found = digits.subn(rb"\g<1>%d" % number, self.raw)
        return replace(self, raw=raw, payload=payload) if found == 1 else self.with_payload(payload)


def line_end(raw: bytes) -> bytes:
    """The first line end in these bytes; LF where there is none."""
    ending = _LINE_END.search(raw)
    return ending[0] if ending else b"\n"


def _replace_data(raw: bytes, text: bytes, kind: str) -> bytes:
    """The lines of a piece with other data, on the first of its lines of data."""
    if kind == "element":  # the comma after it, or the end of the array, is part of its piece
        return text + raw[raw.rindex(b"}") + 1 :]
    if kind == "line":
        separator = raw[: raw.startswith(b"\x1e")]  # of JSON text sequences, RFC 7464
        return separator + text + _last_line_end(raw)
    lines, is_written = [], False
    for line in _LINES.findall(raw):
        if not line.startswith(b"data"):
            lines.append(line)
        elif not is_written:
            is_written = True
            has_space = not line.startswith(b"data:") or line.startswith(b"data: ")
            lines.append((b"data: " if has_space else b"data:") + text + _last_line_end(line))
    return b"".join(lines)


def _last_line_end(raw: bytes) -> bytes:
    ending = _LAST_LINE_END.search(raw)
    return ending[0] if ending else b""
