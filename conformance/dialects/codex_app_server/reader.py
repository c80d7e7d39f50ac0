"""Dialect `codex.app-server`: the app server of Codex, version 2, as lines on standard output.

Rule 1: a notification about turns and items is a wire event of its `method`, with the fields of its
        `params`; that of an item has `itemId`, also where the item states it. The texts that a
        completed item states are `item.text`, `item.summary` and `item.content`, one each; these
        and `item/completed` say whether the item was `streamed`: clients may opt out of deltas.
        Those of reasoning say how many `parts` its summary has.
        Other notifications are `server.notification`.
Rule 2: a transcript may hold both directions. A method with an id is a request: that of an item is
        `server.request`, every other one `client.request`, except `turn/start` and
        `turn/interrupt`. A response, of whichever side, says nothing.
Rule 3: a turn is done with `turn/completed`, which also says that it failed or was interrupted;
        `error` before it, which may be followed by another try, says nothing by itself. Without it
        the turn was cut.
Rule 4: every turn is an answer; a turn of another thread that overlaps it belongs to it.
        Tokens are counted by thread: those of a turn are what came to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.core.reading import Reading
from conformance.dialects.codex_app_server.asked import AskedTurns
from conformance.dialects.codex_app_server.items import OVERFLOW, TurnItems
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import elements, event_data, mapping, string, whole
from conformance.dialects.open_parts import MOST_OPEN
from conformance.dialects.typed import ProgramReader

NAME: Final = "codex.app-server"
DELTAS: Final[Mapping[str, Callable[[TurnItems, dict[str, Any]], None]]] = {
    "item/agentMessage/delta": TurnItems.add_message,
    "item/reasoning/summaryTextDelta": lambda items, params: items.add_thought("summary", params),
    "item/reasoning/textDelta": lambda items, params: items.add_thought("raw", params),
    "item/reasoning/summaryPartAdded": TurnItems.add_part,
}
_ITEMS: Final = frozenset({"item/started", "item/completed"})
_TURNS: Final = frozenset({"turn/started", "turn/completed"})
# Deltas of what is neither said nor thought: plans, and what tools write.
_OUTPUTS: Final = frozenset(
    {
        *("item/plan/delta", "item/commandExecution/outputDelta", "item/fileChange/outputDelta"),
        *("thread/realtime/transcript/delta", "thread/realtime/item/transcript/delta"),
    }
)
METHODS: Final = (
    frozenset(DELTAS)
    | _ITEMS
    | _TURNS
    | _OUTPUTS
    | {"thread/started", "thread/tokenUsage/updated", "error"}
)
_OF_CLIENTS: Final = frozenset({"turn/start", "turn/interrupt"})
VOCABULARY: Final = vocabulary(
    NAME,
    *METHODS,
    *_OF_CLIENTS,
    *("server.notification", "server.request", "client.request", "response", "item.text"),
    *("item.summary", "item.content", "line.unknown", OVERFLOW),
)
_COUNTS: Final = {
    "input": "inputTokens",
    "output": "outputTokens",
    "reasoning": "reasoningOutputTokens",
}
_PARTS: Final = {"summary": "summaryIndex", "content": "contentIndex"}
_REASONS: Final = {"completed": "stop", "interrupted": "cancelled"}


class AppServerReader(ProgramReader[TurnItems]):
    """Reader of one turn, or of a session."""

    content_type = TurnItems
    history = "input"

    def __init__(self, reading: Reading) -> None:
        self._asked = AskedTurns()
        self._counted = ""  # the thread whose tokens were counted last
        self._total: dict[str, int] = {}  # and how many, in all its turns
        super().__init__(reading)

    def _renew(self) -> None:
        super()._renew()
        self._thread = ""  # of the turn under way
        self._before = self._total  # what the thread had counted before the turn
        self._streamed: set[str] = set()  # ids of items that had deltas, as long as they are open

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        method = string(fields.get("method"))
        if not method:
            answers = "result" in fields or "error" in fields
            about = self._asked.respond(fields) if answers else {}
            self._sink.wire("response" if answers else self.unknown, event_data(payload, **about))
        elif method in METHODS and "id" not in fields:
            self._read_notification(method, mapping(fields.get("params")))
        elif "id" in fields:
            if method == "turn/start" and self._is_done:
                self._next_answer()
            side = "server" if method.startswith("item/") else "client"
            self._asked.ask(method, fields, by_client=side == "client")
            self._sink.wire(method if method in _OF_CLIENTS else f"{side}.request", fields)
        else:
            self._sink.wire("server.notification", fields)

    def _read_notification(self, method: str, params: dict[str, Any]) -> None:
        item = mapping(params.get("item"))
        if method == "turn/started":
            self._announce_turn(string(params.get("threadId")), mapping(params.get("turn")))
        if method in _ITEMS:
            self._wire_item(method, params, item)
        else:
            about = self._about_start(params) if method == "turn/started" else {}
            self._sink.wire(method, {**params, **about})
            if method in DELTAS and len(self._streamed) < MOST_OPEN:
                self._streamed.add(string(params.get("itemId")))
        if self._content.is_over:
            return
        if (add := DELTAS.get(method)) is not None:
            add(self._content, params)
        elif method == "item/started":
            self._content.start(item)
        elif method == "item/completed":
            self._content.complete(item)
        elif method == "thread/tokenUsage/updated":
            self._count_tokens(string(params.get("threadId")), params.get("tokenUsage"))
        elif method in _TURNS:
            self._read_turn(method, mapping(params.get("turn")))

    def _about_start(self, params: dict[str, Any]) -> dict[str, Any]:
        name = string(mapping(params.get("turn")).get("id"))
        return self._asked.start(string(params.get("threadId")), name)

    def _wire_item(self, method: str, params: dict[str, Any], item: dict[str, Any]) -> None:
        item_id = item.get("id")
        about: dict[str, Any] = {"itemId": item_id} if isinstance(item_id, str) else {}
        if method == "item/completed":
            about["streamed"] = item_id in self._streamed if about else False
            if item.get("type") == "userMessage":
                about |= self._asked.hear(string(params.get("threadId")), item)
            if item.get("type") == "reasoning":
                about["parts"] = len(elements(item.get("summary")))
            self._streamed.discard(string(item_id))
        self._sink.wire(method, {**params, **about})
        if method == "item/started":
            return
        if item.get("type") == "agentMessage":
            self._sink.wire("item.text", {**about, "text": item.get("text")})
        for key, number in _PARTS.items() if item.get("type") == "reasoning" else ():
            for place, text in enumerate(elements(item.get(key))):
                self._sink.wire(f"item.{key}", {**about, number: place, "text": text})

    def _announce_turn(self, thread: str, turn: dict[str, Any]) -> None:
        """A turn begins, unless a turn of another thread is under way."""
        if self._is_done or thread in ("", self._thread):
            self._announce(string(turn.get("id")))
        self._announced = self._announced or string(turn.get("id"))
        self._thread = self._thread or thread

    def _count_tokens(self, thread: str, usage: Any) -> None:
        stated = mapping(usage)
        total = mapping(stated.get("total"))
        counts = {name: whole(total.get(key)) for name, key in _COUNTS.items()}
        known = {name: count for name, count in counts.items() if count is not None}
        # The first call of a thread is all that it has counted.
        is_first = total == stated.get("last")
        is_first = is_first or thread != self._counted
        self._counted = thread
        if is_first or any(count < self._before.get(name, 0) for name, count in known.items()):
            self._before, self._total = {}, {}
        self._total = self._total | known

    def _usage(self) -> dict[str, int]:
        """Tokens of the turn: what the thread has counted since the one before."""
        return {name: count - self._before.get(name, 0) for name, count in self._total.items()}

    def _read_turn(self, method: str, turn: dict[str, Any]) -> None:
        if method == "turn/started":
            self._sink.start_message(message_id=string(turn.get("id")))
            return
        self._content.close()
        self._is_done = True
        status = string(turn.get("status"))
        if status == "failed":
            message = string(mapping(turn.get("error")).get("message"))
            self._sink.say_error({"choice": 0, "code": "", "message": message})
            return
        self._sink.end_message(_REASONS.get(status, status), self._usage())


def recognises(_frame: Frame, payload: Any) -> bool:
    """A notification about a thread, a turn or an item; some servers add that it is JSON-RPC."""
    fields = mapping(payload)
    params = mapping(fields.get("params"))
    is_ours = string(fields.get("method")) in METHODS
    return is_ours and ("threadId" in params or "thread" in params)
