"""Rebuilds the SSE framing of recordings that kept the payloads of events only.

The envelope follows from the payload: some dialects name each event in an `event:` line, some end
with `[DONE]`. The places of values in a JSON file are found without a parser of our own: elements
of an array follow each other, so each is searched after the one before, in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

import msgspec

from conformance.cassette.positions import Layout
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Frame
from conformance.dialects import SUPPORTED, recognise
from conformance.dialects.gemini_generate.sdk_objects import as_sent

DONE: Final = b"[DONE]"
# A string, or the white space between tokens.
_TOKEN: Final = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")|[ \t\r\n]++', re.DOTALL)
_ADDED_DONE: Final = "a final [DONE] was added with the rebuilt framing"
_ENVELOPES: Final = tuple(dialect.envelope for dialect in SUPPORTED.values())


_BARE: Final = Frame("event", "message", "", "", 0)

_Fields = dict[str, msgspec.Raw]


def spoken_dialect(payload: Any) -> str | None:
    """The dialect that a payload shows by itself, without its frame."""
    return recognise(_BARE, payload)


def sends_lines(dialect: str | None) -> bool:
    """Whether streams of a dialect are lines of JSON."""
    return dialect is not None and dialect in SUPPORTED and SUPPORTED[dialect].framing == "lines"


class Payload(NamedTuple):
    """One event with its framing, and the 1-based line of the file on which it stands."""

    line: int
    frame: bytes
    finishes: bool
    is_done: bool

    @classmethod
    def of(cls, line: int, text: bytes, value: Any) -> Payload:
        """`value` is the decoded text, None if it is not JSON."""
        if (sent := as_sent(value)) is not None:
            value, text = sent, msgspec.json.encode(sent)
        finishes = any(envelope.finishes(value) for envelope in _ENVELOPES)
        return cls(line, _sse_frame(value, text), finishes, text == DONE)


class Rebuilt(NamedTuple):
    """The body, where its events came from, and what the reader of the recording should know."""

    body: bytes
    layout: Layout
    notes: tuple[str, ...] = ()


def rebuild(file: str, lines: bytes) -> Rebuilt:
    """SSE for these lines. Raises CassetteError with the line that is not a JSON value."""
    payloads = [
        Payload.of(number, text, None if text == DONE else _json_value(file, number, text))
        for number, line in enumerate(lines.split(b"\n"), 1)
        if (text := line.strip())
    ]
    if not payloads:
        raise CassetteError("expected one JSON value a line, got none", place=Place(file, 1))
    return reframe(payloads)


def reframe(payloads: Sequence[Payload], *, whole: bool = True) -> Rebuilt:
    """SSE for these payloads, at least one. Only a `whole` stream is given the end it lacks."""
    added = whole and any(each.finishes for each in payloads) and not payloads[-1].is_done
    if added:
        payloads = [*payloads, Payload.of(payloads[-1].line, DONE, None)]
    notes = (_ADDED_DONE,) if added else ()
    return join_frames([each.frame for each in payloads], [each.line for each in payloads], notes)


def _sse_frame(value: Any, text: bytes) -> bytes:
    data = b"".join(b"data: %b\n" % line for line in text.splitlines() or [b""])
    return b"".join((_event_line(value), data, b"\n"))


def _event_line(value: Any) -> bytes:
    kind = value.get("type") if isinstance(value, dict) else None
    # A name from outside must not end its line.
    if not isinstance(kind, str) or not kind.isprintable():
        return b""
    named = any(envelope.is_named(kind) for envelope in _ENVELOPES)
    return f"event: {kind}\n".encode() if named else b""


def join_frames(
    frames: Sequence[bytes], numbers: Sequence[int], notes: tuple[str, ...] = ()
) -> Rebuilt:
    """The body made of these frames, from these 1-based lines."""
    offsets = tuple(accumulate(map(len, frames[:-1]), initial=0))
    return Rebuilt(b"".join(frames), Layout(numbers[0], offsets, tuple(numbers)), notes)


def _json_value(file: str, number: int, text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        message = f"expected one JSON value a line: {err}"
        shown = text[:200].decode("utf-8", "replace")
        raise CassetteError(message, place=Place(file, number), text=shown) from err


class TextPart(NamedTuple):
    """A value as it is spelled, and the 1-based line on which it begins."""

    line: int
    raw: bytes

    @property
    def compact(self) -> bytes:
        """The value on one line."""
        return _TOKEN.sub(lambda token: token[1] or b"", self.raw)


def part(data: bytes, *path: str | int) -> TextPart:
    """The value at a path of keys and places. LookupError if there is none; `data` is JSON."""
    raw, at = data, 0
    for key in path:
        inner = _inner(raw, key)
        at += raw.index(inner)
        raw = inner
    return TextPart(1 + data.count(b"\n", 0, at), raw)


def _inner(raw: bytes, key: str | int) -> bytes:
    if isinstance(key, int):
        return bytes(msgspec.json.decode(raw, type=list[msgspec.Raw])[key])
    return bytes(msgspec.json.decode(raw, type=_Fields)[key])


def array_elements(data: bytes, *path: str | int) -> Iterator[TextPart]:
    """The elements of the array at a path of keys, read one by one; as `part`."""
    line, raw = part(data, *path)
    at = 0
    for element in map(bytes, msgspec.json.decode(raw, type=list[msgspec.Raw])):
        start = raw.index(element, at)
        line += raw.count(b"\n", at, start)
        yield TextPart(line, element)
        line += element.count(b"\n")
        at = start + len(element)
