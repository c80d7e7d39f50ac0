"""The client's side of a session: handshake, prompts, refusals, and the wish to stop."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from conformance.core.events import Event
from conformance.dialects.agent import AgentForm, Message, RpcConversation, agent_request
from conformance.dialects.json_edge import elements, mapping, string

_PROMPT: Final = "session/prompt"
_SESSION: Final = "sessionId"
# What a client may do that this one does not.
_CAPABILITIES: Final = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


class AcpConversation(RpcConversation):
    """Sessions of one agent, one after the other, and the turns of each."""

    version: ClassVar[Message] = {"jsonrpc": "2.0"}

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder
        self._is_greeted = False
        self._session = ""
        self._turn: Message = {}
        self._is_stopped = False

    def ask(self, body: Message) -> list[Message]:
        """Begins a turn: what to write first."""
        self.is_asked = self.is_over = self._is_stopped = False
        self._turn = {key: value for key, value in body.items() if key != _SESSION}
        self._session = (string(body[_SESSION]) or self._session) if _SESSION in body else ""
        if self._is_greeted:
            return [self._begin_turn()]
        greeting = {"protocolVersion": 1, "clientCapabilities": _CAPABILITIES}
        return [self.request("initialize", greeting)]

    def stop(self) -> list[Message]:
        """What the user's wish to stop the turn is written as."""
        self._is_stopped = True
        return [self.notice("session/cancel", {_SESSION: self._session})]

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
        if method == "initialize":
            self._is_greeted = True
        elif not (session := string(result.get(_SESSION))):
            self.refusal = "it opened a session without an id"
            return []
        else:
            self._session = session
        return [self._begin_turn()]

    def _begin_turn(self) -> Message:
        if not self._session:
            return self.request("session/new", {"cwd": self._folder, "mcpServers": []})
        return self.begin_turn(_PROMPT, {_SESSION: self._session, **self._turn})


def _session_of(event: Event) -> str:
    data: Any = event.data
    return string(data.get(_SESSION))


AGENT: Final = AgentForm(conversation=AcpConversation)
REQUEST: Final = agent_request("prompt", _SESSION, _session_of)
