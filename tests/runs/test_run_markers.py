"""Words of requests: each its own, put where a user speaks in plain text, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.runs.step_requests import MARKER, ask_for_marker, marker_word

WISH = "\nBegin your answer with the word KX."


def test_every_request_has_its_own_word() -> None:
    named = [f"{name}-{n}/{role}" for name in ("a", "b") for n in (2, 3) for role in ("x", "y")]
    words = [marker_word(each) for each in named]
    assert len(set(words)) == len(named)
    assert words == [marker_word(each) for each in named]
    assert all(MARKER.findall(f"I say:{word}.") == [word] for word in words)


USER = {"role": "user", "content": "Ask"}
ASKED = {"role": "user", "content": f"Ask{WISH}"}
TOLD = {"role": "tool", "content": "5"}
CASES: list[tuple[Any, Any]] = [
    ({"input": "Ask"}, {"input": f"Ask{WISH}"}),
    ({"messages": [TOLD, USER], "n": 1}, {"messages": [TOLD, ASKED], "n": 1}),
    ({"input": [USER]}, {"input": [ASKED]}),
    ({"messages": [USER, TOLD]}, {"messages": [USER, TOLD]}),
    ({"messages": [{"role": "user", "content": [{}]}]},) * 2,
    (
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}, {"text": "Ask"}]}]},
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}, {"text": f"Ask{WISH}"}]}]},
    ),
    ({"contents": [{"role": "model", "parts": [{"text": "So"}]}]},) * 2,
    ({"messages": []},) * 2,
    ({"messages": "wrong"}, {"messages": f"wrong{WISH}"}),
    ({"messages": [7]},) * 2,
    (None, None),
    ([USER], [USER]),
]


@pytest.mark.parametrize(("body", "expected"), CASES)
def test_the_wish_stands_after_what_a_user_asked_last(body: Any, expected: Any) -> None:
    assert ask_for_marker(body, "KX") == expected
