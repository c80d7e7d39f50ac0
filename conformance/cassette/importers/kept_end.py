"""The end of an event stream that was saved as a file.

The end of a file is not the end of a connection: editors and shells remove the last line end, and
the file does not record how the server ended. If the last event is complete except for its blank
line, it is accepted, with a note. Half an event stays half an event.

Some programs save the lines of a stream without the blank ones. If a file has several complete
events and no blank line at all, the blank lines are put back, with a note.
"""

from __future__ import annotations

from typing import Final

from conformance.core.json_values import decode_json
from conformance.core.sse import Parser

TAKEN: Final = (
    "the last event lacks its blank line, and is taken: a kept file is no closed connection"
)
REBUILT: Final = "no blank line ends an event in this file: they were put back"
_BLANK_LINES: Final = (b"\n\n", b"\n\r\n", b"\r\r")
_DONE: Final = "[DONE]"
_FIELDS: Final = (b"event:", b"id:", b"retry:", b":")


def missing_end(body: bytes) -> bytes:
    """The line ends that a whole last event lacks; nothing where it has them, or is not whole."""
    tail = body[max(0, *(body.rfind(each) for each in _BLANK_LINES)) :]
    parser = Parser()
    parser.feed(tail)
    if not parser.close():
        return b""
    lacking = _lacking_ends(tail)
    frames = Parser().feed(tail + lacking)
    is_whole = bool(frames) and all(frame.kind in ("event", "comment") for frame in frames)
    return lacking if is_whole and _is_value(frames[-1].data) else b""


def _lacking_ends(tail: bytes) -> bytes:
    """As the lines before end; the tail of one may have kept the CR of its end."""
    end = b"\r\n" if b"\r\n" in tail else b"\r" if b"\r" in tail and b"\n" not in tail else b"\n"
    if tail.endswith(end):
        return end
    return b"\n\r\n" if end == b"\r\n" and tail.endswith(b"\r") else end * 2


def _is_value(data: str) -> bool:
    return data.rstrip() == _DONE or isinstance(decode_json(data), dict | list)


def without_blank_lines(body: bytes) -> list[bytes] | None:
    """The events of a stream whose blank lines were dropped; None where it is not so.

    A line `event:` or `id:` begins an event, `data:` ends it: each holds one whole value.
    """
    if any(each in body.rstrip(b"\r\n") for each in _BLANK_LINES):
        return None  # as nearly always: seen before the lines are cut
    lines = body.rstrip(b"\r\n").splitlines(keepends=True)
    if len(lines) < 2 or any(not line.strip() for line in lines):
        return None
    events: list[list[bytes]] = []
    for line in lines:
        is_data = line.startswith(b"data:")
        if not events or events[-1][-1].startswith(b"data:"):
            events.append([])
        if not is_data and not line.startswith(_FIELDS):
            return None
        events[-1].append(line)
    whole = [each for each in events if _is_value(_data_of(each[-1]))]
    return [b"".join(each) for each in events] if len(whole) == len(events) > 1 else None


def _data_of(line: bytes) -> str:
    return line.removeprefix(b"data:").strip().decode("utf-8", "replace")
