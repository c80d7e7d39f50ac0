"""Outputs of a UI message stream, and whether somebody made their call."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.core.events import Request
from conformance.dialects.vercel_ui.reader import KnownCalls

OUTPUT = {"toolCallId": "c", "output": 4}
USER = {"role": "user", "parts": [{"type": "text", "text": "2 + 2?"}]}
CALLER = {"role": "assistant", "parts": [{"type": "tool-add", "toolCallId": "c"}]}


def told(*kinds: str, messages: Any = None) -> dict[str, bool]:
    """What is told of an output behind parts of these kinds, all of the call `c`."""
    calls = KnownCalls()
    if messages is not None:
        calls.read_request(Request("POST", "/", (), {"messages": messages}))
    for kind in kinds:
        calls.about(kind, {"toolCallId": "c"})
    return calls.about("tool-output-available", OUTPUT)


@pytest.mark.parametrize(
    ("kinds", "messages", "wanted"),
    [
        (("tool-input-start", "tool-input-available"), None, {"call_known": True}),
        (("tool-input-start", "tool-input-error"), None, {"call_known": True}),
        # Half of a call is none yet.
        (("tool-input-start",), None, {"call_known": False}),
        # A message may go on with a call of the one before, which was not recorded.
        ((), None, {}),
        ((), [USER], {"call_known": False}),
        ((), [USER, CALLER], {"call_known": True}),
        ((), "all of them", {}),
    ],
)
def test_an_output_belongs_to_a_call(
    kinds: tuple[str, ...], messages: Any, wanted: dict[str, bool]
) -> None:
    assert told(*kinds, messages=messages) == wanted


def test_once_the_message_has_text_an_output_of_no_call_is_astray() -> None:
    calls = KnownCalls()
    calls.has_shown = True
    assert calls.about("tool-output-available", OUTPUT) == {"call_known": False}
    calls.next_message()
    assert calls.about("tool-output-available", OUTPUT) == {}
