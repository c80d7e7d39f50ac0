"""What every scripted answer says, whatever it is dressed in.

Every answer is another one (`number`), so that two calls cannot be taken for each other. Texts
hold what gateways lose: white space at the edges, characters of several bytes, a line separator.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MODEL: Final = "scripted"
TOOL: Final = "calculator"
ARGUMENTS: Final = '{"expression": "2 + 3"}'
INPUT: Final = 11  # tokens of the prompt
OUTPUT: Final = 21  # of all that was said, thinking included
THINKING: Final = 9
BROKEN: Final = frozenset({"cut", "error"})  # scripts that say no more than two pieces of text
WORDS: Final[Mapping[str, str]] = {
    "refused": "the script refuses",
    "unavailable": "the script has no worker",
    "error": "the script breaks off",
}
_STREAM: Final = "text/event-stream"
_JSON: Final = "application/json"
_PIECE: Final = 7


@dataclass(frozen=True, slots=True)
class Answered:
    """A response: head, body piece by piece, and whether the connection breaks after it.

    `misfit` says why this is no answer to what the gateway asked; else it is empty.
    """

    status: int
    kind: str
    pieces: tuple[bytes, ...]
    breaks: bool = False
    misfit: str = ""


def thought(number: int) -> str:
    return f" Two and two, thought {number}: 二加二 is\u20284.\n"


def shows_thinking(script: str) -> bool:
    """Whether the provider shows what it thought; it is counted in any case."""
    return script != "hidden"


def said(number: int) -> str:
    return f"\nAnswer {number}: **4** \N{WHITE HEAVY CHECK MARK} \N{EN DASH} no more. "


def summary(number: int) -> str:
    return f"A sum, summary {number} \N{EN DASH} done."


def cut(text: str) -> list[str]:
    """The text in pieces, as a stream has it."""
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def heard(script: str, number: int) -> list[str]:
    """The pieces of text that a script comes to say in a stream."""
    pieces = [] if script == "tools" else cut(said(number))
    return pieces[:2] if script in BROKEN else pieces


def body(status: int, payload: Mapping[str, Any], *, breaks: bool = False) -> Answered:
    """A whole JSON body."""
    data = json.dumps(payload, ensure_ascii=False).encode()
    return Answered(status, _JSON, (data,), breaks)


def stream(pieces: tuple[bytes, ...], *, breaks: bool = False) -> Answered:
    """Server-sent events, each a piece."""
    return Answered(200, _STREAM, pieces, breaks)


def event(payload: Mapping[str, Any] | str, *, name: str = "") -> bytes:
    """The bytes of one server-sent event."""
    data = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()
