"""Mutants of the suites of Ollama's chat."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Where, having
from tests.authoring.mutant import Mutant
from tests.authoring.ollama import last, line
from tests.authoring.pieces import Message, Piece
from tests.authoring.turns import asks

TEXT: Final = "ollama.chat/ollama/thinking-then-text"
TOOLS: Final = "ollama.chat/ollama/thinking-then-tools"
FAILED: Final = "ollama.chat/ollama/error-in-text"
OFF: Final = "ollama.chat/ollama/thinking-off"
ROUND: Final = "ollama.chat/ollama/tool-round"
SUITE: Final = "wire/ollama"

SPOKEN: Final = having("message.content")
CALLED: Final = having("message.tool_calls")
DONE: Final = having("done")
ERROR: Final = having("error")
FUNCTION: Final = "message.tool_calls.0.function"


def any_line(_message: Message) -> bool:
    return True


def _as_events(pieces: Pieces) -> list[Piece]:
    """What a gateway makes of lines that speaks event streams in all its APIs."""
    return [Message(p.payload) if isinstance(p, Message) else p for p in pieces]


def _half(where: Where) -> edits.Step:
    """The line breaks off in its middle, and nothing follows."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, where)
        piece = pieces[spot]
        assert isinstance(piece, Message)
        return [*pieces[:spot], piece.encode()[:40]]

    return step


def _as_text(arguments: Any) -> str:
    return json.dumps(arguments)


MUTANTS: Final = (
    Mutant(f"{SUITE}/answer-present", TEXT, (lambda _pieces: [],)),
    Mutant(
        f"{SUITE}/framed-as-lines",
        TEXT,
        (_as_events,),
        facts={"content_type": "text/event-stream"},
        also=(f"{SUITE}/content-type",),
    ),
    # A proxy kept the connection open as it does for event streams.
    Mutant(f"{SUITE}/line-is-json", TEXT, (edits.insert(b": ping\n", SPOKEN),)),
    Mutant(f"{SUITE}/last-line-whole", TEXT, (_half(DONE),), also=(f"{SUITE}/done-present",)),
    Mutant(
        f"{SUITE}/utf8",
        TEXT,
        (edits.raw(SPOKEN, b"About", b"Ab\xc3out"),),
        also=("thinking/stream/characters-whole",),
    ),
    Mutant(
        f"{SUITE}/done-last",
        TEXT,
        (edits.insert(line("So.", at=999), DONE, after=True),),
    ),
    # A gateway that translates Chat Completions left the text as it was.
    Mutant(
        f"{SUITE}/tool-arguments",
        TOOLS,
        (edits.change(CALLED, f"{FUNCTION}.arguments", _as_text),),
    ),
    # The stream goes on as if nothing had happened.
    Mutant(f"{SUITE}/error-last", FAILED, (edits.insert(last((14, 20)), ERROR, after=True),)),
    Mutant(
        "effort/ollama/false-means-none",
        OFF,
        (edits.insert(line(thinking="Lentils need no soaking."), any_line),),
    ),
    Mutant(
        "history/ollama/arguments-are-objects",
        ROUND,
        turns={2: asks("messages.1.tool_calls.0.function.arguments", _as_text)},
    ),
)
