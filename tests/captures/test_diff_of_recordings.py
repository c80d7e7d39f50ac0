"""Real recordings of one system answering twice differ in nothing, or in what was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.diff import compare
from conformance.judging.rulebook import Rulebook

pytestmark = pytest.mark.captures

RULES = Rulebook.load()
ALIKE = [
    ("hosted/azure_reasoning_encrypted_toolloop_2.sse", "azure_reasoning_encrypted_toolloop_3.sse"),
    ("hosted/openai_o3mini_summary_4parts.sse", "openai_responses_o3_multi_summary.sse"),
    (
        "hosted/openai_codexmax_reasoning_encrypted_toolloop_2.sse",
        "openai_codexmax_reasoning_encrypted_toolloop_3.sse",
    ),
    ("hosted/lmstudio_reasoning_text_tool.sse", "lmstudio_responses_reasoning_tool.jsonl"),
    ("ogx-1.5.0/text.sse", "rt.sse"),
    (
        "transformers-serve-5.23/transformers_serve_chat.sse",
        "transformers_serve_chat_effortnone.sse",
    ),
]
# Text that is a part in one of them and a string in the other: every field of the parts differs.
PARTS = "hosted/mistral_2507_all_parts.jsonl"
UNLIKE = [
    # Old, new, and what it must be told by: kind, and a part of what.
    ("ogx-1.5.0/nulls.sse", "think.sse", ("verdict", "stripping/visible-text/no-markers")),
    (
        PARTS,
        "mistral_magistral_thinking_parts.sse",
        ("order", "semantic, after thinking.delta(raw)"),
    ),
    (
        "hosted/anthropic_adaptive_opus47_omitted.sse",
        "anthropic_thinking_text.sse",
        ("order", "semantic, after thinking.start(raw, explicit)"),
    ),
    (
        "transformers-serve-5.23/transformers_serve_chat.sse",
        "transformers_serve_chat_nothink.sse",
        ("field", "chat.choice: delta.reasoning_content"),
    ),
]


def changes(captures: Path, old: str, new: str) -> set[tuple[str, str]]:
    path = captures / old
    found = compare(path, path.parent / new, rulebook=RULES)
    assert found.errors == ()
    return {(change.kind, change.what) for each in found.compared for change in each.changes}


@pytest.mark.parametrize(("old", "new"), ALIKE)
def test_two_answers_of_one_system_are_no_change(old: str, new: str, captures: Path) -> None:
    assert changes(captures, old, new) == set()


@pytest.mark.parametrize(("old", "new", "expected"), UNLIKE)
def test_differences_are_short(
    old: str, new: str, expected: tuple[str, str], captures: Path
) -> None:
    found = changes(captures, old, new)
    assert expected in found
    assert len([each for each in found if old != PARTS or "chat.part" not in each[1]]) <= 2
