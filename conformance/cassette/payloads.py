"""Rebuilds the SSE framing of recordings that kept the payloads of events only.

What the envelope was follows from the payload: some dialects name each event in an `event:` line,
some end with `[DONE]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from conformance.cassette.positions import Layout
from conformance.core.errors import CassetteError, Place
from conformance.dialects import SUPPORTED

DONE: Final = b"[DONE]"
_ENVELOPES: Final = tuple(dialect.envelope for dialect in SUPPORTED.values())


class Payload(NamedTuple):
    """One event with its framing, and the 1-based line of the file on which it stands."""

    line: int
    frame: bytes
    finishes: bool
    is_done: bool

    @classmethod
    def of(cls, line: int, text: bytes, value: Any) -> Payload:
        """`value` is the text decoded, None where it is no JSON."""
        return cls(line, _sse_frame(value, text), _has_finish(value), text == DONE)


class Rebuilt(NamedTuple):
    """The SSE body, where its events came from, and whether the last one is ours."""

    body: bytes
    layout: Layout
    added_done: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of the recording should know."""
        return ("a final [DONE] was added with the rebuilt framing",) if self.added_done else ()


def rebuild(file: str, lines: bytes) -> Rebuilt:
    """SSE for these lines. Raises CassetteError with the line that is no JSON value."""
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
    frames = [each.frame for each in payloads]
    return Rebuilt(b"".join(frames), layout_of(frames, [each.line for each in payloads]), added)


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


def _has_finish(value: Any) -> bool:
    return any(envelope.finishes(value) for envelope in _ENVELOPES)


def layout_of(frames: Sequence[bytes], numbers: Sequence[int]) -> Layout:
    """The layout of a body made of these frames, from these 1-based lines."""
    offsets, at = [], 0
    for frame in frames:
        offsets.append(at)
        at += len(frame)
    return Layout(numbers[0], tuple(offsets), tuple(numbers))


def _json_value(file: str, number: int, text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        message = f"expected one JSON value a line: {err}"
        raise CassetteError(message, place=Place(file, number), text=_shown_text(text)) from err


def _shown_text(text: bytes) -> str:
    return text[:200].decode("utf-8", "replace")
