"""The client's side of a session: handshake, prompts, refusals, and the wish to stop."""

from __future__ import annotations

from typing import ClassVar, Final

from conformance.dialects.agent import AgentForm, Message, RpcConversation, agent_request
from conformance.dialects.json_edge import elements, mapping, string

_PROMPT: Final = "session/prompt"
_SESSION: Final = "sessionId"
# What a client may do that this one does not.
_CAPABILITIES: Final = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


class AcpConversation(RpcConversation):
    """Sessions of one agent, one after the other, and the turns of each."""

    version: ClassVar[Message] = {"jsonrpc": "2.0"}
    session_key: ClassVar[str] = _SESSION
    greeting: ClassVar[Message] = {"protocolVersion": 1, "clientCapabilities": _CAPABILITIES}
    _is_stopped = False

    def ask(self, body: Message) -> list[Message]:
        """Begins a turn: what to write first."""
        self._is_stopped = False
        return super().ask(body)

    def stop(self) -> list[Message]:
        """What the user's wish to stop the turn is written as."""
        self._is_stopped = True
        return [self.notice("session/cancel", {_SESSION: self.session})]

    def answer(self, method: str, fields: Message) -> Message:
        """Permission is refused by an option for that, or as cancelled."""
        if method != "session/request_permission":
            return super().answer(method, fields)
        options = map(mapping, elements(mapping(fields.get("params")).get("options")))
        refusing = (o for o in options if string(o.get("kind")).startswith("reject"))
        option = None if self._is_stopped else next(refusing, None)
        outcome = {"outcome": "cancelled"}
        if option is not None:
            outcome = {"outcome": "selected", "optionId": string(option.get("optionId"))}
        return {"result": {"outcome": outcome}}

    def ends(self, method: str) -> bool:
        """Whether the response to that request ends a turn, be it an error."""
        return method == _PROMPT

    def go_on(self, method: str, result: Message) -> list[Message]:
        """What to write after the response to a request of the client."""
        if method == _PROMPT:
            self.is_over = True
            return []
        if method == "session/new":
            self.session = string(result.get(_SESSION))
            if not self.session:
                self.refusal = "it opened a session without an id"
                return []
        return [self.next_request()]

    def next_request(self) -> Message:
        """The request that opens a session, or that of the turn where one is open."""
        if not self.session:
            return self.request("session/new", {"cwd": self.folder, "mcpServers": []})
        return self.begin_turn(_PROMPT, {_SESSION: self.session, **self.turn})


AGENT: Final = AgentForm(conversation=AcpConversation)
REQUEST: Final = agent_request("prompt", _SESSION)
