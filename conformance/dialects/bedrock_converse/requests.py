"""Requests of Converse and their history. Model and wish for a stream are in the path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.core.events import Event
from conformance.core.json_values import value_at
from conformance.dialects.json_edge import elements, mapping, objects, string
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
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

_THINKING: Final = "additionalModelRequestFields.thinking.type"


def _ask_body(question: Question) -> dict[str, Any]:
    tools = [
        {"toolSpec": {**each.fields("inputSchema"), "inputSchema": {"json": each.parameters}}}
        for each in question.tools
    ]
    enabled = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    return {
        "messages": [_user_turn({"text": question.text})],
        "inferenceConfig": {"maxTokens": question.limit},
        **({"additionalModelRequestFields": enabled} if question.thinks else {}),
        **({"toolConfig": {"tools": tools}} if tools else {}),
    }


def _next_turns(after: Continuation) -> list[Any]:
    blocks = [_whole_block(each) for each in _answer_blocks(after.events)]
    kept = [b for b in blocks if after.keeps_thinking or "reasoningContent" not in b]
    called = [call.get("toolUseId") for b in blocks if (call := mapping(b.get("toolUse")))]
    results = [
        {"toolResult": {"toolUseId": name, "content": [{"text": after.result_of(at)}]}}
        for at, name in enumerate(called)
    ]
    spoken = [block for block in kept if _says_something(block)]
    # The API refuses a turn without content: of an answer that broke off nothing goes back.
    answer = [{"role": "assistant", "content": spoken}] if spoken else []
    question = [_user_turn({"text": after.question})] if after.question else []
    then = [_user_turn(*results)] if results else question
    return [*elements(after.request.get("messages")), *answer, *then]


def _user_turn(*content: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def _says_something(block: Mapping[str, Any]) -> bool:
    """The API refuses empty texts; gpt-oss sends some."""
    return bool(block) and block.get("text") != ""


def _answer_blocks(events: Iterable[Event]) -> Iterator[list[Mapping[str, Any]]]:
    """The deltas of each block, in the order in which the blocks began."""
    blocks: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        if event.type == "converse.block":
            yield [{key: value for key, value in event.data.items() if key != "index"}]
        elif event.type in ("contentBlockStart", "contentBlockDelta"):
            piece = event.data.get("start") or event.data.get("delta")
            blocks.setdefault(str(event.data.get("contentBlockIndex")), []).append(mapping(piece))
    yield from blocks.values()


def _whole_block(pieces: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The block as the API takes it back: deltas joined, reasoning nested."""
    if len(pieces) == 1 and "reasoningText" in mapping(pieces[0].get("reasoningContent")):
        return dict(pieces[0])
    reasoning = [mapping(each.get("reasoningContent")) for each in pieces]
    tools = [mapping(each.get("toolUse")) for each in pieces]
    redacted = next(
        (each["redactedContent"] for each in reasoning if "redactedContent" in each), ""
    )
    if redacted:
        return {"reasoningContent": {"redactedContent": redacted}}
    if any(reasoning):
        signature = _joined(reasoning, "signature")
        signed = {"signature": signature} if signature else {}
        return {
            "reasoningContent": {"reasoningText": {"text": _joined(reasoning, "text"), **signed}}
        }
    if any(tools):
        return {"toolUse": _whole_tool(tools)}
    texts = [each for each in pieces if "text" in each]
    return {"text": _joined(texts, "text")} if texts else dict(pieces[0])


def _whole_tool(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    named = {key: value for piece in pieces for key, value in piece.items() if key != "input"}
    inputs = [piece["input"] for piece in pieces if "input" in piece]
    stated = [each for each in inputs if not isinstance(each, str)]
    return {**named, "input": stated[0] if stated else parsed_arguments("".join(inputs))}


def _joined(pieces: Iterable[Mapping[str, Any]], key: str) -> str:
    return "".join(string(piece.get(key)) for piece in pieces)


def _specified(body: Mapping[str, Any]) -> list[Any]:
    """The functions of a body, their schemas as other dialects have them."""
    tools = objects(mapping(body.get("toolConfig")).get("tools"))
    specs = [mapping(tool.get("toolSpec")) for tool in tools]
    return [{**each, "parameters": value_at(each, "inputSchema", "json")} for each in specs]


REQUEST: Final = RequestForm(
    history="messages",
    instructions="system",
    limits=("inferenceConfig.maxTokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"inferenceConfig": {"temperature": 0}}), PLAIN),
    thinks_unasked=False,
    switches=(_THINKING,),
    refusals=(_THINKING,),
    tools=_specified,
)


def _read(entry: Any) -> HistoryEntry:
    fields = mapping(entry)
    blocks = objects(fields.get("content"))
    uses = [mapping(block["toolUse"]) for block in blocks if "toolUse" in block]
    return blocks_entry(
        fields.get("role"),
        (_shown(block) for block in blocks),
        (history_call(use.get("toolUseId"), use.get("name"), use.get("input")) for use in uses),
        (
            string(mapping(block["toolResult"]).get("toolUseId"))
            for block in blocks
            if "toolResult" in block
        ),
    )


def _shown(block: Mapping[str, Any]) -> str:
    within = mapping(block.get("toolResult") or block.get("citationsContent"))
    return string(block.get("text")) or spoken(within.get("content"))


TURNS: Final = HistoryForm("messages", listed("messages"), _read)
