"""Streams and bodies of Ollama's completions that keep the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from tests.authoring.draft import JSON_BODY, Draft, stream_draft
from tests.authoring.ollama import MODEL, counted
from tests.authoring.pieces import LINES, Fields, Line, characters, compact, cut, deltas

DIALECT: Final = "ollama.generate"
TOKENS: Final = [151644, 872, 198, 3838]

JAM: Final = "Plums have pectin enough of their own, so sugar is all that is missing."
JAM_TEXT: Final = "As much sugar as plums, by weight."

drafted = partial(stream_draft, dialect=DIALECT, path="/api/generate", content_type=LINES)


def drafts() -> Iterator[Draft]:
    asked = _asked("How is plum jam made?")
    lines = answer([*thought(JAM), *spoken(JAM_TEXT)], (14, 29))
    yield drafted("ollama/thinking-then-text", asked, lines, sizes=(211, 64, 3, 512))

    # Nothing is said of thinking, and a model that can think does.
    asked = cut(_asked("うめは何色ですか。"), "think")
    plum = "熟した梅は黄色です。"
    lines = answer([*thought("Plums."), *spoken(plum, characters(plum))], (16, 19))
    yield drafted("ollama/thinks-by-default", asked, lines, sizes=(97,))

    asked = _asked("How is plum jam made?", think=False, stream=True)
    yield drafted("ollama/thinking-off", asked, answer(spoken(JAM_TEXT), (14, 9)))

    asked = _asked("How is plum jam made?", context=TOKENS)
    cached = answer([*thought(JAM), *spoken(JAM_TEXT)], (14, 29))
    uncounted = Line(cut(cached[-1].payload, "prompt_eval_count"))
    both = Line({**cached[-5].payload, "thinking": " So be it."})
    pieces = [*cached[:-5], both, *cached[-4:-1], uncounted]
    yield drafted("ollama/carried-on", asked, pieces, profile="ollama")

    asked = _asked("List every prime number.", options={"num_predict": 24})
    lines = answer([*thought("There is no end to them."), *spoken("2, 3, 5,")], (12, 24), "length")
    yield drafted("ollama/length", asked, lines)

    asked = _asked("How is plum jam made?")
    lines = (*thought(JAM), *spoken(JAM_TEXT)[:1], Line({"error": "model runner has stopped"}))
    yield drafted("ollama/error-in-text", asked, lines)

    asked = _asked("How is plum jam made?", stream=False)
    whole = {**_last((14, 29)).payload, "thinking": JAM, "response": JAM_TEXT}
    body = (compact(whole).encode(),)
    yield drafted("ollama/body", asked, body, content_type=JSON_BODY)


def _asked(prompt: str, **more: Any) -> Fields:
    return {"model": MODEL, "prompt": prompt, "think": True, **more}


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
