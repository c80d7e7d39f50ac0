"""Calls that an application makes for itself are told from those of the turn."""

from __future__ import annotations

from typing import Any, Final

import pytest

from conformance.targets.side_calls import asks_question, holds_question

ASKED: Final = "What is 2 + 2?"
BROKEN: Final[tuple[Any, ...]] = (None, 7, {}, [None, 3, {"role": "user"}])
ANSWER: Final = {"role": "assistant", "content": ASKED}


def text(words: str, kind: str = "text") -> dict[str, Any]:
    return {"type": kind, "text": words}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": f"{ASKED}\n"}]},
        {"messages": [user(text("<reminder>"), text(ASKED)), {"role": "system", "content": "x"}]},
        {"messages": [user(text(ASKED)), ANSWER, user({"type": "tool_result", "content": "4"})]},
        {"input": ASKED},
        {"input": [user(text("context")), user(text(ASKED, "input_text")), {"type": "reasoning"}]},
        {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]},
        {"prompt": ASKED},
    ],
)
def test_a_call_of_the_turn_ends_with_the_question(body: Any) -> None:
    assert asks_question(body, ASKED)
    assert holds_question(body, ASKED)


def test_a_suggestion_holds_the_question_and_asks_another() -> None:
    body = {"messages": [user(text(ASKED)), ANSWER, user(text("Suggest what comes next."))]}
    assert not asks_question(body, ASKED)
    assert holds_question(body, ASKED)


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [user(text(f"<session>{ASKED}</session>"))]},
        {"messages": [ANSWER]},
        *({"messages": broken} for broken in BROKEN),
        *(None, [], "x", {}),
    ],
)
def test_what_only_speaks_of_the_question_is_none_of_the_turn(body: Any) -> None:
    assert not asks_question(body, ASKED)
    assert not holds_question(body, ASKED)
