from __future__ import annotations

import pytest

import conformance
from conformance.core.events import Event
from conformance.rules.judge import Judge
from tests.benchmarks.corpora import chat, messages, net, ollama, responses

STREAMS = {
    "openai.responses": (responses(4000, 4), "openai"),
    "openai.chat": (chat(4000), "openai"),
    "anthropic.messages": (messages(4000), "anthropic"),
    "ollama.chat": (ollama(4000), "strict"),
}


@pytest.mark.parametrize("dialect", STREAMS)
def test_deltas_are_not_read_one_by_one(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all shipped rules none keeps the others from taking a long stream in runs."""
    frames, profile = STREAMS[dialect]
    alone = 0
    read = Judge.read

    def counted(judge: Judge, event: Event) -> None:
        nonlocal alone
        alone += 1
        read(judge, event)

    monkeypatch.setattr(Judge, "read", counted)
    assert conformance.check_chunks(net(frames), dialect=dialect, profile=profile).findings == ()
    assert 0 < alone < len(frames) / 4
