"""What the messages of a run say, block by block, and what their blocks state at the end.

Rule 1: a block is found by its message and index.
Rule 2: the end of a block states all of it. What its deltas did not say is said then: all of it
        where none came, or the rest of it.
Rule 3: signatures and sealed thinking come under `extras`, with the start or the end of a block;
        redacted thinking is a block `non_standard` that holds the block of the provider. Each is
        said once.
Rule 4: older servers send the pieces of a call as the whole of it so far (`block-delta`).
Rule 5: LangGraph.js passes on the blocks of a call to Claude under Anthropic's names, next to the
        pieces of rule 4.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct, field

from conformance.dialects.content_blocks import ContentBlocks, Place, Slot
from conformance.dialects.json_edge import arguments_text, mapping, string
from conformance.dialects.langchain_events.vocabulary import OVERFLOW

CALLS: Final = frozenset(
    {
        *("tool_call", "tool_call_chunk", "invalid_tool_call"),
        *("server_tool_call", "server_tool_call_chunk"),
        *("tool_use", "input_json_delta"),  # rule 5
    }
)
_SEALED: Final = {"signature": "signature", "encrypted_content": "encrypted"}
_KINDS: Final = {"reasoning-delta": "reasoning", "text-delta": "text", "tool-call-delta": "call"}
_KEYS: Final = {"reasoning": "reasoning", "text": "text", "call": "args"}
Fields = Mapping[str, Any]
State = Literal["begun", "ended"]


class BlockState(Struct, eq=False):
    """What came of one block: how far it is, what it is, and the text of its deltas."""

    state: State | None = None
    kind: str = ""
    text: str = ""


class Message(Struct, eq=False):
    """One message of a run; no other has its `number`."""

    number: int
    names: tuple[str, ...] = ()
    is_of_model: bool = True
    provider: str = ""
    is_mixed: bool = False  # with another one: whose its events are is not known
    blocks: dict[Any, BlockState] = field(default_factory=dict)

    def open_blocks(self) -> list[Any]:
        return [at for at, each in self.blocks.items() if each.state == "begun"]


class RunContent(ContentBlocks):
    """The blocks of all messages of a run."""

    overflow = OVERFLOW

    __slots__ = ("_reported",)

    def __init__(self, sink: Any) -> None:
        super().__init__(sink)
        self._reported: set[tuple[Place, str]] = set()

    def start(self, message: Message, event: Fields) -> dict[str, Any]:
        """A block is announced; gives what is amiss with that."""
        index, block = event.get("index"), mapping(event.get("content"))
        known: dict[str, Any] = {"again": True} if _block_state(message, index).state else {}
        kind = _kind(block)
        message.blocks[_key(index)] = BlockState("begun", kind)
        at = (message.number, _key(index))
        if (slot := self.begin_at(at)) is not None:
            if kind == "reasoning":
                slot.thinking = self._blocks.think("raw", explicit=True)
            elif kind == "call":
                named = (string(block.get("id")), string(block.get("name")))
                is_hosted = string(block.get("type")).startswith("server_")
                self._name_tool(slot, *named, is_hosted=is_hosted)
            self._seal(at, slot, block)
            if kind in _KEYS:
                self._add(at, message, _text(block, kind), kind)
        return known

    def delta(self, message: Message, event: Fields) -> dict[str, Any]:
        """A delta; gives what is amiss with it."""
        index, delta = event.get("index"), mapping(event.get("delta"))
        state = _block_state(message, index)
        known: dict[str, Any] = {}
        if state.state != "begun":
            known = {"late": True} if state.state else {"unannounced": True}
        kind = _KINDS.get(string(delta.get("type")), "")
        text = string(delta.get(_KEYS.get(kind, "")))
        if delta.get("type") == "block-delta":
            fields = mapping(delta.get("fields"))
            kind, whole = _kind(fields), string(fields.get("args"))
            text = whole[len(state.text) :] if whole.startswith(state.text) else ""
        is_other = bool(state.kind and kind and state.kind != kind)
        if is_other:
            known["other_kind"] = True
        if kind in _KEYS:
            self._add((message.number, _key(index)), message, text, kind, counts=not is_other)
        return known

    def finish(self, message: Message, event: Fields) -> dict[str, Any]:
        """The end of a block: gives what is amiss, what was streamed, and what is stated."""
        index, block = event.get("index"), mapping(event.get("content"))
        state = _block_state(message, index)
        known: dict[str, Any] = {}
        if state.state != "begun":
            known = {"again": True} if state.state else {"unannounced": True}
        kind = _kind(block)
        if state.kind and state.kind != kind:
            known["other_kind"] = True
        elif kind in _KEYS:
            known["streamed"] = _comparable(state.text, kind)
            known["stated"] = _comparable(_text(block, kind), kind)
            known["spoke"] = bool(state.text)
            known["provider"] = message.provider
        if state.state != "ended":
            self._finish_slot(message, index, block, kind)
        message.blocks.setdefault(_key(index), state).state = "ended"
        return known

    def close_message(self, message: Message) -> None:
        """Ends what a message left open."""
        for index in message.open_blocks():
            if (slot := self._at.get((message.number, index))) is not None and slot.is_open:
                self._end_slot(slot)

    def _finish_slot(self, message: Message, index: Any, block: Fields, kind: str) -> None:
        at = (message.number, _key(index))
        state = message.blocks.get(_key(index)) or BlockState()
        rest = _text(block, kind)
        if kind == "call":
            rest = "" if state.text else rest
        else:
            rest = rest[len(state.text) :] if rest.startswith(state.text) else ""
        slot = self._at.get(at)
        if slot is None and not rest and kind != "call":
            return
        if slot is None and (slot := self.slot_at(at)) is None:
            return
        if slot.tool is None and kind == "call":
            self._name_tool(slot, string(block.get("id")), string(block.get("name")))
        if slot.tool is not None:
            slot.tool.call_id = slot.tool.call_id or string(block.get("id"))
            slot.tool.name = slot.tool.name or string(block.get("name"))
        self._add(at, message, rest, kind, counts=False)
        self._seal(at, slot, block)
        self.stop_at(at)

    def _add(
        self, at: Place, message: Message, text: str, kind: str, *, counts: bool = True
    ) -> None:
        """More of a block; `counts`: as what was streamed of it."""
        if not text or (slot := self.slot_at(at)) is None:
            return
        if counts:
            held = message.blocks.setdefault(at[1], BlockState(None, kind))  # type: ignore[index]
            held.text += text
        {"reasoning": self.think, "text": self.write, "call": self.call}[kind](slot, text)

    def _seal(self, at: Place, slot: Slot, block: Fields) -> None:
        """Rule 3."""
        extras = mapping(block.get("extras"))
        for key, kind in _SEALED.items():
            if (data := string(extras.get(key))) and (at, data) not in self._reported:
                self._reported.add((at, data))
                self._blocks.opaque(slot.thinking, kind, data)
        value = mapping(block.get("value"))
        data = string(value.get("data"))
        if value.get("type") == "redacted_thinking" and data and (at, data) not in self._reported:
            self._reported.add((at, data))
            self.redact(slot, data)


def _kind(block: Fields) -> str:
    kind = string(block.get("type"))
    return "call" if kind in CALLS else kind


def _text(block: Fields, kind: str) -> str:
    value = block.get(_KEYS.get(kind, ""))
    return arguments_text(value) if kind == "call" and value else string(value)


def _comparable(text: str, kind: str) -> Any:
    """Arguments as what they mean: their spelling is free."""
    if kind != "call":
        return text
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text


def _block_state(message: Message, index: Any) -> BlockState:
    return message.blocks.get(_key(index)) or BlockState()


def _key(index: Any) -> Any:
    """An index as it can be looked up, whatever it is."""
    return index if isinstance(index, (int, str, type(None))) else json.dumps(index)
