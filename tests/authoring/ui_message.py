"""Parts of a UI message, one by one; `answer` adds the message and its end around the steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from tests.authoring.pieces import DONE, Fields, Message, characters, compact, deltas, opaque

START: Final[Fields] = {"type": "start", "messageId": "answer-1"}


def part(kind: str, /, **fields: Any) -> Fields:
    return {"type": kind, **fields}


def own(**fields: Any) -> Fields:
    """What the provider of the model says of a part."""
    return {"providerMetadata": {"provider": fields}}


def written(
    kind: str, part_id: str, text: str, *, before_end: Sequence[Fields] = (), **start: Any
) -> list[Fields]:
    """A part of text or reasoning: start, deltas, end; `start` is more of the start."""
    events = [part(f"{kind}-delta", id=part_id, delta=piece) for piece in deltas(text)]
    begun = part(f"{kind}-start", id=part_id, **start)
    return [begun, *events, *before_end, part(f"{kind}-end", id=part_id)]


def reasoning(part_id: str, text: str, signature: str = "") -> list[Fields]:
    """Thinking; a signature comes in an empty delta before the end."""
    signed = part("reasoning-delta", id=part_id, delta="", **own(signature=signature))
    return written("reasoning", part_id, text, before_end=[signed] if signature else [])


def text(part_id: str, said: str) -> list[Fields]:
    return written("text", part_id, said)


def call(call_id: str, name: str, arguments: Fields, output: Any) -> list[Fields]:
    """A call with its result, as an application with a tool of its own sends it."""
    named = {"toolCallId": call_id, "toolName": name}
    pieces = characters(compact(arguments), 6)
    return [
        part("tool-input-start", **named),
        *(part("tool-input-delta", toolCallId=call_id, inputTextDelta=each) for each in pieces),
        part("tool-input-available", **named, input=arguments),
        part("tool-output-available", toolCallId=call_id, output=output),
    ]


def step(*parts: list[Fields]) -> list[Fields]:
    """One call of the model."""
    return [part("start-step"), *chain.from_iterable(parts), part("finish-step")]


def answer(steps: Iterable[list[Fields]], reason: str = "stop") -> tuple[Message, ...]:
    """A whole stream."""
    parts = [START, *chain.from_iterable(steps), part("finish", finishReason=reason)]
    return (*map(Message, parts), DONE)


def summarised_part(item: str, text: str) -> list[Fields]:
    """A part of a summary with the two sealed values of its item; the later one counts."""
    begun, over = (
        own(itemId=item, reasoningEncryptedContent=opaque(f"{item} {which}", size))
        for which, size in (("begins", 48), ("ends", 96))
    )
    events = written("reasoning", f"{item}:0", text, **begun)
    return [*events[:-1], {**events[-1], **over}]


def messages_of(parts: Iterable[Fields]) -> list[Message]:
    """A stream that does not end as others do."""
    return [*map(Message, parts)]
