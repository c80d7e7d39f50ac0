"""Defects in what a client reports of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from ..event import Event
from .defect import Defect, Reports

AGREES: Final = "thinking/client/agrees-with-wire"
SHOWN: Final = "stripping/opt-in/shown-when-asked"
COUNTED: Final = "summary/client/parts-counted"
SUMMARY: Final = "summary/client/text-agrees"
SAID: Final = "thinking/start/text-said"
# Blocks that a defect makes up are numbered from here.
_MADE_UP: Final = 1000


def _each(edit: Callable[[Event], Iterable[Event]]) -> Callable[[], Reports]:
    """A door that remembers nothing."""
    return lambda: edit


def _with(event: Event, **fields: Any) -> Event:
    return Event(event.type, {**event.data, **fields}, event.choice)


def _beside(event: Event, kind: str, /, **data: Any) -> Event:
    return Event(kind, data, event.choice)


def _without(*kinds: str) -> Callable[[], Reports]:
    return _each(lambda event: () if event.type in kinds else (event,))


def _start_per_chunk() -> Reports:
    block = _MADE_UP

    def edit(event: Event) -> Iterator[Event]:
        nonlocal block
        if event.type == "thinking.delta":
            block += 1
            channel = event.data["channel"]
            yield _beside(event, "thinking.start", block=block, channel=channel, explicit=False)
            yield _with(event, block=block)
            yield _beside(event, "thinking.end", block=block, explicit=False)
        elif event.type not in ("thinking.start", "thinking.end"):
            yield event

    return edit


def _doubled(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "thinking.start":
        yield event


def _boundary() -> Reports:
    """The first delta of text after thinking is lost: it came in the chunk that ended it."""
    after_thinking = False

    def edit(event: Event) -> Iterator[Event]:
        nonlocal after_thinking
        if event.type == "text.delta" and after_thinking:
            after_thinking = False
            return
        after_thinking = event.type == "thinking.delta" or (
            after_thinking and event.type != "text.delta"
        )
        yield event

    return edit


def _text_on_role(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "message.start":
        yield _beside(event, "text.start", block=_MADE_UP)


def _message_per_chunk(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        yield _beside(event, "message.start", role="assistant")
    yield event


def _completed(event: Event) -> Iterator[Event]:
    if event.type == "cut":
        yield _beside(event, "finish", reason="stop")
        yield _beside(event, "done", explicit=False)
    else:
        yield event


def _marker() -> Reports:
    """The close marker of the thinking shows in front of the text that follows it."""
    after_thinking = False

    def edit(event: Event) -> Iterator[Event]:
        nonlocal after_thinking
        after_thinking = after_thinking or event.type == "thinking.delta"
        if event.type == "text.delta" and after_thinking:
            after_thinking = False
            event = _with(event, text="</think>" + event.data["text"])
        yield event

    return edit


def _one_part(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta" and event.data.get("part"):
        event = _with(event, part=0)
    if event.type != "thinking.part" or event.data["part"] == 0:
        yield event


def _opaque_as_text(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "thinking.opaque":
        yield _beside(event, "text.start", block=_MADE_UP)
        yield _beside(event, "text.delta", block=_MADE_UP, text=event.data["data"])
        yield _beside(event, "text.end", block=_MADE_UP)


def _opaque_starts() -> Reports:
    block = _MADE_UP

    def edit(event: Event) -> Iterator[Event]:
        nonlocal block
        if event.type == "thinking.opaque":
            block += 1
            start = {"block": block, "channel": "raw", "explicit": False}
            yield _beside(event, "thinking.start", **start)
            yield event
            yield _beside(event, "thinking.end", block=block, explicit=False)
        else:
            yield event

    return edit


def _reopened() -> Reports:
    """Thinking that comes later is added to the first block, which has ended."""
    first: dict[int, int] = {}

    def edit(event: Event) -> Iterator[Event]:
        if event.type == "thinking.start" and event.choice not in first:
            first[event.choice] = event.data["block"]
        elif event.type == "thinking.start":
            return
        if event.type in ("thinking.delta", "thinking.part", "thinking.end"):
            event = _with(event, block=first[event.choice])
        yield event

    return edit


def _empty(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        yield _with(event, text="")
    yield event


def _summed(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        event = _with(event, text=event.data["text"] * 2)
    yield event


def _stop(event: Event) -> Iterator[Event]:
    if event.type == "finish" and event.data["reason"] == "length":
        event = _with(event, reason="stop")
    yield event


def _as_text() -> Reports:
    """All thinking is reported as text of a block of its own."""

    def edit(event: Event) -> Iterator[Event]:
        kind = _AS_TEXT.get(event.type)
        if kind == "text.delta":
            yield _beside(event, kind, block=event.data["block"], text=event.data["text"])
        elif kind:
            yield _beside(event, kind, block=event.data["block"])
        elif event.type != "thinking.part":
            yield event

    return edit


_AS_TEXT: Final[Mapping[str, str]] = {
    "thinking.start": "text.start",
    "thinking.delta": "text.delta",
    "thinking.end": "text.end",
}


def _torn(chunk: bytes) -> bytes:
    return chunk.decode("utf-8", "replace").encode()


HEARING: Final = (
    Defect(
        "start-per-chunk",
        "Every delta of thinking is a block of its own.",
        ("thinking/start/one-per-run",),
        events=_start_per_chunk,
    ),
    Defect(
        "thinking-start-missing",
        "Thinking is told without a start.",
        ("thinking/start/before-delta",),
        events=_without("thinking.start"),
    ),
    Defect(
        "thinking-start-twice",
        "A block of thinking is started twice.",
        ("thinking/start/once", "thinking/start/one-per-run"),
        events=_each(_doubled),
    ),
    Defect(
        "thinking-never-ended",
        "Blocks of thinking are never ended.",
        ("thinking/start/ended", "stripping/visible-text/markers-balanced"),
        events=_without("thinking.end"),
    ),
    Defect(
        "thinking-after-text-reopened-same-block",
        "Thinking that comes later is added to the first block.",
        ("thinking/start/silent-after-end",),
        events=_reopened,
    ),
    Defect(
        "empty-delta-told",
        "An empty delta is told before every delta of thinking.",
        ("thinking/start/delta-not-empty",),
        events=_each(_empty),
    ),
    Defect(
        "start-on-opaque-only",
        "Opaque data begins a block of thinking.",
        ("thinking/start/one-per-run",),
        events=_opaque_starts,
    ),
    Defect(
        "text-start-on-role-chunk",
        "A role alone starts the text.",
        (SAID,),
        events=_each(_text_on_role),
    ),
    Defect(
        "message-start-per-chunk",
        "Every chunk of thinking starts the message again.",
        ("thinking/start/message-once",),
        events=_each(_message_per_chunk),
    ),
    Defect(
        "drop-on-boundary-chunk",
        "Text that comes with the end of the thinking is lost.",
        (AGREES, SAID),
        events=_boundary,
    ),
    Defect(
        "thinking-dropped",
        "All thinking is lost.",
        (AGREES, SHOWN, COUNTED, SUMMARY),
        events=_without("thinking.start", "thinking.part", "thinking.delta", "thinking.end"),
    ),
    Defect(
        "thinking-as-text",
        "Thinking is told as text.",
        (AGREES, SHOWN, SAID, COUNTED, SUMMARY),
        events=_as_text,
    ),
    Defect(
        "thinking-summed", "Mirrored fields are added up.", (AGREES, SUMMARY), events=_each(_summed)
    ),
    Defect(
        "marker-leak",
        "The close marker shows in the text.",
        (AGREES, "stripping/visible-text/no-markers"),
        events=_marker,
    ),
    Defect(
        "summary-parts-merged",
        "The parts of a summary are told as one.",
        (AGREES, COUNTED),
        events=_each(_one_part),
    ),
    Defect(
        "opaque-shown",
        "Opaque data is told as text.",
        (AGREES, "stripping/visible-text/no-opaque-data"),
        events=_each(_opaque_as_text),
    ),
    Defect("opaque-lost", "Opaque data is lost.", (AGREES,), events=_without("thinking.opaque")),
    Defect(
        "completed-on-cut",
        "A stream that broke off is told as complete.",
        (AGREES, "harness/ending"),
        events=_each(_completed),
    ),
    Defect("error-swallowed", "Errors are not told.", (AGREES,), events=_without("error")),
    Defect(
        "length-as-stop",
        "An answer that was cut by length is told as complete.",
        (AGREES,),
        events=_each(_stop),
    ),
    Defect(
        "unicode-split",
        "Characters that are split over chunks are torn.",
        (AGREES, "history/chat/text-unchanged", "thinking/stream/characters-whole"),
        bytes=_torn,
    ),
)
