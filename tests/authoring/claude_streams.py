"""Runs of Claude Code that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Final

from tests.authoring.claude import FAILURE, events, failed, line, lines, returned, run
from tests.authoring.draft import Draft, output_draft
from tests.authoring.history_shared import (
    ARGUMENTS,
    FERRY_RESULT,
    FERRY_TEXT,
    FERRY_THOUGHT,
    FOUND,
)
from tests.authoring.messages import redacted, text, thinking, tool
from tests.authoring.pieces import Fields, characters

DIALECT: Final = "claude.stream-json"
MOSS: Final = "Moss has no roots, so it drinks through its leaves, and cares little for the soil."
MOSS_TEXT: Final = "Through its leaves."
USAGE: Final = (12, 40, 24)

drafted = partial(output_draft, dialect=DIALECT)


def drafts() -> Iterator[Draft]:
    yield from _answers()
    yield _tool_loop()
    yield from _failures()


def counter(tokens: int) -> Fields:
    """How much was thought so far, as it is estimated."""
    return line("system", subtype="thinking_tokens", estimated_tokens=tokens)


def _answers() -> Iterator[Draft]:
    blocks = [thinking(0, MOSS), text(1, MOSS_TEXT)]
    streamed = list(events("msg_01", blocks, USAGE))
    told = [*streamed[:2], counter(4), *streamed[2:]]
    pieces = run(told, said=MOSS_TEXT, usage=USAGE)
    yield drafted("claude-code/thinking-then-text", pieces, sizes=(311, 64, 3, 1024))

    pieces = run([counter(24)], lines("msg_01", blocks), said=MOSS_TEXT, usage=USAGE)
    yield drafted("claude-code/no-partial-messages", pieces)

    hidden = [redacted(0), text(1, MOSS_TEXT)]
    pieces = run(events("msg_01", hidden, USAGE), said=MOSS_TEXT, usage=USAGE)
    yield drafted("claude-code/redacted", pieces)

    said = lines("msg_01", blocks)
    pieces = run(said, said=MOSS_TEXT, usage=USAGE, ended_as="completed")
    yield drafted("claude-code/ended-as-completed", pieces)

    pieces = run(_lines_last(streamed), said=MOSS_TEXT, usage=USAGE)
    yield drafted("documented/thinking-then-text", pieces, profile="documented")


def _lines_last(streamed: list[Fields]) -> Iterator[Fields]:
    """The lines that state blocks, one message later than Claude Code writes them."""
    stated = [each for each in streamed if each["type"] == "assistant"]
    whole = [{**stated[0], "message": {**stated[0]["message"], "content": _blocks(stated)}}]
    return chain((each for each in streamed if each["type"] != "assistant"), whole)


def _blocks(stated: list[Fields]) -> list[Fields]:
    return [block for each in stated for block in each["message"]["content"]]


def _tool_loop() -> Draft:
    call = tool(2, "get_timetable", characters(ARGUMENTS, 6))
    first = [thinking(0, FERRY_THOUGHT), text(1, "I look that up."), call]
    second = [thinking(0, FOUND), text(1, FERRY_TEXT)]
    parts = (
        events("msg_01", first, (40, 30, 18), "tool_use"),
        [returned("toolu_2", FERRY_RESULT)],
        events("msg_02", second, (90, 22, 12)),
    )
    return drafted("claude-code/tool-loop", run(*parts, said=FERRY_TEXT, usage=(130, 52, 30)))


def _failures() -> Iterator[Draft]:
    pieces = run([failed()], said=FAILURE, usage=(0, 0, 0), is_error=True)
    yield drafted("claude-code/api-error", pieces)

    # The provider breaks off; the message is given up, and said anew under another id.
    blocks = [thinking(0, MOSS), text(1, MOSS_TEXT)]
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    broken = list(events("msg_01", blocks, USAGE))[:1]
    fault = line("stream_event", event=overloaded, api_message_id="msg_01")
    again = events("msg_02", blocks, USAGE)
    pieces = run(broken, [fault], again, said=MOSS_TEXT, usage=USAGE)
    yield drafted("claude-code/error-then-another-try", pieces)
