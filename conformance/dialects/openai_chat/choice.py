"""One choice of a chat completion: what its deltas mean to a client.

Rule 1: fields of one delta are taken in the order of semantic events (thinking, opaque, content,
        refusal, tools, finish); inside content, which is itself ordered, the wire's order stays.
Rule 2: thinking and text form runs; a run ends when anything else comes. Tool calls stay open
        until the finish or the end, as a server may add arguments to any of them until then.
Rule 3: `closed: true` of a Mistral part says that the run may end: if it does, it ends explicitly.
        Servers set it on every part, so it does not end the run by itself.
Rule 4: a complete pair of markers around nothing is a start and an end, both explicit, because
        the wire said both; a block that the prompt opened and that stayed empty is nothing.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import Reading
from conformance.dialects.blocks import Block, Blocks, Channel
from conformance.dialects.json_edge import arguments_text, mapping, objects, string, whole
from conformance.dialects.markers import MarkerPiece, Markers
from conformance.dialects.openai_chat import fields as chat_fields
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

MOST_TOOLS: Final = 4096

_ToolFragment = tuple[int, str, str, str]  # index, id, name, arguments
_REASONS: Final = {"function_call": "tool_calls"}


class Choice:
    """State of one choice; `read` takes deltas, or the whole message of a body."""

    __slots__ = (
        "_blocks",
        "_closed",
        "_fields",
        "_markers",
        "_number",
        "_run",
        "_sink",
        "_started",
        "_tools",
        "_whole",
        "is_finished",
    )

    def __init__(self, number: int, sink: Sink, reading: Reading, *, whole: bool) -> None:
        self._number = number
        self._sink = sink
        self._fields = reading.fields
        self._blocks = Blocks(number, sink)
        self._run: Block | None = None
        self._closed = False
        self._whole = whole  # the text of a body comes in one piece
        self._started = False
        self._tools: dict[int, ToolCall] = {}
        self._markers: Markers | None = None
        self.is_finished = False
        if reading.markers:
            self._markers = Markers(
                reading.markers,
                opened_by_prompt=reading.opened_by_prompt,
                last_close=reading.last_close,
                first_only=reading.first_block_only,
            )

    def read(self, delta: dict[str, Any], element: dict[str, Any], chunk: dict[str, Any]) -> bool:
        """Report what a delta says; False where it opens more tool calls than are kept.

        `element` is the choice on the wire, whose `finish_reason` counts, `chunk` holds the id.
        """
        if delta.get("images") or delta.get("audio"):  # of OpenRouter, of OpenAI
            self._sink.show(self._number)
        finish_reason = element.get("finish_reason")
        if self._started and not (finish_reason or self._fields):
            name = chat_fields.only_carrier(delta)
            if name in chat_fields.TEXT_CARRIERS and isinstance(delta[name], str):
                self._read_single(name, delta[name])
                return True
            if name == "tool_calls":
                tools = _tool_fragments(delta, is_whole=self._whole)
                return self._read_tools(tools) if tools else True
        return self._read_all(delta, string(finish_reason), string(chunk.get("id")))

    def _read_single(self, name: str, text: str) -> None:
        if name == "content":
            self._read_text(text)
        elif name == "refusal":
            self._say_refusal(text)
        else:
            self._read_thinking(text)

    def _read_all(self, delta: dict[str, Any], reason: str, message_id: str) -> bool:
        """As `read`, for a delta of any kind."""
        role = string(delta.get("role"))
        if not self._fields:
            delta = chat_fields.carriers(delta)
        channel, thought, hidden = chat_fields.thinking(delta, self._fields)
        opaque = chat_fields.opaque(delta, self._fields, hidden)
        parts = chat_fields.content(delta, self._fields)
        if thought:
            parts = [part for part in parts if part[0] == "text"]
        elif "thinking_blocks" in delta and all(kind != "thinking" for kind, _ in parts):
            thought = chat_fields.mirrored_thinking(delta)
        refusal = string(delta.get("refusal"))
        tools = (
            []
            if chat_fields.TOOL_CARRIERS.isdisjoint(delta)
            else _tool_fragments(delta, is_whole=self._whole)
        )
        if thought or opaque or parts or refusal or tools or role:
            self._start_message(role, message_id)
        if thought:
            self._flush_markers()
            self._say_thinking(channel, thought)
        if opaque:
            comes_next = parts[0][0] == "text" if parts else bool(refusal or tools or reason)
            self._say_opaque(opaque, is_cut_short=comes_next and self._markers is None)
        for kind, text in parts:
            self._read_part(kind, text)
        if refusal:
            self._say_refusal(refusal)
        fits = self._read_tools(tools) if tools else True
        if reason:
            self._say_finish(reason)
        return fits

    def close(self) -> None:
        """Ends still owed: the stream, or this choice, is over."""
        self._interrupt_run()
        for tool in self._tools.values():
            tool.end(self._sink)
        self._tools.clear()

    def _start_message(self, role: str, message_id: str) -> None:
        # A role repeated on later chunks is a fact for wire rules, not a second message.
        if self._started:
            return
        self._started = True
        self._sink.start_message(role, message_id, choice=self._number)

    def _say_thinking(self, channel: Channel, text: str, *, explicit: bool = False) -> None:
        """Report thinking; with `explicit` the start of a block, which may stay empty."""
        run = self._run
        if run is None or run.channel != channel or explicit:
            self._end_run()
            run = self._run = self._blocks.think(channel, explicit=explicit)
        self._closed = False
        if text:
            self._blocks.thought(run, channel, text)

    def _say_text(self, text: str) -> None:
        run = self._run
        if run is None or run.channel is not None:
            self._end_run()
            run = self._run = self._blocks.write()
        self._blocks.text(run, text)

    def _end_run(self, *, explicit: bool = False) -> None:
        if self._run is not None:
            self._blocks.close(self._run, explicit=explicit or self._closed)
            self._run = None
        self._closed = False

    def _end_thinking(self) -> None:
        if self._run is not None and self._run.channel is not None:
            self._end_run(explicit=True)

    def _flush_markers(self) -> None:
        """Say what the markers held back: no more visible text comes just now."""
        if self._markers is not None:
            self._read_pieces(self._markers.flush())

    def _interrupt_run(self) -> None:
        if self._markers is not None:
            self._flush_markers()
        self._end_run()

    def _say_opaque(self, opaque: list[tuple[str, str]], *, is_cut_short: bool) -> None:
        """Report opaque data as the open block's, after the block's end if this delta ends it."""
        block = self._run if self._run is not None and self._run.channel is not None else None
        if block is not None and is_cut_short:
            self._end_run()
        for kind, data in opaque:
            self._blocks.opaque(block, kind, data)

    def _read_text(self, text: str) -> None:
        if self._markers is None:
            self._say_text(text)
        else:
            self._read_pieces(self._markers.feed(text, last=self._whole))

    def _read_thinking(self, text: str) -> None:
        if self._markers is not None:
            self._flush_markers()
        self._say_thinking("raw", text)

    def _read_part(self, kind: chat_fields.PartKind, text: str) -> None:
        if kind == "text":
            self._read_text(text)
        elif kind == "thinking":
            self._read_thinking(text)
        elif kind == "signature":
            self._say_opaque([("signature", text)], is_cut_short=False)
        elif kind == "closed":
            self._closed = True
        else:
            self._end_thinking()

    def _read_pieces(self, pieces: list[MarkerPiece]) -> None:
        for kind, text in pieces:
            if kind == "text":
                self._say_text(text)
            elif kind == "thinking":
                self._say_thinking("raw", text)
            elif kind == "open":
                self._say_thinking("raw", "", explicit=True)
            else:
                self._end_thinking()

    def _say_refusal(self, text: str) -> None:
        self._interrupt_run()
        self._sink.emit("refusal.delta", {"choice": self._number, "text": text})

    def _read_tools(self, fragments: list[_ToolFragment]) -> bool:
        self._interrupt_run()
        for index, call_id, name, arguments in fragments:
            tool = self._tool_at(index, call_id, name)
            if tool is None:
                return False
            if arguments:
                tool.add(self._sink, arguments)
        return True

    def _tool_at(self, index: int, call_id: str, name: str) -> ToolCall | None:
        """The call that a fragment belongs to; another id at the same index is another call."""
        tool = self._tools.get(index)
        if tool is not None and call_id in ("", tool.call_id):
            return tool
        if tool is not None:
            tool.end(self._sink)
        elif len(self._tools) >= MOST_TOOLS:
            return None
        tool = self._tools[index] = ToolCall(self._number, index, call_id, name)
        tool.start(self._sink)
        return tool

    def _say_finish(self, reason: str) -> None:
        self.close()
        self.is_finished = True
        named = _REASONS.get(reason, reason)
        self._sink.finish(named, self._number, marked=self._markers is not None)


def _tool_fragments(delta: dict[str, Any], *, is_whole: bool) -> list[_ToolFragment]:
    """Tool calls that say anything; a missing index is the position.

    A whole message has its calls in order: no client reads the index that a gateway left there. A
    custom tool is given a text, which are no arguments.
    """
    calls = objects(delta.get("tool_calls"))
    if not calls and isinstance(legacy := delta.get("function_call"), dict):
        calls = [{"function": legacy}]
    found: list[_ToolFragment] = []
    for position, call in enumerate(calls):
        function, custom = mapping(call.get("function")), mapping(call.get("custom"))
        call_id = string(call.get("id"))
        index = None if is_whole else whole(call.get("index"))
        name = string(function.get("name")) or string(custom.get("name"))
        arguments = arguments_text(function.get("arguments"))
        if call_id or name or arguments:
            found.append((position if index is None else index, call_id, name, arguments))
    return found
