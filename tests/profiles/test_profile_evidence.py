"""Shipped profiles permit what real recordings did, read here without any reader of ours."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from conformance.profiles.lookup import available, find
from conformance.profiles.profile import Profile
from tests.authoring.profile_table import PAGE, page


def frames(path: Path) -> list[tuple[bool, str]]:
    """Whether an event line stood before it, and the data, of every frame of one data line."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    if path.suffix == ".jsonl":
        return [(False, line) for line in "\n".join(blocks).splitlines() if line]
    lines = [(block.startswith("event:"), block.partition("data: ")[2]) for block in blocks]
    return [(named, data) for named, data in lines if data]


def chat_facts(path: Path) -> dict[str, Any]:
    chunks = [json.loads(data) for _, data in frames(path) if data != "[DONE]"]
    choices = [choice for chunk in chunks for choice in chunk.get("choices", ())]
    usage = [chunk["usage"] for chunk in chunks if chunk.get("usage")][-1]
    parts = usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]
    finished = [choice for choice in choices if choice.get("finish_reason")]
    return {
        "created": "constant" if len({c["created"] for c in chunks}) == 1 else "varies",
        "role": "once" if sum(bool(c["delta"].get("role")) for c in choices) == 1 else "repeated",
        "finish_key": "always" if all("finish_reason" in c for c in choices) else "last",
        "finish_count": "one" if len(finished) == 1 else "many",
        "object_field": "required" if all("object" in c for c in chunks) else "absent",
        "id_stability": "constant" if len({c["id"] for c in chunks}) == 1 else "last_differs",
        "tokens": "inclusive" if parts[0] + parts[1] == parts[2] else "exclusive",
    }


def responses_facts(path: Path) -> dict[str, Any]:
    events = [(named, data) for named, data in frames(path) if data != "[DONE]"]
    payloads = [json.loads(data) for _, data in events]
    numbers = [payload.get("sequence_number") for payload in payloads]
    return {
        "done": "required" if len(events) < len(frames(path)) else "forbidden",
        "event_lines": "required" if all(named for named, _ in events) else "absent",
        "sequence": "from_zero" if numbers == list(range(len(numbers))) else "other",
        "first_event": payloads[0]["type"].removeprefix("response."),
        "id_stability": "constant"
        if len({p["response"]["id"] for p in payloads if "response" in p}) == 1
        else "rotates",
    }


SEEN = (
    ("azure_deepseek*", "azure", "openai.chat"),
    ("xai_grok_tool*", "xai", "openai.chat"),
    ("openrouter_[ghms]*[!t].sse", "openrouter", "openai.chat"),
    ("copilot_chat_*", "copilot", "openai.chat"),
    ("deepseek_truncated*", "deepseek", "openai.chat"),
    ("deepseek_v4flash*", "deepseek", "openai.chat"),
    ("openai_codexmax*", "openai", "openai.responses"),
    ("openai_o3mini*", "openai", "openai.responses"),
    ("azure_re*.sse", "azure", "openai.responses"),
    ("xai_*.sse", "xai", "openai.responses"),
    ("openrouter_responses*", "openrouter", "openai.responses"),
    ("*copilot_*id_rotation.sse", "copilot", "openai.responses"),
    ("copilot_responses_reasoning*", "copilot", "openai.responses"),
    ("deepseek_*_reasoning_t*.sse", "deepseek", "openai.responses"),
)


@pytest.mark.captures
@pytest.mark.parametrize(("pattern", "name", "dialect"), SEEN)
def test_profile_permits_what_was_recorded(pattern: str, name: str, dialect: str) -> None:
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        pytest.skip("CONFORMANCE_CAPTURES names no folder of recordings")
    profile = find(name, dialect)
    paths = sorted(Path(folder, "hosted").glob(pattern))
    assert paths
    for path in paths:
        facts = chat_facts(path) if dialect == "openai.chat" else responses_facts(path)
        assert {
            knob: fact for knob, fact in facts.items() if not permits(profile, knob, fact)
        } == {}


def permits(profile: Profile, knob: str, fact: str) -> bool:
    """Whether the fact is no more permissive than the profile; `done` and lines are demands."""
    order = profile.declared[knob].values
    if knob in {"done", "event_lines"}:
        return bool(profile.knobs[knob] == fact)
    return fact in order and order.index(fact) <= order.index(profile.knobs[knob])


@pytest.mark.every_run
def test_page_is_written_from_the_files_of_today() -> None:
    text = "stale: python -m tests.authoring.profile_table"
    assert PAGE.read_text(encoding="utf-8") == page(), text


@pytest.mark.every_run
def test_every_system_has_its_row() -> None:
    text = page()
    for name, _, _ in available():
        assert name == "strict" or f"| `{name}` | " in text
