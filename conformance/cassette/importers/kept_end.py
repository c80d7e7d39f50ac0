"""The end of an event stream that somebody kept as a file.

A kept file is no closed connection: editors and shells take the last line end off, and nobody wrote
down how the server ended. Where the last event lacks its blank line alone and is whole by itself,
it is taken, and a note says so. Half an event stays half an event.
"""

from __future__ import annotations

from typing import Final

from conformance.core.json_values import decode_json
from conformance.core.sse import Parser

TAKEN: Final = (
    "the last event lacks its blank line, and is taken: a kept file is no closed connection"
)
_BLANK_LINES: Final = (b"\n\n", b"\n\r\n", b"\r\r")
_DONE: Final = "[DONE]"


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
    return data == _DONE or isinstance(decode_json(data), dict | list)
