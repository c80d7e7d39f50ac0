"""Anthropic Messages: the typed events of a stream, or one whole message.

A delta says by its own type what it is, whatever its block was announced as.

In requests signed blocks go back unmodified, in their own place.
Thinking without a signature proves nothing to the API and stays here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from . import effort
from .ask import Ask
from .content_blocks import BlockReader, ContentBlock
from .frame import Frame
from .payload import count_of, object_of, objects_of, present, text_of
from .turn import Called, Piece, Thought, Words
from .wire import Reading

Fields = Mapping[str, Any]
_HOSTED: Final = frozenset({"server_tool_use", "mcp_tool_use"})
_CALLS: Final = _HOSTED | {"tool_use"}
_IN_MESSAGE: Final = frozenset({"content_block_start", "content_block_delta", "content_block_stop"})


class MessagesReader(BlockReader):
    """Reads one message. It is done at `message_stop`; what nobody knows is skipped."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._counts: dict[str, Any] = {}

    def _read_event(self, _: Frame, event: dict[str, Any]) -> None:
        kind = text_of(event.get("type"))
        if kind == "message_start":
            self._begin_message(object_of(event.get("message")))
        elif kind in _IN_MESSAGE:
            self._speech.begin()
            self._read_block(kind, event)
        elif kind == "message_delta":
            self._report.finish(object_of(event.get("delta")).get("stop_reason"))
            self._update_usage(event.get("usage"))
        elif kind == "message_stop":
            self._close_open()
            self._done(explicit=True)
        elif event.get("error") and kind in ("", "error"):
            self._report.error(event["error"])

    def _read_body(self, payload: dict[str, Any]) -> None:
        if payload.get("error"):
            self._report.error(payload["error"])
        elif payload.get("type") == "message":
            self._speech.meet(text_of(payload.get("id")))
            self._speech.begin(text_of(payload.get("role")))
            self._read_content(payload)
            self._report.finish(payload.get("stop_reason"))
            self._report.usage(payload.get("usage"))
        else:
            self._report.error("neither a message nor an error")
        self._done(explicit=False)

    def _begin_message(self, message: Fields) -> None:
        self._start_message(message, message.get("id"))
        self._read_content(message)
        self._counts = {}
        self._update_usage(message.get("usage"))

    def _update_usage(self, given: Any) -> None:
        """Report the counts so far: what a later event does not repeat still holds."""
        if isinstance(given, dict):
            self._counts = {**self._counts, **given}
            self._report.usage(self._counts)

    def _read_content(self, message: Fields) -> None:
        for given in objects_of(message.get("content")):
            _whole_block(self._blocks.whole(), given)

    def _read_block(self, kind: str, event: Fields) -> None:
        index = count_of(event.get("index"))
        if kind == "content_block_start":
            _start_block(self._blocks.begin(index), object_of(event.get("content_block")))
        elif kind == "content_block_stop":
            self._blocks.stop(index)
        else:
            _report_delta(self._blocks.block(index), object_of(event.get("delta")))


def _start_block(block: ContentBlock, given: Fields) -> None:
    kind = text_of(given.get("type"))
    if kind == "thinking":
        block.open()
        block.think(text_of(given.get("thinking")))
        block.seal("signature", text_of(given.get("signature")))
        block.note_start_text(text_of(given.get("thinking")))
    elif kind == "redacted_thinking":
        block.seal("redacted", text_of(given.get("data")))
    elif kind == "text":
        block.say(text_of(given.get("text")))
        block.note_start_text(text_of(given.get("text")))
    elif kind in _CALLS:
        named = (text_of(given.get("id")), text_of(given.get("name")))
        block.call(*named, given.get("input"), hosted=kind in _HOSTED)


def _whole_block(block: ContentBlock, given: Fields) -> None:
    """Report a block that is complete: its opaque data comes after its end."""
    signature = text_of(given.get("signature")) if given.get("type") == "thinking" else ""
    _start_block(block, {**given, "signature": None})
    block.stop()
    block.seal("signature", signature)


def _report_delta(block: ContentBlock, given: Fields) -> None:
    kind = text_of(given.get("type"))
    if kind == "thinking_delta":
        block.think(text_of(given.get("thinking")))
    elif kind == "text_delta":
        block.say(text_of(given.get("text")))
    elif kind == "signature_delta":
        block.seal("signature", text_of(given.get("signature")))
    elif kind == "input_json_delta":
        block.argue(text_of(given.get("partial_json")))


def messages_request(ask: Ask) -> dict[str, Any]:
    return {
        "model": ask.model,
        "messages": list(_messages_of_ask(ask)),
        "stream": True,
        **effort.messages(ask, ask.max_tokens or effort.MOST_TOKENS),
        **ask.sampling,
        **present(
            system=ask.instructions, tools=[_tool_of(dict(tool["function"])) for tool in ask.tools]
        ),
    }


def _tool_of(function: dict[str, Any]) -> dict[str, Any]:
    schema = function.pop("parameters", {"type": "object"})
    return {**function, "input_schema": schema}


def _messages_of_ask(ask: Ask) -> Iterator[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    for turn in (*ask.turns, None):
        if turn is not None and turn.role == "tool":
            result = {"type": "tool_result", "tool_use_id": turn.call_id, "content": turn.text}
            results.append(result)
            continue
        if results:
            # All results of one turn are in one message.
            yield {"role": "user", "content": results}
            results = []
        if turn is not None and turn.role == "assistant":
            pieces = turn.thinking_first if ask.like.thinking_first else turn.pieces
            sends = ask.sends_thinking("messages")
            blocks = [block for piece in pieces for block in _blocks_of_piece(piece, sends=sends)]
            if blocks:
                yield {"role": "assistant", "content": blocks}
        elif turn is not None and turn.role == "user":
            yield {"role": "user", "content": turn.text}


def _blocks_of_piece(piece: Piece, *, sends: bool) -> Iterator[dict[str, Any]]:
    if isinstance(piece, Words):
        yield {"type": "text", "text": piece.text}
    elif isinstance(piece, Called):
        yield {"type": "tool_use", "id": piece.id, "name": piece.name, "input": piece.values}
    elif sends:
        yield from _sealed_blocks(piece)


def _sealed_blocks(thought: Thought) -> Iterator[dict[str, Any]]:
    if thought.redacted:
        yield {"type": "redacted_thinking", "data": thought.redacted}
    if thought.signature:
        signed = {"thinking": thought.text, "signature": thought.signature}
        yield {"type": "thinking", **signed}
