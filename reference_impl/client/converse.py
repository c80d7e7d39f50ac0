"""Converse of Amazon Bedrock: the messages of an event stream, or one whole answer.

Rule 1: text and thinking are not announced: what says something begins a block.
Rule 2: an answer has stopped at `messageStop`, and is done where it is counted, too.
Rule 3: whole answers nest what a stream has flat; their signatures are reported after the block.

In requests, signed blocks go back unmodified, nested as whole answers have them.
Thinking without a signature proves nothing to Claude, and gpt-oss prints it: it stays here.
Turns of one side that follow each other are one message, and blank texts are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from . import effort
from .ask import Ask
from .content_blocks import BlockReader, ContentBlock
from .frame import Frame
from .payload import compact, count_of, object_of, objects_of, present, text_of
from .turn import Called, HistoryForm, Piece, Turn, Words, turns_to_model
from .wire import Reading

Fields = Mapping[str, Any]
_COUNTS: Final = {"input": "inputTokens", "output": "outputTokens", "total": "totalTokens"}
_HOSTED: Final = "server_tool_use"
_OF_BLOCKS: Final = ("contentBlockStart", "contentBlockDelta", "contentBlockStop")


class ConverseReader(BlockReader):
    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._has_stopped = self._is_counted = False

    def _read_event(self, frame: Frame, event: dict[str, Any]) -> None:
        if frame.raised:
            self._raise_fault(frame.name, event)
        elif frame.name == "messageStart":
            self._begin_message(event)
        elif frame.name in _OF_BLOCKS:
            self._speech.begin()
            self._read_block(frame.name, event)
        elif frame.name == "messageStop":
            self._close_open()
            self._report.finish(event.get("stopReason"))
            self._has_stopped = True
        elif frame.name == "metadata":
            self._report_usage(event)
            self._is_counted = True
        if self._has_stopped and self._is_counted and not self._is_done:
            self._done(explicit=True)

    def _read_body(self, payload: dict[str, Any]) -> None:
        message = object_of(object_of(payload.get("output")).get("message"))
        if not message:
            text = text_of(payload.get("message")) or text_of(payload.get("Message"))
            fault = payload.get("error") or text
            self._report.error(fault or "neither an answer nor an error")
            return
        self._begin_message(message)
        for given in objects_of(message.get("content")):
            _report_block(self._blocks.whole(), given)
        self._report.finish(payload.get("stopReason"))
        self._report_usage(payload)
        self._done(explicit=False)

    def _begin_message(self, message: Fields) -> None:
        self._start_message(message)
        self._has_stopped = self._is_counted = False

    def _read_block(self, kind: str, event: Fields) -> None:
        index = count_of(event.get("contentBlockIndex"))
        if kind == "contentBlockStart":
            block = self._blocks.begin(index)
            if use := object_of(object_of(event.get("start")).get("toolUse")):
                _report_call(block, use)
        elif kind == "contentBlockStop":
            self._blocks.stop(index)
        else:
            _report_delta(self._blocks.block(index), object_of(event.get("delta")))

    def _report_usage(self, given: Fields) -> None:
        usage = object_of(given.get("usage"))
        self._report.tokens(**{name: usage.get(key) for name, key in _COUNTS.items()})

    def _raise_fault(self, kind: str, fault: Fields) -> None:
        message = text_of(fault.get("message")) or text_of(fault.get("originalMessage"))
        status = fault.get("originalStatusCode")
        self._report.error({"code": kind, "message": message, "status": status})

    def _has_ended(self) -> bool:
        return self._has_stopped


def _report_delta(block: ContentBlock, delta: Fields) -> None:
    """Report what a delta adds; it has one member."""
    reasoning = object_of(delta.get("reasoningContent"))
    block.think(text_of(reasoning.get("text")))
    block.seal("redacted", text_of(reasoning.get("redactedContent")))
    block.say(text_of(delta.get("text")))
    block.argue(text_of(object_of(delta.get("toolUse")).get("input")))
    block.seal("signature", text_of(reasoning.get("signature")))


def _report_block(block: ContentBlock, given: Fields) -> None:
    reasoning = object_of(given.get("reasoningContent"))
    thought = object_of(reasoning.get("reasoningText"))
    block.think(text_of(thought.get("text")))
    block.say(text_of(given.get("text")))
    if use := object_of(given.get("toolUse")):
        _report_call(block, use)
    block.stop()
    block.seal("signature", text_of(thought.get("signature")))
    block.seal("redacted", text_of(reasoning.get("redactedContent")))


def _report_call(block: ContentBlock, use: Fields) -> None:
    named = (text_of(use.get("toolUseId")), text_of(use.get("name")))
    block.call(*named, use.get("input"), hosted=use.get("type") == _HOSTED)


_SAMPLING: Final = {"temperature": "temperature", "top_p": "topP", "stop": "stopSequences"}


def converse_request(ask: Ask) -> dict[str, Any]:
    wanted = effort.converse(ask)
    sampled = ask.sampled({})
    own = {name: value for name, value in sampled.items() if name not in _SAMPLING}
    config = {_SAMPLING[name]: value for name, value in sampled.items() if name in _SAMPLING}
    tools = [_tool_spec(dict(each["function"])) for each in ask.tools]
    return {
        "messages": list(_messages_of_ask(ask)),
        "inferenceConfig": {"maxTokens": wanted.max_tokens, **config},
        **present(
            outputConfig=present(effort=wanted.level),
            additionalModelRequestFields={**own, **wanted.fields},
            system=[{"text": ask.instructions}] if ask.instructions else [],
            toolConfig=present(tools=tools),
        ),
    }


def _tool_spec(function: dict[str, Any]) -> dict[str, Any]:
    schema = function.pop("parameters", {"type": "object"})
    return {"toolSpec": {**function, "inputSchema": {"json": schema}}}


def _messages_of_ask(ask: Ask) -> Iterator[dict[str, Any]]:
    turns = (turn for turn in ask.turns if turn.role != "system")
    for is_answer, group in groupby(turns, key=lambda turn: turn.role == "assistant"):
        blocks = [block for turn in group for block in _blocks_of_turn(turn, ask)]
        if blocks:
            yield {"role": "assistant" if is_answer else "user", "content": blocks}


def _blocks_of_turn(turn: Turn, ask: Ask) -> Iterator[dict[str, Any]]:
    if turn.role == "tool":
        result = {"toolUseId": turn.call_id, "content": [{"text": turn.text}]}
        yield {"toolResult": result}
        return
    for piece in turn.thinking_first if ask.like.thinking_first else turn.pieces:
        yield from _of_piece(piece, sends=ask.sends_thinking("bedrock"))


def _of_piece(piece: Piece, *, sends: bool) -> Iterator[dict[str, Any]]:
    if isinstance(piece, Words):
        if piece.text.strip():
            yield {"text": piece.text}
    elif isinstance(piece, Called):
        yield {"toolUse": {"toolUseId": piece.id, "name": piece.name, "input": piece.values}}
    elif sends:
        if piece.redacted:
            yield {"reasoningContent": {"redactedContent": piece.redacted}}
        if piece.signature:
            signed = {"text": piece.text, "signature": piece.signature}
            yield {"reasoningContent": {"reasoningText": signed}}


def _is_answer(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is an answer in this API's form: its blocks name no type."""
    blocks = objects_of(entry.get("content"))
    return entry.get("role") == "assistant" and bool(blocks) and "type" not in blocks[0]


def _answer_of(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    content = [block for entry in entries for block in objects_of(entry.get("content"))]
    return {"output": {"message": {"role": "assistant", "content": content}}}


def _turns_of(entry: Mapping[str, Any]) -> list[Turn] | None:
    blocks = objects_of(entry.get("content"))
    if any("type" in block for block in blocks) or not blocks:
        return None
    results = [object_of(block["toolResult"]) for block in blocks if "toolResult" in block]
    answered = ((text_of(each.get("toolUseId")), _result_text(each)) for each in results)
    return turns_to_model(answered, "".join(text_of(block.get("text")) for block in blocks))


def _result_text(result: Mapping[str, Any]) -> str:
    parts = objects_of(result.get("content"))
    return "".join(text_of(part.get("text")) or compact(part.get("json", "")) for part in parts)


CONVERSE_HISTORY: Final = HistoryForm(_is_answer, _answer_of, _turns_of)
