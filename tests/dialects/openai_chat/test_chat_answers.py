"""Where the next answer of a kept file begins: what a gateway puts behind `[DONE]` is none."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance.core.events import Chunk, Exchange
from conformance.dialects import get
from conformance.dialects.base import Reading


def chunk(name: str, **delta: Any) -> dict[str, Any]:
    return {"id": name, "choices": [{"index": 0, "delta": delta}]}


ENDED: Final = ({**chunk("a", content="Hi"), "choices": [{"finish_reason": "stop"}]}, "[DONE]")


@pytest.mark.parametrize(
    ("upstream", "answers"),
    [
        ({"choices": [], "cost": "0"}, 1),
        ({"choices": [], "usage": {"total_tokens": 3}}, 1),
        ({"id": "", "choices": [], "cost": "0"}, 1),
        ({"id": "b", "choices": []}, 2),
        (chunk("b", content="Ho"), 2),
        (chunk("a", role="assistant"), 2),
    ],
)
def test_what_has_no_id_begins_no_answer(upstream: Any, answers: int) -> None:
    payloads = (chunk("a", role="assistant"), *ENDED, upstream)
    lines = (each if isinstance(each, str) else json.dumps(each) for each in payloads)
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    traced = get("openai.chat").trace(Exchange(chunks=(Chunk(body),)), Reading())
    assert max(event.answer for each in traced for event in each.events) == answers
