"""What findings call the events of a rule."""

from __future__ import annotations

import json
from typing import Any, Final

from conformance import Checker
from conformance.rules.alias import Alias

WHOLE: Final = {"message.content.0.caller.type": {"type": "string", "pattern": "^code"}}


def test_an_event_is_called_as_its_suite_says_or_by_its_type_and_conditions() -> None:
    conditions = tuple(WHOLE.items())
    assert Alias("whole", "message_start", conditions).describe().startswith("message_start (")
    named = Alias("whole", "message_start", conditions, shown_as="message_start of a message")
    assert named.describe() == "message_start of a message"


def test_a_finding_shows_no_condition_that_only_its_rule_needs() -> None:
    frame = f"event: message_stop\ndata: {json.dumps({'type': 'message_stop'})}\n\n".encode()
    found = Checker("anthropic.messages", rules=["wire/messages/delta-present"]).check([frame])
    (finding,) = found.findings
    expected = (
        "message_stop came without an earlier message_delta or message_start of a whole message"
    )
    assert finding.message == expected


def test_what_must_not_occur_is_called_as_its_suite_says() -> None:
    deltas: list[dict[str, Any]] = []
    for index, text in enumerate(("Let me ", "think ", "about it.")):
        block, delta = {"type": "thinking", "thinking": ""}, {"type": "thinking_delta"}
        deltas += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": {**delta, "thinking": text}},
            {"type": "content_block_stop", "index": index},
        ]
    frames = [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in deltas]
    report = Checker("anthropic.messages", rules=["thinking/stream/not-split"]).check(frames)
    (finding,) = report.findings
    assert finding.message == "thinking.delta of a new block in mid-sentence may not occur"


def test_a_text_that_is_not_wanted_is_called_by_its_name() -> None:
    deltas = ({"reasoning_content": "So.</think>"}, {"content": "Hi"})
    chunks = [{"id": "1", "choices": [{"index": 0, "delta": each}]} for each in deltas]
    frames = [f"data: {json.dumps(each)}\n\n".encode() for each in chunks]
    report = Checker("openai.chat", rules=["thinking/stream/unmarked"]).check(frames)
    (finding,) = report.findings
    assert finding.message.startswith("expected text without a marked line, got 'So.</think>'")
