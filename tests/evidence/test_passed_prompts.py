"""Instructions and the words of tools go upstream; where there were none, nothing was compared."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.core.events import Exchange
from conformance.evidence.comparable_requests import Lost
from tests.evidence.asked_requests import ASK, chat, found, function, got, messages, sent

SYSTEM = {"role": "system", "content": "Be brief."}
DEVELOPER = {"role": "developer", "content": [{"type": "input_text", "text": "Be  brief."}]}
MODEL_ROLE = {"role": "user", "content": "Be brief. What is 2 + 2?"}


@pytest.mark.parametrize(
    ("passed", "is_right"),
    [
        (sent("openai.responses", {"input": [ASK], "instructions": "Be brief."}), True),
        (sent("openai.responses", {"input": [DEVELOPER, ASK]}), True),
        (messages(system=[{"type": "text", "text": "Be brief."}], messages=[ASK]), True),
        (chat(messages=[MODEL_ROLE]), True),
        (chat(messages=[ASK]), False),
        (chat(messages=[SYSTEM, {"role": "system", "content": "Be rude."}, ASK]), False),
        (messages(system="Be rude.", messages=[ASK]), False),
    ],
)
def test_instructions(passed: Exchange, is_right: bool) -> None:
    asked = chat(messages=[SYSTEM, ASK])
    assert (found(asked, passed)["system-prompt"] is True) is is_right


def test_a_gateway_may_say_how_to_keep_to_tools_or_a_form() -> None:
    added = [{"role": "system", "content": "Answer with a call."}, ASK]
    assert got(found(chat(messages=[ASK]), chat(messages=added))["system-prompt"]) is not True
    offered = {"tools": [function("f", "a")]}
    form = {"response_format": {"type": "json_object"}}
    for asked in (chat(messages=[ASK], **offered), chat(messages=[ASK], **form)):
        assert found(asked, chat(messages=added))["system-prompt"] is False
    asked = chat(messages=[SYSTEM, ASK], **offered)
    assert found(asked, chat(messages=[SYSTEM, *added]))["system-prompt"] is True
    assert isinstance(found(asked, chat(messages=added))["system-prompt"], Lost)


def tool(says: str, of: dict[str, Any]) -> dict[str, Any]:
    known = {"type": "object", "properties": {"a": of}}
    return {"type": "function", "function": {"name": "f", "description": says, "parameters": known}}


@pytest.mark.parametrize(
    ("says", "of", "is_right"),
    [
        ("Adds.", {"type": "string", "description": "A term."}, True),
        ("Adds. Call it once.", {"type": "STRING", "description": "A  term."}, True),
        ("Adds.", {"type": ["string", "null"], "description": "A term."}, True),
        ("Adds.", {"anyOf": [], "description": "A term."}, True),
        ("", {"type": "string", "description": "A term."}, False),
        ("Adds.", {"type": "string"}, False),
        ("Adds.", {"type": "number", "description": "A term."}, False),
    ],
)
def test_texts_and_types_of_tools(says: str, of: dict[str, Any], is_right: bool) -> None:
    own = tool("Adds.", {"type": "string", "description": "A term."})
    asked, passed = (chat(messages=[ASK], tools=[each]) for each in (own, tool(says, of)))
    assert (found(asked, passed)["tool-texts"] is True) is is_right


def test_a_tool_without_words_or_types_has_nothing_to_keep() -> None:
    bare = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    one, other = (chat(messages=[ASK], tools=[bare]) for _ in range(2))
    assert found(one, other)["tool-texts"] is False
