"""The case that any adapter must pass, before all others and after them."""

from __future__ import annotations

import json
from typing import Any, Final

from conformance.core.errors import HarnessError
from conformance.core.events import Chunk, Exchange, Response
from conformance.targets.client.asking import HELLO
from conformance.targets.client.station import Station
from conformance.targets.client.variation import Variation
from conformance.targets.replay import ReplayOptions

ANSWER: Final = "2 + 2 = 4."
_HEAD: Final = {
    "id": "chatcmpl-smoke",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
}
_RESPONSE: Final = {
    "id": "resp_smoke",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}


def smoke(station: Station, dialect: str) -> None:
    """A short answer without thinking. Raises HarnessError where it is not told rightly."""
    said = {"model": "m", "messages": [dict(HELLO)], "options": {}}
    told, seen, _ = station.stream(short(dialect), dialect, said)
    if told.how in ("errored", "skipped"):
        raise HarnessError(f"the smoke case failed: {told.how}: {told.why}")
    if not any(each.exchange for each in seen):
        asked = ", ".join(f"{each.method} {each.path}" for each in seen) or "nothing"
        raise HarnessError(f"the smoke case failed: base_url was not asked, but {asked}")
    if told.how != "completed":
        raise HarnessError(f"the smoke case failed: expected completed, got {told.how}")
    texts = [event.get("text", "") for event in told.events if event["type"] == "text.delta"]
    if "text.delta" in station.about.events and "".join(texts) != ANSWER:
        raise HarnessError(f"the smoke case failed: expected {ANSWER!r}, got {''.join(texts)!r}")


def unknown(station: Station) -> None:
    """A command made up on the spot. Raises HarnessError where it is not skipped."""
    told = station.unknown()
    if told.how != "skipped":
        why = f": {told.why}" if told.why else ""
        raise HarnessError(f"an unknown command must be skipped, got {told.how}{why}")


def greeting(dialect: str) -> Exchange:
    """A short answer without thinking."""
    return _exchange(_STREAMS[dialect]())


def short(dialect: str) -> Variation:
    """The way in which it is replayed."""
    return Variation("smoke", "same", greeting(dialect), ReplayOptions(repeat=True))


def answered(dialect: str) -> Exchange:
    """That answer beside a request that nobody sends; usage may have been asked for."""
    events = _STREAMS[dialect]()
    if dialect == "openai.chat":
        counts = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        events.insert(-1, ("", {**_HEAD, "choices": [], "usage": counts}))
    return _exchange(events)


def _exchange(events: list[tuple[str, Any]]) -> Exchange:
    lines = (
        (f"event: {name}\n" if name else "") + f"data: {_spelled(data)}\n\n"
        for name, data in events
    )
    chunks = tuple(Chunk(line.encode(), 0.0) for line in lines)
    headers = (("content-type", "text/event-stream; charset=utf-8"),)
    return Exchange(response=Response(200, "1.1", headers), chunks=chunks)


def _spelled(data: Any) -> str:
    return data if isinstance(data, str) else json.dumps(data)


def _chat() -> list[tuple[str, Any]]:
    def chunk(delta: dict[str, Any], reason: str | None) -> tuple[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return "", {**_HEAD, "choices": [choice]}

    first = chunk({"role": "assistant", "content": ""}, None)
    return [first, chunk({"content": ANSWER}, None), chunk({}, "stop"), ("", "[DONE]")]


def _responses() -> list[tuple[str, Any]]:
    item = {"id": "msg_smoke", "type": "message", "role": "assistant"}
    part = {"type": "output_text", "text": ANSWER, "annotations": [], "logprobs": []}
    place = {"item_id": "msg_smoke", "output_index": 0, "content_index": 0}
    done = {**item, "status": "completed", "content": [part]}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    begun = {"response": {**_RESPONSE, "status": "in_progress", "output": []}}
    told: list[tuple[str, dict[str, Any]]] = [
        ("response.created", begun),
        ("response.in_progress", begun),
        (
            "response.output_item.added",
            {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}},
        ),
        ("response.content_part.added", {**place, "part": {**part, "text": ""}}),
        ("response.output_text.delta", {**place, "delta": ANSWER, "logprobs": []}),
        ("response.output_text.done", {**place, "text": ANSWER, "logprobs": []}),
        ("response.content_part.done", {**place, "part": part}),
        ("response.output_item.done", {"output_index": 0, "item": done}),
        (
            "response.completed",
            {"response": {**_RESPONSE, "status": "completed", "output": [done], "usage": usage}},
        ),
    ]
    return [
        (kind, {"type": kind, "sequence_number": n, **data}) for n, (kind, data) in enumerate(told)
    ]


def _messages() -> list[tuple[str, Any]]:
    message: dict[str, Any] = {
        "id": "msg_smoke",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    told: list[tuple[str, dict[str, Any]]] = [
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": ANSWER}}),
        ("content_block_stop", {"index": 0}),
        (
            "message_delta",
            {
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 5},
            },
        ),
        ("message_stop", {}),
    ]
    return [(kind, {"type": kind, **data}) for kind, data in told]


_STREAMS: Final = {
    "openai.chat": _chat,
    "openai.responses": _responses,
    "anthropic.messages": _messages,
}
