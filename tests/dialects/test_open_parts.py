"""What is open in a reader ends once, whatever order events come in, and is bounded."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.core.events import Event, Frame
from conformance.core.json_values import put_at
from conformance.dialects.open_parts import MOST_OPEN
from tests.dialects.conftest import payload_of
from tests.dialects.payloads import read_payloads
from tests.dialects.streams import assert_each_ends_once
from tests.dialects.test_hostile_payloads import OTHERS, paths, recorded_frames

ReadStream = Callable[..., list[Event]]

# A part that begins and does not end, by its number.
STARTS: Final[dict[str, Callable[[str], Any]]] = {
    "acp": lambda n: {
        "method": "session/update",
        "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": n}},
    },
    "agui": lambda n: {"type": "TEXT_MESSAGE_START", "messageId": n},
    "codex.app-server": lambda n: {
        "method": "item/started",
        "params": {"threadId": "t", "item": {"id": n, "type": "webSearch"}},
    },
    "codex.exec": lambda n: {"type": "item.started", "item": {"id": n, "type": "web_search"}},
    "opal.rpc": lambda n: {
        "method": "agent/event",
        "params": {"type": "tool_start", "call_id": n},
    },
    "vercel.ui": lambda n: {"type": "reasoning-start", "id": n},
}


@pytest.mark.parametrize("dialect", STARTS)
def test_open_parts_are_bounded(dialect: str) -> None:
    starts = [STARTS[dialect](str(number)) for number in range(MOST_OPEN + 10)]
    events = read_payloads(dialect, *starts)
    assert [each.type for each in events].count(f"{dialect}.overflow") == 1


@st.composite
def in_disorder(draw: st.DrawFn, dialect: str) -> list[Frame]:
    """Recorded frames in any order and any number, some with another value somewhere."""
    recorded = st.sampled_from([each for frames in recorded_frames(dialect) for each in frames])
    frames = draw(st.lists(recorded, max_size=30))
    for at in draw(st.sets(st.integers(0, 29), max_size=6)):
        payload = payload_of(frames[at]) if at < len(frames) else None
        if isinstance(payload, dict) and payload:
            path = draw(st.sampled_from(paths(payload)[1:]))
            data = json.dumps(put_at(payload, path, draw(st.sampled_from(OTHERS))))
            frames[at] = replace(frames[at], data=data)
    return frames


@pytest.mark.parametrize(
    "dialect",
    [*STARTS, "claude.stream-json", "copilot.cli", "opencode.run"],
)
@given(data=st.data())
def test_every_block_and_call_that_starts_is_ended_once(
    dialect: str, data: st.DataObject, read_stream: ReadStream
) -> None:
    assert_each_ends_once(read_stream(dialect, data.draw(in_disorder(dialect))))
