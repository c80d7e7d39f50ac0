"""Requests of the Interactions API, and what a step of their history says.

The history goes back as steps, or stays with the server (`previous_interaction_id`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from conformance.core.events import Event
from conformance.dialects.gemini_interactions.vocabulary import BODY, CALL, OUTPUT, STEP, THOUGHT
from conformance.dialects.json_edge import elements, mapping, string
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
)
from conformance.dialects.turns import (
    HistoryEntry,
    HistoryForm,
    history_call,
    listed_or_text,
    spoken,
)

_SUMMARIES: Final = "generation_config.thinking_summaries"
_ANSWERED: Final = frozenset({THOUGHT, OUTPUT, CALL})


def _ask_body(question: Question) -> dict[str, Any]:
    tools = [{"type": "function", **each.fields("parameters")} for each in question.tools]
    shown = "auto" if question.thinks else "none"
    config = {"max_output_tokens": question.limit, "thinking_summaries": shown}
    return {
        "input": [_user_entry(question.text)],
        "generation_config": config,
        **({"tools": tools} if tools else {}),
    }


def _user_entry(text: str) -> dict[str, Any]:
    return {"type": "user_input", "content": [{"type": "text", "text": text}]}


def _next_turns(after: Continuation) -> list[Any]:
    """The steps of the answer as they came; a thought goes before what it led to."""
    steps = answer_steps(after.events)
    kept = [step for step in steps if after.keeps_thinking or step.get("type") != THOUGHT]
    results = [
        {"type": "function_result", "call_id": each.get("id"), "result": result}
        | ({"name": each["name"]} if each.get("name") else {})
        for at, each in enumerate(after.tools)
        if (result := after.result_of(at))
    ]
    before = after.request.get("input")
    history = [_user_entry(before)] if isinstance(before, str) else elements(before)
    question = [_user_entry(after.question)] if after.question else []
    return [*history, *kept, *results, *question]


def answer_steps(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The steps of an answer that go back, put together from its events."""
    made: dict[Any, dict[str, Any]] = {}
    for event in events:
        index = event.data.get("index")
        if event.type in (STEP, f"{STEP}.start"):
            made[index] = {**mapping(event.data.get("step"))}
        elif event.type == f"{STEP}.delta" and index in made:
            _add(made[index], mapping(event.data.get("delta")))
    return [_whole(step) for step in made.values() if step.get("type") in _ANSWERED]


def _add(step: dict[str, Any], delta: Mapping[str, Any]) -> None:
    match delta.get("type"):
        case "thought_signature":
            step["signature"] = string(delta.get("signature"))
        case "thought_summary":
            step["summary"] = [*elements(step.get("summary")), delta.get("content")]
        case "text":
            step["content"] = [_joined(step.get("content"), string(delta.get("text")))]
        case "arguments_delta":
            before = string(step.get("arguments"))
            step["arguments"] = before + string(delta.get("arguments"))


def _joined(content: Any, text: str) -> dict[str, Any]:
    before = "".join(string(mapping(part).get("text")) for part in elements(content))
    return {"type": "text", "text": before + text}


def _whole(step: dict[str, Any]) -> dict[str, Any]:
    """A step as a whole answer has it: arguments are an object, an empty signature is none."""
    if step.get("type") == CALL:
        arguments = step.get("arguments")
        if isinstance(arguments, str):
            try:
                step["arguments"] = msgspec.json.decode(arguments)
            except msgspec.DecodeError:
                step["arguments"] = {}
    return {key: value for key, value in step.items() if not (key == "signature" and not value)}


def _is_answer(turn: Any) -> bool:
    return mapping(turn).get("type") in _ANSWERED


def _answer_id(event: Event) -> str:
    interaction = event.data if event.type == BODY else mapping(event.data.get("interaction"))
    return string(interaction.get("id"))


REQUEST: Final = RequestForm(
    history="input",
    instructions="system_instruction",
    limits=("generation_config.max_output_tokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"generation_config": {"temperature": 0, "seed": 0}}), PLAIN),
    is_answer=_is_answer,
    previous="previous_interaction_id",
    answer_id=_answer_id,
    answer_id_bytes=rb'"id"\s*:\s*"(v1_[A-Za-z0-9_-]{1,400})"',
    switches=(_SUMMARIES,),
    refusals=(_SUMMARIES,),
)


def _read(entry: Any) -> HistoryEntry:
    step = mapping(entry)
    match step.get("type"):
        case kind if kind == THOUGHT:
            return HistoryEntry("model", thought=spoken(step.get("summary")))
        case kind if kind == OUTPUT:
            return HistoryEntry("model", spoken(step.get("content")))
        case kind if kind == CALL:
            call = history_call(step.get("id"), step.get("name"), step.get("arguments"))
            return HistoryEntry("model", calls=(call,))
        case "function_result":
            result = history_call("", "", step.get("result")).arguments
            return HistoryEntry("tool", result, results=(string(step.get("call_id")),))
        case "user_input":
            return HistoryEntry("user", spoken(step.get("content")))
    is_user = step.get("role") == "user"
    return HistoryEntry("user" if is_user else "other", spoken(step.get("content")))


TURNS: Final = HistoryForm("input", listed_or_text("input"), _read)
