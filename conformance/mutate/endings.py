"""Operators on errors and on streams that are cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from conformance.core.events import Ending
from conformance.mutate.chunks import finishes, said
from conformance.mutate.lifecycle import terminal
from conformance.mutate.operator import Operator, once
from conformance.mutate.stream import Piece, Stream
from conformance.mutate.texts import CHAT, MESSAGES, RESPONSES, deltas, joined
from conformance.mutate.told import told

_ENOUGH: Final = 40


def _middle(stream: Stream) -> list[int]:
    """Events after the first that a stream may break off before."""
    found = [n for n, piece in stream.events() if piece.kind == "event"]
    ends = terminal(stream) or finishes(stream)
    return [n for n in found[1:] if ends and n <= ends[0]]


def _thinking(stream: Stream) -> list[int]:
    return [n for n in (each.place for each in deltas(stream, "thinking")) if n in _middle(stream)]


def _ending(how: Ending) -> Callable[[Stream, int], Stream]:
    def edit(stream: Stream, site: int) -> Stream:
        cut = stream.with_pieces(stream.pieces[:site])
        return replace(cut, exchange=replace(cut.exchange, end=how))

    return edit


def _error_event(stream: Stream, site: int) -> Stream:
    """The stream ends with an error event in the dialect's own form."""
    fault: dict[str, Any] = {"message": "The model is overloaded.", "code": "server_error"}
    sample = stream.pieces[site]
    if stream.dialect == CHAT:
        error = sample.saying({"error": {**fault, "type": "server_error"}})
    elif stream.dialect == MESSAGES:
        error = sample.saying({"type": "error", "error": {**fault, "type": "overloaded_error"}})
    else:
        numbered = {} if sample.number is None else {"sequence_number": sample.number}
        error = sample.saying({"type": "error", **fault, "param": None, **numbered})
    return stream.with_pieces([*stream.pieces[:site], error])


def _inside(stream: Stream, site: int) -> Stream:
    """The stream ends in the middle of an event, cleanly."""
    raw = stream.pieces[site].raw
    return stream.with_pieces([*stream.pieces[:site], Piece(raw[: max(8, len(raw) // 2)])])


def _cut_events(stream: Stream) -> list[int]:
    return [n for n in _middle(stream) if len(stream.pieces[n].raw) > 16]


def _thought_enough(stream: Stream) -> list[int]:
    """The last delta of the answer, where there is so much thinking that a copy of it shows."""
    texts = deltas(stream, "text")
    choices = {each.group[0] for each in deltas(stream)} if stream.dialect == CHAT else {0}
    enough = len(joined(stream, "thinking")) >= _ENOUGH and texts and len(choices) == 1
    return [len(texts) - 1] if enough else []


def _thinking_as_text(stream: Stream, site: int) -> Stream:
    delta = deltas(stream, "text")[site]
    return told(stream, delta, f"{delta.text}\n{joined(stream, 'thinking')}")


def _only_thinking(stream: Stream) -> list[int]:
    """The finish of a stream that has thinking and no text."""
    enough = len(joined(stream, "thinking")) >= _ENOUGH and not deltas(stream, "text")
    return finishes(stream)[:1] if enough and not stream.is_body else []


def _sent_again(stream: Stream, site: int) -> Stream:
    text = joined(stream, "thinking")
    return stream.inserted(site, said(stream, site, {"content": text}))


def _interrupted(stream: Stream) -> list[int]:
    """Closing events of failed and incomplete responses that list items."""
    kinds = ("response.failed", "response.incomplete")
    return [n for n in stream.typed(*kinds) if stream.pieces[n].payload["response"].get("output")]


def _forgetful(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, {**payload, "response": {**payload["response"], "output": []}})


def _streamed(stream: Stream) -> Sequence[int]:
    return () if stream.is_body or stream.exchange.end != "eof" else once(stream)


def _broken(how: Ending) -> Callable[[Stream, int], Stream]:
    """Every byte came, and the connection broke all the same."""
    return lambda stream, _: replace(stream, exchange=replace(stream.exchange, end=how))


def _unannounced_failure(stream: Stream) -> list[int]:
    return stream.typed("response.completed")


def _silent_failure(stream: Stream, site: int) -> Stream:
    """The response fails, and the closing event still says completed."""
    payload = stream.pieces[site].payload
    failed = {**payload["response"], "status": "failed", "error": {"code": "server_error"}}
    return stream.changed(site, {**payload, "response": failed})


ENDINGS: Final = (
    Operator(
        "E1-error-in-thinking",
        "An error event ends the stream inside the thinking.",
        _thinking,
        _error_event,
        must="pass",
    ),
    Operator("E1-error", "An error event ends the stream.", _middle, _error_event, must="pass"),
    Operator(
        "E2-thinking-as-text",
        "The thinking is repeated as text.",
        _thought_enough,
        _thinking_as_text,
    ),
    Operator(
        "E2-cut-thinking-as-text",
        "Thinking that was cut off is sent again as text.",
        _only_thinking,
        _sent_again,
        (CHAT,),
    ),
    Operator("E3-ends-early", "The stream ends cleanly in the middle.", _middle, _ending("eof")),
    Operator("E4-reset", "The connection is reset in the middle.", _middle, _ending("reset")),
    Operator(
        "E4-reset-at-the-end",
        "The connection is reset after the last event.",
        _streamed,
        _broken("reset"),
    ),
    Operator("E5-ends-inside-event", "The stream ends inside an event.", _cut_events, _inside),
    Operator(
        "E6-client-closed",
        "The client closes in the middle.",
        _middle,
        _ending("client-closed"),
        must="pass",
    ),
    Operator(
        "E6-recorder-died",
        "The recording stops in the middle.",
        _middle,
        _ending("open"),
        must="pass",
    ),
    Operator(
        "E7-silence", "The server falls silent in the middle.", _middle, _ending("idle-timeout")
    ),
    Operator(
        "E7-protocol-error",
        "The transfer coding breaks in the middle.",
        _middle,
        _ending("protocol-error"),
    ),
    Operator(
        "E8-forgets-items",
        "An interrupted response forgets its items.",
        _interrupted,
        _forgetful,
        (RESPONSES,),
    ),
    Operator(
        "E9-silent-failure",
        "A failed response is closed as completed.",
        _unannounced_failure,
        _silent_failure,
        (RESPONSES,),
    ),
)
