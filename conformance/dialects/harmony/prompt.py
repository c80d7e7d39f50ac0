"""The prompt of a completion: the history as token text.

Each message becomes one `request.item` with its `role`, `channel`, `recipient`, `content`, `end`
(the marker that ends it) and `position`. `is_answered`: a final message of the assistant follows,
before the user speaks again or later. `effort` of the request is what the system message states;
`opens` the role whose header the prompt leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from conformance.core.events import Event, Request
from conformance.dialects.harmony.header import ASSISTANT, read_header
from conformance.dialects.harmony.markers import ENDS, split_markers
from conformance.dialects.json_edge import event_data, mapping

_START: Final = "<|start|>"
_MESSAGE: Final = "<|message|>"
_EFFORT: Final = re.compile(r"^Reasoning:(.*)$", re.MULTILINE)


def prompt_events(request: Request) -> list[Event]:
    """Wire events of a request, all with number 0; none where its JSON is not known."""
    if request.json is None:
        return []
    parts = _parts(request.json)
    items = prompt_items(request.json)
    opens = parts[-1].strip() if parts and _MESSAGE not in parts[-1] else ""
    more = {"opens": opens} if parts else {}
    effort = next(_efforts(items), None)
    if effort is not None:
        more["effort"] = effort
    _mark_answered(items)
    placed = (event_data(item, position=n, kind="message") for n, item in enumerate(items))
    events = [Event("request", event_data(request.json, **more), 0, "wire")]
    return [*events, *(Event("request.item", data, 0, "wire") for data in placed)]


def prompt_items(body: Any) -> list[dict[str, Any]]:
    """The messages of a body's prompt."""
    return [_item(part) for part in _parts(body) if _MESSAGE in part]


def _parts(body: Any) -> list[str]:
    prompt = mapping(body).get("prompt")
    return (prompt if isinstance(prompt, str) else "").split(_START)[1:]


def _item(part: str) -> dict[str, Any]:
    head, _, content = part.partition(_MESSAGE)
    pieces, end = [], ""
    for name, text in split_markers(content):
        if name in ENDS:
            end = name
            break
        pieces.append(text)
    return {**read_header(head, has_role=True).fields(), "content": "".join(pieces), "end": end}


def _efforts(items: list[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        if item.get("role") == "system":
            yield from map(str.strip, _EFFORT.findall(item["content"]))


def _mark_answered(items: list[dict[str, Any]]) -> None:
    is_answered = False
    for item in reversed(items):
        item["is_answered"] = is_answered
        is_answered = is_answered or (
            item.get("role") == ASSISTANT and item.get("channel") == "final"
        )
