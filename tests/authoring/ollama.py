"""Lines of Ollama's chat, one by one; `answer` adds the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tests.authoring.pieces import Fields, Line, deltas

MODEL: Final = "think-1"
SOUP: Final = "Lentils need no soaking, so the soup is done within the hour."
SOUP_TEXT: Final = "About forty minutes."


def line(content: str = "", *, at: int = 0, **message: Any) -> Line:
    """A line of an answer that goes on; `at` are milliseconds since it began."""
    turn = {"role": "assistant", "content": content, **message}
    head = {"model": MODEL, "created_at": f"2026-11-20T10:00:{at // 1000:02}.{at % 1000:03}Z"}
    return Line({**head, "message": turn, "done": False})


def thought(text: str) -> list[Line]:
    return [line(thinking=piece, at=place) for place, piece in enumerate(deltas(text))]


def spoken(text: str, pieces: Sequence[str] = ()) -> list[Line]:
    pieces_sent = pieces or deltas(text)
    return [line(piece, at=500 + place) for place, piece in enumerate(pieces_sent)]


def call(index: int, name: str, arguments: Fields) -> Line:
    """A whole call, on a line of its own."""
    function = {"index": index, "name": name, "arguments": arguments}
    return line(at=700 + index, tool_calls=[{"id": f"call_{index}", "function": function}])


def counted(usage: tuple[int, int]) -> Fields:
    """Tokens of the prompt and of the answer, and nanoseconds."""
    prompt, answered = usage
    return {
        "total_duration": 1_250_000_000,
        "load_duration": 54_000_000,
        "prompt_eval_count": prompt,
        "prompt_eval_duration": 96_000_000,
        "eval_count": answered,
        "eval_duration": 1_100_000_000,
    }


def last(usage: tuple[int, int], reason: str = "stop") -> Line:
    end = {"done": True, "done_reason": reason, **counted(usage)}
    return Line({**line(at=999).payload, **end})


def answer(lines: Iterable[Line], usage: tuple[int, int], reason: str = "stop") -> tuple[Line, ...]:
    return (*lines, last(usage, reason))


def body(message: Fields, usage: tuple[int, int], reason: str = "stop") -> Fields:
    """The answer in one piece."""
    turn = {"role": "assistant", "content": "", **message}
    return {**last(usage, reason).payload, "message": turn}
