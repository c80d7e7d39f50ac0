"""Answers over HTTP: how they end, what they cost, and what never leaves the client."""

from __future__ import annotations

import asyncio
import itertools
import socket
import zlib

import pytest

from reference_impl.client.apis import request
from reference_impl.client.ask import Ask
from reference_impl.client.event import Event
from reference_impl.client.transport import Exchange, Server, Unreachable
from reference_impl.client.turn import Answer, text_turn
from reference_impl.client.wire import Api
from tests.reference.client_server import Ending, Script, playing

THINKING = b'data: {"id":"c","choices":[{"index":0,"delta":{"reasoning_content":"2 + 2"}}]}\n\n'
TEXT = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"4."},"finish_reason":"stop"}]}\n\n'
)
DONE = b"data: [DONE]\n\n"
WHOLE = (THINKING, TEXT, DONE)
ASK = Ask("m", (text_turn("user", "Hi"),))


def events(server: Server) -> list[Event]:
    async def collect() -> list[Event]:
        exchange = Exchange(server, request(server.api, ASK))
        return [event async for event in exchange.events()]

    return asyncio.run(collect())


def answer(base_url: str, *, deadline: float = 30.0) -> Answer:
    return Answer().take(events(Server("chat", base_url, deadline=deadline)))


def test_a_stream_is_read_to_its_end() -> None:
    with playing(Script(WHOLE)) as played:
        found = answer(played.base_url)
    assert (found.how, found.reason) == ("completed", "stop")
    assert (found.turn().thinking, found.turn().text) == ("2 + 2", "4.")


def test_a_stream_in_torn_pieces_says_the_same() -> None:
    data = b"".join(WHOLE)
    with playing(Script([data[at : at + 7] for at in range(0, len(data), 7)])) as played:
        assert answer(played.base_url).turn().text == "4."


@pytest.mark.parametrize(
    ("ending", "how"),
    [("fin", "eof"), ("reset", "reset"), ("short", "protocol-error"), ("hold", "idle-timeout")],
)
def test_a_stream_that_breaks_off_is_no_answer(ending: Ending, how: str) -> None:
    with playing(Script((THINKING,), ending=ending)) as played:
        found = answer(played.base_url, deadline=1.0 if ending == "hold" else 30.0)
    assert (found.how, found.cut) == ("cut", how)
    assert found.turn().thinking == "2 + 2"


def test_a_server_that_goes_on_holding_after_the_end_is_left() -> None:
    with playing(Script(WHOLE, ending="hold")) as played:
        assert answer(played.base_url).how == "completed"


def test_a_server_that_never_stops_is_stopped() -> None:
    with playing(Script(itertools.repeat(THINKING))) as played:
        found = answer(played.base_url, deadline=0.5)
    assert (found.how, found.cut) == ("cut", "idle-timeout")


def test_silence_before_the_head_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}/v1"
        with pytest.raises(Unreachable, match=r"no answer in 0\.2 s"):
            answer(url, deadline=0.2)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "ftp://127.0.0.1/", "nonsense", ""])
def test_nobody_there_is_unreachable(url: str) -> None:
    with pytest.raises(Unreachable):
        answer(url)


@pytest.mark.parametrize("status", [301, 400, 401, 404, 429, 500, 503])
def test_a_refusal_is_an_error_with_its_status(status: int) -> None:
    script = Script((b"<html>no</html>",), status, "text/html", headers=["location: http://x/"])
    with playing(script) as played:
        found = answer(played.base_url)
    assert found.how == "failed"
    assert found.error is not None
    assert found.error["status"] == status
    assert len(played.asked) == 1


def test_a_json_body_in_place_of_a_stream_is_read() -> None:
    body = b'{"choices":[{"message":{"content":"4.","reasoning":"so"},"finish_reason":"stop"}]}'
    with playing(Script((body,), kind="application/json")) as played:
        found = answer(played.base_url)
    assert (found.how, found.turn().thinking, found.turn().text) == ("completed", "so", "4.")


def test_a_compressed_stream_is_read_though_none_was_asked_for() -> None:
    squeeze = zlib.compressobj(wbits=31)
    chunks = [squeeze.compress(c) + squeeze.flush(zlib.Z_SYNC_FLUSH) for c in WHOLE]
    with playing(Script([*chunks, squeeze.flush()], headers=["content-encoding: gzip"])) as played:
        assert answer(played.base_url).turn().text == "4."
    assert played.asked[0].headers["accept-encoding"] == "identity"


PATHS: list[tuple[Api, str, str, str]] = [
    ("chat", "/v1/chat/completions", "authorization", "Bearer secret"),
    ("responses", "/v1/responses", "authorization", "Bearer secret"),
    ("messages", "/v1/messages", "x-api-key", "secret"),
]


@pytest.mark.parametrize(("api", "path", "header", "value"), PATHS)
def test_the_key_goes_where_the_api_wants_it(api: Api, path: str, header: str, value: str) -> None:
    with playing(Script(WHOLE)) as played:
        events(Server(api, played.base_url, key="secret"))
        events(Server(api, played.base_url))
    assert [asked.path for asked in played.asked] == [path, path]
    assert [asked.headers.get(header) for asked in played.asked] == [value, None]


def test_events_come_before_the_answer_is_complete() -> None:
    async def first() -> Event:
        exchange = Exchange(Server("chat", played.base_url), request("chat", ASK))
        stream = exchange.events()
        event = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]  # an async generator has it
        return event

    with playing(Script((THINKING,), ending="hold")) as played:
        assert asyncio.run(first()).type == "message.start"
