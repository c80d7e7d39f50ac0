"""Which mutants may live: by what they were made of, how it ends, and by whose ways."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.cassette import open_recording
from conformance.core import shipped
from conformance.core.events import Exchange
from conformance.editing.operator import Mutant, make_mutants
from conformance.judging.rulebook import Rulebook
from conformance.mutate import BaseRecording, find_operators
from conformance.mutate.allowances import Allowance, ends_of
from conformance.mutate.base_recordings import open_base
from conformance.mutate.stream import take_apart
from conformance.profiles.lookup import find
from conformance.recordings.in_memory import InMemory

RULES = Rulebook.load()
FAILED = "openai.responses/openai/error-then-failed"
CUT = "openai.responses/openai/incomplete-in-text"


def opened(name: str) -> BaseRecording:
    return open_base(shipped.cassettes() / f"{name}.cassette.jsonl", shipped.cassettes())


def without_profile(base: BaseRecording) -> BaseRecording:
    header = replace(base.cassette.header, profile=None)
    renamed = InMemory(base.recording.path, "cassette", replace(base.cassette, header=header))
    return replace(base, recording=renamed)


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        (FAILED, {"error"}),
        (CUT, {"length"}),
        ("openai.responses/openai/closed-by-client", {"cut"}),
        ("openai.responses/demo/summary", {"stop"}),
        ("vercel.ui/ai-sdk/abort-behind-thinking", {"abort"}),
    ],
)
def test_an_answer_ends_by_its_reasons_by_an_error_or_cut(name: str, ends: set[str]) -> None:
    base = opened(name)
    (stream,) = base.streams()
    assert ends_of(stream.exchange, stream.dialect, base.profile(stream, RULES)) == ends


def test_an_end_excuses_only_what_the_mutant_still_has() -> None:
    base = opened(FAILED)
    (stream,) = base.streams()
    allowance = Allowance("*", "for this test", ended=frozenset({"error"}))

    def covers(exchange: Exchange) -> bool:
        mutant = Mutant("X2-no-end", "kill", 0, exchange)
        return allowance.covers(mutant, base.name, base.profile(stream, RULES), stream)

    assert covers(stream.exchange)
    place = stream.typed("error", "response.failed")
    assert not covers(stream.without(*place).result()), "nothing discharges what is owed"


def test_who_sent_it_says_what_may_live() -> None:
    base = without_profile(opened("openai.chat/copilot/filter-first"))
    (stream,) = base.streams()
    assert base.profile(stream, RULES) == find("copilot", "openai.chat")


def test_what_was_not_recorded_is_not_mutated(tmp_path: Path) -> None:
    (stream,) = opened("openai.responses/demo/summary").streams()
    lines = tmp_path / "lines.jsonl"
    payloads = (json.dumps(piece.payload) for _, piece in stream.events())
    lines.write_text("\n".join(payloads), encoding="utf-8")
    assert open_recording(lines).header.fidelity == "events"
    (unframed,) = open_base(lines).streams()
    framed = take_apart(unframed.exchange, stream.dialect)
    for name in ("F5-comment-as-data", "U1-done-added"):
        (operator,) = find_operators(name)
        assert list(make_mutants(operator, framed))
        assert not list(make_mutants(operator, unframed))
