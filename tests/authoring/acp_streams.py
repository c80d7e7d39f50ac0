"""Turns of agents that keep the rules of the Agent Client Protocol."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.authoring.acp import (
    answered,
    asked,
    call,
    cancel,
    chunks,
    failed,
    prompt,
    stopped,
    update,
)
from tests.authoring.draft import Draft, output_draft

DIALECT: Final = "acp"
REED: Final = "A reed has a hollow stem, so the wind bends it and does not break it."
REED_TEXT: Final = "Because its stem is hollow."
CLOUD_TEXT: Final = "No rain from those, unless they grow."

drafted = partial(output_draft, dialect=DIALECT)


def drafts() -> Iterator[Draft]:
    told = [*chunks("thought", REED), *chunks("message", REED_TEXT)]
    yield drafted("agent/thought-then-message", [*told, stopped()], sizes=(190, 3, 700))

    named = [*chunks("thought", REED, "thought-1"), *chunks("message", REED_TEXT, "message-1")]
    facts = {"profile": "tells-messages"}
    yield drafted("agent/messages-told-apart", [*named, stopped()], **facts)
    yield _both_directions()
    yield _two_sessions()
    begun = [prompt("Why does a reed bend?"), *chunks("thought", REED)[:2]]
    yield drafted("agent/cancelled", [*begun, cancel(), stopped("cancelled")])
    broken = [*chunks("thought", REED), *chunks("message", REED_TEXT)[:2]]
    yield drafted("agent/failed-in-message", [*broken, failed("Internal error")])


def _both_directions() -> Draft:
    """What an editor and an agent say to each other, from the handshake on."""
    permitted = {"outcome": {"outcome": "selected", "optionId": "allow"}}
    given = {"path": "/project/reeds.txt"}
    begun, over = call("call-1", "Read reeds.txt", given)
    pieces = [
        asked("initialize", 0, protocolVersion=1, clientCapabilities={}),
        answered(0, protocolVersion=1, agentCapabilities={}),
        asked("session/new", 1, cwd="/project", mcpServers=[]),
        answered(1, sessionId="session-1"),
        update("available_commands_update", availableCommands=[]),
        prompt("Why does a reed bend?"),
        *chunks("thought", "The notes may say it."),
        begun,
        asked("session/request_permission", 1, sessionId="session-1", options=[]),
        answered(1, **permitted),
        asked("fs/read_text_file", 2, sessionId="session-1", **given),
        answered(2, content="Hollow stems."),
        over,
        update("usage_update", used=120, size=4096),
        *chunks("thought", REED),
        *chunks("message", REED_TEXT),
        stopped(),
    ]
    return drafted("agent/both-directions", pieces)


def _two_sessions() -> Draft:
    """An editor prompts in two sessions at once, and the turns overlap."""
    beside = "session-2"
    first, *rest = chunks("message", CLOUD_TEXT, session=beside)
    pieces = [
        prompt("Why does a reed bend?"),
        *chunks("thought", REED),
        prompt("Do clouds that are flat below bring rain?", 3, beside),
        first,
        *chunks("message", REED_TEXT),
        stopped(),
        *rest,
        answered(3, stopReason="end_turn"),
    ]
    return drafted("agent/two-sessions", pieces)
