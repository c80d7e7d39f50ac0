"""Runs of `opencode run --format json` that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.authoring.draft import Draft, output_draft
from tests.authoring.opencode import begun, failed_tool, failure, run, said, step, thought, tool

DIALECT: Final = "opencode.run"
FERRY: Final = "The timetable has two ferries in the morning, and the first one is at seven."
FERRY_TEXT: Final = "At seven, and at nine."
BRIDGE: Final = "I have to read the plan before I can say how long it is."
PLAN: Final = {"filePath": "plan.txt"}
REFUSED: Final = "The user rejected permission to use this specific tool call."

drafted = partial(output_draft, dialect=DIALECT)


def drafts() -> Iterator[Draft]:
    answered = step([thought(FERRY), said(FERRY_TEXT)], reasoning=18)
    yield drafted("opencode/reasoning-then-text", run(answered), sizes=(97, 3, 400))
    yield drafted("opencode/thinking-shown", run(answered), profile="shows-thinking")
    yield drafted("opencode/text-alone", run(step([said(FERRY_TEXT)])))
    two = [thought(FERRY), thought("The third one sails in summer only."), said(FERRY_TEXT)]
    yield drafted("opencode/two-thoughts", run(step(two, reasoning=30)))
    cut = step([thought(FERRY), said("At seven, and")], "length", 18)
    yield drafted("opencode/cut-at-limit", run(cut))
    yield from _calls()
    yield from _failures()
    more = step([thought("The last one is the evening boat."), said("At eight.")], reasoning=9)
    turns = [*run(answered), *run(more, first=len(answered))]
    yield drafted("opencode/two-turns", turns)


def _calls() -> Iterator[Draft]:
    """Steps with tools, which opencode runs, and the steps behind them."""
    read = tool("call_1", "read", PLAN, "1: The bridge is six metres long.")
    lost = failed_tool("call_2", "read", {"filePath": "moss.txt"}, "File not found: moss.txt")
    last = step([thought("The plan says it."), said("Six metres.")], reasoning=6)
    asked = step([thought(BRIDGE), said("Let me look."), read, lost], "tool-calls", 14)
    yield drafted("opencode/tool-then-text", run([*asked, *last]))
    refused = failed_tool("call_1", "read", {"filePath": "/etc/hostname"}, REFUSED)
    asked = step([thought(BRIDGE), refused], "tool-calls", 14)
    yield drafted("opencode/refused", run(asked), profile="opencode")
    idle = {"type": "done", "reason": "idle", "rejected": ["external_directory"]}
    yield drafted("opencode/refused-and-done", run([*asked, idle]))
    yield drafted("opencode/refused-and-told", run([*asked, *step([said("I may not read it.")])]))


def _failures() -> Iterator[Draft]:
    busy = failure("APIError", "The model is overloaded.", statusCode=529, isRetryable=True)
    yield drafted("opencode/failed-at-once", run([busy]))
    yield drafted("opencode/failed-in-step", run([*begun([thought(FERRY)]), busy]))
    again = [
        *begun([thought("First the season: it is May.")]),
        *step([thought(FERRY), said(FERRY_TEXT)], reasoning=18),
    ]
    yield drafted("opencode/tried-again", run(again), profile="opencode")
    filtered = step([said("At seven")], "content-filter")
    blocked = failure("ContentFilterError", "The answer was blocked.")
    yield drafted("opencode/filtered", run([*filtered, blocked]))
