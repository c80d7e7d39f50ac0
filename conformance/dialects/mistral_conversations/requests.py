"""Requests of a conversation: the history stays with the server, unless `store` is off."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import mapping, string
from conformance.dialects.mistral_conversations.vocabulary import APPENDS, ENTRIES
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
    function_tools,
)
from conformance.dialects.turns import (
    HistoryEntry,
    HistoryForm,
    history_call,
    listed_or_text,
    speaker,
    spoken,
)

_SAID: Final = ENTRIES | {f"{each}.delta" for each in ENTRIES}
_ARGS: Final = "completion_args"
_EFFORT: Final = f"{_ARGS}.reasoning_effort"


def _ask_body(question: Question) -> dict[str, Any]:
    effort = {"reasoning_effort": "high"} if question.thinks else {}
    arguments = {"max_tokens": question.limit, **effort}
    return {"inputs": question.text, _ARGS: arguments, **function_tools(question.tools)}


def _next_turns(after: Continuation) -> list[Any]:
    """What is new: results of calls, and what the user says next."""
    calls = [each for each in after.tools if each.get("id") and not each.get("hosted")]
    results = [
        {"type": "function.result", "tool_call_id": each["id"], "result": result}
        for at, each in enumerate(calls)
        if (result := after.result_of(at))
    ]
    question = {"type": "message.input", "role": "user", "content": after.question}
    return [*results, question] if after.question else results


def _read_entry(entry: Any) -> HistoryEntry:
    fields = mapping(entry)
    kind, name = string(fields.get("type")), string(fields.get("id"))
    if kind == "function.result":
        return HistoryEntry("tool", results=(string(fields.get("tool_call_id")),))
    if kind == "function.call":
        named = (fields.get("tool_call_id"), fields.get("name"), fields.get("arguments"))
        return HistoryEntry("model", calls=(history_call(*named),), id=name)
    role = "assistant" if kind == "message.output" else fields.get("role")
    return HistoryEntry(speaker(role), spoken(fields.get("content")), id=name)


def _is_answer(entry: Any) -> bool:
    return mapping(entry).get("type") in ("message.output", "function.call", "tool.execution")


REQUEST: Final = RequestForm(
    history="inputs",
    instructions="instructions",
    limits=(f"{_ARGS}.max_tokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({_ARGS: {"temperature": 0, "random_seed": 0}}), PLAIN),
    is_answer=_is_answer,
    switches=(_EFFORT,),
    refusals=(_EFFORT,),
)
TURNS: Final = HistoryForm(
    "inputs",
    listed_or_text("inputs"),
    _read_entry,
    thread_path=APPENDS,
    answer_thread=lambda event: string(event.data.get("conversation_id")),
    message_name=lambda event: string(event.data.get("id")) if event.type in _SAID else "",
)
