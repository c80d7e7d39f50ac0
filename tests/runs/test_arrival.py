"""What a run says of the time that its users wait."""

from __future__ import annotations

import json

from msgspec.structs import replace

from conformance.core.events import Chunk, Exchange
from conformance.core.reading import Reading
from conformance.dialects import get
from conformance.runs.arrival import arrival, arrival_note
from conformance.runs.plan import ScenarioRun
from conformance.runs.scenario_run import ScenarioOutcome
from conformance.scenarios import load_scenarios

CHAT = get("openai.chat")


def stream(*pieces: tuple[str, str, float | None]) -> Exchange:
    """Deltas: the field, its text, and the milliseconds since the one before."""
    chunks = [
        Chunk(
            f"data: {json.dumps({'choices': [{'index': 0, 'delta': {field: text}}]})}\n\n".encode(),
            ms,
        )
        for field, text, ms in pieces
    ]
    return Exchange(chunks=tuple(chunks))


THOUGHT = stream(
    ("role", "assistant", 5.0), ("reasoning_content", "so", 45.0), ("content", "Hi", 100.0)
)
SPOKEN = stream(("content", "Hi", 50.0), ("content", " you", 250.0))


def test_times_are_those_since_the_head() -> None:
    found = arrival(CHAT, Reading(), THOUGHT)
    assert found is not None
    assert (found.thinking, found.text, found.gap) == (50.0, 150.0, 100.0)


def test_many_streams_are_one_line() -> None:
    assert arrival_note(CHAT, Reading(), [THOUGHT, SPOKEN]) == (
        "openai.chat: first thinking after 50 ms, first text after 100 ms,"
        " largest gap 250 ms (2 streams)"
    )
    assert arrival_note(CHAT, Reading(), [SPOKEN]).endswith("largest gap 250 ms (1 stream)")


def test_what_has_no_clock_or_is_no_stream_says_nothing() -> None:
    assert arrival_note(CHAT, Reading(), [stream(("content", "Hi", None))]) == ""
    body = Chunk(b'{"choices": [{"index": 0, "message": {"content": "Hi"}}]}', 50.0)
    assert arrival_note(CHAT, Reading(), [Exchange(chunks=(body,))]) == ""
    assert arrival_note(CHAT, Reading(), [stream(("role", "assistant", 5.0))]) == ""


def test_streams_without_words_need_not_be_read_again() -> None:
    (think,) = load_scenarios(["think"])
    outcome = ScenarioOutcome(ScenarioRun(think, CHAT.name, ()))
    for number, each in enumerate((THOUGHT, stream(("role", "assistant", 5.0))), 1):
        outcome.transcript_of(replace(each, number=number), Reading())
    assert outcome.wordless == {2}
