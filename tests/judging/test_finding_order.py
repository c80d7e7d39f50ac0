"""Findings stand by event, rule and slice, whoever opened the slices first."""

from __future__ import annotations

import json
from typing import Final

from conformance.core.events import Chunk
from conformance.judging.rulebook import Rulebook
from tests.fuzz.both import difference, fast, setting_for, slow
from tests.fuzz.dialogues import Piece

# Two slices of one rule are broken by the end; other rules opened them the other way round.
TWO_AT_ONCE: Final = (
    '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signa'
    'ture":"c3ludGhldGljLCBub3RoaW5nIGlzIGVuY3J5cHRlZCBoZXJlOiBzaWduYXR1cmUg"}}\n'
    '{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":'
    '"toolu_2","name":"get_tide","input":{},"caller":{"type":"direct"}}}\n'
    '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thin'
    'king":"","signature":""}}\n'
    '{"type":"content_block_delta","index":null,"delta":{"type":"text_delta","text":"'
    ' so"}}\n'
)


def test_what_one_event_breaks_in_several_slices_stands_in_their_order() -> None:
    data = b"".join(
        Piece(text, json.loads(text)["type"]).encode() for text in TWO_AT_ONCE.splitlines()
    )
    setting = setting_for("anthropic.messages", "strict", Rulebook.load())
    assert not difference(slow(setting, [Chunk(data)]), fast(setting, [Chunk(data)]))
