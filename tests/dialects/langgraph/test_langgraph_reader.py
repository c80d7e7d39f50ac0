"""Events of LangGraph's server: what chunks, statements and states give, and when a run is done."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pytest

from conformance import dialects
from conformance.core.events import Event, Frame, Request
from conformance.core.reading import Reading
from conformance.dialects.langgraph import graph_run
from conformance.dialects.langgraph.content import pieces_of
from conformance.dialects.langgraph.vocabulary import OVERFLOW, RESTATED, VALUES
from conformance.dialects.requests import Continuation, Question
from tests.authoring.draft import Draft
from tests.authoring.langgraph import Graph, blocks, calling, ended, failed, human, usage
from tests.authoring.langgraph_streams import SIGNED, TEXT, THOUGHT, drafts, text, thought
from tests.authoring.pieces import Message
from tests.dialects.payloads import texts_of, types_of

DIALECT: Final = dialects.get("langgraph")
DRAFTS: Final[Mapping[str, Draft]] = {each.name.rpartition("/")[2]: each for each in drafts()}


def read(messages: Iterable[Any], *, end: Any = "eof", asked: bool = False) -> list[Event]:
    reader = DIALECT.reader(Reading())
    events = list(reader.request(Request(json={"input": {}}))) if asked else []
    number = 0
    for number, message in enumerate(messages, 1):
        frame = Frame("event", message.event or "message", json.dumps(message.payload), "", 0)
        events += reader.read(frame, message.payload, number)
    return [*events, *reader.end(end, number + 1)]


def of(name: str) -> list[Event]:
    return read(DRAFTS[name].pieces)


def wired(events: list[Event], kind: str) -> list[Mapping[str, Any]]:
    return [each.data for each in events if each.type == kind]


@pytest.mark.parametrize(
    "name",
    ["thinking-then-text", "chat", "blocks-v1", "subgraph", "partial", "states"],
)
def test_a_message_is_reported_once_however_it_comes(name: str) -> None:
    events = of(name)
    assert texts_of(events, "thinking.delta") == THOUGHT
    assert texts_of(events, "text.delta") == TEXT
    assert types_of(events)[-2:] == ["finish", "done"]
    assert wired(events, "finish")[0]["reason"] == "stop"
    assert len(wired(events, "usage")) == 1


@pytest.mark.parametrize("name", ["thinking-then-text", "chat", "tool-round"])
def test_pieces_that_langgraph_js_calls_ai_are_pieces(name: str) -> None:
    """The server of LangGraph.js (1.5.1) does so; its client (1.15.0) joins them by their id."""
    pieces = DRAFTS[name].pieces
    renamed = [_as_javascript(each) for each in pieces if isinstance(each, Message)]
    assert len(renamed) == len(pieces)
    events = read(renamed)
    assert types_of(events) == types_of(of(name))
    assert not [each for each in wired(events, "graph.message") if each.get("again")]


def _as_javascript(message: Message) -> Message:
    payload = json.loads(json.dumps(message.payload))
    if isinstance(payload, list) and payload[0].get("type") == "AIMessageChunk":
        payload[0] |= {"type": "ai", "tool_call_chunks": payload[0].get("tool_call_chunks", [])}
    return Message(payload, event=message.event)


def test_the_state_is_compared_with_what_was_streamed() -> None:
    compared = [each for each in wired(of("thinking-then-text"), RESTATED) if "states" in each]
    assert len(compared) == 2  # what the node gave, and the state
    for each in compared:
        assert each["states"] == each["streamed"]
        assert each["states"]["thinking"] == THOUGHT
        assert each["states"]["sealed"] == [SIGNED]


def test_calls_are_known_by_their_index_and_results_by_their_calls() -> None:
    events = of("tool-round")
    (ended_call,) = wired(events, "tool.end")
    assert ended_call["arguments"] == '{"line": "fog"}'
    assert [m["call_known"] for m in wired(events, "graph.message") if "call_known" in m] == [True]
    pieces = [*calling("{}", 1), *calling('{"a": 1}', 2, call="other"), ended("tool_use")]
    calls = wired(read(Graph("Hi").streamed(pieces, {})), "tool.end")
    assert [each["index"] for each in calls] == [0, 1]


def test_a_summary_has_parts_and_the_id_of_a_response_names_its_message() -> None:
    events = of("responses")
    assert types_of(events).count("thinking.start") == 2
    assert {each["channel"] for each in wired(events, "thinking.delta")} == {"summary"}
    compared = [each for each in wired(events, RESTATED) if "states" in each]
    assert all(each["renamed"] for each in compared)
    assert compared[0]["states"] == compared[0]["streamed"]


def test_what_is_sealed_is_never_text() -> None:
    sealed = [each["kind"] for each in wired(of("blocks-v1"), "thinking.opaque")]
    assert sealed == ["redacted", "signature"]


@pytest.mark.parametrize(
    ("block", "kind", "message"),
    [
        ({"type": "text", "text": "a"}, "text", "a"),
        ({"type": "reasoning", "content": [{"text": "a"}]}, "thinking", "a"),
        ({"type": "reasoning_content", "reasoning_content": {"text": "a"}}, "thinking", "a"),
        ({"type": "non_standard", "value": {"type": "thinking", "thinking": "a"}}, "thinking", "a"),
        ("a", "text", "a"),
    ],
)
def test_blocks_of_every_api_are_read(block: Any, kind: str, message: str) -> None:
    (piece,) = pieces_of({"content": [block]})
    assert (piece.kind, piece.text) == (kind, message)


@pytest.mark.parametrize(
    "block",
    [5, None, {"type": ["text"]}, {"type": "text", "text": 5}, {"type": "non_standard"}],
)
def test_blocks_of_no_form_say_nothing(block: Any) -> None:
    assert pieces_of({"content": [block]}) == []
    assert pieces_of({"content": 5, "additional_kwargs": []}) == []


def test_a_run_is_cut_where_a_message_is_open_or_it_failed() -> None:
    whole = list(DRAFTS["no-thinking"].pieces)
    assert types_of(read(whole))[-1] == "done"
    assert types_of(read(whole, end="reset"))[-1] == "cut"
    assert types_of(read(whole[:4]))[-1] == "cut"
    assert types_of(of("error-in-text"))[-2:] == ["error", "cut"]
    assert types_of(of("error-alone")) == ["error", "cut"]
    assert types_of(read([failed("X", "away")])) == ["error", "cut"]


def test_chunks_of_older_servers_end_with_their_reason() -> None:
    pieces = [*blocks(text()), {"response_metadata": {"finish_reason": "stop"}}]
    events = [each for each in Graph("Hi").streamed(pieces, {}) if each.event == "messages"]
    for each in events:
        del each.payload[0]["chunk_position"]
    assert types_of(read(events))[-2:] == ["finish", "done"]
    assert types_of(read(events[:-1]))[-1] == "cut"


def test_what_was_there_before_is_history() -> None:
    assert texts_of(of("states"), "text.delta") == TEXT
    old = {**human("Hi", "h"), "type": "ai", "id": "a"}
    graph = Graph("Hi")
    graph.state = [human("Hi", "h"), old]
    assert not texts_of(read(graph.begin()), "text.delta")
    assert types_of(read(graph.begin()))[-1] == "done"


def test_doublings_are_noticed() -> None:
    graph = Graph("Hi")
    sent = list(graph.streamed([*blocks(text()), ended("end_turn")], {}))
    again = graph.message({**graph.state[-1], "content": TEXT})
    other = graph.message({**graph.state[-1], "content": TEXT, "id": "other"})
    last = wired(read([*sent, again]), "graph.message")[-1]
    assert last["again"] is True
    last = wired(read([*sent, other]), "graph.message")[-1]
    assert last["doubles"] is True
    chunk = sent[0]
    assert wired(read([*sent, chunk]), "graph.message")[-1]["after_last"] is True
    elsewhere = wired(read([chunk, Message(chunk.payload, "messages|a:1")]), "graph.message")[-1]
    assert elsewhere["other_namespace"] is True


def test_a_partial_message_that_shrinks_is_noticed() -> None:
    pieces = DRAFTS["partial"].pieces
    messages = [each for each in pieces if isinstance(each, Message)]
    partial = [each for each in messages if each.event == "messages/partial"]
    assert not any("shrunk" in each for each in wired(read(partial), "graph.partial"))
    assert wired(read([partial[-1], partial[0]]), "graph.partial")[-1]["shrunk"] is True


def test_another_run_is_the_next_answer_where_no_request_is_known() -> None:
    first = list(DRAFTS["no-thinking"].pieces)
    graph = Graph("Hi", run="other")
    second = [*graph.begin(), *graph.streamed([*blocks(text()), ended("end_turn")], {})]
    assert {each.answer for each in read([*first, *second])} == {1, 2}
    assert {each.answer for each in read([*first, *second], asked=True)} == {1}
    anew = [*first[:5], *first]  # the same run, tried once more
    assert {each.answer for each in read(anew)} == {1}


def test_a_body_is_the_last_state() -> None:
    body = json.loads(DRAFTS["waited"].body())
    reader = DIALECT.reader(Reading())
    frame = Frame("body", "", json.dumps(body), "", 0)
    events = [*reader.read(frame, body, 1), *reader.end("eof", 2)]
    assert texts_of(events, "thinking.delta") == THOUGHT
    assert types_of(events)[-2:] == ["finish", "done"]
    error = {"__error__": {"error": "X", "message": "away"}}
    reader = DIALECT.reader(Reading())
    assert types_of([*reader.read(frame, error, 1), *reader.end("eof", 2)]) == [
        "error",
        "cut",
    ]


def test_messages_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_run, "_MOST", 4)
    graph = Graph("Hi")
    sent = [
        each for _ in range(6) for each in graph.streamed([*blocks(text()), ended("end_turn")], {})
    ]
    events = read(each for each in sent if each.event == "messages")
    assert len(wired(events, OVERFLOW)) == 1
    assert texts_of(events, "text.delta") == TEXT * 4


def test_payloads_of_no_form_are_named_and_not_read() -> None:
    strangers = [Message(5, "messages"), Message([1, 2, 3], "messages"), Message({}, "vendor")]
    assert len(wired(read(strangers), "graph.unknown")) == 3
    odd = [Message([{"type": ["ai"], "id": {}}, 5], "messages"), Message([5], "messages/partial")]
    odd += [Message(5, "values"), Message([[]], "updates"), Message("away", "error")]
    assert types_of(read(odd))[-1] == "cut"


def test_a_question_is_asked_with_all_that_was_said() -> None:
    form = DIALECT.request
    assert form is not None
    body = form.ask(Question("Hi", 9, streams=True, thinks=True, summarises=False))
    assert body["input"]["messages"] == [{"type": "human", "content": "Hi"}]
    assert form.streams(body) is True
    events = of("thinking-then-text")
    kept: dict[str, Any] = {
        "thinking": "",
        "text": "",
        "tools": (),
        "results": (),
        "question": "And?",
    }
    after = Continuation(request=body, events=events, keeps_thinking=True, **kept)
    turns = form.next_turns(after)
    assert [each["type"] for each in turns] == ["human", "ai", "human"]
    assert turns[1] == wired(events, VALUES)[-1]["messages"][-1]
    after = Continuation(request=body, events=events, keeps_thinking=False, **kept)
    assert [each["type"] for each in form.next_turns(after)[1]["content"]] == ["text"]
    assert DIALECT.turns is not None
    entry = DIALECT.turns.read(turns[1])
    assert (entry.by, entry.text) == ("model", TEXT)


def test_usage_of_chunks_adds_up() -> None:
    first = {"usage_metadata": {"input_tokens": 31, "output_tokens": 0, "total_tokens": 31}}
    last = ended("end_turn", usage(0, 9))
    events = read(Graph("Hi").streamed([first, *blocks(thought(), text()), last], {}))
    (counted,) = wired(events, "usage")
    assert (counted["input"], counted["output"], counted["total"]) == (31, 9, 40)
