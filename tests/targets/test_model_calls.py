"""Calls that an application makes for itself are told from those of the turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from conformance.targets.model_calls import (
    CallShape,
    ScenarioCall,
    TurnSigns,
    call_shape,
    learnt_signs,
)

ASKED: Final = "What is 2 + 2?"
BROKEN: Final[tuple[Any, ...]] = (None, 7, {}, [None, 3, {"role": "user"}])
ANSWER: Final = {"role": "assistant", "content": ASKED}
CALCULATOR: Final = {"type": "function", "function": {"name": "calculator"}}
SCORE: Final = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}


def text(words: str, kind: str = "text") -> dict[str, Any]:
    return {"type": kind, "text": words}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def user_turns(*words: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": each} for each in words]


def shape(body: Any, dialect: str = "openai.chat") -> CallShape:
    fields = body if isinstance(body, Mapping) else {}
    return call_shape(dialect, fields, ASKED)


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
    assert shape(body).place == "last"


NOWHERE: Final[tuple[Any, ...]] = (None, [], "x", {})


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"messages": [user(text(ASKED)), ANSWER, user(text("Suggest."))]}, "held"),
        ({"messages": [user(text(f"<session>{ASKED}</session>"))]}, "spoken of"),
        ({"messages": [ANSWER]}, "nowhere"),
        *(({"messages": broken}, "nowhere") for broken in BROKEN),
        *((body, "nowhere") for body in NOWHERE),
    ],
)
def test_what_only_speaks_of_the_question_does_not_ask_it(body: Any, place: str) -> None:
    assert shape(body).place == place


TURN: Final = shape({"messages": user_turns(ASKED), "tools": [CALCULATOR], "stream": True})
# A popular coding agent asks for a title by the user's own words, behind its own.
TITLE: Final = shape({"messages": user_turns("Generate a title:", ASKED), "stream": True})
ROUTER: Final = shape(
    {
        "messages": [{"role": "system", "content": "Rate how hard this is."}, *user_turns(ASKED)],
        "response_format": SCORE,
    }
)
NEXT: Final = shape(
    {
        "messages": [*user_turns(ASKED), ANSWER, *user_turns(ASKED)],
        "tools": [CALCULATOR],
        "stream": True,
    }
)
LOOP: Final = shape(
    {
        "messages": [*user_turns(ASKED), ANSWER, {"role": "tool", "content": "4"}],
        "tools": [CALCULATOR],
        "stream": True,
    }
)


@pytest.mark.parametrize("other", [TITLE, ROUTER], ids=["title", "router"])
@pytest.mark.parametrize("shows", [True, False], ids=["shown", "nothing-shown"])
def test_what_came_back_shows_how_calls_of_the_turn_look(other: CallShape, *, shows: bool) -> None:
    signs = learnt_signs(
        [ScenarioCall(other, came_back=False), ScenarioCall(TURN, came_back=shows)]
    )
    assert not signs.is_of_turn(other)
    assert all(signs.is_of_turn(each) for each in (TURN, NEXT, LOOP))


def test_a_title_that_leaks_into_the_answer_makes_no_turn_of_its_call() -> None:
    signs = learnt_signs([ScenarioCall(TITLE, came_back=True), ScenarioCall(TURN, came_back=True)])
    assert (signs.is_of_turn(TITLE), signs.is_of_turn(TURN)) == (False, True)


def test_calls_without_tools_are_reported_by_what_is_reported_next_to_the_question() -> None:
    plain = shape({"messages": user_turns(ASKED)})
    signs = learnt_signs(
        [ScenarioCall(TITLE, came_back=False), ScenarioCall(plain, came_back=True)]
    )
    assert (signs.is_of_turn(TITLE), signs.is_of_turn(plain)) == (False, True)


def test_a_call_that_is_unlike_the_turn_in_several_ways_is_none_of_it() -> None:
    signs = TurnSigns(ASKED, (TURN,))
    assert not signs.is_of_turn(TITLE)
    assert signs.is_of_turn(shape({"messages": user_turns(ASKED)}))  # a last try without tools


def test_an_answer_that_broke_off_may_be_gone_on_with() -> None:
    signs = TurnSigns(ASKED, (TURN,))
    goes_on = shape(
        {"messages": [*user_turns(ASKED), ANSWER, *user_turns("Go on.")], "tools": [CALCULATOR]}
    )
    assert not signs.is_of_turn(goes_on)
    assert signs.is_of_turn(goes_on, goes_on=True)


RESULT: Final = {"type": "function_call_output", "call_id": "call_1", "output": "4"}


@pytest.mark.parametrize(
    ("body", "is_of_turn"),
    [
        ({"input": [RESULT], "previous_response_id": "resp_1"}, True),
        ({"input": [RESULT], "conversation": "conv_1"}, True),
        ({"input": [RESULT]}, False),
        # What asks for a title may go on from an answer, too: it says so.
        ({"input": [*user_turns("Name this."), RESULT], "previous_response_id": "resp_1"}, False),
    ],
)
def test_a_result_for_what_the_server_keeps_is_of_the_turn(body: Any, *, is_of_turn: bool) -> None:
    assert TurnSigns(ASKED, (TURN,)).is_of_turn(shape(body, "openai.responses")) is is_of_turn


def test_where_nothing_is_known_all_calls_are_of_the_turn() -> None:
    assert all(TurnSigns().is_of_turn(each) for each in (TURN, TITLE, ROUTER))


def test_an_application_that_only_asks_for_json_has_no_call_of_the_turn() -> None:
    assert not learnt_signs([ScenarioCall(ROUTER, came_back=False)]).is_of_turn(ROUTER)
    assert learnt_signs([ScenarioCall(ROUTER, came_back=True)]).is_of_turn(ROUTER)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (TITLE, "title"),
        (ROUTER, "router"),
        (shape({"messages": user_turns(f"Summarize: {ASKED}")}), "summary"),
        (shape({"messages": user_turns(f"Suggest what comes after {ASKED}")}), "suggestion"),
        (shape({"messages": user_turns("Hello.")}), "side call"),
    ],
)
def test_a_call_that_is_none_of_the_turn_has_a_name(call: CallShape, name: str) -> None:
    assert call.name == name


REMINDER: Final = "<reminder>Today is Friday. Summarize what was compacted.</reminder>"
CALLED: Final = {"role": "assistant", "content": "", "tool_calls": [{"id": "c"}]}
CALL_RESULT: Final = {"role": "tool", "tool_call_id": "c", "content": "4"}


def turn_of(*entries: dict[str, Any], system: str = "Be brief.", tools: bool = True) -> CallShape:
    offered = {"tools": [CALCULATOR]} if tools else {}
    first = {"role": "system", "content": system}
    return shape({"messages": [first, *entries], "stream": True, **offered})


# A popular coding agent says something more in the user's name, in the first turn alone.
REMINDED: Final = turn_of(*user_turns(ASKED, REMINDER))
LATER: Final = turn_of(*user_turns("Hello.", REMINDER), ANSWER, *user_turns(ASKED))


@pytest.mark.parametrize(
    "entries",
    [
        user_turns(ASKED, REMINDER),
        [*user_turns(ASKED), CALLED, CALL_RESULT, *user_turns(REMINDER)],
        [
            *user_turns("Hello."),
            ANSWER,
            *user_turns(ASKED),
            CALLED,
            CALL_RESULT,
            *user_turns(REMINDER),
        ],
    ],
    ids=["at once", "behind a result", "in a later turn"],
)
def test_text_before_an_answer_is_of_its_turn(
    entries: list[dict[str, Any]],
) -> None:
    assert turn_of(*entries).place == "among"


def test_a_result_with_words_next_to_it_carries_the_turn_on() -> None:
    asked = [
        user(text(ASKED)),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "x"}]},
        user({"type": "tool_result", "tool_use_id": "c", "content": "4"}, text(REMINDER)),
    ]
    assert shape({"messages": asked}, "anthropic.messages").place == "among"


def test_each_step_of_the_first_scenario_shows_a_call_of_the_turn() -> None:
    seen = [
        ScenarioCall(REMINDED, came_back=True, step="turn"),
        ScenarioCall(LATER, came_back=True, step="next-turn"),
    ]
    assert REMINDED.name == "summary"
    signs = learnt_signs(seen)
    assert set(signs.turns) == {REMINDED, LATER}
    assert signs.is_of_turn(REMINDED)
    assert signs.is_of_turn(LATER)


def test_a_reminder_makes_no_other_call_of_a_turn() -> None:
    signs = learnt_signs([ScenarioCall(turn_of(*user_turns(ASKED)), came_back=True)])
    assert signs.is_of_turn(REMINDED)
    assert signs.is_of_turn(turn_of(*user_turns(ASKED), CALLED, CALL_RESULT, *user_turns(REMINDER)))
    suggestion = turn_of(*user_turns(ASKED), ANSWER, *user_turns("Suggest what comes next."))
    title = turn_of(*user_turns(ASKED, "Write a title."), system="You write titles.", tools=False)
    toolless = turn_of(*user_turns(ASKED, "Write a title."), tools=False)
    assert not any(signs.is_of_turn(each) for each in (suggestion, title, toolless))


def test_a_reminder_without_tools_is_known_once_it_was_seen() -> None:
    plain = turn_of(*user_turns(ASKED, REMINDER), tools=False)
    last = turn_of(*user_turns(ASKED), tools=False)
    seen = [
        ScenarioCall(plain, came_back=True, step="turn"),
        ScenarioCall(last, came_back=True, step="next-turn"),
    ]
    assert learnt_signs(seen).is_of_turn(plain)
    assert not learnt_signs(seen[1:]).is_of_turn(plain)


def test_a_question_after_one_without_an_answer_is_of_the_turn() -> None:
    """An agent joins what its user said before and behind a turn that was stopped."""
    signs = learnt_signs([ScenarioCall(turn_of(*user_turns(ASKED)), came_back=True)])
    joined = f"What was that?\n\n{ASKED}"
    assert turn_of(*user_turns(joined)).place == "joined"
    assert signs.is_of_turn(turn_of(*user_turns(joined)))
    title = turn_of(
        *user_turns(f"Write a title for:\n{ASKED}"), system="You write titles.", tools=False
    )
    assert title.place == "joined"
    assert not signs.is_of_turn(title)
