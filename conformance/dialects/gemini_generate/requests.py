"""Requests of the Gemini API, and what a content of their history says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.dialects.gemini_generate.partial_args import PartialArgs
from conformance.dialects.gemini_generate.spelling import in_camel_case
from conformance.dialects.gemini_parts import kind_of
from conformance.dialects.json_edge import elements, mapping, objects, string
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
)
from conformance.dialects.turns import (
    HistoryCall,
    HistoryEntry,
    HistoryForm,
    blocks_entry,
    history_call,
    listed,
)

_THINKING: Final = "generationConfig.thinkingConfig"
_SIGNED: Final = ("thoughtSignature", "thought_signature")


def _ask_body(question: Question) -> dict[str, Any]:
    tools = [each.fields("parameters") for each in question.tools]
    thinking: dict[str, Any] = {"includeThoughts": question.thinks}
    return {
        "contents": [{"role": "user", "parts": [{"text": question.text}]}],
        "generationConfig": {"maxOutputTokens": question.limit, "thinkingConfig": thinking},
        **({"tools": [{"functionDeclarations": tools}]} if tools else {}),
    }


def _next_turns(after: Continuation) -> list[Any]:
    """The history after an answer, its parts as they came: a signature stays where it was."""
    parts = [dict(event.data) for event in after.events if _is_part(event.type, event.data)]
    kept = [_received(part) for part in parts] if after.keeps_thinking else _without_thoughts(parts)
    results = [
        {"functionResponse": _result_of(each, given)}
        for at, each in enumerate(after.tools)
        if (given := after.result_of(at))
    ]
    question = [{"text": after.question}] if after.question else []
    # The API refuses empty parts: of an answer that broke off nothing goes back.
    answer = kept or ([{"text": after.text}] if after.text else [])
    turns = (("model", answer), ("user", results), ("user", question))
    return [
        *elements(after.request.get("contents")),
        *({"role": role, "parts": parts} for role, parts in turns if parts),
    ]


def _is_part(kind: str, data: Mapping[str, Any]) -> bool:
    """A part of the first candidate that says something."""
    is_ours = kind == "gemini.part" and data.get("candidate") == 0
    return is_ours and bool(data.get("text") or "carrier" in data or data.get("kind") != "text")


def _received(part: dict[str, Any]) -> dict[str, Any]:
    """The part as it came, without what our reader says of it."""
    own = ("candidate", "model", "kind", "call", "carrier")
    return {key: value for key, value in part.items() if key not in own}


def _without_thoughts(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    received = (_received(part) for part in parts if kind_of(part) != "thought")
    bare = ({k: v for k, v in each.items() if k not in _SIGNED} for each in received)
    return [each for each in bare if each != {"text": ""}]


def _result_of(call: Mapping[str, Any], result: str) -> dict[str, Any]:
    named = {key: call[key] for key in ("id", "name") if call.get(key)}
    return {**named, "response": {"result": result}}


def _is_answer(turn: Any) -> bool:
    return isinstance(turn, Mapping) and mapping(turn).get("role") == "model"


def _declared(body: Mapping[str, Any]) -> list[Any]:
    """The functions of a body: each of its tools declares several."""
    tools = objects(body.get("tools"))
    return [each for tool in tools for each in elements(tool.get("functionDeclarations"))]


REQUEST: Final = RequestForm(
    history="contents",
    instructions="systemInstruction",
    limits=("generationConfig.maxOutputTokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"generationConfig": {"temperature": 0, "seed": 0}}), PLAIN),
    is_answer=_is_answer,
    switches=(f"{_THINKING}.includeThoughts",),
    refusals=(f"{_THINKING}.includeThoughts", f"{_THINKING}.thinkingBudget"),
    spelled=in_camel_case,
    tools=_declared,
)


def _read(entry: Any) -> HistoryEntry:
    fields = mapping(entry)
    parts = objects(fields.get("parts"))
    calls = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
    results = [mapping(part["functionResponse"]) for part in parts if "functionResponse" in part]
    return blocks_entry(
        fields.get("role") or "user",
        (_shown(part) for part in parts),
        _stated_calls(calls),
        (string(each.get("id") or each.get("name")) for each in results),
    )


def _stated_calls(calls: Iterable[dict[str, Any]]) -> Iterator[HistoryCall]:
    """Each call with all of its arguments; those without a name continue the one before."""
    begun: dict[str, Any] | None = None
    partial = PartialArgs()
    for call in (*calls, None):
        if begun is not None and (call is None or call.get("name")):
            arguments = partial.joined(begun.get("args")) or begun.get("args")
            yield history_call(begun.get("id"), begun.get("name"), arguments)
        if call is None:
            return
        if begun is None or call.get("name"):
            begun, partial = call, PartialArgs()
        partial.add(call.get("partialArgs"))


def _shown(part: dict[str, Any]) -> str:
    result = part.get("functionResponse")
    if result is not None:
        return history_call("", "", mapping(result).get("response")).arguments
    return string(part.get("text")) if kind_of(part) == "text" else ""


TURNS: Final = HistoryForm("contents", listed("contents"), _read)
