"""Rebuilds the SSE framing of recordings that kept the payloads only, one JSON value a line.

What the envelope was follows from the payload: Responses and Anthropic Messages name each event
in an `event:` line, Chat Completions ends with `[DONE]` once a choice has finished.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from conformance.cassette.positions import Layout
from conformance.errors import CassetteError, Place

DONE: Final = b"[DONE]"
_NAMED: Final = frozenset(
    {
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "error",
        "message_delta",
        "message_start",
        "message_stop",
        "ping",
    }
)


class Rebuilt(NamedTuple):
    """The SSE body, where its events came from, and whether the last one is ours."""

    body: bytes
    layout: Layout
    added_done: bool


def rebuild(file: str, lines: bytes) -> Rebuilt:
    """SSE for these lines. Raises CassetteError with the line that is no JSON value."""
    frames: list[bytes] = []
    numbers: list[int] = []
    unfinished, done = True, False
    for number, line in enumerate(lines.split(b"\n"), 1):
        text = line.strip()
        if not text:
            continue
        done = text == DONE
        value = None if done else _value(file, number, text)
        unfinished = unfinished and not _finishes(value)
        frames.append(_frame(value, text))
        numbers.append(number)
    if not frames:
        raise CassetteError("expected one JSON value a line, got none", place=Place(file, 1))
    added = not (unfinished or done)
    if added:
        frames.append(_frame(None, DONE))
        numbers.append(numbers[-1])
    return Rebuilt(b"".join(frames), _layout(frames, numbers), added)


def _frame(value: Any, text: bytes) -> bytes:
    return b"".join((_event_line(value), b"data: ", text, b"\n\n"))


def _event_line(value: Any) -> bytes:
    kind = value.get("type") if isinstance(value, dict) else None
    # A name from outside must not end its line.
    if not isinstance(kind, str) or not kind.isprintable():
        return b""
    named = kind.startswith("response.") or kind in _NAMED
    return f"event: {kind}\n".encode() if named else b""


def _finishes(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("object") != "chat.completion.chunk":
        return False
    choices = value.get("choices")
    if not isinstance(choices, list):
        return False
    return any(isinstance(one, dict) and one.get("finish_reason") for one in choices)


def _layout(frames: list[bytes], numbers: list[int]) -> Layout:
    offsets, at = [], 0
    for frame in frames:
        offsets.append(at)
        at += len(frame)
    return Layout(numbers[0], tuple(offsets), tuple(numbers))


def _value(file: str, number: int, text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        message = f"expected one JSON value a line: {err}"
        raise CassetteError(message, place=Place(file, number), text=_shown(text)) from err


def _shown(text: bytes) -> str:
    return text[:200].decode("utf-8", "replace")
