"""Events of Agent2Agent, one by one, in the spelling of either version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, characters, deltas, opaque

TASK: Final = "0a6cf1d2-0000-4000-8000-synthetic001"
CONTEXT: Final = "5d20b7aa-0000-4000-8000-synthetic001"
_MEMBERS: Final = {
    "status-update": "statusUpdate",
    "artifact-update": "artifactUpdate",
    "task": "task",
    "message": "message",
}
LOCK: Final = "The keeper eats at noon, and the board says that nobody stands in for him then."
LOCK_TEXT: Final = "No. It opens again at one."


class Agent:
    """What an agent of one version sends; over REST the results stand alone."""

    def __init__(
        self,
        version: str = "0.3",
        request: Any = 1,
        *,
        is_rest: bool = False,
        said: str = "m-2",
        task_id: str = TASK,
    ) -> None:
        self.is_old = version == "0.3"
        self.request = request
        self.is_rest = is_rest
        self.said = said  # the id of its messages
        self.named: Fields = {"taskId": task_id, "contextId": CONTEXT}

    def task(self, state: str = "submitted", **more: Any) -> Fields:
        return self._result(
            "task", {"id": self.named["taskId"], "contextId": CONTEXT, **self._status(state, more)}
        )

    def status(self, state: str, parts: Iterable[Fields] | None = None, **more: Any) -> Fields:
        status = self._status(state, {})
        if parts is not None:
            status["status"]["message"] = self._message(parts)
        ended = {"final": state not in ("submitted", "working")} if self.is_old else {}
        return self._result("status-update", {**self.named, **status, **ended, **more})

    def artifact(
        self, parts: Sequence[Fields], *, appended: bool = False, last: bool = False, name: str = ""
    ) -> Fields:
        marks = {"append": appended, "lastChunk": last}
        if not self.is_old:  # what is false is left out
            marks = {key: True for key, value in marks.items() if value}
        made = {"artifactId": name or "answer", "parts": list(map(self.part, parts))}
        return self._result("artifact-update", {**self.named, "artifact": made, **marks})

    def message(self, parts: Sequence[Fields]) -> Fields:
        return self._result("message", self._message(parts))

    def error(self, code: int, text: str) -> Fields:
        return self._around({"error": {"code": code, "message": text}})

    def part(self, part: Fields) -> Fields:
        kind = "text" if "text" in part else "data"
        return {"kind": kind, **part} if self.is_old else part

    def _message(self, parts: Iterable[Fields]) -> Fields:
        role = "agent" if self.is_old else "ROLE_AGENT"
        return {"messageId": self.said, "role": role, "parts": list(map(self.part, parts))}

    def _status(self, state: str, more: Fields) -> Fields:
        word = state if self.is_old else f"TASK_STATE_{state.upper().replace('-', '_')}"
        return {"status": {"state": word, "timestamp": "2026-11-29T06:58:25.130199Z"}, **more}

    def _result(self, kind: str, thing: Fields) -> Fields:
        held = {"kind": kind, **thing} if self.is_old else {_MEMBERS[kind]: thing}
        if self.is_old and kind == "status-update" and "message" in thing["status"]:
            thing["status"]["message"] = {"kind": "message", **thing["status"]["message"]}
        return held if self.is_rest else self._around({"result": held})

    def _around(self, held: Fields) -> Fields:
        return {**held, "id": self.request, "jsonrpc": "2.0"}


def thought(text: str, mark: str = "adk_thought") -> Fields:
    return {"text": text, "metadata": {mark: True}}


def text_part(text: str) -> Fields:
    return {"text": text}


def call(name: str, arguments: Fields, call_id: str, signature: str) -> Fields:
    about = {"adk_type": "function_call", "adk_thought_signature": signature}
    return {"data": {"id": call_id, "name": name, "args": arguments}, "metadata": about}


def result(name: str, call_id: str, found: str) -> Fields:
    given = {"id": call_id, "name": name, "response": {"result": found}}
    return {"data": given, "metadata": {"adk_type": "function_response"}}


def events(payloads: Iterable[Fields]) -> list[Message]:
    return [Message(each) for each in payloads]


def request_body(
    version: str = "0.3", method: str = "", text: str = "Is the lock open at noon?", **names: str
) -> Fields:
    if version == "0.3":
        said_part = {"kind": "text", "text": text}
        asks: Fields = {"kind": "message", "role": "user"}
    else:
        said_part, asks = {"text": text}, {"role": "ROLE_USER"}
    asks |= {"messageId": "m-1", "parts": [said_part], **names}
    named = method or ("message/stream" if version == "0.3" else "SendStreamingMessage")
    return {"jsonrpc": "2.0", "id": 1, "method": named, "params": {"message": asks}}


def streamed(agent: Agent) -> list[Fields]:
    """Thinking and text in chunks of one artifact, which is said again as a whole."""
    parts = [*map(thought, deltas(LOCK)), *map(text_part, deltas(LOCK_TEXT))]
    return [
        agent.task(),
        agent.status("working"),
        *chunks(agent, parts),
        agent.artifact([thought(LOCK), text_part(LOCK_TEXT)], last=True),
        agent.status("completed"),
    ]


def chunks(agent: Agent, parts: Sequence[Fields]) -> list[Fields]:
    return [agent.artifact([part], appended=n > 0) for n, part in enumerate(parts)]


def shown(agent: Agent) -> list[Fields]:
    """The work is told in messages of the status: pieces, the whole, and then the artifact."""
    looked = [
        thought("The board will say it."),
        call("read_board", {"line": "noon"}, "adk-1", opaque("the call")),
    ]
    pieces = [*map(thought, deltas(LOCK)), *map(text_part, deltas(LOCK_TEXT))]
    whole = [thought(LOCK), text_part(LOCK_TEXT)]
    events = [
        looked,
        [result("read_board", "adk-1", "12 to 1: closed")],
        *([each] for each in pieces),
        whole,
    ]
    return [
        agent.task(),
        *(agent.status("working", parts) for parts in events),
        agent.artifact(whole, last=True),
        agent.status("completed"),
    ]


def chunked(agent: Agent) -> list[Fields]:
    """Text alone, and a task that is sent once more where its version has that."""
    parts = [text_part(each) for each in deltas(LOCK_TEXT)]
    made = [agent.artifact([p], appended=n > 0, last=p is parts[-1]) for n, p in enumerate(parts)]
    again = [] if agent.is_old else [agent.task("completed")]
    events = agent.status("working", [text_part("I look at the board.")])
    return [agent.task(), events, *made, agent.status("completed"), *again]


def flower(agent: Agent) -> list[Fields]:
    thoughts = [thought(each, "kagent_thought") for each in characters("花の色を聞かれている。")]
    parts = [*thoughts, *map(text_part, characters("さくらの花は淡い桃色です。"))]
    whole = [agent.artifact([part], appended=n > 0) for n, part in enumerate(parts[:-1])]
    last = agent.artifact(parts[-1:], appended=True, last=True)
    return [agent.task(), *whole, last, agent.status("completed")]
