"""Decides, once per exchange, how its bytes are split into frames.

`sse`    server-sent events (`sse.py`)
`lines`  one JSON value a line (`lines.py`)
`text`   raw text with markers (`text.py`)
`array`  one JSON array that grows, element by element (`elements.py`)
`binary` messages of an AWS event stream (`binary.py`)
`body`   one JSON value, which is one frame

The rules apply in this order:
Rule 1: the content type of an event stream means `sse`, that of an AWS event stream `binary`,
whatever the bytes are; but a refusal (status 400 and above) sent as an event stream whose first
byte is `{` or `[` is a body.
Rule 2: the content type of lines means `lines`, unless the first bytes are a field of an event
stream.
Rule 3: the content type of JSON means `body`, unless a field of an event stream or a comment comes
first, which JSON cannot begin with. With any other content type, or none, the first byte that is
not white space decides: `{` or `[` begin a body, U+001E a line, U+0000 a binary message (whose
length comes first), `<|` raw text, everything else an event stream. Where raw text is expected,
everything else is raw text too, unless a field of an event stream or a comment may begin there.
Rule 4: a body by rule 3 is `lines` if a second value follows the first on its own line. One line of
NDJSON and a body on one line look the same; if nothing follows and the content type is unclear, the
request decides. The end of the first line and the bytes after it are enough to tell them apart: in
one JSON value no line end comes between `}` or `]` and `{` or `[`.
Rule 5: what is a body by rule 3 is an `array` where it begins with `[` and an object, and an array
was requested; so too where the content type is JSON and the request is unknown.
Rule 6: what follows the upgrade to a WebSocket is `lines`: each message of an answer is one.
A file's suffix speaks through the content type that its importer gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from conformance.core.binary import MessageParser
from conformance.core.clock import chunk_times
from conformance.core.elements import ElementParser
from conformance.core.events import Exchange, Frame, Response
from conformance.core.lines import BOM, LineParser
from conformance.core.sse import Parser
from conformance.core.text import MARKER_BEGINNING, TextParser

Framing = Literal["sse", "lines", "array", "text", "binary", "body"]

MOST_BODY_BYTES: Final = 64 * 1024 * 1024
_REFUSED: Final = 400
_MOST_WHITE_SPACE: Final = 4096  # bytes after which a response counts as a stream
_BYTES_AT_ONCE: Final = 1 << 13
_BYTES_AT_FIRST: Final = 1 << 10
_LINE_TYPES: Final = ("ndjson", "jsonl", "json-lines", "json-seq", "stream+json")
_OPENING: Final = (b"{", b"[")
_CLOSING: Final = (b"}", b"]")
_SSE_BEGINNINGS: Final = (b"d", b"e", b"i", b"r", b":")  # data, event, id, retry, a comment
_SSE_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
_FRAMED_BY: Final[Mapping[bytes, Framing]] = {b"\x1e": "lines", b"\0": "binary"}
"""First bytes that begin no text: a record separator, a length."""
_CONTENT_TYPES: Final[Mapping[str, Framing]] = {
    "event-stream": "sse",
    "vnd.amazon.eventstream": "binary",
    **dict.fromkeys(_LINE_TYPES, "lines"),
    "json": "body",
}
"""What a content type holds -> what it says; the first that fits."""


def stated_framing(response: Response | None) -> Framing | None:
    """What the content type says by itself; None where it leaves it to the bytes."""
    if response and response.is_upgrade:
        return "lines"
    kind = (response.header("content-type") or "").lower() if response else ""
    return next((framing for name, framing in _CONTENT_TYPES.items() if name in kind), None)


class FramingDecision:
    """Decides by the rules above while bytes come in, in any pieces; holds next to nothing.

    `expected` is what the request asks for, None where that is not known. `framing` is None until
    it is decided.
    """

    def __init__(self, response: Response | None, expected: Framing | None = None) -> None:
        self._stated = stated_framing(response)
        self._expected = expected
        self._head = b""  # white space, or part of a BOM
        self._last = b""  # byte of the first line that is no white space
        self._stage: Literal["head", "first line", "second value"] = "head"
        status = response.status if response else None
        is_upgrade = response is not None and response.is_upgrade
        self._may_refuse = (status or 0) >= _REFUSED
        # With a JSON type and no request, an array of objects is taken for one that grows.
        self._may_grow = expected == "array" or (self._stated == "body" and expected is None)
        is_known = self._stated == "binary" or is_upgrade
        is_known = is_known or (self._stated == "sse" and not self._may_refuse)
        self.framing: Framing | None = self._stated if is_known else None

    def feed(self, data: bytes) -> Framing | None:
        """Takes the next bytes; the framing, as soon as they decide it."""
        if self.framing is None:
            self.framing = self._decide_next(data)
        return self.framing

    def close(self) -> Framing:
        if self.framing is None:
            expected = self._expected if self._stated is None else None
            ambiguous: Framing = expected if expected == "lines" else "body"
            begun: Framing = "array" if self._head.strip().endswith(b"[") else self._stated or "sse"
            self.framing = begun if self._stage == "head" else ambiguous
        return self.framing

    def _decide_next(self, data: bytes) -> Framing | None:
        if self._stage == "head":
            self._head += data
            data = self._head.removeprefix(BOM).lstrip()
            if not data or BOM.startswith(self._head):
                is_stream = len(self._head) >= _MOST_WHITE_SPACE
                return (self._stated or "sse") if is_stream else None
            if data == MARKER_BEGINNING[:1] or self._may_be_field(data):
                return None
            if (framing := self._by_first_bytes(data)) is not None:
                return framing
            if self._may_grow and data[:1] == b"[":
                second = data[1:].lstrip()[:1]
                if second == b"{":
                    return "array"
                if not second and len(self._head) < _MOST_WHITE_SPACE:
                    return None
            self._head, self._stage = b"", "first line"
        return self._by_second_value(data)

    def _by_second_value(self, data: bytes) -> Framing | None:
        """What the end of the first line decides, and what comes after it."""
        if self._stage == "first line":
            line, ended, data = data.partition(b"\n")
            self._last = line.rstrip()[-1:] or self._last
            if not ended:
                return None
            if self._last not in _CLOSING:
                return "body"
            if self._stated is None and self._expected == "lines":
                return "lines"
            self._stage = "second value"
        following = data.lstrip()[:1]
        return ("lines" if following in _OPENING else "body") if following else None

    def _may_be_field(self, data: bytes) -> bool:
        """Whether what is labelled JSON may begin a field of an event stream, without its colon."""
        return self._stated == "body" and any(
            len(data) < len(name) and name.startswith(data) for name in _SSE_FIELDS
        )

    def _by_first_bytes(self, data: bytes) -> Framing | None:
        """What the first bytes decide; None where a JSON value begins that may be a body."""
        first, beginning = data[:1], data[:2]
        if self._stated == "lines":
            return "sse" if first in _SSE_BEGINNINGS else "lines"
        if first in _OPENING:
            return "body" if self._stated == "sse" else None
        if self._stated in ("sse", "body"):
            is_stream = self._stated == "sse" or data.startswith(_SSE_FIELDS)
            return "sse" if is_stream else "body"
        if beginning == MARKER_BEGINNING:
            return "text"
        if first in _FRAMED_BY:
            return _FRAMED_BY[first]
        return "text" if self._expected == "text" and first not in _SSE_BEGINNINGS else "sse"


class _BodyParser:
    """One JSON value: a frame at the end, without a BOM. Beyond `MOST_BODY_BYTES` it is cut off."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Sequence[Frame]:
        if len(self._data) < MOST_BODY_BYTES:
            self._data += data
        return ()

    def close(self) -> Sequence[Frame]:
        data, self._data = bytes(self._data), bytearray()
        offset = len(BOM) if data.startswith(BOM) else 0
        text = data[offset:].decode("utf-8", "replace")
        return (Frame("body", "message", text, "", offset),) if text.strip() else ()


_AnyParser = Parser | LineParser | ElementParser | TextParser | MessageParser | _BodyParser
_PARSERS: Final[Mapping[Framing, Callable[[], _AnyParser]]] = {
    "sse": Parser,
    "lines": LineParser,
    "array": ElementParser,
    "text": TextParser,
    "binary": MessageParser,
    "body": _BodyParser,
}


class Framer:
    """Bytes to frames. Nothing is read before the framing is decided, but at the end.

    Bytes that are nothing but white space are no frame. `framing` is given where it is known
    already; it stays None while it is undecided.
    """

    def __init__(
        self,
        response: Response | None = None,
        *,
        expected: Framing | None = None,
        framing: Framing | None = None,
    ) -> None:
        self._decision = FramingDecision(response, expected)
        self._waiting: list[tuple[bytes, Any]] = []
        self._parser: _AnyParser | None = None
        self.framing: Framing | None = None
        if known := framing or self._decision.framing:
            self._begin_framing(known)

    @property
    def stream(self) -> Parser | LineParser | None:
        """The parser of events or lines; None for another framing, or before it is decided."""
        return self._parser if isinstance(self._parser, Parser | LineParser) else None

    @property
    def sse(self) -> Parser | None:
        """The parser of an event stream; None for another framing, or while it is undecided."""
        return self._parser if isinstance(self._parser, Parser) else None

    def settle(self, data: bytes, mark: Any) -> Sequence[tuple[bytes, Any]]:
        """The pieces to be read now: none while the framing is undecided, then all that waited.

        `mark` is handed back with its piece: when it came, for example.
        """
        if self._parser is not None:
            return ((data, mark),)
        self._waiting.append((data, mark))
        framing = self._decision.feed(data)
        return self._begin_framing(framing) if framing else ()

    def settle_at_end(self) -> Sequence[tuple[bytes, Any]]:
        """The pieces that waited in vain, now that no more bytes come."""
        if not any(data.strip() for data, _ in self._waiting):
            return ()
        return self._begin_framing(self._decision.close())

    def feed(self, data: bytes) -> Sequence[Frame]:
        if self._parser is not None:
            return self._parser.feed(data)
        return self._read_pieces(self.settle(data, None))

    def close(self) -> Sequence[Frame]:
        """The frames that the end of the stream completes."""
        frames = self._read_pieces(self.settle_at_end())
        return frames if self._parser is None else (*frames, *self._parser.close())

    def _begin_framing(self, framing: Framing) -> Sequence[tuple[bytes, Any]]:
        self.framing = framing
        self._parser = _PARSERS[framing]()
        waiting, self._waiting = self._waiting, []
        return waiting

    def _read_pieces(self, pieces: Sequence[tuple[bytes, Any]]) -> Sequence[Frame]:
        return [frame for data, _ in pieces if self._parser for frame in self._parser.feed(data)]


def framing_of(exchange: Exchange, expected: Framing | None = None) -> Framing:
    decision = FramingDecision(exchange.response, expected)
    decided = (decision.feed(chunk.data) for chunk in exchange.chunks)
    return next((framing for framing in decided if framing), None) or decision.close()


def exchange_frames(
    exchange: Exchange, expected: Framing | None = None
) -> Iterator[tuple[Frame, float | None]]:
    """Every frame of a recorded exchange, and when it came.

    A file without chunks is one long chunk: whoever takes the first frames pays for those alone.
    """
    framer = Framer(exchange.response, expected=expected)
    ms: float | None = 0.0
    for data, ms in chunk_times(exchange.chunks):
        for piece, came in framer.settle(data, ms):
            start, size = 0, _BYTES_AT_FIRST
            while start < len(piece):
                for frame in framer.feed(piece[start : start + size]):
                    yield frame, came
                start, size = start + size, _BYTES_AT_ONCE
    for frame in framer.close():
        yield frame, ms
