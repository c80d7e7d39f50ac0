"""Events of the Messages API, block by block; `answer` adds the message around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, deltas, opaque

Usage = tuple[int, int, int | None]
"""Input, output and (among these) thinking tokens; None where those are not counted."""

PING: Final[Fields] = {"type": "ping"}
MODEL: Final = "think-1"
BREAD: Final = "The dough has to rise twice, so the loaf takes about four hours in all."
BREAD_TEXT: Final = "Plan for four hours, most of them waiting."


def start(index: int, kind: str, **fields: Any) -> Fields:
    block = {"type": kind, **fields}
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> Fields:
    change = {"type": f"{kind}_delta", **fields}
    return {"type": "content_block_delta", "index": index, "delta": change}


def stop(index: int) -> Fields:
    return {"type": "content_block_stop", "index": index}


def thinking(index: int, text: str, *, signed: bool = True) -> list[Fields]:
    """A block of thinking; without text it is as where the display is omitted."""
    events = [delta(index, "thinking", thinking=each) for each in deltas(text) or [""]]
    if not signed:
        return [start(index, "thinking", thinking=""), *events, stop(index)]
    signature = delta(index, "signature", signature=signature_of(index))
    return [start(index, "thinking", thinking="", signature=""), *events, signature, stop(index)]


def signature_of(index: int) -> str:
    return opaque(f"signature of block {index}")


def redacted(index: int) -> list[Fields]:
    """Thinking that nobody may see: a start with its data, and a stop."""
    return [start(index, "redacted_thinking", data=opaque(f"redacted {index}")), stop(index)]


def text(index: int, said: str, pieces: Sequence[str] = ()) -> list[Fields]:
    """A block of text; `pieces` are its deltas, a few words each by default."""
    each = [delta(index, "text", text=piece) for piece in pieces or deltas(said)]
    return [start(index, "text", text=""), *each, stop(index)]


def tool(
    index: int, name: str, fragments: Sequence[str], kind: str = "tool_use", **more: Any
) -> list[Fields]:
    """A call; servers begin with an empty fragment."""
    events = [delta(index, "input_json", partial_json=each) for each in fragments]
    opening = start(index, kind, id=f"toolu_{index}", name=name, input={}, **more)
    return [opening, *events, stop(index)]


def message(**fields: Any) -> Fields:
    """The message object as it stands in message_start, or alone as a body."""
    return {
        "id": "msg_00",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        **fields,
    }


def counted(usage: Usage) -> Fields:
    given, written, thought = usage
    counts: Fields = {"input_tokens": given, "output_tokens": written}
    if thought is not None:
        counts["output_tokens_details"] = {"thinking_tokens": thought}
    return counts


def opening(given: int) -> Fields:
    return {"type": "message_start", "message": message(usage=counted((given, 1, None)))}


def ending(stop_reason: str, usage: Usage) -> list[Fields]:
    end = {"stop_reason": stop_reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": end, "usage": counted(usage)},
        {"type": "message_stop"},
    ]


def answer(
    blocks: Iterable[list[Fields]],
    usage: Usage,
    stop_reason: str = "end_turn",
    *,
    pings: bool = True,
) -> tuple[Message, ...]:
    """A whole stream; a ping follows the start of the first block."""
    first, *rest = chain.from_iterable(blocks)
    content = [first, PING, *rest] if pings else [first, *rest]
    return tuple(stream([opening(usage[0]), *content, *ending(stop_reason, usage)]))


def stream(events: Iterable[Fields]) -> Iterator[Message]:
    """Messages with the event line that their type asks for."""
    return (Message(event, str(event["type"])) for event in events)
