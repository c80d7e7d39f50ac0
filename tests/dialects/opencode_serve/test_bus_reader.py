"""Events of the bus of `opencode serve`: whose they are, and what they say once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest

from conformance import check_chunks, dialects
from conformance.core.events import Event
from conformance.core.reading import Reading
from conformance.dialects.open_parts import MOST_OPEN
from conformance.editing.deltas import find_deltas, joined_text
from conformance.editing.stream import Stream
from conformance.mutate import take_apart
from tests.authoring.opencode_bus import CONNECTED, HOURS, OPENS, Session, failure
from tests.authoring.opencode_bus_streams import drafts
from tests.authoring.pieces import Fields, Message, cut, put
from tests.dialects.payloads import read_payloads

DIALECT: Final = dialects.get("opencode.serve")
IDLE: Final = Message({"type": "session.idle", "properties": {"sessionID": "s"}})
ABORTED: Final = failure("MessageAbortedError", "Aborted")


def read(*messages: Message) -> list[Event]:
    return read_payloads("opencode.serve", *(each.payload for each in messages))


def event_fields(events: Iterable[Event], kind: str, **fields: Any) -> list[Any]:
    """What the semantic events of a type hold, where these fields have these values."""
    found = [each.data for each in events if each.type == kind and each.layer == "semantic"]
    return [data for data in found if fields.items() <= data.items()]


def wired(events: Iterable[Event], kind: str) -> list[Any]:
    return [each.data for each in events if each.type == kind and each.layer == "wire"]


def texts(events: Iterable[Event], kind: str, **fields: Any) -> str:
    return "".join(data["text"] for data in event_fields(events, kind, **fields))


def turn(talk: Session, thought: str = "Hm, so.", text: str = "It is two.") -> list[Message]:
    parts = [
        *talk.user_asks("One and one?"),
        *talk.begun(),
        *talk.thought(thought),
        *talk.text(text),
    ]
    return [*parts, *talk.over(), *talk.idle()]


def started(**fields: Any) -> Message:
    """A part as a listener without a message hears it."""
    part = {"id": "p", "messageID": "m", "sessionID": "s", **fields}
    return Message({"type": "message.part.updated", "properties": {"part": part}})


def delta(text: str, **fields: Any) -> Message:
    named = {"sessionID": "s", "messageID": "m", "partID": "p", "field": "text", **fields}
    return Message({"type": "message.part.delta", "properties": {**named, "delta": text}})


def rules_failed(*messages: Message) -> set[str]:
    body = b"".join(each.encode() for each in (CONNECTED, *messages))
    report = check_chunks([body], dialect="opencode.serve")
    return {found.rule.removeprefix("wire/opencode-serve/") for found in report.findings}


def test_a_turn_says_each_text_once_and_nothing_of_its_user() -> None:
    events = read(*turn(Session()))
    assert texts(events, "thinking.delta") == "Hm, so."
    assert texts(events, "text.delta") == "It is two."
    assert [each.type for each in events if each.layer == "semantic"][-3:] == [
        *("finish", "usage", "done")
    ]
    assert event_fields(events, "usage") == [
        {"choice": 0, "input": 40, "output": 29, "reasoning": 9}
    ]


def test_an_event_of_all_projects_is_that_event() -> None:
    messages = turn(Session())
    wrapped = [Message({"directory": "/a", "payload": each.payload}) for each in messages]
    assert read(*wrapped) == read(*messages)


def test_turns_that_overlap_are_choices_of_one_answer() -> None:
    one, two = turn(Session("ses_1"), "a b", "c d"), turn(Session("ses_2"), "e f", "g h")
    mixed = [each for pair in zip(one, two, strict=True) for each in pair]
    events = read(*mixed)
    assert {each.answer for each in events} == {1}
    assert [texts(events, "thinking.delta", choice=n) for n in (0, 1)] == ["a b", "e f"]
    assert [texts(events, "text.delta", choice=n) for n in (0, 1)] == ["c d", "g h"]
    assert len(event_fields(events, "finish")) == 2
    assert len(event_fields(events, "done")) == 1
    assert rules_failed(*mixed) == set()


def test_a_question_after_the_last_turn_begins_the_next_answer() -> None:
    talk = Session()
    first, second = turn(talk), turn(talk, "a b", "c d")
    events = read(*first, *second)
    assert events[-1].answer == 2
    ends_first = next(n for n, each in enumerate(events) if each.answer == 2)
    assert events[ends_first].data["info"]["role"] == "user"


@pytest.mark.parametrize(
    ("stated", "more"), [("Hm, so.", ""), ("Hm, so. Yes.", " Yes."), ("Hm,", ""), ("", "")]
)
def test_end_has_what_no_delta_had(stated: str, more: str) -> None:
    talk = Session()
    messages = [*talk.begun(), *talk.thought("Hm, so.")]
    end = put(messages[-1].payload, "properties.part.text", stated)
    assert texts(read(*messages[:-1], Message(end)), "thinking.delta") == "Hm, so." + more


@pytest.mark.parametrize(
    ("streamed", "stated", "agrees"),
    [("a \n", "a", True), ("a \n", "a \n", True), ("a", "a b", False), ("a b ", "a", False)],
)
def test_cut_white_space_is_no_other_text(streamed: str, stated: str, agrees: bool) -> None:
    over = started(type="text", text=stated, time={"start": 1, "end": 2})
    begun = started(type="text", text="", time={"start": 1})
    found = rules_failed(begun, delta(streamed[:1]), delta(streamed[1:]), over, IDLE)
    assert found == (set() if agrees else {"text-agrees"})


@pytest.mark.parametrize(
    ("part", "heard"),
    [
        ({"type": "text", "text": "One and one?"}, []),
        ({"type": "text", "text": "Two.", "time": {"start": 1}}, ["text.delta"]),
        ({"type": "reasoning", "text": "So."}, ["thinking.delta"]),
        ({"type": "file", "url": "a"}, []),
    ],
)
def test_whose_part_it_is_where_no_message_was_announced(part: Fields, heard: list[str]) -> None:
    events = read(started(**part))
    assert [each.type for each in events if each.type.endswith(".delta")] == heard


def test_a_delta_says_nothing_of_a_part_that_nobody_announced() -> None:
    begun = started(type="reasoning", text="", time={"start": 1})
    over = started(type="reasoning", text="a b", time={"start": 1, "end": 2})
    events = read(delta("a"), begun, delta("b"))
    assert texts(events, "thinking.delta") == "b"
    assert [data["part"] for data in wired(events, "message.part.delta")] == ["", "reasoning"]
    assert rules_failed(delta("a"), begun, delta(" b"), over, IDLE) == {"part-announced"}


@pytest.mark.parametrize("is_announced", [True, False])
def test_a_delta_of_no_part_is_found_where_its_message_was_read(*, is_announced: bool) -> None:
    talk = Session("s")
    *before, start, words, more, end = [
        *talk.user_asks("So?"),
        *talk.begun(),
        *talk.thought("Hm, so. Yes?"),
    ]
    stray = Message(put(words.payload, "properties.partID", "other"))
    begun = before if is_announced else before[-1:]
    found = rules_failed(*begun, start, stray, more, end, *talk.over(), *talk.idle())
    assert found == {"part-announced", "text-agrees"}


@pytest.mark.parametrize("kind", ["permission.asked", "permission.updated", "question.asked"])
def test_a_session_that_waits_for_its_user_is_not_left_busy(kind: str) -> None:
    talk = Session()
    waits = [*talk.user_asks("Go on?"), talk.status("busy"), *talk.begun(), talk.sent(kind)]
    assert rules_failed(*waits) == set()
    answered = talk.sent(f"{kind.split('.', maxsplit=1)[0]}.replied")
    assert rules_failed(*waits, answered) == {"turn-ended"}
    assert rules_failed(*waits[:-1]) == {"turn-ended"}


def test_what_opencode_said_before_it_said_more_is_legal() -> None:
    """0.14.6 to 0.15.30: no question is named, and a call that waits has no input."""
    talk = Session()
    asked, begun = talk.user_asks("One and one?"), talk.begun()
    called = talk.called("look", {"place": "a"}, output="b")
    called[0] = Message(cut(called[0].payload, "properties.part.state.input"))
    for time, found in ((1759996800000, set()), (1793000000000, {"event-fields"})):
        first = put(begun[0].payload, "properties.info.time.created", time)
        answer = Message(cut(first, "properties.info.parentID"))
        rest = [*begun[1:], *called, *talk.over(), *talk.idle()]
        assert rules_failed(*asked, answer, *rest) == found


def test_a_text_of_which_no_delta_came_is_found() -> None:
    begun = started(type="text", text="", time={"start": 1})
    over = started(type="text", text="a b", time={"start": 1, "end": 2})
    assert rules_failed(begun, over, IDLE) == {"text-agrees"}
    grown = started(type="text", text="a", time={"start": 1})
    assert rules_failed(begun, grown, over, IDLE) == set()


def test_who_comes_late_hears_no_fault() -> None:
    over = started(type="text", text="a b", time={"start": 1, "end": 2})
    assert rules_failed(delta("b"), over, IDLE) == set()
    assert texts(read(delta("b"), over), "text.delta") == "a b"


def test_a_bus_on_which_nobody_speaks_says_nothing() -> None:
    assert [each for each in read(CONNECTED) if each.layer == "semantic"] == []
    assert rules_failed() == set()


def test_a_turn_that_does_not_end_was_cut() -> None:
    assert event_fields(read(*turn(Session())[:-3]), "cut") == [{"choice": 0, "how": "eof"}]


def test_abort_fails_the_turn_and_ends_it() -> None:
    talk = Session()
    *begun, end = [*talk.user_asks("So?"), *talk.begun(), *talk.thought("Hm, so.")]
    late = [end, talk.completed(error=ABORTED), *talk.idle()]
    messages = [*begun, talk.failed(ABORTED), *talk.idle(), *late]
    events = read(*messages)
    assert event_fields(events, "error")[0]["code"] == "MessageAbortedError"
    assert event_fields(events, "finish") == []
    assert len(event_fields(events, "thinking.end")) == 1
    assert rules_failed(*messages) == set()


def test_an_error_counts_for_the_session_that_it_is_of() -> None:
    one, two = Session("ses_1"), Session("ses_2")
    begun = [*one.user_asks("a"), *one.begun(), *two.user_asks("b"), *two.begun()]
    events = read(*begun, two.failed(ABORTED), *two.idle(), *one.text("c"), *one.over())
    assert [data["choice"] for data in event_fields(events, "error")] == [1]
    assert texts(events, "text.delta", choice=0) == "c"


def test_model_that_counts_nothing_is_not_zero() -> None:
    talk = Session()
    finish, over = talk.over()
    counts = {"input": 0, "output": 0, "reasoning": 0}
    payload = put(finish.payload, "properties.part.tokens", counts)
    begun = [*talk.user_asks("a"), *talk.begun(), *talk.text("b")]
    assert event_fields(read(*begun, Message(payload), over, *talk.idle()), "usage") == []


@pytest.mark.parametrize("kind", ["tool", "text", "reasoning", "file"])
def test_what_is_remembered_is_bounded(kind: str) -> None:
    parts = [started(id=f"p{n}", type=kind, text="", time={}) for n in range(MOST_OPEN + 9)]
    events = read(started(type="step-start"), *parts)
    assert len(wired(events, "bus.overflow")) == (kind != "file")


def test_messages_that_are_remembered_are_bounded() -> None:
    talks = (Session(f"ses_{n}") for n in range(MOST_OPEN))
    assert len(wired(read(*(talk.begun()[0] for talk in talks)), "bus.overflow")) == 1


def test_deltas_of_one_part_differ_in_their_words_and_their_ids() -> None:
    talk = Session()
    _start, payload, *_rest = [each.payload for each in talk.text("One and one are two.")]
    columns = DIALECT.columns(payload, Reading())
    assert columns is not None
    assert columns.paths == ("properties.delta", "id")
    assert columns.text == f"{columns.within['message.part.delta']}.delta"


STREAMS = {draft.name.rpartition("/")[2]: draft for draft in drafts()}


def stream(name: str) -> Stream:
    return take_apart(STREAMS[name].cassette().exchanges[0], "opencode.serve")


def test_a_delta_adds_to_what_its_part_is() -> None:
    apart = stream("thought-then-text")
    assert joined_text(apart, "thinking") == HOURS
    assert joined_text(apart, "text") == OPENS


def test_a_delta_belongs_to_its_session() -> None:
    apart = stream("two-sessions")
    assert {each.choice for each in find_deltas(apart)} == {"ses_1", "ses_2"}
    of_first = [each.text for each in find_deltas(apart, "text") if each.choice == "ses_1"]
    assert "".join(of_first) == OPENS
