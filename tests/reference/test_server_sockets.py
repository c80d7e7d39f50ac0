"""Responses over a WebSocket: the events of a stream in messages, one request after the other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from starlette.types import Message

from conformance.cassette import open_recording, write
from conformance.cassette.header import Cassette, Header
from conformance.core.events import Exchange, Request, Response, SocketMessage
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.verdicts import Verdict
from reference_impl.server.app import application
from reference_impl.server.engine import Finish, ReasoningDelta, Start, TextDelta, Usage
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.reference.scripted_engine import ScriptedEngine

THINK = (Start(7), ReasoningDelta("2 plus 2.", 3), TextDelta("4"), Finish("stop", Usage(7, 9, 6)))
ASK: dict[str, Any] = {"type": "response.create", "model": "scripted", "input": "2 + 2?"}
Sent = dict[str, Any] | str | bytes


class Going(dict[str, Any]):
    """A request that goes on from the answer that came before it."""


class Talker:
    """A client in process: sends the next message when the answer to the one before has ended."""

    def __init__(self, messages: Sequence[Sent], most: int | None = None) -> None:
        self._left = list(messages)
        self._most = most
        self._turn = asyncio.Event()
        self._turn.set()
        self.log: list[tuple[str, Any]] = []
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if not self.sent and not self.log:
            self.log.append(("client", None))
            return {"type": "websocket.connect"}
        await self._turn.wait()
        self._turn.clear()
        if not self._left:
            return {"type": "websocket.disconnect", "code": 1000}
        message = self._left.pop(0)
        if isinstance(message, bytes):
            return {"type": "websocket.receive", "bytes": message}
        if isinstance(message, Going):
            earlier = [each["response"]["id"] for each in self.events if "response" in each]
            message = {**message, "previous_response_id": earlier[-1]}
        text = message if isinstance(message, str) else json.dumps(message)
        self.log.append(("client", text))
        return {"type": "websocket.receive", "text": text}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if (text := message.get("text")) is not None:
            self.log.append(("server", text))
            ends = ("error", "response.completed", "response.failed", "response.incomplete")
            if json.loads(text)["type"] in ends or self._most == len(self.events):
                self._turn.set()

    @property
    def events(self) -> list[Any]:
        return [json.loads(text) for side, text in self.log if side == "server"]


def talked(
    *messages: Sent,
    engine: ScriptedEngine | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    most: int | None = None,
    headers: Sequence[tuple[bytes, bytes]] = (),
    service: Service | None = None,
) -> Talker:
    """`most`: the client leaves after so many events."""
    app = application(service or Service(engine or ScriptedEngine([THINK] * 4), settings))
    talker = Talker(messages, most)
    scope = {
        "type": "websocket",
        "path": "/v1/responses",
        "headers": list(headers),
        "query_string": b"",
        "subprotocols": [],
        "extensions": {"websocket.http.response": {}},
    }
    asyncio.run(app(scope, talker.receive, talker.send))
    return talker


def kinds(talker: Talker) -> list[str]:
    return [event["type"] for event in talker.events]


def test_a_request_is_answered_by_the_events_of_a_stream() -> None:
    got = talked(ASK)
    assert got.sent[0]["type"] == "websocket.accept"
    assert kinds(got)[0] == "response.created"
    assert kinds(got)[-1] == "response.completed"
    assert [event["sequence_number"] for event in got.events] == list(range(len(got.events)))


def test_requests_follow_each_other_and_carry_on_what_was_answered() -> None:
    engine = ScriptedEngine([THINK, THINK])
    asked_first = talked(ASK, ASK, engine=engine)
    first = asked_first.events[0]["response"]["id"]
    assert kinds(asked_first).count("response.completed") == 2
    assert first != asked_first.events[-1]["response"]["id"]


def test_a_lane_is_named_in_every_event_of_its_answer() -> None:
    got = talked({**ASK, "stream_id": "a"}, {**ASK, "stream_id": "b", "stream": False})
    assert {event["stream_id"] for event in got.events} == {"a", "b"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "invalid_json"),
        ({"type": "response.steer"}, "unsupported_message"),
        (b"{}", "unsupported_message"),
        ({**ASK, "model": "other"}, "model_not_found"),
        ({**ASK, "previous_response_id": "resp_0"}, "previous_response_not_found"),
    ],
)
def test_failed_request_leaves_the_connection_open(message: Sent, code: str) -> None:
    got = talked(message, ASK)
    error, *others = got.events
    assert (error["type"], error["error"]["code"]) == ("error", code)
    assert error["status"] in (400, 404)
    assert others[-1]["type"] == "response.completed"


def test_without_the_key_nobody_is_let_in() -> None:
    settings = Settings(api_key="secret")
    assert talked(settings=settings).sent[0]["status"] == 401
    let_in = talked(ASK, settings=settings, headers=[(b"authorization", b"Bearer secret")])
    assert kinds(let_in)[-1] == "response.completed"


async def test_a_client_that_leaves_ends_the_generation() -> None:
    engine = ScriptedEngine([(*THINK[:2], asyncio.Event(), *THINK[2:])])
    app = application(Service(engine, Settings()))
    talker = Talker([ASK], most=3)
    scope = {"type": "websocket", "path": "/v1/responses", "headers": [], "query_string": b""}
    await app(scope, talker.receive, talker.send)
    (call,) = engine.calls
    assert call.ended
    assert call.unsaid


def test_the_checker_finds_nothing_in_what_is_sent(tmp_path: Any) -> None:
    got = talked(ASK, {**ASK, "stream_id": "a"})
    messages = tuple(
        SocketMessage(text.encode(), 1.0, "client" if side == "client" else "server")
        for side, text in got.log
        if text is not None
    )
    kept = Exchange(
        request=Request("GET", "/v1/responses"), response=Response(101), chunks=messages
    )
    path = tmp_path / "a.cassette.jsonl"
    write(path, Cassette(Header(origin="live", dialect="openai.responses"), (kept,)))
    results = check_recording(
        open_recording(path), Rulebook.load(), CheckChoices(profile="reference")
    )
    assert [finding.rule for each in results for finding in each.findings] == []
    passed = [v for each in results for v in each.verdicts.values() if v is Verdict.PASS]
    assert len(results) == 2
    assert len(passed) > 100


def test_a_connection_goes_on_from_an_answer_that_is_not_stored() -> None:
    unstored = {**ASK, "store": False}
    service = Service(ScriptedEngine([THINK] * 4))
    asked = talked(unstored, service=service)
    name = asked.events[0]["response"]["id"]
    assert kinds(talked({**ASK, "previous_response_id": name}, service=service)) == ["error"]
    going_on = talked(unstored, Going(unstored), service=service)
    assert kinds(going_on).count("response.completed") == 2


def test_a_refused_request_makes_the_connection_forget() -> None:
    unstored = {**ASK, "store": False}
    refused = Going({**unstored, "model": "another"})
    got = talked(unstored, refused, Going(unstored))
    assert [each["error"]["code"] for each in got.events if each["type"] == "error"] == [
        "model_not_found",
        "previous_response_not_found",
    ]


def test_a_request_may_only_prepare_the_next_one() -> None:
    engine = ScriptedEngine([THINK])
    prepares = {**ASK, "generate": False, "store": False}
    got = talked(prepares, Going({**ASK, "input": "And 3?"}), engine=engine)
    assert kinds(got)[:3] == ["response.created", "response.in_progress", "response.completed"]
    assert got.events[2]["response"]["output"] == []
    assert all(text in str(engine.asked[-1].messages) for text in ("2 + 2?", "And 3?"))
