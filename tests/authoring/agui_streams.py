"""AG-UI streams that keep the rules, in the shapes of real agents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.authoring.agui import (
    RUN,
    call,
    earlier_thought,
    event,
    run,
    sealed,
    snapshot,
    span,
    step,
    text,
    thought,
)
from tests.authoring.draft import Draft, stream_draft
from tests.authoring.history_streams import FERRY, FERRY_RESULT, FERRY_TEXT, FERRY_THOUGHT, FOUND
from tests.authoring.pieces import Fields, Message, compact, opaque

DIALECT: Final = "agui"
CLOUD: Final = "Clouds that are flat below and round above bring no rain by themselves."
CLOUD_TEXT: Final = "No rain from those."

drafted = partial(stream_draft, dialect=DIALECT, path="/agent")


def drafts() -> Iterator[Draft]:
    yield from _thinking()
    yield from _runs()


def run_input(question: str) -> Fields:
    said = {"id": "user-1", "role": "user", "content": question}
    rest: Fields = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return {**RUN, "messages": [said], **rest}


def _thinking() -> Iterator[Draft]:
    asked = run_input("Do these clouds bring rain?")
    shown = [span("r1", thought("r1", CLOUD)), text("t1", CLOUD_TEXT)]
    yield drafted("agent/thinking-then-text", asked, run(shown), sizes=(190, 61, 5, 700))

    kept = [span("r1", thought("r1", CLOUD), [sealed("r1", opaque("signature"))])]
    yield drafted("agent/thinking-sealed", asked, run([*kept, text("t1", CLOUD_TEXT)]))

    hidden = [span("r1", [sealed("r1", opaque("redacted"))])]
    yield drafted("agent/thinking-redacted", asked, run([*hidden, text("t1", CLOUD_TEXT)]))

    earlier = [earlier_thought(CLOUD), text("t1", CLOUD_TEXT)]
    yield drafted("agent-0.1.10/thinking-then-text", asked, run(earlier, version=""))

    chunks = [
        event("REASONING_MESSAGE_CHUNK", messageId="r1", delta="Clouds that are "),
        event("REASONING_MESSAGE_CHUNK", delta="flat below."),
        event("REASONING_MESSAGE_CHUNK", delta=""),
        event("TEXT_MESSAGE_CHUNK", messageId="t1", role="assistant", delta="No rain "),
        event("TEXT_MESSAGE_CHUNK", delta="from those."),
    ]
    yield drafted("agent/chunks", asked, run([chunks]))


def _tool_run() -> Draft:
    asked_for = {"name": "get_timetable", "arguments": compact({"line": "island"})}
    found = call("call_0", "get_timetable", {"line": "island"}, FERRY_RESULT)
    called = [{"id": "call_0", "type": "function", "function": asked_for}]
    parts = [
        step("model", span("r1", thought("r1", FERRY_THOUGHT)), found),
        step("answer", span("r2", thought("r2", FOUND)), text("t1", FERRY_TEXT)),
        [
            snapshot(
                {"id": "user-1", "role": "user", "content": FERRY},
                {"id": "r1", "role": "reasoning", "content": FERRY_THOUGHT},
                {"id": "c1", "role": "assistant", "toolCalls": called},
                {
                    "id": "of-call_0",
                    "role": "tool",
                    "toolCallId": "call_0",
                    "content": FERRY_RESULT,
                },
                {"id": "r2", "role": "reasoning", "content": FOUND},
                {"id": "t1", "role": "assistant", "content": FERRY_TEXT},
            )
        ],
    ]
    return drafted("agent/tool-and-snapshot", run_input(FERRY), run(parts), sizes=(97, 512))


def _runs() -> Iterator[Draft]:
    yield _tool_run()
    plan = {"step": 1, "done": []}
    changes = [
        {"op": "test", "path": "/step", "value": 1},
        {"op": "replace", "path": "/step", "value": 2},
        {"op": "add", "path": "/done/-", "value": "clouds"},
    ]
    search = {"messageId": "a1", "activityType": "search"}
    shared = [
        event("STATE_SNAPSHOT", snapshot=plan),
        event("ACTIVITY_SNAPSHOT", **search, content={"found": 0}),
        event("ACTIVITY_DELTA", **search, patch=[{"op": "replace", "path": "/found", "value": 3}]),
        event("STATE_DELTA", delta=changes),
    ]
    thoughts = span("r1", thought("r1", CLOUD))
    asked = run_input("Do these clouds bring rain?")
    yield drafted("agent/shared-state", asked, run([thoughts, shared, text("t1", CLOUD_TEXT)]))

    begun = event("RUN_STARTED", **RUN, protocolVersion="1.0")
    failed = event("RUN_ERROR", message="The model is overloaded.", code="overloaded")
    said = text("t1", CLOUD_TEXT)
    events = [begun, *span("r1", thought("r1", CLOUD)), *said[:2], said[-1], failed]
    yield drafted("agent/error-in-text", asked, map(Message, events))
