"""A span of reasoning that was lost, or has no id: what follows from it is no second finding."""

from __future__ import annotations

import json

import pytest

from conformance import Checker

OPENED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
MESSAGE = (
    {"type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning"},
    {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": "So."},
    {"type": "REASONING_MESSAGE_END", "messageId": "m"},
)


@pytest.mark.parametrize(
    ("start", "owner", "wanted"),
    [
        (None, "s", ["span-opened"]),  # the span that is closed has the id of the value
        (None, "u", ["sealed-owner", "span-opened"]),
        ({"type": "REASONING_START"}, "s", ["run-fields"]),
    ],
)
def test_a_value_of_a_span_that_was_lost_has_no_owner(
    start: dict[str, str] | None, owner: str, wanted: list[str]
) -> None:
    sealed = {"subtype": "message", "entityId": owner, "encryptedValue": "RXFR"}
    events = [
        *(OPENED, *filter(None, [start]), *MESSAGE),
        {"type": "REASONING_ENCRYPTED_VALUE", **sealed},
        {"type": "REASONING_END", "messageId": "s"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
    ]
    found = Checker("agui").check(f"data: {json.dumps(each)}\n\n".encode() for each in events)
    assert sorted(each.rule.rpartition("/")[2] for each in found.findings) == wanted
