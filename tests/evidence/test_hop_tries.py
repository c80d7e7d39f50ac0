"""Calls of a model that were asked again: what an application leaves of the first, and what not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import pytest

from conformance.core.events import Response
from conformance.rules.verdicts import Verdict
from tests.evidence.two_hops import (
    Payload,
    acp,
    broken_hops,
    chat,
    judged_hops,
    responses,
    sse,
    vercel,
    vercel_part,
)

RULE: Final = "hop/try-replaced"
BEGUN: Final = "The ferry leaves at "
WHOLE: Final = "The ferry leaves at nine."
OTHER: Final = "At nine, from the old harbour."
_SAID: Final = {"role": "user", "content": "When?"}
ASKED: Final = {"model": "m", "messages": [_SAID], "stream": True}
ELSE: Final = {**ASKED, "messages": [_SAID, {"role": "user", "content": "Go on."}]}


def _cut(text: str) -> tuple[str, str]:
    """An answer that breaks off without its finish."""
    dialect, body = chat({"content": text})
    return dialect, body.split("\n\n")[0] + "\n\n"


def _shown(*texts: str, take_back: Sequence[Payload] = ()) -> tuple[str, str]:
    """Each text in a part of its own, with what comes between the first and the others."""
    parts: list[Payload] = []
    for number, text in enumerate(texts):
        parts += _part(number, text)
        parts += take_back if number == 0 else ()
    return vercel(*parts)


def _part(number: int, text: str) -> list[Payload]:
    return [{**each, "id": str(number)} for each in vercel_part("text", text)]


TRIES: Final = {
    "the same beginning": ([_cut(BEGUN), chat({"content": WHOLE})], ()),
    "the same request": ([_cut(BEGUN), chat({"content": OTHER})], (ASKED, ASKED)),
    "another model": ([_cut(BEGUN), chat({"content": OTHER})], (ASKED, {**ASKED, "model": "n"})),
    "a whole answer": ([chat({"content": BEGUN}), chat({"content": OTHER})], (ASKED, ASKED)),
    "three tries": ([_cut(BEGUN), _cut(BEGUN), chat({"content": WHOLE})], ()),
}


@pytest.mark.parametrize("case", TRIES)
def test_what_a_try_said_does_not_stay(case: str) -> None:
    upstream, asked = TRIES[case]
    last = OTHER if OTHER in upstream[-1][1] else WHOLE
    tries = [BEGUN] * (len(upstream) - 1)
    found = judged_hops(_shown(*tries, last), *upstream, asked=asked)
    assert broken_hops(found) == {RULE}
    assert broken_hops(judged_hops(_shown(BEGUN[:16], last), *upstream, asked=asked)) == {RULE}
    clean = judged_hops(_shown(last), *upstream, asked=asked)
    assert broken_hops(clean) == set()
    assert clean.verdicts[RULE] is Verdict.PASS
    assert clean.verdicts["hop/text"] is Verdict.PASS


@pytest.mark.parametrize("status", [400, 503])
def test_a_call_that_is_refused_replaces_nothing(status: int) -> None:
    refused = Response(status, headers=(("content-type", "application/json"),))
    upstream = [_cut(BEGUN), ("openai.chat", '{"error": {"message": "no"}}')]
    shown = vercel(*vercel_part("text", BEGUN), {"type": "error", "errorText": "no"})
    found = judged_hops(shown, *upstream, asked=(ASKED, ASKED), heads={3: refused})
    assert broken_hops(found) == set()
    twice = [_cut(BEGUN), *upstream]
    shown = vercel(*_part(0, BEGUN), *_part(1, BEGUN), {"type": "error", "errorText": "no"})
    found = judged_hops(shown, *twice, asked=(ASKED,) * 3, heads={4: refused})
    assert broken_hops(found) == {RULE}


def test_a_text_that_goes_on_where_the_try_broke_off_is_shown_once() -> None:
    upstream = [_cut(BEGUN), chat({"content": WHOLE})]
    assert broken_hops(judged_hops(_shown(BEGUN, "nine."), *upstream)) == set()


def test_a_call_that_goes_on_with_what_broke_off_is_no_second_try() -> None:
    upstream = [_cut(BEGUN), chat({"content": "nine."})]
    for asked in ((ASKED, ELSE), ()):
        found = judged_hops(_shown(BEGUN, "nine."), *upstream, asked=asked)
        assert broken_hops(found) == set()
        assert RULE not in found.verdicts


@pytest.mark.parametrize(
    "take_back", [{"type": "reset-step"}, {"type": "start", "messageId": "again"}]
)
def test_what_was_taken_back_is_not_on_the_screen(take_back: Payload) -> None:
    upstream = [_cut(BEGUN), chat({"content": WHOLE})]
    found = judged_hops(_shown(BEGUN, WHOLE, take_back=[take_back]), *upstream)
    assert RULE not in broken_hops(found)


def test_words_in_place_of_the_call_that_was_demanded_need_not_be_shown() -> None:
    """BeeAI's agents ask again, with more in the history, until `final_answer` is called."""
    final = {"type": "function", "function": {"name": "final_answer", "parameters": {}}}
    chosen = {"type": "function", "function": {"name": "final_answer"}}
    behind = [chat({"content": OTHER}), chat({"content": WHOLE})]
    demanded = [{**each, "tools": [final], "tool_choice": chosen} for each in (ASKED, ELSE)]
    assert broken_hops(judged_hops(_shown(WHOLE), *behind, asked=demanded)) == set()
    free = [ASKED, ELSE]
    assert "hop/text" in broken_hops(judged_hops(_shown(WHOLE), *behind, asked=free))


def test_thinking_of_a_try_does_not_stay_either() -> None:
    thought, content = "It sails in the morning.", {"content": WHOLE}
    dialect, body = chat({"reasoning_content": thought})
    cut = dialect, body.split("\n\n")[0] + "\n\n"
    upstream = [cut, chat({"reasoning_content": thought}, content)]
    one, two = ([{**e, "id": n} for e in vercel_part("reasoning", thought)] for n in "12")
    text = vercel_part("text", WHOLE)
    assert broken_hops(judged_hops(vercel(*one, *two, *text), *upstream)) == {RULE}
    assert broken_hops(judged_hops(vercel(*one, *text), *upstream)) == set()


def test_an_agent_without_parts_is_noticed_too() -> None:
    upstream = [_cut(BEGUN), chat({"content": WHOLE})]
    assert broken_hops(judged_hops(acp(("message", BEGUN), ("message", WHOLE)), *upstream)) == {
        RULE
    }
    assert broken_hops(judged_hops(acp(("message", WHOLE)), *upstream)) == set()


def test_tries_that_think_in_two_channels_are_one_cause() -> None:
    """An agent without parts puts white space between what was thought and its summary."""
    upstream = []
    for number in "12":
        _, body = responses(
            [f"A summary of it, {number}."], WHOLE, raw=f"It sails, thought {number}."
        )
        upstream.append(("openai.responses", body.split("event: response.completed")[0]))
    thoughts = [("thought", f"It sails, thought {n}.\n\nA summary of it, {n}.") for n in "12"]
    shown = acp(thoughts[0], ("message", WHOLE), thoughts[1], ("message", WHOLE))
    broken = (
        shown[0],
        shown[1].replace('"result": {"stopReason": "end_turn"}', '"error": {"code": 1}'),
    )
    assert broken_hops(judged_hops(broken, *upstream, asked=(ASKED, ASKED))) == {RULE}


def test_a_snapshot_takes_back_what_was_streamed() -> None:
    upstream = [_cut(BEGUN), chat({"content": WHOLE})]
    run = {"threadId": "t", "runId": "r"}

    def message(name: str, text: str) -> list[Payload]:
        return [
            {"type": "TEXT_MESSAGE_START", "messageId": name, "role": "assistant"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": text},
            {"type": "TEXT_MESSAGE_END", "messageId": name},
        ]

    texts = [*message("a", BEGUN), *message("b", WHOLE)]
    kept = [{"id": "b", "role": "assistant", "content": WHOLE}]
    begun, ended = {"type": "RUN_STARTED", **run}, {"type": "RUN_FINISHED", **run}
    snapshot: Payload = {"type": "MESSAGES_SNAPSHOT", "messages": kept}
    assert broken_hops(judged_hops(("agui", sse([begun, *texts, ended])), *upstream)) == {RULE}
    shown = "agui", sse([begun, *texts, snapshot, ended])
    assert RULE not in broken_hops(judged_hops(shown, *upstream))


def test_both_places_are_shown() -> None:
    upstream = [_cut(BEGUN), chat({"content": WHOLE})]
    (finding,) = judged_hops(_shown(BEGUN, WHOLE), *upstream).findings
    assert BEGUN in json.dumps([each.text for each in finding.context])
    assert finding.upstream is not None
    assert BEGUN in finding.upstream.text


SHORT: Final = BEGUN[:5]


@pytest.mark.parametrize(
    ("shown", "broken"),
    [
        ([SHORT, SHORT, WHOLE], {RULE}),
        ([SHORT * 2 + WHOLE], {RULE}),
        ([SHORT, BEGUN, WHOLE], {RULE}),
        ([WHOLE], set()),
        ([BEGUN, "nine."], set()),
        (["Tea? ", WHOLE], {"hop/text"}),
    ],
)
def test_beginnings_of_tries_are_theirs_however_short(shown: list[str], broken: set[str]) -> None:
    """What an interface shows of a try depends on when it broke off."""
    upstream = [_cut(BEGUN), _cut(BEGUN), chat({"content": WHOLE})]
    assert broken_hops(judged_hops(_shown(*shown), *upstream, asked=(ASKED,) * 3)) == broken


def test_beginnings_of_tries_that_all_failed_are_one_cause() -> None:
    refused = Response(400, headers=(("content-type", "application/json"),))
    upstream = [*[_cut(BEGUN)] * 3, ("openai.chat", '{"error": {"message": "no"}}')]
    parts = [part for number in range(3) for part in _part(number, SHORT)]
    shown = vercel(*parts, {"type": "error", "errorText": "no"})
    found = judged_hops(shown, *upstream, asked=(ASKED,) * 4, heads={5: refused})
    assert broken_hops(found) == {RULE}
