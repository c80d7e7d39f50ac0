"""Turns of the app server of Codex that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.authoring.codex_server import command, ended, message, note, raw, summarised, turn
from tests.authoring.draft import Draft, output_draft
from tests.authoring.pieces import Line

DIALECT: Final = "codex.app-server"
PEAT: Final = (
    "**Looking at peat**\n\nPeat is moss that never rotted.",
    "**Why it is wet**\n\nRain.",
)
PEAT_TEXT: Final = "Moss that never rotted."

drafted = partial(output_draft, dialect=DIALECT)


def drafts() -> Iterator[Draft]:
    said = message("message-1", PEAT_TEXT)
    yield drafted(
        "codex/summary-then-message",
        turn([summarised("thought-1", *PEAT), said]),
        sizes=(211, 3, 900),
    )
    yield drafted("codex/raw-then-message", turn([raw("thought-1", PEAT[0]), said]))
    looked = [raw("thought-1", PEAT[0]), command("call-1", "ls bog"), raw("thought-2", PEAT[1])]
    yield drafted("codex/command-run", turn([*looked, said]))

    why = {"message": "The model is overloaded.", "codexErrorInfo": "other"}
    broken = [note("error", error=why, willRetry=False)]
    failed = [summarised("thought-1", *PEAT), broken]
    yield drafted("codex/turn-failed", turn(failed, ended("failed", why)))
    yield _both_directions()


def _both_directions() -> Draft:
    """What a client and the server say to each other."""
    place = {"threadId": "thread-1"}
    started = Line({"id": 3, "method": "turn/start", "params": {**place, "input": []}})
    permitted = [
        Line({"id": 0, "method": "item/commandExecution/requestApproval", "params": place}),
        Line({"id": 0, "result": {"decision": "accept"}}),
    ]
    begun, *rest = turn(
        [
            raw("thought-1", PEAT[0]),
            command("call-1", "ls bog")[:1],
            permitted,
            command("call-1", "ls bog")[1:],
            message("message-1", PEAT_TEXT),
        ],
        ended("interrupted"),
    )
    stopped = Line({"id": 4, "method": "turn/interrupt", "params": place})
    return drafted("codex/both-directions", [started, begun, *rest[:-1], stopped, rest[-1]])
