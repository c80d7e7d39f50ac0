"""Exchanges that pass are held against those before them, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.evidence.links.finder import LinkFinder
from conformance.watching import conversations
from conformance.watching.conversations import TalkPlace
from conformance.watching.judging import TrafficJudge
from conformance.watching.line_view import LineView
from conformance.watching.timeline import write_timeline
from conformance.watching.traffic import Traffic
from tests.evidence.links import edits
from tests.evidence.links.talks import TALKERS, history_of, talk, with_history
from tests.evidence.links.test_repeated_faults import edited, without_result
from tests.watching.relayed import new_traffic, relayed
from tests.watching.test_traffic import Listener

SIGNED: Final = "history/messages/signed-unchanged"
LOST: Final = {
    "messages": SIGNED,
    "responses": "history/responses/sealed-or-left-out",
    "openrouter": "history/chat/details-signed",
    "moonshot": "history/chat/kept-with-calls",
    "gemini": "history/gemini/signed-unchanged",
    "interactions": "history/interactions/signed-unchanged",
    "converse": "history/converse/signed-unchanged",
}


def lost(name: str) -> edits.Edit:
    return edits.lost(edits.THOUGHTS[0] if name == "moonshot" else edits.SEALS[0])


def talk_of(name: str, edit: edits.Edit | None = None) -> list[Exchange]:
    """A conversation; an edit changes what its third request repeats."""
    exchanges = talk(TALKERS[name])
    if edit is not None:
        key = TALKERS[name].history
        exchanges[2] = with_history(exchanges[2], key, edit(history_of(exchanges[2], key)))
    return exchanges


def numbered(exchanges: Iterable[Exchange]) -> list[Exchange]:
    return [replace(each, number=number) for number, each in enumerate(exchanges, 1)]


def traffic_of(name: str, listener: Any) -> Traffic:
    talker = TALKERS[name]
    return new_traffic(TrafficJudge(dialect=talker.dialect, profile=talker.profile), listener)


def passed(traffic: Traffic, exchanges: Sequence[Exchange]) -> Traffic:
    for exchange in exchanges:
        for message in relayed(exchange, exchange.number):
            traffic.take(message)
    return traffic


def history_rules(traffic: Traffic) -> list[tuple[int, str]]:
    return [
        (number, found.rule)
        for number, each in traffic.exchanges.items()
        for found in each.findings
        if found.rule.startswith("history/")
    ]


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_is_found_when_the_request_passes(name: str) -> None:
    watcher = Listener()
    traffic = traffic_of(name, watcher)
    first, second, third, _ = talk_of(name, lost(name))
    passed(traffic, [first, second])
    answers_to, *rest = relayed(third, 3)
    traffic.take(answers_to)
    assert f"3 {LOST[name]}" in watcher.lines
    assert "3 ended" not in watcher.lines
    for message in rest:
        traffic.take(message)
    found = traffic.exchanges[3].result
    assert found is not None
    assert [each.exchange for each in found.links] == [1, 2]
    assert (3, LOST[name]) in history_rules(traffic)
    assert watcher.lines.count(f"3 {LOST[name]}") == 1


@pytest.mark.parametrize("name", TALKERS)
def test_what_comes_back_as_it_was_is_right(name: str) -> None:
    traffic = passed(traffic_of(name, Listener()), talk_of(name))
    assert history_rules(traffic) == []
    turns = [traffic.exchanges[n].place for n in (1, 2, 3, 4)]
    assert turns == [TalkPlace(1, n, n - 1 or None) for n in (1, 2, 3, 4)]


def test_two_conversations_at_once_are_kept_apart() -> None:
    one, other = talk_of("messages"), talk_of("messages", edits.cut(edits.SEALS[0]))
    other = [with_history(each, "messages", _changed_question(each)) for each in other]
    mixed = numbered(each for pair in zip(one, other, strict=True) for each in pair)
    traffic = passed(traffic_of("messages", Listener()), mixed)
    assert history_rules(traffic) == [(6, SIGNED)]
    places = [traffic.exchanges[number].place for number in range(1, 9)]
    assert [place and place.conversation for place in places] == [1, 2] * 4


def _changed_question(exchange: Exchange) -> list[Any]:
    """The history of one more session, whose calls have names of their own."""
    question, *turns = history_of(exchange, "messages")
    return [{**question, "content": "When may a ferry pass?"}, *turns]


def test_an_exchange_alone_is_no_conversation() -> None:
    (first, *_) = talk_of("messages")
    traffic = passed(traffic_of("messages", Listener()), numbered([first, first]))
    assert [each.place for each in traffic.exchanges.values()] == [None, None]


def test_a_line_says_where_an_exchange_stands_and_both_places_of_a_finding() -> None:
    lines: list[str] = []
    traffic = traffic_of("messages", LineView(lines.append, lines.append))
    passed(traffic, talk_of("messages", lost("messages"))[:3])
    assert lines[0] == "#1 POST /v1/messages  m"
    assert "#2 POST /v1/messages  m  conversation 1, turn 2 after #1" in lines
    assert "#3 POST /v1/messages  m  conversation 1, turn 3 after #2" in lines
    found = next(line for line in lines if SIGNED in line)
    assert found.startswith(f"#3 FAIL MUST {SIGNED} (request, given in #1 event 1)  exchange 1 ")
    assert "messages.1 sends nothing of it back" in found


def test_the_page_of_an_exchange_shows_what_it_goes_on_from(tmp_path: Path) -> None:
    traffic = passed(traffic_of("messages", Listener()), talk_of("messages", lost("messages")))
    chosen = traffic.exchanges[3]
    before = traffic.turns_before(chosen)
    assert [each.number for each in before] == [1, 2]
    page = write_timeline(chosen, tmp_path, before).read_text()
    assert SIGNED in page
    assert "continues the answer of exchange 2" in page


@pytest.mark.parametrize(("bound", "most"), [("MOST_ANSWERS", 1), ("MOST_BYTES", 450)])
def test_oldest_answers_are_dropped(bound: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, bound, most)
    exchanges = talk_of("messages", edits.cut(edits.SEALS[0]))
    traffic = passed(traffic_of("messages", Listener()), exchanges)
    assert history_rules(traffic) == []
    assert traffic.exchanges[4].place == TalkPlace(1, 4, 3)
    assert traffic.conversations.remembered == (4,)


@pytest.mark.parametrize("status", [200, 400])
def test_a_request_that_is_refused_is_found_all_the_same(status: int) -> None:
    exchanges = talk_of("messages", lost("messages"))
    head = exchanges[2].response
    assert head is not None
    exchanges[2] = replace(exchanges[2], response=replace(head, status=status))
    traffic = passed(traffic_of("messages", Listener()), exchanges[:3])
    assert (3, SIGNED) in history_rules(traffic)


def test_internal_error_leaves_judging_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(LinkFinder, "links", breaks)
    traffic = passed(traffic_of("messages", Listener()), talk_of("messages"))
    third = traffic.exchanges[3]
    assert third.note == "not linked with others: KeyError: 'x'"
    assert third.result is not None
    assert third.result.verdicts


@pytest.mark.parametrize("name", ["messages", "deepseek", "mistral"])
def test_a_fault_that_requests_repeat_is_shown_once(name: str) -> None:
    watcher = Listener()
    traffic = passed(traffic_of(name, watcher), numbered(edited(name, 1, without_result)))
    assert [number for number, _ in history_rules(traffic)] == [2]
    assert len([line for line in watcher.lines if " history/" in line]) == 1
