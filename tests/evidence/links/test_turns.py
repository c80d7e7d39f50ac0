"""Which turn of its conversation an exchange is, in reports."""

from __future__ import annotations

import json
from typing import Final

import pytest

from conformance.evidence.links.turns import with_turns
from conformance.judging.result import CarriedAnswer, Report, StreamResult
from conformance.report import html, text
from conformance.report import json as json_report
from tests.evidence.links.edits import cut
from tests.evidence.links.talks import (
    TALKERS,
    Talker,
    checked,
    history_of,
    seal,
    talk,
    with_history,
)

MESSAGES: Final = TALKERS["messages"]
FACTS: Final = (MESSAGES.dialect, MESSAGES.profile, MESSAGES.body, MESSAGES.path)


def result(exchange: int, *links: CarriedAnswer, file: str = "one") -> StreamResult:
    return StreamResult(file, exchange, "d", "p", True, {}, (), links=links)


def after(exchange: int, entry: int | None, file: str = "") -> CarriedAnswer:
    entries = () if entry is None else (entry,)
    return CarriedAnswer(exchange, "the same text", "messages", entries, file=file)


@pytest.mark.parametrize(
    ("results", "turns"),
    [
        ([result(1), result(2)], [0, 0]),
        ([result(1), result(2, after(1, 1))], [1, 2]),
        ([result(1), result(2), result(3, after(1, 1))], [1, 0, 2]),
        # The one that stands last counts, whatever was given first.
        ([result(1), result(2), result(3, after(2, 1), after(1, 3))], [1, 1, 2]),
        ([result(1), result(2, after(1, 1)), result(3, after(1, 1))], [1, 2, 2]),
        ([result(1), result(2, after(1, 1)), result(3, after(2, None), after(1, 1))], [1, 2, 3]),
        ([result(2, after(7, 1))], [2]),
        ([result(1, file="b"), result(1, after(1, 1, "b"), file="a")], [1, 2]),
        # Two files that each seem to carry the other on.
        ([result(1, after(1, 1, "b")), result(1, after(1, 1, "one"), file="b")], [2, 1]),
    ],
)
def test_turn_follows_the_latest_one(results: list[StreamResult], turns: list[int]) -> None:
    assert [each.turn for each in with_turns(results)] == turns


def test_long_conversations_need_no_stack() -> None:
    long = [result(1), *(result(n, after(n - 1, n)) for n in range(2, 5000))]
    assert with_turns(long[::-1])[0].turn == 4999


def test_reports_name_the_turn_that_gave_and_the_one_that_lacks() -> None:
    exchanges = talk(Talker(*FACTS, max_tokens=4000))
    history = cut(seal(2))(history_of(exchanges[2], "messages"))
    exchanges[2] = with_history(exchanges[2], "messages", history)
    report = Report(tuple(checked(exchanges, MESSAGES.dialect, MESSAGES.profile)))
    shown = text.render(report)
    assert "exchange 3, turn 3, anthropic.messages" in shown
    assert "(exchange 2, turn 2, event 1, byte " in shown
    stream = json.loads(json_report.render(report))["streams"][2]
    (finding,) = stream["findings"]
    assert (stream["turn"], finding["upstream"]["turn"]) == (3, 2)
    page = html.render(report)
    assert "exchange 3, turn 3, anthropic.messages" in page
    assert "(exchange 2, turn 2, event 1, byte " in page
