"""What a model said beside two calls, and called, as later requests bring it back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from conformance.core.events import Exchange
from conformance.dialects.turns import history_call
from conformance.evidence.links.returned import is_sound, returned_calls
from tests.evidence.links import edits
from tests.evidence.links.edits import Edit, History
from tests.evidence.links.talks import (
    TALKERS,
    TEXT,
    Body,
    Talker,
    broken,
    checked,
    history_of,
    talk,
    thought,
    with_history,
)

SAID: Final = "I read both gauges before I say when."
MADE: Final = "history/returned/calls-as-made"
COMPLETE: Final = "history/returned/calls-complete"
KEPT: Final = "history/returned/text-kept"
ONCE: Final = "history/returned/text-once"
APART: Final = "history/returned/thinking-apart"
NAMES: Final = tuple(name for name in TALKERS if name not in ("moonshot", "openrouter"))
WITH_IDS: Final = tuple(name for name in NAMES if name != "ollama")
_PART: Final = {"type": "text", "text": SAID}
_BLOCKS: Final[dict[str, Body]] = {
    "anthropic.messages": _PART,
    "bedrock.converse": {"text": SAID},
    "gemini.generate": {"text": SAID},
    "gemini.interactions": {"type": "model_output", "content": [_PART]},
    "openai.responses": {
        "type": "message",
        "id": "msg_said",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": SAID, "annotations": []}],
    },
}


def calls_in(value: Any) -> tuple[list[Any], int]:
    """The list that holds the first call, and the place of the call there."""
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            if isinstance(value, list) and _is_call(each):
                return value, value.index(each)
            found = calls_in(each)
            if found[0]:
                return found
    return [], 0


def _is_call(value: Any) -> bool:
    inner = [value, *(value.values() if isinstance(value, dict) else ())]
    return any(isinstance(each, dict) and each.get("name") == "gauge" for each in inner)


def spoken(talker: Talker) -> Talker:
    """Who says something before it calls, and calls twice."""

    def body(turn: int) -> Body:
        made = talker.body(turn)
        if turn > 2:
            return made
        around, at = calls_in(made)
        text = json.dumps(around[at]).replace(f"call0000{turn}", f"call0000{turn}b")
        second = json.loads(text.replace("hour", "tide").replace("Seal", "seal"))
        second.pop("extra_content", None)
        second.pop("thoughtSignature", None)
        around.insert(at + 1, second)
        if talker.dialect in _BLOCKS:
            around.insert(at, _BLOCKS[talker.dialect])
        else:
            message = made["choices"][0]["message"] if "choices" in made else made["message"]
            is_list = isinstance(message.get("content"), list)
            message["content"] = [*message["content"], _PART] if is_list else SAID
        return made

    return Talker(talker.dialect, talker.profile, body, talker.path, **talker.more)


TALKS: Final = {name: talk(spoken(TALKERS[name])) for name in NAMES}


def found(name: str, edit: Edit, last: int = 2) -> set[str]:
    """The rules that break where the requests from the second to the last one are edited."""
    talker, exchanges = TALKERS[name], [*TALKS[name]]
    for at in range(1, last):
        history = edit(history_of(exchanges[at], talker.history))
        exchanges[at] = with_history(exchanges[at], talker.history, history)
    return broken(checked(exchanges, talker.dialect, talker.profile))


def clean(name: str) -> set[str]:
    return found(name, edits.as_it_came)


def spelled(pattern: str, new: str) -> Edit:
    def edit(history: History) -> History:
        made: History = json.loads(re.sub(pattern, new, json.dumps(history), count=1))
        return made

    return edit


def of_calls(change: Callable[[list[Any], int], None]) -> Edit:
    def edit(history: History) -> History:
        change(*calls_in(history))
        return history

    return edit


def again(around: list[Any], at: int) -> None:
    around.insert(at, around[at])


def swapped(around: list[Any], at: int) -> None:
    around[at], around[at + 1] = around[at + 1], around[at]


def dropped(around: list[Any], at: int) -> None:
    del around[at + 1]


OTHER_NAME: Final = spelled(r'"name": "gauge"', '"name": "gouge"')
OTHER_ARGUMENT: Final = spelled(r'hour(\\*": )', r"minute\1")
OTHER_VALUE: Final = spelled(r'(hour\\*": )1', r"\g<1>7")
A_DEFAULT: Final = spelled(r'(\\*")hour(\\*"): 1', r"\1hour\2: 1, \1unit\2: 7")


@pytest.mark.parametrize("edit", [OTHER_NAME, OTHER_VALUE, OTHER_ARGUMENT])
@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_is_altered_is_found(name: str, edit: Edit) -> None:
    made = found(name, edit) - clean(name)
    assert made in ({MADE}, {"history/gemini/signed-in-place"})


@pytest.mark.parametrize("name", WITH_IDS)
def test_a_call_that_comes_back_twice_is_found(name: str) -> None:
    made = found(name, of_calls(again))
    assert made & {
        *(MADE, "history/calls/ids-distinct"),
        *("history/chat/signed-calls", "history/gemini/signed-unchanged"),
        "history/returned/turn-once",
    }


@pytest.mark.parametrize("name", NAMES)
def test_calls_that_change_places_are_one_finding(name: str) -> None:
    made = found(name, of_calls(swapped)) - clean(name)
    places = {"history/chat/signed-in-place"}, {"history/gemini/signed-in-place"}
    assert made in ({MADE}, *places)


def test_a_call_without_an_id_that_comes_back_twice_is_found() -> None:
    assert found("ollama", of_calls(again)) == {MADE}


@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_is_left_out_is_found(name: str) -> None:
    made = found(name, of_calls(dropped)) - clean(name)
    assert len(made) == 1
    assert made <= {COMPLETE, "history/calls/asked", f"history/{name}/result-asked"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("message", [SAID.replace("both", "all"), SAID[:9]])
def test_text_next_to_calls_that_is_altered_is_found(name: str, message: str) -> None:
    made = found(name, lambda history: edits.replaced(history, SAID, message)) - clean(name)
    assert made == {KEPT}


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_an_answer_that_comes_back_twice_is_found(name: str) -> None:
    made = found(name, lambda history: edits.replaced(history, TEXT, f"{TEXT} {TEXT}"), 4)
    assert {rule for rule in made - clean(name) if "calls" not in rule} in (
        {ONCE},
        {f"history/{name}/text-as-said"},
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_an_attempt_that_was_cut_leaves_before_the_text_is_found(name: str) -> None:
    def left_before(size: int) -> set[str]:
        again = f"{TEXT[:size]}{TEXT}"
        made = found(name, lambda history: edits.replaced(history, TEXT, again), 4)
        return {rule for rule in made - clean(name) if "calls" not in rule}

    assert left_before(18) in ({ONCE}, {f"history/{name}/text-as-said"})
    assert left_before(4) in (set(), {f"history/{name}/text-as-said"})


@pytest.mark.parametrize("name", ["messages", "responses", "mistral"])
def test_thinking_that_comes_back_as_text_is_found(name: str) -> None:
    message = f"<think>{thought(1)}</think>{SAID}"
    made = found(name, lambda history: edits.replaced(history, SAID, message)) - clean(name)
    assert made == {APART}


@pytest.mark.parametrize("name", ["messages", "responses", "mistral"])
def test_what_was_thought_for_another_turn_that_comes_back_as_text_is_found(name: str) -> None:
    """The answer with this text thought nothing itself."""
    message = f"{thought(1)}\n\n{TEXT}"
    made = found(name, lambda history: edits.replaced(history, TEXT, message), 4) - clean(name)
    assert made == {APART}


def trimmed(history: History) -> History:
    return edits.replaced(history, SAID, f"\n{SAID}  ")


def renamed_ids(history: History) -> History:
    made: History = json.loads(json.dumps(history).replace("call0000", "other000"))
    return made


def ordered_keys(history: History) -> History:
    """JSON in another spelling."""
    return spelled(r'hour\\": 1', r'hour\\":\\n1')(history)


@pytest.mark.parametrize("edit", [trimmed, renamed_ids, ordered_keys, A_DEFAULT])
@pytest.mark.parametrize("name", NAMES)
def test_what_says_the_same_is_no_finding(name: str, edit: Edit) -> None:
    assert found(name, edit) == clean(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_question_that_is_another_one_tells_nothing_of_the_calls(name: str) -> None:
    """Ids of calls recur from talk to talk."""

    def other_talk(history: History) -> History:
        return OTHER_VALUE([{"role": "user", "content": "Else?"}, *history[1:]])

    assert not {rule for rule in found(name, other_talk) if "returned" in rule}


@pytest.mark.parametrize(
    ("arguments", "fit", "sound"),
    [
        ("{}", "fits", True),
        ("", "fits nothing", True),
        (None, None, True),
        ('{"hour": 1', None, False),
        ("{}", "unknown: no tool gouge was offered", False),
        ('{"hour": "x"}', "unfit: gauge: hour", False),
    ],
)
def test_repairable_call_is_no_loss(arguments: str | None, fit: str | None, sound: bool) -> None:
    assert is_sound(arguments, fit) is sound


@pytest.mark.parametrize(
    ("message", "back", "places"),
    [
        ("a:f b:g", "b:g a:f", [1, 0]),
        ("a:f b:g", "x:f y:g", [0, 1]),  # under other ids
        ("a:f b:g", "x:f y:h", [0]),
        ("a:f b:g", "x:f", []),  # which one is missing is not known
        (":f :g", ":f :h", [0, 1]),
        (":f :g", ":g", [1]),
        (":f :g", ":h", []),
        (":f :g", ":f :f :g", [0, 0, 1]),
        (":f :f", ":f :f :f", [0, 1, 0]),
        ("a:f b:g", ":g", [1]),  # ids are left out
        ("a:f", "a:f a:f", [0, 0]),
        ("a:f a:g", "a:f", []),
        ("a:f", "a:f b:g", [0]),  # of an answer that was not recorded
    ],
)
def test_which_calls_come_back(message: str, back: str, places: list[int]) -> None:
    made, again = (
        [history_call(id_, name, {}) for id_, name in (each.split(":") for each in text.split())]
        for text in (message, back)
    )
    every = frozenset(range(len(made)))
    events = list(returned_calls(made, every, again, None))
    assert [int(event.data["place"][0]) - 1 for event in events] == places


def test_talks_have_two_calls() -> None:
    exchange: Exchange = TALKS["messages"][1]
    assert len(history_of(exchange, "messages")[1]["content"]) == 4
