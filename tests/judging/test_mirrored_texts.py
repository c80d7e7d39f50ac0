"""Thinking that a frame states twice is judged in runs, and a frame that states two is found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import Cassette, Header, write
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.dialects import Reading, get
from conformance.judging.fast.joined import JoinedFrames, read_joined
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_paths
from conformance.rules.paths import getter
from tests.fuzz.both import difference, fast, setting_for, slow
from tests.fuzz.recorded import frames_in_runs

FRAMES: Final = 300
TEXT_PATHS: Final = {
    "chat.detail": ("text", "summary"),
    "chat.choice": (
        *("text", "delta.reasoning", "delta.reasoning_content", "delta.content"),
        "delta.thinking_blocks.0.thinking",
    ),
}
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
def test_runs_of_mirrored_thinking_are_judged_the_same(
    delta: Any, odd: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = [Chunk(stream(delta, odd=odd))]
    setting = setting_for("openai.chat", "strict", Rulebook.load())
    wanted, counts = slow(setting, chunks), frames_in_runs(monkeypatch)
    assert not difference(wanted, fast(setting, chunks))
    assert isinstance(wanted.result, StreamResult)
    assert sum(counts) > FRAMES // 2


@pytest.mark.parametrize("delta", [openrouter, summary, litellm, both_names, together])
def test_what_is_joined_repeats_its_text_everywhere(delta: Any) -> None:
    exchange = Exchange(chunks=(Chunk(stream(delta)),))
    dialect = get("openai.chat")
    singly, joined = (
        list(read_joined(exchange, dialect, Reading(), joins=joins)) for joins in (False, True)
    )
    assert len(joined) < len(singly) // 2
    assert wire_texts(joined) == wire_texts(singly)


def test_details_that_come_back_whole_are_those_that_came(tmp_path: Path) -> None:
    text = "".join(f" step {number}" for number in range(FRAMES))
    detail = {"type": "reasoning.text", "text": text, "format": "example-v1", "index": 0}
    signed = {**detail, "signature": "c2lnbmVk"}
    answer = {"role": "assistant", "content": "Noon.", "reasoning_details": [signed]}
    asked = [{"role": "user", "content": "When does the sun stand highest?"}]
    more = [*asked, answer, {"role": "user", "content": "Thanks."}]
    exchanges = tuple(
        Exchange(
            number=number,
            request=Request("POST", "/api/v1/chat/completions", json={"model": "m", "messages": m}),
            response=Response(200, "1.1", (("content-type", "text/event-stream"),)),
            chunks=(Chunk(stream(openrouter)),),
        )
        for number, m in enumerate((asked, more), 1)
    )
    path = tmp_path / "talk.cassette.jsonl"
    write(path, Cassette(Header(origin="live", dialect="openai.chat"), exchanges))
    _, second = check_paths([path]).streams
    assert second.verdicts["history/chat/details-text-unchanged"] == "PASS"


def wire_texts(parts: Sequence[JoinedFrames]) -> dict[str, str]:
    """The texts of deltas in wire events, joined."""
    found: dict[str, str] = {}
    for event in (each for part in parts for each in part.events):
        for path in TEXT_PATHS.get(event.type, ()):
            value = getter(path)(event.data)
            if isinstance(value, str):
                found[f"{event.type} {path}"] = found.get(f"{event.type} {path}", "") + value
    return found


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
