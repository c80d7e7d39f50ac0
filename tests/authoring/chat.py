"""Chunks of Chat Completions, delta by delta."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.authoring.edits import Step
from tests.authoring.pieces import DONE, Fields, Message, deltas, opaque, put

CREATED_AT: Final = 1_795_176_000

Usage = tuple[int, int, int]
"""Prompt, completion and (among these) reasoning tokens."""
DUSK: Final = "Street lamps are lit at dusk, so the hour that is asked for is in the evening."


@dataclass(frozen=True, slots=True)
class Server:
    """How a server writes its chunks. `extra` stands in every chunk.

    `repeats_role`: every delta has the role. `bare`: choices that do not finish have no
    finish_reason.
    """

    model: str = "think-1"
    extra: Mapping[str, Any] = field(default_factory=dict)
    repeats_role: bool = False
    bare: bool = False

    def chunk(self, choices: Sequence[Any], **more: Any) -> Message:
        head = {"id": "chatcmpl-00", "object": "chat.completion.chunk", "created": CREATED_AT}
        return Message({**head, "model": self.model, **self.extra, "choices": choices, **more})

    def delta(self, *, index: int = 0, finish: str | None = None, **delta: Any) -> Message:
        """A chunk of one choice."""
        role = {"role": "assistant"} if self.repeats_role else {}
        choice: Fields = {"index": index, "delta": {**role, **delta}}
        if finish is not None or not self.bare:
            choice["finish_reason"] = finish
        return self.chunk([choice])

    def opening(self, *, content: str | None = "", **delta: Any) -> Message:
        return self.delta(role="assistant", content=content, **delta)

    def each(self, name: str, texts: Iterable[str], **extra: Any) -> list[Message]:
        """A chunk per delta of one field; `beside` stands in every delta."""
        deltas: list[Fields] = [{name: text, **extra} for text in texts]
        return [self.delta(**delta) for delta in deltas]

    def usage(self, usage: Usage, *, details: bool = True) -> Message:
        """The extra chunk with usage and without choices."""
        return self.chunk([], usage=counted(usage, details=details))

    def tool(self, index: int, name: str, fragments: Sequence[str]) -> list[Message]:
        """A call: id, name and no arguments first, then the arguments in fragments."""
        function = {"name": name, "arguments": ""}
        first = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        rest = [{"index": index, "function": {"arguments": text}} for text in fragments]
        return [self.delta(tool_calls=[each]) for each in (first, *rest)]


def counted(usage: Usage, *, details: bool = True) -> Fields:
    given, written, thought = usage
    counts = {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written}
    known = {"completion_tokens_details": {"reasoning_tokens": thought}}
    return {**counts, **(known if details else {})}


def answer(
    server: Server, name: str, thought: str, text: str, *, usage: Usage | None = None
) -> list[Message]:
    """Thinking in the field `name`, then text, the finish, usage and `[DONE]`."""
    counts = [] if usage is None else [server.usage(usage)]
    return [
        server.opening(),
        *server.each(name, deltas(thought)),
        *server.each("content", deltas(text)),
        server.delta(finish="stop"),
        *counts,
        DONE,
    ]


def by_the_clock() -> Step:
    """Each chunk was created a second after the one before."""
    return lambda pieces: [
        Message({**p.payload, "created": time}) if isinstance(p, Message) else p
        for time, p in enumerate(pieces, CREATED_AT)
    ]


def later(message: Message, seconds: int) -> Message:
    return Message({**message.payload, "created": CREATED_AT + seconds})


def copilot() -> list[Message]:
    """Few large chunks, each with usage; the opaque data comes with the last text."""
    server = Server(repeats_role=True, bare=True)
    finish = server.delta(content=" a little after sunset.", finish="stop").payload
    chunks = [
        *server.each("reasoning_text", [DUSK[:40], DUSK[40:]], content=None),
        server.delta(content="They are lit in the evening,"),
        Message(put(finish, "choices.0.delta.reasoning_opaque", opaque("copilot", 32))),
    ]
    parts = [_without_object(chunk, second) for second, chunk in enumerate(chunks)]
    return [*parts[:-1], Message({**parts[-1].payload, "usage": _flat((58, 12, 19))}), DONE]


def _flat(usage: tuple[int, int, int]) -> Fields:
    """Usage with the reasoning tokens beside the others, and not among them."""
    given, written, thought = usage
    counts = {"prompt_tokens": given, "completion_tokens": written, "reasoning_tokens": thought}
    return {**counts, "total_tokens": sum(usage)}


def _without_object(piece: Message, second: int) -> Message:
    fields = {key: value for key, value in piece.payload.items() if key != "object"}
    return Message({**fields, "created": CREATED_AT + second, "usage": _flat((0, 0, 0))})


def crlf(pieces: list[Message]) -> list[bytes]:
    """The events with line ends of another platform."""
    return [piece.encode().replace(b"\n", b"\r\n") for piece in pieces]


def side_by_side(choices: Sequence[tuple[str, str]]) -> list[Message]:
    """Answers to one request, of a thought and a text each, that come in turns."""
    server, numbers = Server(), range(len(choices))
    events: list[list[Fields]] = [
        [
            *({"reasoning_content": each} for each in deltas(thought)),
            *({"content": each} for each in deltas(text)),
        ]
        for thought, text in choices
    ]
    return [
        *(server.delta(index=index, role="assistant", content="") for index in numbers),
        *(
            server.delta(index=index, **events[index][turn])
            for turn in range(max(map(len, events)))
            for index in numbers
            if turn < len(events[index])
        ),
        *(server.delta(index=index, finish="stop") for index in numbers),
        DONE,
    ]
