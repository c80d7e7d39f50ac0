"""The texts of one invocation of ADK so far, agent by agent.

Rule 1: agents may run side by side: an agent is identified by its author and its branch.
Rule 2: fragments are what a user sees. The whole event after them says them again: thinking and
        text count from it only where no fragment had any.
Rule 3: calls, results and signatures count from whole events: a fragment is a hint.
Rule 4: an agent has settled when its last event was whole, and nothing that it called waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.gemini_parts import CALL, kind_of, signature_of
from conformance.dialects.google_adk.vocabulary import OVERFLOW
from conformance.dialects.json_edge import arguments_text, elements, mapping, objects, string
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

RESULT: Final = "functionResponse"
REASONS: Final = {
    **dict.fromkeys(
        (
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
        ),
        "content_filter",
    ),
    "STOP": "stop",
    "MAX_TOKENS": "length",
}
_MOST_AGENTS: Final = 64
_MOST_CALLS: Final = 4096

StatedTexts = dict[str, str]
"""Texts by their kind: `thought` and `text`."""


class AgentTurn:
    """The fragments of one agent since its last whole event."""

    __slots__ = ("_texts", "reason", "run")

    def __init__(self) -> None:
        self.run: Block | None = None
        self.reason = ""  # to stop, where a fragment has it
        self._texts: dict[str, list[str]] = {}

    @property
    def has_streamed(self) -> bool:
        """Whether a fragment came."""
        return bool(self._texts)

    def add(self, kind: str, text: str) -> None:
        """A piece of thought or text; an empty one says that a fragment came."""
        self._texts.setdefault(kind, []).append(text)

    def streamed_text(self, kind: str) -> str:
        """The text of a kind that the fragments brought."""
        return "".join(self._texts.get(kind, ()))

    def forget(self) -> None:
        """The whole event after the fragments came."""
        self._texts = {}
        self.reason = ""


class Invocation:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._blocks = Blocks(0, sink)
        self._agents: dict[tuple[str, str], AgentTurn] = {}
        self._calls = 0
        self._waiting: set[str] = set()  # ids of calls without a result
        self._known: set[str] = set()
        self._has_event = False
        self._last_partial = False
        self.reason = ""  # that of the last whole event of a model
        self.is_over = False

    @property
    def is_settled(self) -> bool:
        """Rule 4."""
        is_open = self._last_partial or any(each.has_streamed for each in self._agents.values())
        return self._has_event and not is_open and not self._waiting

    @property
    def calls(self) -> int:
        return self._calls

    def agent(self, fields: Mapping[str, Any]) -> AgentTurn | None:
        """The agent of an event; None once there were too many, which is reported."""
        key = string(fields.get("author")), string(fields.get("branch"))
        if self.is_over:
            return None
        if key not in self._agents:
            if len(self._agents) >= _MOST_AGENTS:
                self._sink.wire(OVERFLOW, {})
                self.is_over = True
                return None
            self._agents[key] = AgentTurn()
        return self._agents[key]

    def knows_call(self, call_id: str) -> bool:
        return call_id in self._known or len(self._known) >= _MOST_CALLS

    def add(self, agent: AgentTurn, fields: Mapping[str, Any], parts: list[Any]) -> None:
        agent.reason = string(fields.get("finishReason")) or agent.reason
        self._has_event = self._last_partial = True
        for part in parts:
            kind = kind_of(part)
            if kind in ("thought", "text"):
                text = string(part.get("text"))
                agent.add(kind, text)
                self._add_text(agent, text, is_thought=kind == "thought")
        agent.add("text", "")

    def complete(self, agent: AgentTurn, fields: Mapping[str, Any], parts: list[Any]) -> None:
        """A whole event."""
        self._has_event, self._last_partial = True, False
        unsaid = {kind for kind in ("thought", "text") if not agent.streamed_text(kind)}
        for part in parts:
            kind = kind_of(part)
            if signature := signature_of(part):
                self._blocks.opaque(None, "signature", signature)
            if kind in unsaid:
                self._add_text(agent, string(part.get("text")), is_thought=kind == "thought")
            elif kind == CALL:
                self._close_run(agent)
                self._call(mapping(part[CALL]))
            elif kind == RESULT:
                self._waiting.discard(string(mapping(part[RESULT]).get("id")))
        self._close_run(agent)
        if reason := reason_of(fields) or (agent.reason if parts else ""):
            self.reason = reason
        agent.forget()
        self._waiting.difference_update(map(string, elements(fields.get("longRunningToolIds"))))

    def close(self) -> None:
        """Ends what is open."""
        for agent in self._agents.values():
            self._close_run(agent)

    def _add_text(self, agent: AgentTurn, text: str, *, is_thought: bool) -> None:
        if not text:
            return
        if agent.run is None or (agent.run.channel is not None) is not is_thought:
            self._close_run(agent)
            agent.run = self._blocks.think("raw") if is_thought else self._blocks.write()
        if is_thought:
            self._blocks.thought(agent.run, "raw", text)
        else:
            self._blocks.text(agent.run, text)

    def _close_run(self, agent: AgentTurn) -> None:
        self._blocks.close(agent.run)
        agent.run = None

    def _call(self, call: Mapping[str, Any]) -> None:
        call_id = string(call.get("id"))
        if call_id and len(self._known) < _MOST_CALLS:
            self._known.add(call_id)
            self._waiting.add(call_id)
        tool = ToolCall(0, self._calls, call_id, string(call.get("name")))
        self._calls += 1
        tool.start(self._sink)
        if text := arguments_text(call.get("args")):
            tool.add(self._sink, text)
        tool.end(self._sink)


def stated(parts: list[dict[str, Any]]) -> StatedTexts:
    """The texts of a whole event, by their kind."""
    texts: StatedTexts = {"thought": "", "text": ""}
    for part in parts:
        if (kind := kind_of(part)) in texts:
            texts[kind] += string(part.get("text"))
    return texts


def reason_of(fields: Mapping[str, Any]) -> str:
    """Why a model stopped, as a whole event says it: some versions say it as a code alone."""
    code = string(fields.get("errorCode"))
    return string(fields.get("finishReason")) or (code if code in REASONS else "")


def parts_of(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of an event's content."""
    return objects(mapping(fields.get("content")).get("parts"))
