"""What findings call the events of a rule."""

from __future__ import annotations

import json
from typing import Final

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
