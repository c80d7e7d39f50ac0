"""UI message streams that keep the rules, in the shapes of real applications."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.authoring.draft import Draft, stream_draft
from tests.authoring.history_streams import FERRY, FERRY_RESULT, FERRY_TEXT, FERRY_THOUGHT, FOUND
from tests.authoring.pieces import DONE, Fields, Message, opaque
from tests.authoring.ui_message import (
    HEADER,
    START,
    answer,
    call,
    own,
    part,
    reasoning,
    step,
    text,
    written,
)

DIALECT: Final = "vercel.ui"
DYE: Final = "Madder gives red, woad gives blue, and weld gives yellow."
DYE_TEXT: Final = "Weld, for yellow."
TOOL: Final = "get_timetable"
ARGUMENTS: Final[Fields] = {"line": "island"}
RAW_CONTENT: Final[Fields] = {"provider_details": {"raw_content": [DYE]}}

drafted = partial(stream_draft, dialect=DIALECT, path="/api/chat", answer_headers=(HEADER,))


def drafts() -> Iterator[Draft]:
    yield from _thinking()
    yield from _steps()
    yield from _ends()


def _asked(*messages: Fields | str) -> Fields:
    turns = [_said(number, each) for number, each in enumerate(messages)]
    return {"id": "chat-1", "trigger": "submit-message", "messages": turns}


def _said(number: int, message: Fields | str) -> Fields:
    if isinstance(message, dict):
        return message
    parts = [{"type": "text", "text": message}]
    return {"id": f"user-{number}", "role": "user", "parts": parts}


def _thinking() -> Iterator[Draft]:
    asked = _asked("Which plant dyes wool yellow?")
    shown = step(reasoning("reasoning-0", DYE), text("txt-0", DYE_TEXT))
    yield drafted("ai-sdk/thinking-then-text", asked, answer([shown]), sizes=(180, 61, 7, 400))

    signed = step(reasoning("0", DYE, opaque("signature")), text("1", DYE_TEXT))
    yield drafted("ai-sdk/thinking-signed", asked, answer([signed]))

    data = own(redactedData=opaque("redacted"))
    hidden = step(written("reasoning", "0", "", **data), text("1", DYE_TEXT))
    yield drafted("ai-sdk/thinking-redacted", asked, answer([hidden]))

    kept = [part("reasoning-end", id="0", providerMetadata={"pydantic_ai": RAW_CONTENT})]
    stated = step([*reasoning("0", DYE)[:-1], *kept], text("1", DYE_TEXT))
    yield drafted("pydantic-ai/thinking-in-metadata-too", asked, answer([stated]))

    several = step(
        reasoning("rs_1:0", "Red is madder."),
        reasoning("rs_1:1", "Yellow is weld."),
        text("msg_1", DYE_TEXT),
    )
    yield drafted("ai-sdk/summary-two-parts", asked, answer([several]))

    extra = [
        part("custom", kind="provider.message_start", **own(id="m_1")),
        part("message-metadata", messageMetadata={"model": "think-1"}),
    ]
    noted = step(extra, reasoning("0", DYE), [part("data-weather", data={"sun": True})])
    spoken = [*noted[:-1], *text("1", DYE_TEXT), noted[-1]]
    yield drafted("ai-sdk/own-data", asked, answer([spoken]))


def _steps() -> Iterator[Draft]:
    asked = _asked(FERRY)
    found = call("call_0", TOOL, ARGUMENTS, FERRY_RESULT)
    steps = [
        step(reasoning("reasoning-0", FERRY_THOUGHT), found),
        step(reasoning("reasoning-1", FOUND), text("txt-0", FERRY_TEXT)),
    ]
    yield drafted("ai-sdk/tool-in-two-steps", asked, answer(steps), sizes=(97, 512))

    counted = [steps[0], step(reasoning("reasoning-0", FOUND), text("txt-0", FERRY_TEXT))]
    yield drafted("ai-sdk/ids-of-each-step", asked, answer(counted), profile="ai-5")

    agreed = part("tool-approval-request", approvalId="approval-1", toolCallId="call_0")
    allowed = [*found[:-1], agreed, found[-1]]
    approved = [step(reasoning("reasoning-0", FERRY_THOUGHT), allowed), steps[1]]
    yield drafted("ai-sdk/call-approved", asked, answer(approved), profile="ai-6")


def _ends() -> Iterator[Draft]:
    asked = _asked("Which plant dyes wool yellow?")
    failed = [
        START,
        part("start-step"),
        *reasoning("0", DYE),
        part("error", errorText="An error occurred."),
        part("finish-step"),
        part("finish", finishReason="error"),
    ]
    yield drafted("ai-sdk/error-behind-thinking", asked, [*map(Message, failed), DONE])

    refused = [Message(START), Message(part("error", errorText="An error occurred.")), DONE]
    yield drafted("ai-sdk/error-before-step", asked, refused, profile="ai-7")

    stopped = [START, part("start-step"), *reasoning("0", DYE), part("abort")]
    yield drafted("ai-sdk/abort-behind-thinking", asked, [*map(Message, stopped), DONE])

    short = step(reasoning("0", DYE))
    yield drafted("ai-sdk/length-in-thinking", asked, answer([short], "length"))
