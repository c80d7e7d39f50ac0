"""The client's side of a thread: handshake, turns, refusals, and the wish to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.core.events import Event
from conformance.dialects.agent import AgentForm, Message, RpcConversation, agent_request
from conformance.dialects.json_edge import mapping, string

_THREAD: Final = "threadId"
_CLIENT: Final = {"name": "reasoning-conformance", "title": None, "version": "1"}
# Method -> the decision that refuses what is asked for.
_REFUSALS: Final = {
    "item/commandExecution/requestApproval": "decline",
    "item/fileChange/requestApproval": "decline",
    "execCommandApproval": "denied",
    "applyPatchApproval": "denied",
}


class AppServerConversation(RpcConversation):
    """Threads of one server, one after the other, and the turns of each."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder
        self._is_greeted = False
        self._thread = ""
        self._turn_id = ""
        self._turn: Message = {}

    def ask(self, body: Message) -> list[Message]:
        """Begins a turn: what to write first."""
        self.is_asked = self.is_over = False
        self._turn_id = ""
        self._turn = {key: value for key, value in body.items() if key != _THREAD}
        self._thread = (string(body[_THREAD]) or self._thread) if _THREAD in body else ""
        if self._is_greeted:
            return [self._begin_turn()]
        return [self.request("initialize", {"clientInfo": _CLIENT})]

    def stop(self) -> list[Message]:
        """What the user's wish to stop the turn is written as."""
        turn = {_THREAD: self._thread, "turnId": self._turn_id}
        return [self.request("turn/interrupt", turn)]

    def answer(self, method: str, fields: Message) -> Message:
        """Whatever asks for an approval is told that there is none."""
        decision = _REFUSALS.get(method)
        return {"result": {"decision": decision}} if decision else super().answer(method, fields)

    def hear(self, method: str, params: Message) -> list[Message]:
        """What to write after a notification: nothing, but one ends the turn."""
        of_turn = string(mapping(params.get("turn")).get("id"))
        if method == "turn/started":
            self._turn_id = of_turn
        elif method == "turn/completed" and self._turn_id in ("", of_turn):
            self.is_over = True
        return []

    def ends(self, method: str) -> bool:
        """Whether the response to that request ends a turn, be it an error."""
        return method == "turn/interrupt"  # too late: the turn had ended

    def go_on(self, method: str, result: Message) -> list[Message]:
        """What to write after the response to a request of the client."""
        if method == "initialize":
            self._is_greeted = True
            return [self.notice("initialized", {}), self._begin_turn()]
        if method == "turn/start":
            self._turn_id = string(mapping(result.get("turn")).get("id")) or self._turn_id
        if method != "thread/start":
            return []
        self._thread = string(mapping(result.get("thread")).get("id"))
        if not self._thread:
            self.refusal = "it started a thread without an id"
            return []
        return [self._begin_turn()]

    def _begin_turn(self) -> Message:
        if not self._thread:
            return self.request("thread/start", {"cwd": self._folder, "sandbox": "read-only"})
        return self.begin_turn("turn/start", {_THREAD: self._thread, **self._turn})


def _words(_body: Message, _model: str, _folder: str) -> Sequence[str]:
    return ("app-server",)


def _thread_of(event: Event) -> str:
    return string(event.data.get(_THREAD))


AGENT: Final = AgentForm(_words, AppServerConversation)
REQUEST: Final = agent_request("input", _THREAD, _thread_of)
