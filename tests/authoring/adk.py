"""Events of ADK's server, one by one; `answer` streams fragments and says them again as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, compact, deltas

MODEL: Final = "gemini-3-think"
INVOCATION: Final = "e-3f0c51d2-7a45-4f0e-9a5b-synthetic0001"
ACTIONS: Final[Fields] = {
    "stateDelta": {},
    "artifactDelta": {},
    "requestedAuthConfigs": {},
    "requestedToolConfirmations": {},
}
CALL_ID: Final = "adk-5b8d1f60-synthetic-call-0001"


class Run:
    """Events of one invocation, in their order; ids and times count up."""

    def __init__(self, author: str = "harbour", invocation: str = INVOCATION) -> None:
        self.author = author
        self.invocation = invocation
        self._ids = count(1)
        self._ticks = count()

    def event(self, event_id: str = "", author: str = "", **fields: Any) -> Fields:
        named = author or self.author
        return {
            **fields,
            "invocationId": self.invocation,
            "author": named,
            "actions": ACTIONS,
            "nodeInfo": {"path": f"{named}@1"},
            "id": event_id or self.next_id(),
            "timestamp": 1795860000.25 + next(self._ticks) / 8,
        }

    def next_id(self) -> str:
        return f"0b7c2f4e-0000-4000-8000-{next(self._ids):012}"

    def answer(
        self,
        parts: Sequence[Fields],
        usage: Fields,
        reason: str = "STOP",
        *,
        author: str = "",
        **last: Any,
    ) -> list[Fields]:
        """Fragments of the parts, and the whole event; `last` are more fields of that."""
        event_id = self.next_id()
        pieces = [piece for part in parts for piece in _pieces(part)]
        made = []
        for number, piece in enumerate(pieces, 1):
            ended = {"finishReason": reason} if number == len(pieces) else {}
            fragment = content(piece)
            fragment |= {"partial": True, **ended, "usageMetadata": usage}
            made.append(self.event(event_id, author, modelVersion=MODEL, **fragment))
        whole = {**content(*parts), "partial": False, "finishReason": reason, **last}
        whole["usageMetadata"] = usage
        return [*made, self.event(event_id, author, modelVersion=MODEL, **whole)]

    def whole(self, parts: Sequence[Fields], usage: Fields, **more: Any) -> Fields:
        """An answer that was not streamed."""
        whole_event = {**content(*parts), "finishReason": "STOP", **more, "usageMetadata": usage}
        return self.event(modelVersion=MODEL, **whole_event)

    def result(self, name: str, given: Any, call_id: str = CALL_ID) -> Fields:
        answered = {"id": call_id, "name": name, "response": {"result": given}}
        return self.event(**content({"functionResponse": answered}, role="user"))

    def failure(self, code: str, message: str) -> Fields:
        return self.event(errorCode=code, errorMessage=message)


def content(*parts: Fields, role: str = "model") -> Fields:
    return {"content": {"parts": list(parts), "role": role}}


def thought(text: str) -> Fields:
    return {"text": text, "thought": True}


def said(text: str) -> Fields:
    return {"text": text}


def call(name: str, arguments: Fields, signature: str, call_id: str = CALL_ID) -> Fields:
    called = {"id": call_id, "args": arguments, "name": name}
    return {"functionCall": called, "thoughtSignature": signature}


def usage(prompt: int, answer: int, thoughts: int = 0) -> Fields:
    counted = {"candidatesTokenCount": answer, "promptTokenCount": prompt}
    if thoughts:
        counted["thoughtsTokenCount"] = thoughts
    return {**counted, "totalTokenCount": prompt + answer + thoughts}


def error(kind: str, message: str) -> Fields:
    """What ends a stream that failed."""
    details = {"error_type": kind, "error_message": message, "timestamp": 1795860003.5}
    return {"error": f"{kind}: {message}", "error_details": details}


def events(payloads: Sequence[Fields]) -> tuple[Message, ...]:
    return tuple(map(Message, payloads))


def listed(payloads: Sequence[Fields]) -> bytes:
    """All events as one body."""
    return compact(list(payloads)).encode()


def _pieces(part: Fields) -> list[Fields]:
    if "text" not in part:
        return [part]
    return [{**part, "text": piece} for piece in deltas(part["text"], 3)]
