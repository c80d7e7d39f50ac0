"""Which dialect a recorded exchange speaks, by what its first frames show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from conformance.core.events import STREAMED, Exchange, Frame
from conformance.core.framing import exchange_frames
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.core.trace import frame_payload
from conformance.dialects import REFINED, SUPPORTED, recognise
from conformance.dialects.doubt import doubt
from conformance.dialects.json_edge import mapping
from conformance.dialects.unsupported import LOOKALIKES

FRAMES_TO_RECOGNISE: Final = 64
_MESSAGE: Final = Frame("line", "message", "", "", 0)


class _FirstPayloads:
    """The first frames of an exchange with their payloads; each is read once, when it is wanted."""

    def __init__(self, exchange: Exchange) -> None:
        self._unread = islice(exchange_frames(exchange), FRAMES_TO_RECOGNISE)
        self._read: list[tuple[Frame, Any]] = []

    def __iter__(self) -> Iterator[tuple[Frame, Any]]:
        yield from self._read
        for frame, _ in self._unread:
            if frame.kind in STREAMED or frame.kind == "body":
                self._read.append((frame, frame_payload(frame)))
                yield self._read[-1]


def recognised_dialect(exchange: Exchange) -> str | None:
    """The dialect that the first frames show, also one that is not supported yet.

    Where another dialect refines it, a later frame may show that it is this one. A stream that only
    begins like a dialect shows none.
    """
    shown, why_not = _shown_dialect(exchange)
    return None if why_not else shown


def doubted_dialect(exchange: Exchange) -> str | None:
    """The dialect that a stream only begins like, and why it is not of it, in one sentence."""
    shown, why_not = _shown_dialect(exchange)
    return f"it begins like {shown}, but {why_not}" if why_not else None


def _shown_dialect(exchange: Exchange) -> tuple[str | None, str | None]:
    """The dialect that a stream begins like, and why it is not of it."""
    if exchange.is_connection:
        return _shown_by_messages(exchange), None
    first = _FirstPayloads(exchange)
    shown = _shown_by_first(exchange, first)
    return shown, None if shown is None else doubt(first, shown)


def _shown_by_first(exchange: Exchange, first: _FirstPayloads) -> str | None:
    shown, mark = None, ""
    for frame, payload in first:
        if mark not in frame.data:
            continue
        name = None if payload is NOT_JSON else recognise(frame, payload)
        if name is not None and name != shown:
            if name in LOOKALIKES:
                return _distinguished(exchange, first, name)
            finer = REFINED.get(name)
            if finer is None or finer.refines is None:
                return name
            shown, mark = name, finer.refines.mark
            if mark.encode() not in exchange.body:
                return shown  # no frame has it either
    return shown


def _distinguished(exchange: Exchange, first: _FirstPayloads, shown: str) -> str:
    """The dialect shown, or the one that begins alike, where an early payload is of that alone."""
    marked = (
        each for each in LOOKALIKES[shown] if any(mark in exchange.body for mark in each.marks)
    )
    for other in marked:
        if any(other.claims(mapping(payload)) for _, payload in first):
            return other.name
    return shown


def _shown_by_messages(connection: Exchange) -> str | None:
    data = (each.data.decode("utf-8", "replace") for each in connection.chunks)
    return shown_by_messages(map(decode_json, data))


def shown_by_messages(payloads: Iterable[Any]) -> str | None:
    """The dialect that the first messages of a WebSocket show, of either side.

    An event decides; requests may look alike in several APIs, and count where no event comes.
    """
    requested = None
    for payload in islice(payloads, FRAMES_TO_RECOGNISE):
        if payload is not NOT_JSON:
            if (name := recognise(_MESSAGE, payload)) is not None:
                return name
            requested = requested or _dialect_of_request(payload)
    return requested


def _dialect_of_request(payload: Any) -> str | None:
    asking = (each for each in SUPPORTED.values() if each.socket and each.socket.claims(payload))
    return next((each.name for each in asking), None)
