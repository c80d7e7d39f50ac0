"""Calls as a client reports them.

Many clients parse the arguments and write them anew: the same JSON is the same, however written.
Of a call that the server carries out itself a client owes nothing, and may report it at any place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.core.json_values import NOT_JSON, decode_json


def calls_as_sent(
    events: Sequence[Mapping[str, Any]], sent: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The events of a client, given those of the bytes, without calls that the server carried out.

    Arguments are written as they were sent where they are the same JSON.
    """
    calls = [event for event in sent if event["type"] == "tool.end"]
    hosted = [_call_key(call) for call in calls if call.get("hosted")]
    own = iter([call for call in calls if not call.get("hosted")])
    made: list[Mapping[str, Any]] = []
    for event in events:
        if event["type"] != "tool.end":
            made.append(event)
        elif (key := _call_key(event)) in hosted:
            hosted.remove(key)
        else:
            made.append(_respelled(event, next(own, {})))
    return made


def _respelled(event: Mapping[str, Any], call: Mapping[str, Any]) -> Mapping[str, Any]:
    is_same = "arguments" in call and parsed_arguments(call) == parsed_arguments(event)
    return {**event, "arguments": call["arguments"]} if is_same else event


def _call_key(call: Mapping[str, Any]) -> tuple[Any, ...]:
    return call.get("name"), parsed_arguments(call)


def parsed_arguments(event: Mapping[str, Any]) -> Any:
    """The value of a call's arguments, none being an empty object; the text if it is not JSON."""
    text = event.get("arguments")
    value = decode_json(text or "{}") if isinstance(text, str) else NOT_JSON
    return text if value is NOT_JSON else [value]
