"""Converse requests: signed blocks go back unmodified, nested as whole answers have them.

Thinking without a signature proves nothing to Claude, and gpt-oss prints it: it stays here.
Turns of one side that follow each other are one message, and blank texts are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from . import effort
from .ask import Ask
from .history import HistoryForm
from .payload import compact, decode, object_of, objects_of, present, text_of
from .turn import Called, Piece, Turn, Words, answered, said

_SAMPLING: Final = {"temperature": "temperature", "top_p": "topP", "stop": "stopSequences"}


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request; the path names the model."""
    wanted = effort.converse(ask)
    sampled = ask.sampled({})
    own = {name: value for name, value in sampled.items() if name not in _SAMPLING}
    config = {_SAMPLING[name]: value for name, value in sampled.items() if name in _SAMPLING}
    tools = [_tool(dict(each["function"])) for each in ask.tools]
    return {
        "messages": list(_messages(ask)),
        "inferenceConfig": {"maxTokens": wanted.max_tokens, **config},
        **present(
            outputConfig=present(effort=wanted.level),
            additionalModelRequestFields={**own, **wanted.fields},
            system=[{"text": ask.instructions}] if ask.instructions else [],
            toolConfig=present(tools=tools),
        ),
    }


def _tool(function: dict[str, Any]) -> dict[str, Any]:
    schema = function.pop("parameters", {"type": "object"})
    return {"toolSpec": {**function, "inputSchema": {"json": schema}}}


def _messages(ask: Ask) -> Iterator[dict[str, Any]]:
    turns = (turn for turn in ask.turns if turn.role != "system")
    for is_answer, group in groupby(turns, key=lambda turn: turn.role == "assistant"):
        blocks = [block for turn in group for block in _blocks(turn, ask)]
        if blocks:
            yield {"role": "assistant" if is_answer else "user", "content": blocks}


def _blocks(turn: Turn, ask: Ask) -> Iterator[dict[str, Any]]:
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
        arguments = object_of(decode(piece.arguments))
        yield {"toolUse": {"toolUseId": piece.id, "name": piece.name, "input": arguments}}
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


def _answer(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    content = [block for entry in entries for block in objects_of(entry.get("content"))]
    return {"output": {"message": {"role": "assistant", "content": content}}}


def _given(entry: Mapping[str, Any]) -> list[Turn] | None:
    blocks = objects_of(entry.get("content"))
    if any("type" in block for block in blocks) or not blocks:
        return None
    results = [object_of(block["toolResult"]) for block in blocks if "toolResult" in block]
    outcomes = [answered(text_of(each.get("toolUseId")), _result_text(each)) for each in results]
    text = "".join(text_of(block.get("text")) for block in blocks)
    return [*outcomes, said("user", text)] if text else outcomes


def _result_text(result: Mapping[str, Any]) -> str:
    parts = objects_of(result.get("content"))
    return "".join(text_of(part.get("text")) or compact(part.get("json", "")) for part in parts)


HISTORY: Final = HistoryForm(_is_answer, _answer, _given)
