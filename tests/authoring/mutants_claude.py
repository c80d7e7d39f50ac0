"""Mutants of `wire/stream-json` and `wire/lines`."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.claude import line
from tests.authoring.edits import Where, typed
from tests.authoring.messages import delta
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Line, Message, at

TEXT: Final = "claude.stream-json/claude-code/thinking-then-text"
REDACTED: Final = "claude.stream-json/claude-code/redacted"
RETRIED: Final = "claude.stream-json/claude-code/error-then-another-try"
SUITE: Final = "wire/stream-json"


def wrapping(kind: str, **fields: Any) -> Where:
    """Events of that type that a line wraps."""

    def where(message: Message) -> bool:
        event = at(message.payload, "event") or {}
        stated = all(at(event, path.replace("_of_", ".")) == v for path, v in fields.items())
        return bool(event.get("type") == kind and stated)

    return where


RESULT: Final = typed("result")
BEGUN: Final = wrapping("message_start")
ENDING: Final = wrapping("message_delta")
OVER: Final = wrapping("message_stop")
STOP: Final = wrapping("content_block_stop")
SPOKEN: Final = wrapping("content_block_delta", delta_of_type="text_delta")


def piece(index: int, kind: str, **fields: Any) -> Line:
    """A delta of the first message."""
    event = delta(index, kind, **fields)
    return Line(line("stream_event", event=event, api_message_id="msg_01"))


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/carries",
        TEXT,
        (edits.change(SPOKEN, "event.delta", lambda said: {"type": said["type"], "txt": "So."}),),
        (f"{SUITE}/text-agrees",),
    ),
    # A library of the tool's prints to standard output.
    Mutant("wire/lines/line-is-json", TEXT, (edits.insert(b"Loading settings\n", BEGUN),)),
    Mutant(
        "wire/lines/last-line-whole",
        TEXT,
        (edits.drop(RESULT), edits.insert(b'{"type":"res', OVER, after=True)),
        (f"{SUITE}/result-present",),
    ),
    Mutant(
        "wire/lines/utf8",
        TEXT,
        (edits.raw(SPOKEN, b"Through", b"Thr\xc3ough"),),
        ("thinking/stream/characters-whole", f"{SUITE}/text-agrees"),
    ),
    Mutant(
        f"{SUITE}/result-last",
        TEXT,
        (
            edits.insert(
                Line(line("user", message={"role": "user", "content": []})), RESULT, after=True
            ),
        ),
    ),
    Mutant(
        f"{SUITE}/index-contiguous",
        REDACTED,
        tuple(
            edits.change_all(wrapping(kind, index=1), "event.index", 2)
            for kind in ("content_block_start", "content_block_delta", "content_block_stop")
        ),
    ),
    # A relay gives every delta to the block that it read last.
    Mutant(
        f"{SUITE}/text-in-text",
        TEXT,
        (edits.insert(piece(0, "text", text="Moss."), STOP),),
    ),
    Mutant(
        f"{SUITE}/thinking-in-thinking",
        TEXT,
        (edits.insert(piece(1, "thinking", thinking="Moss."), STOP, -1),),
    ),
    Mutant(
        f"{SUITE}/input-in-tool",
        TEXT,
        (edits.insert(piece(1, "input_json", partial_json="{}"), STOP, -1),),
    ),
)
