"""A call or a result that does not go back, and what was sealed: one fault, one finding."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.core import shipped
from conformance.core.json_values import cut_at
from conformance.editing.operator import make_mutants
from conformance.judging.rulebook import Rulebook
from conformance.mutate import open_base
from conformance.mutate.sent_calls import SENT_CALLS

TALKS = (
    "anthropic.messages/anthropic/tool-round",
    "bedrock.converse/claude/tool-round",
    "gemini.generate/gemini/tool-round",
    "mistral.chat/mistral/tool-round",
    "openai.chat/deepseek/tool-round",
    "openai.chat/google/talk",
    "openai.responses/openai/stateless-talk",
    "openai.responses/openai/tool-round",
)
LEFT_OPEN = {
    ("gemini.generate/gemini/tool-round", "H6-lost-result"): "history/calls/none-left-open"
}
MISSED = {"H6-lost-call": "history/calls/asked", "H6-lost-result": "history/calls/answered"}


@pytest.mark.parametrize("name", TALKS)
def test_a_lost_half_of_a_call_is_one_finding(name: str) -> None:
    rulebook, base = Rulebook.load(), open_base(shipped.cassettes() / f"{name}.cassette.jsonl")
    made = [
        mutant
        for stream in base.streams()
        for operator in SENT_CALLS
        for mutant in make_mutants(operator, stream)
    ]
    assert {each.operator for each in made} == MISSED.keys()
    for mutant in made:
        found = base.judge(rulebook, mutant.exchange).killed_by
        assert found == {LEFT_OPEN.get((name, mutant.operator)) or MISSED[mutant.operator]}


def test_an_item_without_what_was_sealed_is_one_finding() -> None:
    base = open_base(shipped.cassettes() / "openai.responses/openai/stateless-talk.cassette.jsonl")
    exchange = base.cassette.exchanges[1]
    assert exchange.request is not None
    body = cut_at(exchange.request.json, ("input", 1, "encrypted_content"))
    edited = replace(exchange, request=replace(exchange.request, json=body))
    found = base.judge(Rulebook.load(), edited).killed_by
    assert found == {"history/responses/sealed-or-left-out"}
