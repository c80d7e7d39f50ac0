"""Events of ADK's server, one by one; `answer` streams fragments and says them again as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, zip_longest
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, compact, deltas, opaque

MODEL: Final = "gemini-3-think"
INVOCATION: Final = "e-3f0c51d2-7a45-4f0e-9a5b-synthetic0001"
ACTIONS: Final[Fields] = {
    "stateDelta": {},
    "artifactDelta": {},
    "requestedAuthConfigs": {},
    "requestedToolConfirmations": {},
}
CALL_ID: Final = "adk-5b8d1f60-synthetic-call-0001"
LOCK: Final = "The keeper eats at noon, and the board says that nobody stands in for him then."
LOCK_TEXT: Final = "No. It opens again at one."
LINE: Final[Fields] = {"line": "noon"}
SIGNED: Final = opaque("the call")
FOUND: Final = "12 to 1: closed"


class Run:
    """Events of one invocation, in their order; ids and times count up."""

    def __init__(
        self, author: str = "harbour", invocation: str = INVOCATION, first: int = 1
    ) -> None:
        self.author = author
        self.invocation = invocation
        self._ids = count(first)
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


def text_part(text: str) -> Fields:
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


def tool_round(run: Run) -> list[Fields]:
    """A call, its result, and the answer that it leads to."""
    first = [thought("The board will say it."), call("read_board", LINE, SIGNED)]
    last = [thought("So it says."), text_part(LOCK_TEXT)]
    called = run.answer(first, usage(52, 11, 7), longRunningToolIds=[])
    return [*called, run.result("read_board", FOUND), *run.answer(last, usage(80, 9, 4))]


def whole_round(run: Run) -> list[Fields]:
    """The same, not streamed."""
    called = run.whole([call("read_board", LINE, SIGNED)], usage(52, 11, 7), longRunningToolIds=[])
    parts = [thought("So it says."), text_part(LOCK_TEXT)]
    return [called, run.result("read_board", FOUND), run.whole(parts, usage(80, 9, 4))]


def _unfinished(event: Fields) -> Fields:
    return {key: value for key, value in event.items() if key != "finishReason"}


def refused() -> list[Fields]:
    """An answer that is stopped, of which nothing but its thought was there."""
    run, parts = Run(), [thought("That must not be said.")]
    spoken = run.answer(parts, usage(12, 0, 6))[:-1]
    stopped: Fields = {"partial": True, "finishReason": "SAFETY", "errorCode": "SAFETY"}
    whole = {**spoken[-1], **stopped, "partial": False, **content(*parts)}
    return [*map(_unfinished, spoken), run.event(spoken[-1]["id"], **stopped), whole]


def broken(why: str) -> list[Fields]:
    """An answer that fails inside its text."""
    run = Run()
    sent = run.answer([thought(LOCK), text_part("No. It opens")], usage(41, 4, 18))[:-1]
    ends = [run.failure("UNAVAILABLE", why), error("ServerError", why)]
    return [*sent[:-1], _unfinished(sent[-1]), *ends]


def two_agents() -> list[Fields]:
    """Two agents side by side, and one that is code and says nothing."""
    run = Run()
    parts = [thought("The tide turns at one."), text_part("Low water is at one.")]
    tide = run.answer(parts, usage(30, 6, 6), author="tide", branch="both.tide")
    parts = [thought("Noon is lunch."), text_part(LOCK_TEXT)]
    lock = run.answer(parts, usage(30, 9, 4), author="lock", branch="both.lock")
    extra = [
        {**each, "branch": f"both.{each['author']}"}
        for pair in zip_longest(tide, lock)
        for each in pair
        if each
    ]
    kept = {**ACTIONS, "stateDelta": {"asked": 1}}
    return [{**run.event(author="clerk"), "actions": kept}, *extra]
