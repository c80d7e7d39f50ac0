"""What Copilot writes down of a session lacks what it only sends."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.recordings.check import check_paths
from tests.authoring.copilot import event, message_events, run, thought, turn
from tests.authoring.pieces import Line

STARTED = event("session.start", {"sessionId": "s", "version": 1, "producer": "copilot-agent"})


@pytest.mark.parametrize(
    ("is_log", "profile", "found"),
    [(True, "session-log", set()), (False, "strict", {"wire/copilot/end-present"})],
)
def test_a_log_never_becomes_idle(
    is_log: bool, profile: str, found: set[str], tmp_path: Path
) -> None:
    lines = [each.payload for each in run(turn(0, thought(0, "a b"), message_events(1, "c d")))]
    kept = [each for each in lines if not each.get("ephemeral") and each["type"] != "result"]
    assert len(kept) < len(lines)
    file = tmp_path / "events.jsonl"
    kept = [STARTED, *kept] if is_log else kept
    file.write_bytes(b"".join(Line(each).encode() for each in kept))
    (stream,) = check_paths([file]).streams
    assert stream.profile == profile
    assert {each.rule for each in stream.findings if each.level == "MUST"} == found
