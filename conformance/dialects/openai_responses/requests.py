"""Requests of Responses."""

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
    is_answer_turn,
)

_ADDING: Final = frozenset({"additional_tools", "tool_search_output"})
_ANSWER_ITEMS: Final = frozenset({"reasoning", "function_call", "message"})


def _ask_body(question: Question) -> dict[str, Any]:
    tools = [{"type": "function", **each.fields("parameters")} for each in question.tools]
    summary = {"summary": "auto"} if question.summarises else {}
    return {
        "input": [{"role": "user", "content": question.text}],
        "max_output_tokens": question.limit,
        **({"reasoning": {"effort": "low", **summary}} if question.thinks else {}),
        **({"tools": tools} if tools else {}),
    }


def _next_turns(after: Continuation) -> list[Any]:
    items = _answer_items(after.events)
    kept = [i for i in items if after.keeps_thinking or i.get("type") != "reasoning"]
    called = [i["call_id"] for i in items if i.get("type") == "function_call" and "call_id" in i]
    results = [
        {"type": "function_call_output", "call_id": name, "output": after.result_of(at)}
        for at, name in enumerate(called)
        if isinstance(name, str)
    ]
    before = after.request.get("input")
    history = [{"role": "user", "content": before}] if isinstance(before, str) else elements(before)
    return [*history, *kept, *results, *after.user_turn]


def _answer_items(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The items of the final response; where it has none, those that were done one by one."""
    done: list[Any] = []
    final: list[Any] = []
    for event in events:
        if event.type == "response.output_item.done":
            done.append(event.data.get("item"))
        elif event.type in ("response.completed", "response.incomplete"):
            final = elements(mapping(event.data.get("response")).get("output"))
        elif event.type == "response":
            final = elements(event.data.get("output"))
    return objects(final or done)


def _is_answer(turn: Any) -> bool:
    if isinstance(turn, Mapping) and turn.get("role") is None:
        return string(turn.get("type")) in _ANSWER_ITEMS
    return is_answer_turn(turn)


def _tools(body: Mapping[str, Any]) -> Any:
    """Those of the body, and those that entries of the input add to them."""
    added = [each for each in objects(body.get("input")) if string(each.get("type")) in _ADDING]
    given = body.get("tools")
    if not added or not (given is None or isinstance(given, list)):
        return given
    return [*elements(given), *(tool for each in added for tool in elements(each.get("tools")))]


def _answer_id(event: Event) -> str:
    response = event.data if event.type == "response" else mapping(event.data.get("response"))
    return string(response.get("id"))


REQUEST: Final = RequestForm(
    history="input",
    instructions="instructions",
    limits=("max_output_tokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"temperature": 0}), PLAIN),
    is_answer=_is_answer,
    previous="previous_response_id",
    answer_id=_answer_id,
    answer_id_bytes=rb'"id"\s*:\s*"(resp_[A-Za-z0-9_-]{1,200})"',
    summary="reasoning.summary",
    switches=("reasoning.effort", "reasoning.summary"),
    refusals=("reasoning.effort",),
    tools=_tools,
)
