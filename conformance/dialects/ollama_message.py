"""The message of an answer while it comes: what its pieces mean to a client.

Rule 1: thinking and text form runs; a run ends when anything else comes.
Rule 2: a call comes whole: it starts, has its arguments and ends at once. It is numbered by its
        place among the calls of the answer, since servers may give all of them the number 0.
        Nothing is kept of a call, so there may be any number of them.
"""

from __future__ import annotations

from typing import Any

from conformance.core.json_values import text_at
from conformance.core.reading import Reading
from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.json_edge import arguments_text, mapping, objects, string
from conformance.dialects.markers import MarkerPiece, Markers
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall


class Message:
    """State of the one message of an exchange."""

    def __init__(self, sink: Sink, reading: Reading) -> None:
        self._sink = sink
        paths = (*reading.fields.get("thinking", ()), "thinking")
        self._thinking = tuple(tuple(path.split(".")) for path in paths)
        self._blocks = Blocks(0, sink)
        self._run: Block | None = None
        self._calls = 0
        self._has_started = False
        self._markers: Markers | None = None
        if reading.markers:
            self._markers = Markers(
                reading.markers,
                opened_by_prompt=reading.opened_by_prompt,
                last_close=reading.last_close,
                first_only=reading.first_block_only,
            )

    def read(self, message: dict[str, Any], *, is_whole: bool) -> None:
        """Reports what a piece of the message says."""
        thought = self._thought(message)
        text = string(message.get("content"))
        calls = objects(message["tool_calls"]) if "tool_calls" in message else []
        if not self._has_started:
            role = string(message.get("role"))
            if thought or text or calls or role:
                self._has_started = True
                self._sink.start_message(role)
        if thought:
            self._flush()
            self._think(thought)
        if text and self._markers is None:
            self._write(text)
        elif text and self._markers is not None:
            self._pieces(self._markers.feed(text, last=is_whole))
        for call in calls:
            self._call(call)

    def _thought(self, message: dict[str, Any]) -> str:
        for path in self._thinking:
            if text := text_at(message, *path):
                return text
        return ""

    def close(self) -> None:
        """Ends still owed: another thing comes, or the answer is over."""
        self._flush()
        self._end_run()

    def _think(self, text: str, *, explicit: bool = False) -> None:
        """Reports thinking; with `explicit` the start of a block, which may stay empty."""
        if self._run is None or self._run.channel is None or explicit:
            self._end_run()
            self._run = self._blocks.think("raw", explicit=explicit)
        if text:
            self._blocks.thought(self._run, "raw", text)

    def _write(self, text: str) -> None:
        if self._run is None or self._run.channel is not None:
            self._end_run()
            self._run = self._blocks.write()
        self._blocks.text(self._run, text)

    def _end_run(self, *, explicit: bool = False) -> None:
        self._blocks.close(self._run, explicit=explicit and self._run is not None)
        self._run = None

    def _flush(self) -> None:
        """Says what the markers held back: no more visible text comes just now."""
        if self._markers is not None:
            self._pieces(self._markers.flush())

    def _pieces(self, pieces: list[MarkerPiece]) -> None:
        for kind, text in pieces:
            if kind == "text":
                self._write(text)
            elif kind == "close":
                self._end_run(explicit=True)
            else:
                self._think(text if kind == "thinking" else "", explicit=kind == "open")

    def _call(self, element: dict[str, Any]) -> None:
        self.close()
        function = mapping(element.get("function"))
        name = string(function.get("name"))
        call = ToolCall(0, self._calls, string(element.get("id")), name)
        self._calls += 1
        call.start(self._sink)
        if arguments := arguments_text(function.get("arguments")):
            call.add(self._sink, arguments)
        call.end(self._sink)
