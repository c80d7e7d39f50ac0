"""The client's side of a session: handshake, prompts, refusals, and the wish to stop.

Where an agent opens no session before its user is known, it is asked by that of its methods which
takes a key: its environment has a played one. Nobody signs in on a page.
"""

from __future__ import annotations

import re
from typing import ClassVar, Final

from conformance.dialects.agent import AgentForm, Message, RpcConversation, agent_request
from conformance.dialects.json_edge import elements, mapping, string

_PROMPT: Final = "session/prompt"
_SESSION: Final = "sessionId"
_OPEN: Final = "session/new"
_UNKNOWN_USER: Final = -32000
_KEY: Final = re.compile(r"key|env|token", re.IGNORECASE)
_NEWS: Final = frozenset(
    {
        *("available_commands_update", "current_mode_update", "config_option_update"),
        *("session_info_update", "usage_update"),
    }
)
_MOST_METHODS: Final = 8
_MOST_NAME: Final = 60  # characters
# What a client may do that this one does not.
_CAPABILITIES: Final = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


class AcpConversation(RpcConversation):
    """Sessions of one agent, one after the other, and the turns of each."""

    version: ClassVar[Message] = {"jsonrpc": "2.0"}
    session_key: ClassVar[str] = _SESSION
    greeting: ClassVar[Message] = {"protocolVersion": 1, "clientCapabilities": _CAPABILITIES}
    _is_stopped = False
    _ways: tuple[str, ...] = ()  # ids of the methods by which a user is known
    _has_tried = False

    def ask(self, body: Message) -> list[Message]:
        """Begins a turn: what to write first."""
        self._is_stopped = False
        return super().ask(body)

    def stop(self) -> list[Message]:
        """What the user's wish to stop the turn is written as."""
        self._is_stopped = True
        return [self.notice("session/cancel", {_SESSION: self.session})]

    def is_news(self, fields: Message) -> bool:
        """Whether a message says how a session is, and nothing of a turn in it."""
        update = mapping(mapping(fields.get("params")).get("update"))
        return string(update.get("sessionUpdate")) in _NEWS

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

    def after_refusal(self, method: str, error: Message) -> list[Message]:
        """A session that needs authentication is requested again with a key, once."""
        is_unknown = method == _OPEN and error.get("code") == _UNKNOWN_USER
        way = next(filter(_KEY.search, self._ways), None) if is_unknown else None
        if way is not None and not self._has_tried:
            self._has_tried = True
            return [self.request("authenticate", {"methodId": way})]
        written = super().after_refusal(method, error)
        if is_unknown and self._ways:
            named = ", ".join(each[:_MOST_NAME] for each in self._ways)
            self.refusal += f"; it knows its users by {named}"
        return written

    def go_on(self, method: str, result: Message) -> list[Message]:
        """What to write after the response to a request of the client."""
        if method == _PROMPT:
            self.is_over = True
            return []
        if method == "initialize":
            ways = (string(mapping(each).get("id")) for each in elements(result.get("authMethods")))
            self._ways = tuple(way for way in ways if way)[:_MOST_METHODS]
        if method == _OPEN:
            self.session = string(result.get(_SESSION))
            if not self.session:
                self.refusal = "it opened a session without an id"
                return []
        return [self.next_request()]

    def next_request(self) -> Message:
        """The request that opens a session, or that of the turn where one is open."""
        if not self.session:
            return self.request(_OPEN, {"cwd": self.folder, "mcpServers": []})
        return self.begin_turn(_PROMPT, {_SESSION: self.session, **self.turn})


AGENT: Final = AgentForm(conversation=AcpConversation)
REQUEST: Final = agent_request("prompt", _SESSION)
