"""What a vendor's own client loses, or refuses, is found, except what `permitted.yaml` allows.

In the slow tier each client reads edits of a few recordings; `make test-long` has all of them.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.oracles.silent_edits import (
    OfficialClient,
    Tried,
    lost_unseen,
    permitted_in_vain,
    tried_edits,
)

pytestmark = pytest.mark.slow

CLIENTS: Final = (
    OfficialClient("openai.chat", "openai", "openai_client:read_chunks", ("dashscope/talk",)),
    OfficialClient(
        "openai.chat",
        "openai",
        "openai_client:read_chunks_by_helper",
        ("groq/reasoning-then-tool",),
    ),
    # What this one loses its helper loses, too.
    OfficialClient("openai.responses", "openai", "openai_client:read_response"),
    OfficialClient(
        "openai.responses",
        "openai",
        "openai_client:read_response_by_helper",
        ("openai/summary-then-call",),
    ),
    OfficialClient(
        "anthropic.messages",
        "anthropic",
        "anthropic_client:read_message",
        ("anthropic/thinking-then-tools",),
    ),
    OfficialClient(
        "cohere.v2",
        "cohere",
        "cohere_client:read_chat",
        ("cohere/thinking-then-text", "cohere/plan-then-tool"),
    ),
    OfficialClient(
        "mistral.chat", "mistralai", "mistral_client:read_chat", ("mistral/tool-round",)
    ),
    OfficialClient(
        "mistral.conversations",
        "mistralai",
        "mistral_client:read_conversation",
        (
            *("mistral/thinking-then-text", "mistral/function-round", "mistral/hosted-tool"),
            *("mistral/all-parts", "mistral/handoff", "mistral/error-in-text"),
        ),
    ),
    OfficialClient(
        "ollama.chat",
        "ollama",
        "ollama_client:read_chat",
        ("ollama/thinking-then-text", "ollama/thinking-then-tools"),
    ),
    OfficialClient(
        "ollama.generate", "ollama", "ollama_client:read_generate", ("ollama/thinking-then-text",)
    ),
    OfficialClient(
        "gemini.generate",
        "google.genai",
        "google_client:read_generate",
        ("gemini/thinking-then-tools",),
    ),
    OfficialClient(
        "gemini.interactions",
        "google.genai",
        "google_client:read_interaction",
        ("gemini/thought-then-calls",),
    ),
    OfficialClient(
        "bedrock.converse",
        "boto3",
        "bedrock_client:read_converse",
        ("claude/citations", "claude/thinking-then-tools"),
    ),
)


@pytest.mark.parametrize("client", [c for c in CLIENTS if c.sample], ids=lambda c: c.reader)
def test_what_the_client_loses_is_found(client: OfficialClient) -> None:
    tried = read_by(client, client.sample)
    losing = {each.base.partition("/")[2] for each in tried if each.loses}
    assert losing >= set(client.sample), "of each recording the client loses something"
    assert lost_unseen(client.dialect, tried) == []


@pytest.mark.long
@pytest.mark.parametrize("dialect", sorted({client.dialect for client in CLIENTS}))
def test_what_clients_lose_of_any_recording_is_found(dialect: str) -> None:
    tried = [each for c in CLIENTS if c.dialect == dialect for each in read_by(c)]
    assert lost_unseen(dialect, tried) == []
    assert permitted_in_vain(dialect, tried) == []


def read_by(client: OfficialClient, names: tuple[str, ...] = ()) -> list[Tried]:
    """All edits, read; skips the test where the client is not installed."""
    pytest.importorskip(client.package)
    return list(tried_edits(client.dialect, client.load(), names))
