"""Requests of Messages, and what an entry of their history says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import elements, mapping, objects, string
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
    listed_tools,
    parsed_arguments,
)
from conformance.dialects.turns import (
    HistoryEntry,
    HistoryForm,
    blocks_entry,
    history_call,
    listed,
    spoken,
)

_JSON_TEXT: Final = "partial_json"
_THOUGHTS: Final = ("thinking", "redacted_thinking")


def _ask_body(question: Question) -> dict[str, Any]:
    tools = [each.fields("input_schema") for each in question.tools]
    enabled = {"type": "enabled", "budget_tokens": 1024}
    return {
        "messages": [{"role": "user", "content": question.text}],
        "max_tokens": question.limit,
        **({"thinking": enabled} if question.thinks else {}),
        **({"tools": tools} if tools else {}),
    }


def _next_turns(after: Continuation) -> list[Any]:
    blocks = _answer_blocks(after.events)
    kept = [b for b in blocks if after.keeps_thinking or b.get("type") not in _THOUGHTS]
    called = [each.get("id") for each in blocks if each.get("type") == "tool_use"]
    results = [
        {"type": "tool_result", "tool_use_id": name, "content": after.result_of(at)}
        for at, name in enumerate(called)
    ]
    # The API refuses a turn that is over and has no content.
    answer = [{"role": "assistant", "content": kept}] if kept else []
    then = [{"role": "user", "content": results}] if results else after.user_turn
    return [*elements(after.request.get("messages")), *answer, *then]


def _answer_blocks(events: Iterable[Event]) -> list[Mapping[str, Any]]:
    """Content blocks as the API takes them back: deltas joined into what they opened."""
    blocks: dict[str, tuple[Mapping[str, Any], dict[str, list[str]]]] = {}
    for event in events:
        index, block = str(event.data.get("index")), event.data.get("content_block")
        if event.type in ("content_block_start", "message.block") and isinstance(block, Mapping):
            blocks[index] = (block, {})
        elif event.type == "content_block_delta" and index in blocks:
            _add_pieces(blocks[index][1], event.data.get("delta"))
    return [_whole_block(block, pieces) for block, pieces in blocks.values()]


def _add_pieces(pieces: dict[str, list[str]], delta: Any) -> None:
    for name, piece in delta.items() if isinstance(delta, Mapping) else ():
        if isinstance(piece, str) and name != "type":
            pieces.setdefault(name, []).append(piece)


def _whole_block(block: Mapping[str, Any], pieces: Mapping[str, list[str]]) -> dict[str, Any]:
    joined = {name: "".join(texts) for name, texts in pieces.items()}
    arguments = joined.pop(_JSON_TEXT, None)
    grown = {name: f"{block.get(name) or ''}{text}" for name, text in joined.items()}
    return {**block, **grown, **({"input": parsed_arguments(arguments)} if arguments else {})}


def _offered(body: Mapping[str, Any]) -> Any:
    """The tools of a body, with the schemas that the API reads.

    It knows no `parameters`: logs of programs in front of it put them there, often empty.
    """
    given = listed_tools(body)
    if not isinstance(given, list):
        return given
    return [
        {key: value for key, value in each.items() if key != "parameters"}
        if isinstance(each, Mapping)
        else each
        for each in given
    ]


REQUEST: Final = RequestForm(
    history="messages",
    instructions="system",
    limits=("max_tokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"temperature": 0}), PLAIN),
    thinks_unasked=False,
    switches=("thinking.type",),
    refusals=("thinking.type",),
    tools=_offered,
)


def _read_entry(entry: Any) -> HistoryEntry:
    fields = mapping(entry)
    content = fields.get("content")
    if isinstance(content, str):
        return blocks_entry(fields.get("role"), (content,))
    blocks = objects(content)
    return blocks_entry(
        fields.get("role"),
        (_shown(block) for block in blocks),
        (
            history_call(block.get("id"), block.get("name"), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ),
        (
            string(block.get("tool_use_id"))
            for block in blocks
            if block.get("type") == "tool_result"
        ),
    )


def _shown(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return string(block.get("text"))
        case "tool_result":
            return spoken(block.get("content"))
    return ""


TURNS: Final = HistoryForm("messages", listed("messages"), _read_entry)
