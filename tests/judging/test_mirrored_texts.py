"""Thinking that a frame states twice is judged in runs, and a frame that states two is found."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance.core.events import Chunk
from conformance.dialects import Reading, get
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from tests.fuzz.both import difference, fast, setting_for, slow
from tests.fuzz.recorded import frames_in_runs

FRAMES: Final = 300
ODD: Final = 150  # the frame that states another text, where one does


def openrouter(text: str, mirror: str) -> dict[str, Any]:
    detail = {"type": "reasoning.text", "text": mirror, "format": "example-v1", "index": 0}
    return {"role": "assistant", "content": "", "reasoning": text, "reasoning_details": [detail]}


def summary(text: str, mirror: str) -> dict[str, Any]:
    detail = {"type": "reasoning.summary", "summary": mirror, "format": "example-v1", "index": 0}
    return {"role": "assistant", "content": "", "reasoning": text, "reasoning_details": [detail]}


def litellm(text: str, mirror: str) -> dict[str, Any]:
    block = {"type": "thinking", "thinking": mirror, "signature": ""}
    return {"content": "", "reasoning_content": text, "thinking_blocks": [block]}


def both_names(text: str, mirror: str) -> dict[str, Any]:
    return {"content": None, "reasoning": text, "reasoning_content": mirror}


def together(text: str, mirror: str) -> dict[str, Any]:
    return {"token_id": len(text), "role": "assistant", "content": text, "text": mirror}


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    of_choice = {"text": delta.pop("text")} if "text" in delta else {}
    choice = {"index": 0, **of_choice, "finish_reason": finish, "delta": delta}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "think-1"}
    return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"


def stream(delta: Any, *, odd: bool = False) -> bytes:
    texts = [f" step {number}" for number in range(FRAMES)]
    pairs = [(text, " other" if odd and at == ODD else text) for at, text in enumerate(texts)]
    answer = {"role": "assistant", "content": "Noon."}
    frames = [chunk(delta(*pair)) for pair in pairs]
    return b"".join((*frames, chunk(answer), chunk({}, "stop"), b"data: [DONE]\n\n"))


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("delta", [openrouter, summary, litellm, both_names, together])
def test_runs_of_mirrored_thinking_are_judged_alike(
    delta: Any, odd: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = [Chunk(stream(delta, odd=odd))]
    setting = setting_for("openai.chat", "strict", Rulebook.load())
    wanted, counts = slow(setting, chunks), frames_in_runs(monkeypatch)
    where = difference(wanted, fast(setting, chunks))
    assert not where
    assert isinstance(wanted.result, StreamResult)
    assert sum(counts) > FRAMES // 2


@pytest.mark.parametrize("delta", [openrouter, summary])
def test_a_detail_that_states_another_text_is_found_within_a_run(delta: Any) -> None:
    setting = setting_for("openai.chat", "strict", Rulebook.load())
    plain, other = (fast(setting, [Chunk(stream(delta, odd=odd))]).result for odd in (False, True))
    assert isinstance(plain, StreamResult)
    assert isinstance(other, StreamResult)
    new = [each for each in other.findings if each not in plain.findings]
    assert {each.event for each in new} == {ODD + 1}


@pytest.mark.parametrize(
    "delta",
    [
        pytest.param({"content": "a", "reasoning": "a"}, id="text and thinking"),
        pytest.param(litellm("a", "b"), id="two texts"),
        pytest.param({**openrouter("a", "a"), "tool_calls": [{"index": 0}]}, id="a call beside it"),
        pytest.param(
            {"reasoning": "a", "reasoning_details": [{"type": "reasoning.text", "text": "a"}] * 2},
            id="two details",
        ),
        pytest.param(
            {
                "reasoning": "a",
                "reasoning_details": [{"type": "reasoning.text", "text": "a", "signature": "s"}],
            },
            id="a signed detail",
        ),
        pytest.param(
            {"reasoning": "a", "reasoning_details": [{"type": "reasoning.encrypted", "data": "a"}]},
            id="a sealed detail",
        ),
        pytest.param({"reasoning_details": [{"type": ["reasoning.text"]}]}, id="an odd type"),
    ],
)
def test_a_delta_that_says_more_has_no_columns(delta: dict[str, Any]) -> None:
    payload = json.loads(chunk(delta).removeprefix(b"data: "))
    assert get("openai.chat").columns(payload, Reading()) is None
