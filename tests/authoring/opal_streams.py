"""Runs of Opal's agent that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.authoring.draft import Draft, output_draft
from tests.authoring.opal import SESSION, event, message, run, thinking, tool
from tests.authoring.pieces import Line

DIALECT: Final = "opal.rpc"
HEATH: Final = "Heath grows where the soil is poor, so few other plants stand in its way."
HEATH_TEXT: Final = "Because the soil is poor."

drafted = partial(output_draft, dialect=DIALECT)


def drafts() -> Iterator[Draft]:
    shown = [thinking(HEATH), message(HEATH_TEXT)]
    yield drafted("opal/thinking-then-message", run(shown), sizes=(131, 3, 600))

    asked = {"session_id": SESSION, "text": "Why does heath grow here?"}
    prompt = Line({"jsonrpc": "2.0", "id": 2, "method": "agent/prompt", "params": asked})
    taken = Line({"jsonrpc": "2.0", "id": 2, "result": {"queued": False}})
    looked = [
        thinking("The soil map may say it."),
        [event("turn_end", message="")],
        tool("call-1", "read", {"path": "soil.txt"}, "Sand."),
        *shown,
    ]
    yield drafted("opal/tool-loop", [prompt, taken, *run(looked)])
    yield drafted("opal/message-alone", run([message(HEATH_TEXT)]))
    aborted = run([thinking(HEATH)], event("agent_abort"))
    yield drafted("opal/aborted", aborted)
    broken = run([thinking(HEATH), message(HEATH_TEXT)[:2]], event("error", reason=":timeout"))
    yield drafted("opal/error-in-message", broken)
