"""Events of Converse as lines and events of JSON: one key says which it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance import dialects
from conformance.core.events import Frame, FrameKind
from conformance.core.reading import Reading
from tests.dialects.payloads import read_payloads

START = {"messageStart": {"role": "assistant"}}
STREAM: tuple[dict[str, Any], ...] = (
    START,
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"messageStop": {"stopReason": "end_turn"}},
    {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}}},
)

UNKNOWN = {"p": "abc", "traceId": {"messageStop": {}}}


def read(*payloads: Any, kind: FrameKind = "line") -> list[tuple[str, dict[str, Any]]]:
    events = read_payloads("bedrock.converse", *payloads, kind=kind)
    return [(each.type, dict(each.data)) for each in events]


@pytest.mark.parametrize("kind", ["line", "event"])
def test_keys_that_nobody_knows_do_not_hide_an_event(kind: FrameKind) -> None:
    plain = read(*STREAM, kind=kind)
    assert [name for name, _ in plain][-2:] == ["usage", "done"]
    assert read(*({**UNKNOWN, **each} for each in STREAM), kind=kind) == plain
    assert read(*({**each, **UNKNOWN} for each in STREAM), kind=kind) == plain


def test_an_exception_is_known_next_to_unknown_keys() -> None:
    raised = {"throttlingException": {"message": "Slow down"}, "p": "abc"}
    names = [name for name, _ in read(START, raised)]
    assert "exception" in names
    assert "error" in names


@pytest.mark.parametrize(
    "payload", [{**START, "messageStop": {}}, {"p": {}}, {"messageStart": "x", "p": 1}, {}]
)
def test_what_is_no_one_event_is_unknown(payload: dict[str, Any]) -> None:
    assert next(name for name, _ in read(payload)) == "converse.unknown"


def test_what_an_invocation_wraps_is_read_as_the_event_that_it_is() -> None:
    frames = [Frame("binary", "chunk", json.dumps(each), "", 0) for each in STREAM]
    reader = dialects.get("bedrock.converse").reader(Reading())
    came: list[str] = []
    for number, (frame, payload) in enumerate(zip(frames, STREAM, strict=True), 1):
        came += [each.type for each in reader.read(frame, {**payload, **UNKNOWN}, number)]
    came += [each.type for each in reader.end("eof", len(STREAM) + 1)]
    assert came == [name for name, _ in read(*STREAM)]
