"""A talk about knots over Responses, with its thinking, with a summary of it, and with both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.authoring.pieces import Fields, Message
from tests.authoring.responses import (
    Answer,
    Item,
    closed,
    message,
    raw_thinking,
    stream,
    summarised,
)

KNOTS: Final = "Which knot holds a boat?"
KNOTS_THOUGHT: Final = (
    "It has to hold under load and to open by hand, so a bowline or a cleat hitch."
)
KNOTS_SUMMARY: Final = "**Comparing knots**\n\nOne that holds and still opens is wanted."
KNOTS_TEXT: Final = "A cleat hitch on a cleat, a bowline on a ring."
CONCISE: Final = "It must hold and open again. That leaves a hitch or a bowline."
DETAILED: Final = ["Knots that hold under load are wanted.", "Of those, two open by hand."]
REASONING: Final = Item(0, "rs_01")


def knots_text(index: int) -> list[Fields]:
    return message(Item(index, "msg_02"), KNOTS_TEXT)


def thought_and_summary(parts: Sequence[str], *, streamed: bool = True) -> list[Fields]:
    """A reasoning item with raw thinking and then its summary."""
    thinking, summary = raw_thinking(REASONING, KNOTS_THOUGHT), summarised(REASONING, parts)
    (item,), (written,) = closed(thinking), closed(summary)
    end = {**thinking[-1], "item": {**item, "summary": written["summary"]}}
    return [*thinking[:-1], *(summary[1:-1] if streamed else ()), end]


def ogx_stream(items: Sequence[Fields], asked: Fields) -> tuple[Message, ...]:
    """A whole stream without event lines, as OGX sends it."""
    events = Answer("resp_00", "think-1", asked).completed(items, (9, 34, 0))
    return stream(events, named=False)


def summed_up(
    parts: Sequence[str], kind: str = "concise", *, streamed: bool = True
) -> tuple[Message, ...]:
    """The text behind its thinking and a summary of that kind."""
    asked = {"reasoning": {"effort": "low", "summary": kind}}
    items = [*thought_and_summary(parts, streamed=streamed), *knots_text(1)]
    return ogx_stream(items, asked)
