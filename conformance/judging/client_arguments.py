"""Arguments of calls as a client hands them out: many parse them, and write them anew.

Arguments that are the same JSON are the same, however they are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.core.json_values import NOT_JSON, decode_json


def respell_arguments(
    events: Sequence[Mapping[str, Any]], sent: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The events with arguments written as they were sent, where they are the same JSON."""
    calls = iter([event for event in sent if event["type"] == "tool.end"])
    made: list[Mapping[str, Any]] = []
    for event in events:
        call = next(calls, {}) if event["type"] == "tool.end" else {}
        is_same = "arguments" in call and parsed_arguments(call) == parsed_arguments(event)
        made.append({**event, "arguments": call["arguments"]} if is_same else event)
    return made


def parsed_arguments(event: Mapping[str, Any]) -> Any:
    """The value of a call's arguments; the text itself if it is not JSON."""
    text = event.get("arguments")
    value = decode_json(text) if isinstance(text, str) else NOT_JSON
    return text if value is NOT_JSON else [value]
