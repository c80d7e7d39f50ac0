"""Requests of a user interface: the messages that it shows, sent back with a new one.

A message is a list of parts. An answer goes back as what the SDK's client makes of the stream:
texts joined, the latest `providerMetadata` of each, calls with their result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import elements, mapping, objects, string
from conformance.dialects.requests import Continuation, Question, RequestForm
from conformance.dialects.turns import HistoryEntry, HistoryForm, listed, speaker, spoken
from conformance.dialects.vercel_ui.held import sent_calls


def _ask_body(question: Question) -> dict[str, Any]:
    message = {"id": "user-0", "role": "user", "parts": [{"type": "text", "text": question.text}]}
    return {"trigger": "submit-message", "messages": [message]}


def _next_turns(after: Continuation) -> list[Any]:
    before = elements(after.request.get("messages"))
    shown = _shown_parts(after.events, after.result_of)
    kept = [each for each in shown if after.keeps_thinking or each["type"] != "reasoning"]
    answer = {
        "id": _message_id(after.events) or f"answer-{len(before)}",
        "role": "assistant",
        "parts": kept,
    }
    question = {
        "id": f"user-{len(before)}",
        "role": "user",
        "parts": [{"type": "text", "text": after.question}],
    }
    return [*before, answer, *([question] if after.question else [])]


def _message_id(events: Iterable[Event]) -> str:
    named = (string(event.data.get("messageId")) for event in events if event.type == "start")
    return next(filter(None, named), "")


def _shown_parts(events: Iterable[Event], result: Callable[[int], str]) -> list[dict[str, Any]]:
    calls = 0
    parts: list[dict[str, Any]] = []
    texts: dict[tuple[str, str], dict[str, Any]] = {}
    for event in events:
        kind, _, what = event.type.partition("-")
        if event.type == "start-step":
            parts.append({"type": "step-start"})
            texts.clear()
        elif kind in ("reasoning", "text") and what in ("start", "delta", "end"):
            _take_text(parts, texts, kind, what, event.data)
        elif event.type == "tool-input-available":
            parts.append(_call_part(event.data, result(calls)))
            calls += 1
        elif event.type == "tool-output-available":
            _take_output(parts, event.data)
    return parts


def _take_output(parts: list[dict[str, Any]], data: Mapping[str, Any]) -> None:
    for part in parts:
        if part.get("toolCallId") == data.get("toolCallId"):
            part["output"] = data.get("output")


def _take_text(
    parts: list[dict[str, Any]],
    texts: dict[tuple[str, str], dict[str, Any]],
    kind: str,
    what: str,
    data: Mapping[str, Any],
) -> None:
    key = (kind, string(data.get("id")))
    part = texts.get(key)
    if what == "start" or part is None:
        part = texts[key] = {"type": kind, "text": "", "state": "streaming"}
        parts.append(part)
    if what == "end":
        part["state"] = "done"
    part["text"] += string(data.get("delta"))
    if own := mapping(data.get("providerMetadata")):
        part["providerMetadata"] = own


def _call_part(data: Mapping[str, Any], result: str) -> dict[str, Any]:
    own = {"providerMetadata": data["providerMetadata"]} if "providerMetadata" in data else {}
    return {
        "type": f"tool-{string(data.get('toolName'))}",
        "toolCallId": data.get("toolCallId"),
        "state": "output-available",
        "input": data.get("input"),
        "output": result,
        **own,
    }


REQUEST: Final = RequestForm(
    history="messages",
    limits=(),
    ask=_ask_body,
    next_turns=_next_turns,
    streams=lambda _body: True,
    model="model",
    conversation="id",
)


def _read_entry(entry: Any) -> HistoryEntry:
    """A message; those of the model hold the outputs of its calls."""
    fields = mapping(entry)
    parts = list(objects(fields.get("parts")))
    text, calls = spoken(parts), tuple(sent_calls(fields))
    thoughts = (string(each.get("text")) for each in parts if each.get("type") == "reasoning")
    thought = "" if text or calls else "".join(thoughts)
    by = speaker(fields.get("role"))
    return HistoryEntry(by, text, calls, id=string(fields.get("id")), thought=thought)


TURNS: Final = HistoryForm("messages", listed("messages"), _read_entry)
