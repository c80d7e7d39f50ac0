"""Whose model is asked is told by who asks, and thinking stands where that provider has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from conformance.cassette import read
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.shipped import cassettes
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.dialects.personas import NAMES, PERSONAS, Persona, named_persona, persona_of
from conformance.judging.transcript import read_transcript
from conformance.recordings.api import check_chunks
from conformance.targets.gateway import UpstreamStandIn
from conformance.targets.model_calls import TurnSigns
from conformance.targets.played_answers import ScriptedUpstream, scripted_answer

CHAT = "/v1/chat/completions"
SHOWN = {"reasoning_content", "reasoning", "reasoning_details"}


@pytest.mark.parametrize(
    ("path", "headers", "body", "name"),
    [
        ("/api/v1/chat/completions", (), {}, "openrouter"),
        (CHAT, (), {"reasoning": {"effort": "low"}}, "openrouter"),
        (CHAT, (("X-Title", "my app"),), {"model": "deepseek/deepseek-r1"}, "openrouter"),
        (CHAT, (("User-Agent", "ai/6 ai-sdk/openrouter/2.0"),), {}, "openrouter"),
        ("/openai/v1/chat/completions", (), {}, "groq"),
        (CHAT, (), {"reasoning_format": "parsed"}, "groq"),
        (CHAT, (("user-agent", "mistral-client-python/2.1"),), {}, "mistral"),
        (CHAT, (), {"model": "magistral-medium"}, "mistral"),
        (CHAT, (), {"model": "kimi-k2-thinking"}, "moonshot"),
        (CHAT, (), {"model": "GLM-5"}, "zai"),
        (CHAT, (), {"model": "deepseek-reasoner"}, "deepseek"),
        (CHAT, (), {"model": "gpt-5.4"}, "openai"),
        (CHAT, (), {"model": "o3-mini"}, "openai"),
        (CHAT, (), {"model": "openai/gpt-5.4", "reasoning": {"effort": "low"}}, "openrouter"),
        (CHAT, (), {"model": "openai/gpt-oss-120b"}, "plain"),
        (CHAT, (), {"model": 7, "reasoning_effort": "low"}, "plain"),
        (CHAT, (), {}, "plain"),
    ],
)
def test_who_asks_is_reported_by_its_request(
    path: str, headers: Sequence[tuple[str, str]], body: Mapping[str, Any], name: str
) -> None:
    assert persona_of(path, headers, body).name == name


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("persona", PERSONAS, ids=NAMES)
def test_thinking_stands_where_the_provider_has_it(persona: Persona, *, stream: bool) -> None:
    dialect = persona.dialect or "openai.chat"
    asked = {"stream": stream}
    answered = scripted_answer("answer", dialect, 1, asked, persona=persona)
    report = check_chunks(answered.chunks, dialect=dialect, profile="strict", request=asked)
    assert [f"{f.rule}: {f.message}" for f in report.findings] == []
    head = Response(200, "1.1", (("content-type", answered.content_type),))
    exchange = Exchange(dialect=dialect, response=head, chunks=tuple(map(Chunk, answered.chunks)))
    answer = read_transcript(exchange, get(dialect), Reading())
    shown = "" if persona.hides_in(dialect) else "Two and two, thought 1: is 4."
    assert "".join(answer.thinking) == shown
    if dialect == "openai.chat":
        keys = {key for key in SHOWN if json.dumps(key) in exchange.body.decode()}
        assert keys == set(persona.thinking)


@pytest.mark.parametrize("persona", PERSONAS, ids=NAMES)
def test_shipped_answers_of_a_provider_have_thinking_where_it_has_it(persona: Persona) -> None:
    """They are replayed to its own clients, too, which read no other field."""
    for path in (cassettes() / "openai.chat" / persona.name).glob("*.cassette.jsonl"):
        cassette = read(path)
        if cassette.header.profile != persona.name:
            continue
        bodies = [each.body.decode() for each in cassette.exchanges]
        shown = {key for key in SHOWN for body in bodies if f"{json.dumps(key)}:" in body}
        assert shown <= set(persona.thinking), path.name


def test_a_path_that_two_dialects_share_is_answered_in_that_of_the_persona() -> None:
    upstream = UpstreamStandIn()
    upstream.begin_request(ScriptedUpstream())
    spoken = [
        upstream.answer_call("POST", CHAT, {"model": model}).dialect
        for model in ("m", "magistral-small")
    ]
    assert spoken == ["openai.chat", "mistral.chat"]
    upstream.persona = named_persona("mistral")
    assert upstream.answer_call("POST", CHAT, {"model": "m"}).dialect == "mistral.chat"
    assert upstream.answer_call("POST", "/v1/messages", {}).dialect == "anthropic.messages"


def test_the_model_that_a_gateway_is_asked_for_says_nothing_of_its_upstream() -> None:
    upstream = UpstreamStandIn()
    asked = {"model": "gpt-5.4"}
    upstream.begin_request(ScriptedUpstream())
    assert upstream.persona_for(CHAT, (), asked).name == "plain"
    upstream.begin_request(ScriptedUpstream(), TurnSigns(question="Hi"))
    assert upstream.persona_for(CHAT, (), asked).name == "openai"
    upstream.persona = named_persona("plain")
    assert upstream.persona_for(CHAT, (), asked).name == "plain"


def test_a_persona_that_nobody_knows_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="no persona is called 'x'"):
        named_persona("x")
