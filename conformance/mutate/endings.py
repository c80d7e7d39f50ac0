"""Operators on how streams end: terminators, token counts, errors, and streams that are cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from conformance.core.events import Ending
from conformance.core.json_values import Path, value_at
from conformance.editing.chunks import finish_places
from conformance.editing.deltas import delta_places
from conformance.editing.edits import double_piece, drop_piece
from conformance.editing.operator import OperatorTable, Outlook, Sites
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_SHORT: Final = 16  # bytes of an event that is hardly worth cutting
_BROKEN_OFF: Final[tuple[tuple[str, str, Ending, Outlook], ...]] = (
    ("E3-ends-early", "The stream ends cleanly in the middle.", "eof", "kill"),
    ("E4-reset", "The connection is reset in the middle.", "reset", "kill"),
    ("E6-client-closed", "The client closes in the middle.", "client-closed", "pass"),
    ("E6-recorder-died", "The recording stops in the middle.", "open", "pass"),
    ("E7-silence", "The server falls silent in the middle.", "idle-timeout", "kill"),
    ("E7-protocol-error", "The transfer coding breaks in the middle.", "protocol-error", "kill"),
)


ENDINGS: Final = OperatorTable()


def _last_sentinel(stream: Stream) -> list[int]:
    return stream.sentinels()[-1:]


def _end_places(stream: Stream) -> list[int]:
    """Terminal events, or chunks that finish."""
    return stream.terminals() or finish_places(stream)


def _counting_events(stream: Stream) -> list[int]:
    """Events with usage that counts reasoning tokens where thinking was streamed."""
    if not delta_places(stream, "thinking"):
        return []
    return [n for n, _ in stream.events() if _count_path(stream, n)]


def _count_path(stream: Stream, place: int) -> Path:
    payload = stream.pieces[place].payload
    paths = stream.layout.reasoning_tokens
    return next((path for path in paths if value_at(payload, *path)), ())


@ENDINGS.edit("U7-thinking-overcounted", _counting_events)
def _count_too_much(stream: Stream, site: int) -> Stream:
    """Usage counts more reasoning than output tokens."""
    path = _count_path(stream, site)
    return stream.with_value(site, path, stream.value_at(site, *path) + 100_000)


def _after_end(stream: Stream) -> list[int]:
    """After the last event, where a stream of deltas can be followed by one more."""
    has_ended = bool(_end_places(stream)) and not stream.is_body
    return [len(stream.pieces)] if has_ended and delta_places(stream) else []


def _middle_events(stream: Stream) -> list[int]:
    """Events after the first that a stream may break off before."""
    found = [n for n, piece in stream.events() if piece.kind != "body"]
    ends = _end_places(stream)
    return [n for n in found[1:] if ends and n <= ends[0]]


def _in_thinking(stream: Stream) -> list[int]:
    middle = set(_middle_events(stream))
    return [n for n in delta_places(stream, "thinking") if n in middle]


def _if_final(sites: Sites) -> Sites:
    """These places, where an error ends a stream of the dialect."""
    return lambda stream: sites(stream) if stream.layout.error_ends else ()


def _end_before(how: Ending) -> Callable[[Stream, int], Stream]:
    def edit(stream: Stream, site: int) -> Stream:
        cut = stream.with_pieces(stream.pieces[:site])
        return replace(cut, exchange=replace(cut.exchange, end=how))

    return edit


def _error_event(stream: Stream, site: int) -> Piece:
    """An error event in the dialect's own form, as it would come at this place."""
    error = stream.layout.error("The model is overloaded.", "server_error")
    event = stream.pieces[site].with_payload(stream.numbered(site, error))
    return event.as_raised(stream.layout.raised) if stream.layout.raised else event


def _end_with_error(stream: Stream, site: int) -> Stream:
    """The stream ends with an error event."""
    return stream.with_pieces([*stream.pieces[:site], _error_event(stream, site)])


def _go_on_after_error(stream: Stream, site: int) -> Stream:
    """Behind an error event the stream goes on."""
    return stream.insert(site, _error_event(stream, site))


def _long_events(stream: Stream) -> list[int]:
    return [n for n in _middle_events(stream) if len(stream.pieces[n].raw) > _SHORT]


@ENDINGS.edit("E5-ends-inside-event", _long_events)
def _end_inside(stream: Stream, site: int) -> Stream:
    """The stream ends inside an event."""
    raw = stream.pieces[site].raw
    return stream.with_pieces([*stream.pieces[:site], Piece(raw[: max(8, len(raw) // 2)])])


def _whole_streams(stream: Stream) -> list[int]:
    return [] if stream.is_body or stream.exchange.end != "eof" else [0]


@ENDINGS.edit("E4-reset-at-the-end", _whole_streams)
def _reset_at_end(stream: Stream, _site: int) -> Stream:
    """The connection is reset after the last event."""
    return replace(stream, exchange=replace(stream.exchange, end="reset"))


ENDINGS.add("U1-done-twice", "The [DONE] line comes twice.")(_last_sentinel, double_piece)
ENDINGS.add("U2-no-done", "The [DONE] line is lost.")(_last_sentinel, drop_piece)
ENDINGS.add("E1-error-in-thinking", "An error event ends the stream inside the thinking.", "pass")(
    _if_final(_in_thinking), _end_with_error
)
ENDINGS.add("E1-error", "An error event ends the stream.", "pass")(
    _if_final(_middle_events), _end_with_error
)
ENDINGS.add("E8-error-swallowed", "An error event comes, and the stream goes on to a good end.")(
    _if_final(_middle_events), _go_on_after_error
)
for _name, _says, _how, _must in _BROKEN_OFF:
    ENDINGS.add(_name, _says, _must)(_middle_events, _end_before(_how))
ENDINGS.add("U7-thinking-not-counted", "Usage counts no reasoning tokens.")(
    _counting_events, lambda stream, site: stream.with_value(site, _count_path(stream, site), 0)
)
ENDINGS.add("U8-after-the-end", "A delta comes after the end.")(
    _after_end, lambda stream, site: stream.insert(site, stream.pieces[delta_places(stream)[-1]])
)
