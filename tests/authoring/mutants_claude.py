"""Mutants of `wire/stream-json` and `wire/lines`."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Where, typed
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, at

TEXT: Final = "claude.stream-json/claude-code/thinking-then-text"
SUITE: Final = "wire/stream-json"


def wrapping(kind: str, **fields: Any) -> Where:
    """Events of that type that a line wraps."""

    def where(message: Message) -> bool:
        event = at(message.payload, "event") or {}
        stated = all(at(event, path.replace("_of_", ".")) == v for path, v in fields.items())
        return bool(event.get("type") == kind and stated)

    return where


RESULT: Final = typed("result")
OVER: Final = wrapping("message_stop")
SPOKEN: Final = wrapping("content_block_delta", delta_of_type="text_delta")


MUTANTS: Final = (
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
)
