"""Messages of Bedrock's Converse, one by one; `answer` adds the end."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance.core.binary import MESSAGE_TYPE, encode_message, with_text_header
from tests.authoring.edits import Step
from tests.authoring.pieces import Fields, Message, Piece, compact, deltas, opaque

LATENCY: Final = 1250
ENABLED: Final[Fields] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


@dataclass(frozen=True, slots=True)
class Framed(Message):
    """One binary message: `event` is its type, which is raised where it is an exception's."""

    plain: bool = False  # an event, whatever its type

    def encode(self) -> bytes:
        text = self.payload if isinstance(self.payload, str) else compact(self.payload)
        raised = self.event.endswith("Exception") and not self.plain
        kind = "exception" if raised else "event"
        headers = (
            (f":{kind}-type", self.event),
            (":content-type", "application/json"),
            (":message-type", kind),
        )
        return encode_message(headers, text.encode())


def resealed(raw: bytes) -> bytes:
    """The message with right checksums, whatever else is wrong with it."""
    prelude = raw[:8] + zlib.crc32(raw[:8]).to_bytes(4, "big")
    whole = prelude + raw[12:-4]
    return whole + zlib.crc32(whole).to_bytes(4, "big")


def encoded_again(text: str) -> str:
    """Base64 of base64."""
    return base64.b64encode(text.encode()).decode()


def padded(event: str, **payload: Any) -> Framed:
    """A message whose padding hides how long it is."""
    length = sum(map(len, compact(payload)))
    return Framed({**payload, "p": "abcdefghijklmnopqrstuvwxyz"[: 4 + length % 22]}, event)


def started() -> Framed:
    return padded("messageStart", role="assistant")


def delta(index: int, **said: Any) -> Framed:
    return padded("contentBlockDelta", contentBlockIndex=index, delta=said)


def stopped(index: int) -> Framed:
    return padded("contentBlockStop", contentBlockIndex=index)


def signed(index: int, label: str) -> Framed:
    return delta(index, reasoningContent={"signature": signature(label)})


def signature(label: str) -> str:
    return encoded_again(opaque(label))


def thought(index: int, text: str, label: str = "") -> list[Framed]:
    """A block of reasoning, signed where it has a label."""
    pieces = [delta(index, reasoningContent={"text": piece}) for piece in deltas(text)]
    seal = [signed(index, label)] if label else []
    return [*pieces, *seal, stopped(index)]


def redacted(index: int, label: str) -> list[Framed]:
    return [delta(index, reasoningContent={"redactedContent": signature(label)}), stopped(index)]


def spoken(index: int, text: str, pieces: Sequence[str] = ()) -> list[Framed]:
    pieces_sent = pieces or deltas(text)
    return [*(delta(index, text=piece) for piece in pieces_sent), stopped(index)]


def call(index: int, name: str, arguments: Fields, *, number: int = 1) -> list[Framed]:
    """A block that calls a tool, its arguments in two pieces."""
    text = compact(arguments)
    named = {"toolUseId": f"tooluse_synthetic_{number}", "name": name}
    pieces = (text[:5], text[5:])
    return [
        padded("contentBlockStart", contentBlockIndex=index, start={"toolUse": named}),
        *(delta(index, toolUse={"input": piece}) for piece in pieces),
        stopped(index),
    ]


def counted(usage: tuple[int, int]) -> Fields:
    given, output = usage
    return {"inputTokens": given, "outputTokens": output, "totalTokens": given + output}


def answer(
    blocks: Iterable[Framed], usage: tuple[int, int], reason: str = "end_turn"
) -> tuple[Framed, ...]:
    metrics = {"latencyMs": LATENCY}
    end = padded("metadata", usage=counted(usage), metrics=metrics)
    return (started(), *blocks, padded("messageStop", stopReason=reason), end)


def reasoning(text: str, label: str = "") -> Fields:
    """A block of reasoning as bodies and requests have it."""
    seal = {"signature": signature(label)} if label else {}
    return {"reasoningContent": {"reasoningText": {"text": text, **seal}}}


Rewriting = Callable[[Message], Piece]


def replaced(old: bytes, new: bytes) -> Rewriting:
    """Other bytes of the same length in a message, under checksums that are right."""
    return lambda message: resealed(message.encode().replace(old, new, 1))


def begun_only() -> Rewriting:
    """The first bytes of a message."""
    return lambda message: message.encode()[:40]


def untyped() -> Rewriting:
    """A message does not say whether it is an event."""
    return lambda message: with_text_header(message.encode(), MESSAGE_TYPE, "")


def not_raised() -> Rewriting:
    """An exception comes as if it were an event."""

    def rewriting(message: Message) -> Piece:
        assert isinstance(message, Framed)
        return replace(message, plain=True)

    return rewriting


def keyed() -> Step:
    """Each message as an event whose one key is its type."""
    return lambda pieces: [
        Message({p.event: p.payload}) if isinstance(p, Message) else p for p in pieces
    ]
