"""Chunks of generateContent, one by one; `answer` counts and finishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.authoring.edits import Step
from tests.authoring.pieces import Fields, Message, Piece, compact, deltas

MODEL: Final = "gemini-3-think"
RESPONSE: Final = "Q2hhcHRlci1vbmU"


@dataclass(frozen=True, slots=True)
class Chunk(Message):
    """One chunk of an event stream; its lines end in CR LF."""

    def encode(self) -> bytes:
        text = self.payload if isinstance(self.payload, str) else compact(self.payload)
        return f"data: {text}\r\n\r\n".encode()


@dataclass(frozen=True, slots=True)
class Element(Message):
    """One element of an array that grows."""

    def encode(self) -> bytes:
        return compact(self.payload).encode()


def thought(text: str) -> Fields:
    return {"text": text, "thought": True}


def call(name: str, arguments: Fields, signature: str = "") -> Fields:
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"name": name, "args": arguments}, **signed}


def call_in_pieces(name: str, signature: str, *pieces: Fields) -> list[Fields]:
    """Parts of a call whose arguments come one by one, as Vertex AI may stream them."""
    begun = {"functionCall": {"name": name, "willContinue": True}, "thoughtSignature": signature}
    middle = [{"functionCall": {"partialArgs": [each], "willContinue": True}} for each in pieces]
    return [begun, *middle, {"functionCall": {}}]


def text_parts(text: str, pieces: Sequence[str] = ()) -> list[Fields]:
    return [{"text": piece} for piece in pieces or deltas(text, 4)]


def counts(prompt: int, answer: int, thoughts: int, tools: int = 0) -> Fields:
    stated = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": answer,
        "thoughtsTokenCount": thoughts,
        "toolUsePromptTokenCount": tools,
    }
    kept = {name: count for name, count in stated.items() if count}
    details = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}]}
    return {**kept, "totalTokenCount": sum(kept.values()), **details}


def chunk(*parts: Fields, usage: Fields, reason: str = "") -> Fields:
    candidate: Fields = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    head = {"modelVersion": MODEL, "responseId": RESPONSE}
    return {"candidates": [candidate], "usageMetadata": usage, **head}


def answer(
    parts: Sequence[Fields],
    prompt: int,
    thoughts: int,
    *,
    reason: str = "STOP",
    last: Fields | None = None,
) -> list[Fields]:
    """Payloads of an answer, each part in one of its own, and the one that finishes.

    Thoughts are counted from the first chunk on, what is said bit by bit.
    """
    made, words = [], 0
    for part in parts:
        words += 0 if part.get("thought") else 4
        made.append(chunk(part, usage=counts(prompt, words, thoughts)))
    end = {"text": ""} if last is None else last
    return [*made, chunk(end, usage=counts(prompt, words + 1, thoughts), reason=reason)]


def events(payloads: Sequence[Fields]) -> tuple[Piece, ...]:
    return tuple(map(Chunk, payloads))


def array(payloads: Sequence[Fields]) -> tuple[Piece, ...]:
    """The payloads as one array; brackets and commas are pieces of their own."""
    made: list[Piece] = []
    for payload in payloads:
        made += [b",\r\n" if made else b"[", Element(payload)]
    return (*made, b"]")


def error(message: str = "The model has stopped.", code: int = 500) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": "INTERNAL"}}


def as_array() -> Step:
    """The chunks of an event stream as elements of an array."""
    return lambda pieces: [*array([p.payload for p in pieces if isinstance(p, Message)])]
