"""Dialect `acp`: the Agent Client Protocol, version 1, as lines on standard output.

Rule 1: an update of a session is a wire event of its `sessionUpdate`, with its fields as they stand
        and `sessionId`; one that version 1 does not know is `update.unknown`, which is no error.
Rule 2: a transcript may hold both directions. Methods tell whose a request is: `session/prompt`,
        `session/cancel` and `client.request` are the client's, `agent.request` the agent's. A
        response belongs to the other side than its request, that to an extension to either; without
        one it is the agent's.
Rule 3: `prompt.response` is the response to a prompt: it states a `stopReason`, or its request was
        a prompt, or it is an error that answers no other request. It ends the turn, which is done
        or has failed; without it the turn was cut. A turn is an answer: the next one begins with
        its prompt, or, where only the agent's side was kept, with what the agent says next.
Rule 4: sessions may have turns at the same time: the answer ends with the response to the last of
        their prompts. A response has the `sessionId` of its prompt; where only the agent's side was
        kept, that of the updates before it, if they name one.
Rule 5: what the client says gives wire events alone. Where it is in the transcript, an update and
        a request of the agent say as `session_known` whether the client asked for or in their
        session, and a response as `request_known` whether it answers a request that waits. Where
        it is not, an update says as `session_known` whether its turn began in that session.
Rule 6: while a `session/load` waits for its response, updates of its session repeat turns that are
        over (https://agentclientprotocol.com/protocol/session-setup): they are `replayed` and
        belong to no answer. After the response, `session.loaded` has as `lost` the first message
        of those turns that was not replayed.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Frame
from conformance.core.reading import Reading
from conformance.dialects.acp.loaded import LoadedSessions
from conformance.dialects.acp.messages import OVERFLOW, TurnMessages
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import event_data, mapping, string, whole_counts
from conformance.dialects.open_parts import PartKind
from conformance.dialects.typed import ProgramReader

NAME: Final = "acp"
CHUNKS: Final[dict[str, PartKind]] = {
    "agent_message_chunk": "text",
    "agent_thought_chunk": "reasoning",
}
_CALLS: Final = frozenset({"tool_call", "tool_call_update"})
UPDATES: Final = (
    frozenset(CHUNKS)
    | _CALLS
    | {
        *("user_message_chunk", "plan", "available_commands_update", "current_mode_update"),
        *("config_option_update", "session_info_update", "usage_update"),
    }
)
_OF_NEW_TURNS: Final = frozenset({"tool_call", "plan", "user_message_chunk"})
_OF_TURNS: Final = frozenset({"session/prompt", "session/cancel"})
_LOADING: Final = "session/load"
LOADED: Final = "session.loaded"
_OPENING: Final = frozenset({"session/new", "session/fork"})  # the response names the session
_OF_AGENTS: Final = ("session/request_permission", "fs/", "terminal/", "elicitation/")
_OF_CLIENTS: Final = ("initialize", "authenticate", "logout", "session/", "providers/")
VOCABULARY: Final = vocabulary(
    NAME,
    *UPDATES,
    *_OF_TURNS,
    *("client.request", "client.response", "agent.request", "agent.response", "prompt.response"),
    *("update.unknown", "line.unknown", LOADED, OVERFLOW),
)
_MOST_REQUESTS: Final = 4096  # of each side that are remembered until they are answered
_MOST_PROMPTS: Final = 64  # turns at the same time
_TOO_MANY: Final = 2  # sessions, to say whose a response is
_REASONS: Final = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter"}
_COUNTS: Final = {"input": "inputTokens", "output": "outputTokens", "reasoning": "thoughtTokens"}


class AcpReader(ProgramReader[TurnMessages]):
    """Reader of one turn, or of a session."""

    content_type = TurnMessages
    history = "prompt"

    def __init__(self, reading: Reading) -> None:
        self._hears_client = False  # a request of the client is in the transcript
        self._prompts: dict[str | int, str] = {}  # those that wait, with their sessions
        self._answered: Any = None  # the id of the response that came last
        self._sessions: set[str] = set()  # that the client asked for or in
        self._opening: set[str | int] = set()  # requests for one that wait for its name
        self._loading: dict[str | int, str] = {}  # those that wait, with their sessions
        self._lacking: set[str] = set()  # sessions whose replay lacks something, till a prompt
        self._has_strayed = False  # an update of no known session came while one was loaded
        self._loaded = LoadedSessions()
        self._pending: dict[str, dict[str | int, str]] = {"client": {}, "agent": {}, "any": {}}
        super().__init__(reading)

    def _renew(self) -> None:
        super()._renew()
        self._in_turn = False
        self._named: list[str] = []  # the sessions of what the turn says; two are enough

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        method = string(fields.get("method"))
        if method == "session/update":
            self._read_update(mapping(fields.get("params")))
        elif method:
            self._read_request(method, fields)
        elif "result" in fields or "error" in fields:
            self._read_response(fields)
        else:
            self._sink.wire(self.unknown, event_data(payload))

    def _read_update(self, params: dict[str, Any]) -> None:
        update = mapping(params.get("update"))
        kind = string(update.get("sessionUpdate"))
        session = string(params.get("sessionId"))
        is_replayed = session in self._lacking or session in self._loading.values()
        if self._is_done and not self._hears_client and (kind in CHUNKS or kind in _OF_NEW_TURNS):
            self._next_answer()
        stated = self._session_stated(params) | ({"replayed": True} if is_replayed else {})
        self._sink.wire(kind if kind in UPDATES else "update.unknown", {**update, **stated})
        self._has_strayed = self._has_strayed or stated.get("session_known") is False
        self._loaded.add_update(session, update, is_replayed=is_replayed)
        if self._content.is_over or is_replayed:
            return
        if (chunk := CHUNKS.get(kind)) is not None:
            self._begin_turn(params.get("sessionId"))
            self._content.add_chunk(chunk, update)
        elif kind in _CALLS:
            self._begin_turn(params.get("sessionId"))
            self._content.take_call(update)
        elif kind == "usage_update":
            self._content.interrupt_run()
        elif kind == "user_message_chunk":
            self._content.end_run()

    def _read_request(self, method: str, fields: dict[str, Any]) -> None:
        side = "agent" if method.startswith(_OF_AGENTS) else "client"
        if side == "client" and not method.startswith(_OF_CLIENTS):
            self._sink.wire(self.unknown, fields)  # an extension: any side may call it
            self._note_waiting("any", fields.get("id"), method)
            return
        self._hears_client = self._hears_client or side == "client"
        number = fields.get("id")
        params = mapping(fields.get("params"))
        if method == "session/prompt":
            self._lacking.discard(string(params.get("sessionId")))
            self._announce_turn(number, string(params.get("sessionId")))
            self._loaded.begin_turn(string(params.get("sessionId")), params.get("prompt"))
        stated = {} if side == "client" else self._session_stated(params)
        if method == "session/prompt" and "sessionId" in params:
            stated = {"sessionId": params["sessionId"]}
        self._sink.wire(method if method in _OF_TURNS else f"{side}.request", {**fields, **stated})
        if side == "client":
            self._note_session(params)
        self._note_waiting(side, number, method, string(params.get("sessionId")))

    def _note_waiting(self, side: str, number: Any, method: str, session: str = "") -> None:
        """Takes a request that wants a response."""
        pending = self._pending[side]
        if isinstance(number, str | int) and len(pending) < _MOST_REQUESTS:
            pending[number] = method
            if method in _OPENING:
                self._opening.add(number)
            if method == _LOADING:
                self._loading[number] = session
                self._has_strayed = False
                self._loaded.begin_load(session)

    def _announce_turn(self, number: Any, session: str) -> None:
        """A prompt begins a turn, unless a turn of another session is under way."""
        if self._is_done or session in self._prompts.values():
            self._next_answer()
            self._prompts.clear()
        if isinstance(number, str | int) and len(self._prompts) < _MOST_PROMPTS:
            self._prompts[number] = session

    def _read_response(self, fields: dict[str, Any]) -> None:
        result, number = mapping(fields.get("result")), fields.get("id")
        key = number if isinstance(number, str | int) else ""
        of_client, of_agent = (self._pending[side].get(key) for side in ("client", "agent"))
        stops = "stopReason" in result
        # Both sides may count from the same number.
        if of_agent is not None and not stops:
            self._pending["agent"].pop(key)
            self._sink.wire("client.response", fields)
            return
        if not stops and self._pending["any"].pop(key, None) is not None:
            self._sink.wire(self.unknown, fields)
            return
        ends = stops or of_client == "session/prompt"
        if of_client is not None:
            self._pending["client"].pop(key)
            self._opening.discard(key)
            self._note_session(result)
            if of_client == "session/new" and result.get("sessionId"):
                self._loaded.open(string(result.get("sessionId")))
            fields = {**fields, "request_known": not stops or of_client == "session/prompt"}
        elif key != "" and self._pending["client"]:
            fields = {**fields, "request_known": False}
        if not ends and ("error" not in fields or of_client is not None):
            self._sink.wire("agent.response", fields)
            self._end_loading(key, is_whole="error" not in fields)
            return
        self._read_stop(key, fields, result)

    def _end_loading(self, number: str | int, *, is_whole: bool) -> None:
        session = self._loading.pop(number, "")
        found = self._loaded.end_load(session) if session else None
        if found is None or not is_whole or self._has_strayed:
            return
        if found["lost"]:
            self._lacking.add(session)
        self._sink.wire(LOADED, found)

    def _read_stop(self, number: str | int, fields: dict[str, Any], result: Any) -> None:
        """The response to a prompt; the turn goes on where one of another session waits."""
        if self._is_done and not self._hears_client and number != self._answered:
            self._next_answer()
        self._answered = number
        session = self._prompts.pop(number, None)
        if session is None:
            session = self._named[0] if len(self._named) == 1 else None
            self._prompts.clear()
        elif session:
            self._loaded.end_turn(session, string(result.get("stopReason")))
        stated = {} if session is None else {"sessionId": session}
        self._sink.wire("prompt.response", {**fields, **stated})
        if not self._content.is_over and not self._prompts:
            self._end_turn(result, fields.get("error"))

    def _note_session(self, stated: Any) -> None:
        name = string(mapping(stated).get("sessionId"))
        if name and len(self._sessions) < _MOST_REQUESTS:
            self._sessions.add(name)

    def _session_stated(self, params: dict[str, Any]) -> dict[str, Any]:
        """The session that an update or a request names, and whether it is known (rule 5)."""
        if "sessionId" not in params:
            return {}
        stated, name = {"sessionId": params["sessionId"]}, string(params["sessionId"])
        if not self._hears_client:
            return {**stated, "session_known": name == self._named[0]} if self._named else stated
        is_known = 0 < len(self._sessions) < _MOST_REQUESTS and not self._opening
        return {**stated, "session_known": name in self._sessions} if is_known else stated

    def _begin_turn(self, session: Any) -> None:
        name = string(session)
        if name and name not in self._named and len(self._named) < _TOO_MANY:
            self._named.append(name)
        if not self._in_turn:
            self._in_turn = True
            self._is_done = False
            self._sink.start_message()

    def _end_turn(self, result: dict[str, Any], error: Any) -> None:
        self._content.close()
        self._in_turn, self._is_done, self._named = False, True, []
        if error is not None:
            failure = mapping(error)
            code = failure.get("code")
            stated = {"code": code if isinstance(code, str | int) else ""}
            message = string(mapping(failure.get("data")).get("message"))
            stated["message"] = message or string(failure.get("message"))
            self._sink.say_error({"choice": 0, **stated})
            return
        reason = string(result.get("stopReason"))
        counts = whole_counts(result.get("usage"), _COUNTS)
        self._sink.end_message(_REASONS.get(reason, reason), counts)


def recognises(_frame: Frame, payload: Any) -> bool:
    """A message of a session, or the response to a prompt; other JSON-RPC is anybody's."""
    fields = mapping(payload)
    if fields.get("jsonrpc") != "2.0":
        return False
    method = string(fields.get("method"))
    is_initial = method == "initialize" and "protocolVersion" in mapping(fields.get("params"))
    stops = "stopReason" in mapping(fields.get("result"))
    return method.startswith("session/") or stops or is_initial
