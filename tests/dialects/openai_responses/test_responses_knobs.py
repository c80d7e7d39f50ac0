"""What a Responses stream does, told as knobs; what it does not show is not told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.core.events import Event
from conformance.dialects.openai_responses.knob_signs import ResponsesKnobs
from conformance.profiles.lookup import find

Seen = Callable[..., list[Event]]
Payload = dict[str, Any]

REASONING = {"type": "reasoning", "id": "rs", "summary": []}
MESSAGE = {"type": "message", "id": "msg", "content": []}
SUMMARISED = {**REASONING, "summary": [{"type": "summary_text", "text": "so"}]}
MASK = ["encrypted_content", "fingerprint", "obfuscation", "status", "id"]


def event(kind: str, **more: Any) -> Payload:
    return {"type": f"response.{kind}", **more}


def added(item: Payload, index: int = 0) -> Payload:
    return event("output_item.added", output_index=index, item=item)


def done(item: Payload, index: int = 0) -> Payload:
    return event("output_item.done", output_index=index, item=item)


def of(kind: str, **more: Any) -> Payload:
    return event(kind, output_index=0, **more)


def completed(*output: Payload, reasoning: int = 0) -> Payload:
    usage = {"output_tokens": 9, "output_tokens_details": {"reasoning_tokens": reasoning}}
    return event("completed", response={"id": "r", "output": list(output), "usage": usage})


CREATED = event("created", response={"id": "r"})
QUEUED = event("queued", response={"id": "r"})
RAW = of("reasoning_text.delta", content_index=0, delta="so")
ARGS_DONE = of("function_call_arguments.done", arguments="{}")
PART = of("reasoning_summary_part.added", summary_index=0, part={})
DELTA = of("reasoning_summary_text.delta", summary_index=0, delta="so")

SHOWN: tuple[tuple[str, object, list[Payload]], ...] = (
    ("sequence", "absent", [CREATED]),
    ("sequence", "from_zero", [{**CREATED, "sequence_number": 0}]),
    ("sequence", "resumed", [{**QUEUED, "sequence_number": 7}]),
    ("sequence", None, [{**CREATED, "sequence_number": 0}, {**QUEUED, "sequence_number": 5}]),
    ("sequence", None, [{**CREATED, "sequence_number": 0}, QUEUED]),
    ("first_event", "created", [CREATED, QUEUED]),
    ("first_event", "queued", [QUEUED]),
    ("first_event", None, [added(MESSAGE)]),
    ("id_stability", "constant", [CREATED, completed()]),
    ("id_stability", "rotates", [event("created", response={"id": "x"}), completed()]),
    ("id_stability", "rotates", [added(MESSAGE), done({**MESSAGE, "id": "x"})]),
    ("id_stability", "rotates", [added(MESSAGE), of("output_text.delta", item_id="x", delta="a")]),
    ("item_overlap", False, [added(REASONING), done(REASONING), added(MESSAGE, 1)]),
    ("item_overlap", True, [added(REASONING), added(MESSAGE, 1)]),
    ("interleaved", False, [added(REASONING), added(MESSAGE, 1)]),
    ("interleaved", True, [added(MESSAGE), added(REASONING, 1)]),
    ("interleaved", None, [added(MESSAGE)]),
    ("snapshot", "full", [done(MESSAGE), completed(MESSAGE)]),
    ("snapshot", "empty", [done(MESSAGE), completed()]),
    ("snapshot", None, [completed()]),
    ("snapshot_mask", None, [done(MESSAGE), completed(MESSAGE)]),
    ("snapshot_mask", MASK, [done(MESSAGE), completed({**MESSAGE, "id": "x"})]),
    ("snapshot_mask", None, [done(MESSAGE), completed(MESSAGE, REASONING)]),
    ("reasoning_tokens", "zero", [added(REASONING), RAW, completed()]),
    ("reasoning_tokens", "counted", [added(REASONING), RAW, completed(reasoning=3)]),
    ("reasoning_tokens", None, [added(MESSAGE), completed(reasoning=3)]),
    ("args_carrier", "done", [ARGS_DONE]),
    ("args_carrier", "deltas", [of("function_call_arguments.delta", delta="{}"), ARGS_DONE]),
    ("args_carrier", None, [of("function_call_arguments.done", arguments="")]),
    ("raw_event", "reasoning_text", [RAW]),
    ("raw_event", "reasoning", [of("reasoning.delta", delta="so")]),
    ("raw_event", "reasoning_part", [of("reasoning_part.added", part={}), RAW]),
    ("raw_parts", "none", [RAW]),
    ("raw_parts", "parts", [of("content_part.added", part={"type": "reasoning_text"}), RAW]),
    ("summary_carrier", "events", [PART, DELTA]),
    ("summary_carrier", "none", [DELTA]),
    ("summary_carrier", "item_done", [added(REASONING), done(SUMMARISED)]),
    ("summary_carrier", None, [added(REASONING), done(REASONING)]),
)  # fmt: skip


def values(events: list[Event], *, framed: bool = True) -> dict[str, Any]:
    knobs = ResponsesKnobs()
    for each in events:
        knobs.see(each)
    return knobs.values(framed=framed)


@pytest.mark.parametrize(("knob", "value", "payloads"), SHOWN)
def test_knob_follows_stream(knob: str, value: object, payloads: list[Payload], seen: Seen) -> None:
    found = values(seen("openai.responses", *payloads, named=True))
    assert found.get(knob) == value
    assert set(found) <= set(find("strict", "openai.responses").declared)


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_framing_is_reported_as_it_came(done: bool, named: bool, seen: Seen) -> None:
    found = values(seen("openai.responses", CREATED, completed(), done=done, named=named))
    assert found["done"] == ("required" if done else "forbidden")
    assert found["event_lines"] == ("required" if named else "absent")


def test_terminator_of_a_cut_stream_tells_nothing(seen: Seen) -> None:
    assert "done" not in values(seen("openai.responses", CREATED, named=True))


def test_rebuilt_framing_tells_nothing(seen: Seen) -> None:
    found = values(seen("openai.responses", CREATED, completed(), named=True), framed=False)
    assert not {"done", "event_lines"} & set(found)


def test_items_beyond_the_cap_are_not_kept(monkeypatch: pytest.MonkeyPatch, seen: Seen) -> None:
    monkeypatch.setattr("conformance.dialects.openai_responses.knob_signs.MOST_ITEMS", 1)
    rotated = [added(MESSAGE), added(REASONING, 1), done({**REASONING, "id": "x"}, 1)]
    assert values(seen("openai.responses", *rotated))["id_stability"] == "constant"
