"""The client's side of a thread: handshake, turns, refusals, and the wish to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from conformance.dialects.agent import AgentForm, Message, RpcConversation, agent_request
from conformance.dialects.json_edge import mapping, string

_THREAD: Final = "threadId"
_CLIENT: Final = {"name": "reasoning-conformance", "title": None, "version": "1"}
# Method -> the decision that refuses what is requested.
_REFUSALS: Final = {
    "item/commandExecution/requestApproval": "decline",
    "item/fileChange/requestApproval": "decline",
    "execCommandApproval": "denied",
    "applyPatchApproval": "denied",
}


class AppServerConversation(RpcConversation):
    """Threads of one server, one after the other, and the turns of each."""

    session_key: ClassVar[str] = _THREAD
    greeting: ClassVar[Message] = {"clientInfo": _CLIENT}
    _turn_id = ""

    def ask(self, body: Message) -> list[Message]:
        """Begins a turn: what to write first."""
        self._turn_id = ""
        return super().ask(body)

    def stop(self) -> list[Message]:
        """What the user's wish to stop the turn is written as."""
        turn = {_THREAD: self.session, "turnId": self._turn_id}
        return [self.request("turn/interrupt", turn)]

    def answer(self, method: str, fields: Message) -> Message:
        """Whatever asks for an approval learns that there is none."""
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
            return [self.notice("initialized", {}), self.next_request()]
        if method == "turn/start":
            self._turn_id = string(mapping(result.get("turn")).get("id")) or self._turn_id
        if method != "thread/start":
            return []
        self.session = string(mapping(result.get("thread")).get("id"))
        if not self.session:
            self.refusal = "it started a thread without an id"
            return []
        return [self.next_request()]

    def next_request(self) -> Message:
        """The request that opens a session, or that of the turn where one is open."""
        if not self.session:
            return self.request("thread/start", {"cwd": self.folder, "sandbox": "read-only"})
        return self.begin_turn("turn/start", {_THREAD: self.session, **self.turn})


def _words(_body: Message, _model: str, _folder: str) -> Sequence[str]:
    return ("app-server",)


AGENT: Final = AgentForm(_words, AppServerConversation)
REQUEST: Final = agent_request("input", _THREAD)
