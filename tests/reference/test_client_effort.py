"""How hard to think, and what is asked for beside it, as each API spells it."""

from __future__ import annotations

from typing import Any

import pytest

from reference_impl.client.apis import request
from reference_impl.client.ask import Ask
from reference_impl.client.turn import text_turn
from reference_impl.client.wire import Api

HIGH = {"effort": "high", "summary": "auto"}
OFF = {"max_tokens": 4096}


def adaptive(level: str) -> dict[str, Any]:
    thinking = {"type": "adaptive"}
    return {"max_tokens": 4096, "thinking": thinking, "output_config": {"effort": level}}


def budget(tokens: int, most: int) -> dict[str, Any]:
    return {"max_tokens": most, "thinking": {"type": "enabled", "budget_tokens": tokens}}


EFFORTS: list[tuple[Api, str, str, dict[str, Any]]] = [
    ("chat", "m", "off", {}),
    ("chat", "m", "low", {"reasoning_effort": "low"}),
    ("chat", "m", "medium", {"reasoning_effort": "medium"}),
    ("chat", "m", "high", {"reasoning_effort": "high"}),
    ("chat", "m", "max", {"reasoning_effort": "high"}),
    ("responses", "m", "off", {}),
    ("responses", "m", "low", {"reasoning": {"effort": "low", "summary": "auto"}}),
    ("responses", "m", "high", {"reasoning": HIGH}),
    ("responses", "m", "max", {"reasoning": HIGH}),
    ("messages", "claude-opus-4-6", "off", OFF),
    ("messages", "claude-opus-4-6", "max", adaptive("max")),
    ("messages", "anthropic/claude-sonnet-4.6", "low", adaptive("low")),
    ("messages", "claude-haiku-5", "medium", adaptive("medium")),
    ("messages", "claude-opus-4-20250514", "low", budget(2048, 4096)),
    ("messages", "claude-sonnet-4-5", "medium", budget(8192, 9216)),
    ("messages", "claude-3-7-sonnet", "high", budget(16384, 17408)),
    ("messages", "tiny", "max", budget(16384, 17408)),
]
CLAUDE = "us.anthropic.claude-opus-4-5-20251101-v1:0"
HOSTED_EFFORTS: list[tuple[Api, str, str, dict[str, Any]]] = [
    ("cohere", "command-a-reasoning", "off", {}),
    (
        "cohere",
        "command-a-reasoning",
        "low",
        {"thinking": {"type": "enabled", "token_budget": 2048}},
    ),
    ("interactions", "gemini-3-pro", "off", {}),
    (
        "interactions",
        "gemini-3-pro",
        "max",
        {"generation_config": {"thinking_summaries": "auto", "thinking_level": "high"}},
    ),
    ("bedrock", CLAUDE, "off", {"inferenceConfig": {"maxTokens": 4096}}),
    (
        "bedrock",
        CLAUDE,
        "low",
        {
            "inferenceConfig": {"maxTokens": 4096},
            "additionalModelRequestFields": {
                "thinking": {"type": "enabled", "budget_tokens": 2048}
            },
        },
    ),
    (
        "bedrock",
        "anthropic.claude-opus-4-6-v1",
        "max",
        {
            "inferenceConfig": {"maxTokens": 4096},
            "additionalModelRequestFields": {"thinking": {"type": "adaptive"}},
            "outputConfig": {"effort": "max"},
        },
    ),
    (
        "bedrock",
        "openai.gpt-oss-120b-1:0",
        "medium",
        {
            "inferenceConfig": {"maxTokens": 4096},
            "additionalModelRequestFields": {"reasoning_effort": "medium"},
        },
    ),
]


@pytest.mark.parametrize(("api", "model", "level", "fields"), HOSTED_EFFORTS)
def test_host_spells_effort(api: Api, model: str, level: str, fields: dict[str, Any]) -> None:
    json = request(api, Ask(model, (text_turn("user", "Hi"),), effort=level)).json
    assert {name: json[name] for name in json if name not in SAID} == fields


SAID = ("model", "messages", "input", "stream")
SPOKEN = ("reasoning_effort", "reasoning", "thinking", "output_config", "max_tokens")


@pytest.mark.parametrize(("api", "model", "level", "fields"), EFFORTS)
def test_api_spells_effort(api: Api, model: str, level: str, fields: dict[str, Any]) -> None:
    json = request(api, Ask(model, (text_turn("user", "Hi"),), effort=level)).json
    assert {name: json[name] for name in SPOKEN if name in json} == fields


@pytest.mark.parametrize(
    ("effort", "summary", "reasoning"),
    [
        ("off", None, None),
        ("off", "none", None),
        ("off", "concise", {"summary": "concise"}),
        ("low", "none", {"effort": "low"}),
        ("low", "detailed", {"effort": "low", "summary": "detailed"}),
    ],
)
def test_summary_needs_name_or_effort(effort: str, summary: str | None, reasoning: Any) -> None:
    ask = Ask("m", (text_turn("user", "Hi"),), effort=effort, summary=summary)
    assert request("responses", ask).json.get("reasoning") == reasoning


@pytest.mark.parametrize(("effort", "role"), [("off", "system"), ("low", "developer")])
def test_instructions_come_from_a_developer_where_the_model_thinks(effort: str, role: str) -> None:
    ask = Ask("m", (text_turn("system", "Be brief."), text_turn("user", "Hi")), effort=effort)
    assert request("responses", ask).json["input"][0]["role"] == role
    assert request("chat", ask).json["messages"][0]["role"] == "system"
    assert request("messages", ask).json["system"] == "Be brief."
