"""What a stream of Ollama does, told as knobs; what it does not show is not told."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import dialects
from conformance.core.events import Frame, Request
from conformance.core.reading import Reading
from conformance.dialects.ollama_knobs import OllamaKnobs
from conformance.profiles.lookup import find

COUNTS = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 9}
THINK = {"content": "", "thinking": "a"}
TEXT = {"content": "b"}


def seen(*messages: dict[str, Any], think: Any = True, **last: Any) -> dict[str, Any]:
    reader, knobs = dialects.get("ollama.chat").reader(Reading()), OllamaKnobs()
    events = reader.request(Request(json={"messages": [], "think": think}))
    lines = [{"message": message, "done": False} for message in messages]
    for number, line in enumerate([*lines, {"message": {"content": ""}, **last}], 1):
        events += reader.read(Frame("line", "message", "", "", 0), line, number)
    for event in events:
        knobs.see(event)
    return knobs.values(framed=True)


@pytest.mark.parametrize(
    ("knobs", "shown"),
    [
        (
            seen(THINK, TEXT, **COUNTS),
            {"interleaved": False, "combined_chunk": False, "prompt_count": "counted"},
        ),
        (seen({**THINK, **TEXT}, done=False), {"interleaved": False, "combined_chunk": True}),
        (seen(TEXT, THINK, done=False), {"interleaved": True, "combined_chunk": False}),
        (seen(THINK, done=True, eval_count=9), {"prompt_count": "optional"}),
        (seen(TEXT, think=False, done=True), {"think_off": "obeyed"}),
        (seen(THINK, think=False, done=True), {"think_off": "ignored"}),
        (seen(done=True), {}),
    ],
)
def test_a_stream_shows_knobs(knobs: dict[str, Any], shown: dict[str, Any]) -> None:
    assert knobs == shown
    declared = find("strict", "ollama.chat").declared
    assert all(value in declared[name].values for name, value in knobs.items())


def test_a_whole_message_is_what_a_client_keeps() -> None:
    cases = dialects.get("ollama.chat").client
    assert cases is not None
    assert cases.whole_message({"message": TEXT}) == TEXT
    assert cases.whole_message({"error": "no"}) is None
