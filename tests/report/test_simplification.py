from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, open_recording
from conformance.core import shipped
from conformance.core.json_values import list_at, value_at
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream
from conformance.judging.rulebook import Rulebook
from conformance.mutate.stream import take_apart
from conformance.profiles.lookup import profile_at_hand
from conformance.profiles.profile import reading
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.report.simplification import merge_deltas, without_items
from conformance.rules.verdicts import Verdict

ROOT = shipped.cassettes()
RULES = Rulebook.load()
NAMES = (
    "openai.chat/ollama/reasoning-field",
    "openai.chat/xai/thinking-then-tool",
    "openai.responses/demo/summary",
    "openai.responses/openai/tool-round",
    "anthropic.messages/anthropic/thinking-then-tools",
)


def opened(name: str) -> tuple[Cassette, Stream]:
    recording = open_recording(ROOT / f"{name}.cassette.jsonl")
    return recording.cassette, take_apart(recording.exchanges[0], name.split("/", maxsplit=1)[0])


def failing(cassette: Cassette, stream: Stream, pieces: list[Piece]) -> set[str]:
    edited = stream.with_pieces(pieces).renumbered().result()
    whole = replace(cassette, exchanges=(edited, *cassette.exchanges[1:]), sealed=False)
    results = check_recording(InMemory(Path("x"), "cassette", whole), RULES, CheckChoices())
    return {r for each in results for r, v in each.verdicts.items() if v is Verdict.FAIL}


@pytest.mark.parametrize("name", NAMES)
def test_merged_deltas_break_no_rule(name: str) -> None:
    cassette, stream = opened(name)
    profile = profile_at_hand(cassette.header.profile or "strict", stream.dialect)
    pieces = merge_deltas(stream, reading(profile))
    assert len(pieces) < len(stream.pieces)
    assert failing(cassette, stream, pieces) == set()


def test_items_go_whole_and_break_no_rule() -> None:
    cassette, stream = opened("openai.responses/demo/summary")
    tried = list(without_items(stream.pieces, "openai.responses"))
    assert len(tried) == 2  # a reasoning item and a message
    for pieces in tried:
        assert len(list_at(pieces[-1].payload, "response", "output")) == 1
        assert {value_at(p.payload, "output_index") for p in pieces} == {None, 0}
    assert failing(cassette, stream, tried[1]) <= {"wire/responses/thinking-counted"}


@pytest.mark.parametrize("index", [True, -1, "0", None, 10**30])
def test_a_hostile_index_stops_nothing(index: object) -> None:
    pieces = [Piece(b"data: {}\n\n", "event", payload={"output_index": index})]
    for fewer in without_items(pieces, "openai.responses"):
        assert fewer == []
