"""Streams and bodies of Ollama's completions that keep the rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tests.authoring.ollama import MODEL, counted
from tests.authoring.pieces import Line, deltas

TOKENS: Final = [151644, 872, 198, 3838]


def line(response: str = "", *, at: int = 0, **more: Any) -> Line:
    """A line of an answer that goes on; `at` are milliseconds since it began."""
    head = {"model": MODEL, "created_at": f"2026-11-20T10:00:{at // 1000:02}.{at % 1000:03}Z"}
    return Line({**head, "response": response, **more, "done": False})


def thought(text: str) -> list[Line]:
    return [line(thinking=piece, at=place) for place, piece in enumerate(deltas(text))]


def spoken(text: str, pieces: Sequence[str] = ()) -> list[Line]:
    return [line(piece, at=500 + place) for place, piece in enumerate(pieces or deltas(text))]


def _last(usage: tuple[int, int], reason: str = "stop") -> Line:
    end = {"done": True, "done_reason": reason, "context": TOKENS, **counted(usage)}
    return Line({**line(at=999).payload, **end})


def answer(lines: Iterable[Line], usage: tuple[int, int], reason: str = "stop") -> tuple[Line, ...]:
    return (*lines, _last(usage, reason))
