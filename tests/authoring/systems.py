"""Streams in the forms that documents of real systems show, where no recording has them."""

from __future__ import annotations

from typing import Final

from tests.authoring.chat import Server
from tests.authoring.pieces import DONE, Message, deltas, opaque

THOUGHT: Final = "Ten times three is thirty, seven times three is twenty-one, so fifty-one."
ANSWER: Final = "17 times 3 is 51."


def proxied() -> list[Message]:
    """Every chunk has a role and a content, none an object; opaque data alone ends the thinking."""
    server = Server(repeats_role=True, bare=True)
    chunks = [
        *server.each("reasoning_text", deltas(THOUGHT), content=""),
        server.delta(content="", reasoning_opaque=opaque("copilot", 32)),
        *server.each("content", deltas(ANSWER)),
        server.delta(content="", finish="stop"),
    ]
    return [*map(_without_object, chunks), DONE]


def _without_object(chunk: Message) -> Message:
    return Message({key: value for key, value in chunk.payload.items() if key != "object"})
