"""A piece that cannot be placed breaks one rule: what lacks it elsewhere is no second finding."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.core.json_values import value_at
from conformance.judging.groups import finding_groups
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.mutate.base_recordings import shipped_bases
from conformance.recordings.check import check_trusted
from conformance.recordings.in_memory import InMemory


@pytest.mark.parametrize(
    ("base", "kind", "path", "value", "cause"),
    [
        # What is no text is no piece of the arguments.
        (
            "openai.chat/deepseek/parallel-tools",
            None,
            ("choices", 0, "delta", "tool_calls", 0, "function", "arguments"),
            {"a": 1},
            "wire/chat/tool-arguments-text",
        ),
        # Nobody named the call at this index.
        (
            "openai.chat/deepseek/parallel-tools",
            None,
            ("choices", 0, "delta", "tool_calls", 0, "index"),
            7,
            "wire/chat/tool-index",
        ),
        (
            "openai.responses/demo/summary",
            "response.reasoning_summary_part.added",
            ("output_index",),
            9,
            "summary/lifecycle/in-reasoning-item",
        ),
    ],
)
def test_what_cannot_be_placed_breaks_one_rule(
    base: str, kind: str | None, path: tuple[str | int, ...], value: Any, cause: str
) -> None:
    recording = next(each for each in shipped_bases() if each.name == base)
    stream = next(recording.streams())
    places = [
        place
        for place, piece in stream.events()
        if value_at(piece.payload, *path) is not None
        and value_at(piece.payload, "type") in (kind, None)
    ]
    edited = stream.with_value(places[-1], path, value).renumbered().result()
    in_memory = InMemory(recording.recording.path, "cassette", recording.with_exchange(edited))
    found = check_trusted(in_memory, Rulebook.load(), recording.choices)
    groups = finding_groups(Report(streams=tuple(found)))
    assert [each.first.rule for each in groups] == [cause]
