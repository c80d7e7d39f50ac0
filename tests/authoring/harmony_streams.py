"""Token text of gpt-oss that keeps the rules: raw, streamed and whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.harmony import (
    MODEL,
    PLAIN,
    body,
    called,
    choice,
    chunk,
    counted,
    final,
    further,
    joined,
    message,
    prompt,
    spoken,
    streamed,
    thought,
)
from tests.authoring.history_shared import FERRY, FERRY_RESULT, FERRY_TEXT, FERRY_THOUGHT, FOUND
from tests.authoring.pieces import DONE, Fields, Piece

DIALECT: Final = "harmony"
ROUND: Final = "tool-round"
SOUP: Final = "Lentils need no soaking,\nso the soup is done within the hour."
SOUP_TEXT: Final = "About forty minutes.\n\nSplit lentils take half of it."
SOUP_ASKED: Final = "How long does lentil soup take?"
TOOL: Final = "functions.get_timetable"
ARGUMENTS: Final = '{"line": "island"}'

_drafted = partial(stream_draft, dialect=DIALECT, path="/v1/completions")
_whole = partial(body_draft, dialect=DIALECT, path="/v1/completions")


def drafts() -> Iterator[Draft]:
    yield from _raw_texts()
    yield from _completions()
    yield _tool_round()
    yield _second_turn()


def _raw(topic: str, pieces: Iterable[Piece], **facts: Any) -> Draft:
    return _drafted(f"raw/{topic}", {}, pieces, path="/generate", content_type=PLAIN, **facts)


def _raw_texts() -> Iterator[Draft]:
    yield _raw("thinking-then-text", [*thought(SOUP), *final(SOUP_TEXT)])
    # Cut inside markers and characters.
    flower = [*thought("Sunflowers are meant."), *final("ひまわりは黄色です。")]
    yield _raw("cut-anywhere", flower, sizes=(5, 1, 9, 2))
    preamble = further(*message("commentary", "I look that up."))
    yield _raw("preamble-then-call", [*thought(FERRY_THOUGHT), *preamble, *called(TOOL, ARGUMENTS)])
    code = message("analysis", "print(2 ** 16)", to="python", kind="code", end="call")
    yield _raw("built-in-tool", [*thought("Python knows."), *further(*code)])
    again = further(*thought("The island line, then."))
    yield _raw("two-thoughts", [*thought(FERRY_THOUGHT), *again, *final(FERRY_TEXT)])
    yield _raw("recipient-in-role", [*thought(FERRY_THOUGHT), *_called_in_role()])
    # Servers that were asked to repeat the prompt's last words begin with them.
    yield _raw("start-repeated", [*further(*thought(SOUP)), *final(SOUP_TEXT)])


def _called_in_role() -> list[Piece]:
    start, _, *rest = called(TOOL, ARGUMENTS)
    addressed = [
        replace(each, payload=str(each.payload).replace(f" to={TOOL}", "")) for each in rest
    ]
    return [start, replace(start, payload=f"assistant to={TOOL}"), *addressed]


def _asked(text: str = SOUP_ASKED, **more: Any) -> Fields:
    said = prompt(spoken("user", text))
    return {"model": MODEL, "prompt": said, "skip_special_tokens": False, **more}


def _completions() -> Iterator[Draft]:
    tokens = [*thought(SOUP), *final(SOUP_TEXT)]
    asked = _asked(stream=True)
    pieces = streamed(tokens, "stop", (60, 31))
    yield _drafted("completions/streamed", asked, pieces, sizes=(311, 64, 3, 512))
    asked = _asked("List every prime number.", stream=True, max_tokens=12)
    limited = streamed(thought("There is no end to them, so I begin")[:-1], "length", (58, 12))
    yield _drafted("completions/length", asked, limited)
    asked = _asked(stream=True, n=2)
    yield _drafted("completions/two-choices", asked, _two_choices())
    yield _whole("completions/body", _asked(), body(tokens, "stop", (60, 31)))
    asked = _asked(FERRY)
    calling = [*thought(FERRY_THOUGHT), *called(TOOL, ARGUMENTS)]
    yield _whole("completions/body-with-call", asked, body(calling, "stop", (60, 28)))


def _two_choices() -> list[Piece]:
    first, second = joined(thought(SOUP)), joined(thought("The user means red lentils."))
    answers = [joined(final(text)[:-1]) for text in (SOUP_TEXT, "A quarter of an hour.")]
    return [
        chunk(choice(first)),
        chunk(choice(second, index=1)),
        *(chunk(choice(text, index=n)) for n, text in enumerate(answers)),
        *(chunk(choice("", "stop", n)) for n in range(2)),
        chunk(usage=counted(60, 58)),
        DONE,
    ]


def _tool_round() -> Draft:
    """A turn that calls a tool, and the one that brings the tool's result."""
    question = spoken("user", FERRY)
    calling = [*thought(FERRY_THOUGHT), *called(TOOL, ARGUMENTS)]
    result = f"<|start|>{TOOL} to=assistant<|channel|>commentary<|message|>{FERRY_RESULT}<|end|>"
    said = f"<|start|>assistant{joined(calling)}"
    carried_on = {**_asked(stream=True), "prompt": prompt(question, said, result)}
    pieces = streamed(calling, "stop", (70, 30))
    topic = f"completions/{ROUND}"
    first = _drafted(topic, _asked(FERRY, stream=True), pieces, scenario=ROUND, role="tool-turn")
    found = streamed([*thought(FOUND), *final(FERRY_TEXT)], "stop", (110, 24))
    second = _drafted(topic, carried_on, found, scenario=ROUND, role="follow-up", after=1)
    return replace(first, then=(second,))


def _second_turn() -> Draft:
    """The prompt of a second question: the first answer without its analysis."""
    answered = f"<|start|>assistant<|channel|>final<|message|>{SOUP_TEXT}<|end|>"
    turns = (spoken("user", SOUP_ASKED), answered, spoken("user", "And with red lentils?"))
    asked = {**_asked(stream=True), "prompt": prompt(*turns, effort="low")}
    tokens = [*thought("Red lentils are quicker."), *final("A quarter of an hour.")]
    return _drafted("completions/second-turn", asked, streamed(tokens, "stop", (90, 20)))
