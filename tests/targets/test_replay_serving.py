from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.cassette import open_recording, write
from conformance.core.errors import CassetteError, HarnessError, UsageError
from conformance.targets.replay import ReplayOptions, ReplayServer, ServedRequest, serving
from tests.targets.replay_wire import (
    ASKED,
    EVENTS,
    PATH,
    Client,
    answer,
    cassette,
    client,
    exchange,
    request,
)

BODY = b"".join(EVENTS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Recordings, two of them of one name."""
    for name, body in (("a/think", b"1"), ("b/think", b"2"), ("plain", b"3")):
        path = tmp_path / f"{name}.cassette.jsonl"
        path.parent.mkdir(exist_ok=True)
        write(path, cassette(exchange([body]), exchange([body], number=2, json={"n": 2})))
    return tmp_path


def test_each_recording_has_its_prefix(folder: Path) -> None:
    with serving([folder]) as server:
        for name, body in (("a/think", b"1"), ("b/think", b"2"), ("plain", b"3")):
            url = server.base_url(name)
            assert url == f"{server.url}/c/{name}"
            assert httpx.post(f"{url}/v1/chat/completions", json=ASKED).content == body
            assert httpx.post(f"{url}/chat/completions", json={"n": 2}).content == body
        missing = httpx.post(f"{server.base_url('plan')}{PATH}", json=ASKED)
    assert missing.status_code == 404
    assert "did you mean 'plain'?" in missing.text


def test_without_prefix_all_are_reached_in_order(folder: Path) -> None:
    with serving([folder]) as server:
        bodies = [answer(server.port, request()).body for _ in range(3)]
        assert bodies == [b"1", b"2", b"3"]
        assert answer(server.port, request()).status == 404


def test_sessions_have_turns_of_their_own(folder: Path) -> None:
    with serving([folder / "plain.cassette.jsonl"]) as server:
        paths = [server.base_url("plain", name) for name in ("", "gw0", "gw1", "é @/x")]
        paths += [server.base_url(session="gw0"), server.url]
        got = [httpx.post(path + PATH, json=ASKED).content for path in paths]
        again = [httpx.post(path + PATH, json=ASKED).status_code for path in paths]
        unused = {
            "all": server.unused(),
            "session": server.unused("plain", "gw0"),
            "other": server.unused("plain", "none"),
        }
    assert got == [b"3"] * 6
    assert again == [404] * 6
    assert {key: [str(each) for each in value] for key, value in unused.items()} == {
        "all": ["plain exchange 2"],
        "session": ["plain exchange 2"],
        "other": [],
    }


def test_parallel_runners_do_not_meet() -> None:
    turns = [exchange([b"%d" % n], number=n) for n in range(1, 6)]

    def run(session: int) -> list[bytes]:
        path = f"/c/turns@{session}{PATH}"
        with client(server.port) as connected:
            return [connected.ask(request(path=path)).body for _ in turns]

    with serving() as server, ThreadPoolExecutor(8) as pool:
        server.mount(cassette(*turns), name="turns")
        results = list(pool.map(run, range(24)))
        server.settle()
        assert len(server.seen) == len(server.seen_by("turns")) == 24 * 5
        assert [each.times for each in server.seen_by("turns", "7")] == [1] * 5
        assert server.seen_by("turns", "none") == server.seen_by("") == ()
    assert results == [[b"1", b"2", b"3", b"4", b"5"]] * 24


def test_recordings_are_mounted_and_taken_away_while_serving(folder: Path) -> None:
    file = folder / "plain.cassette.jsonl"
    with serving() as server:
        names = [
            server.mount(file),
            server.mount(open_recording(file), options=ReplayOptions.parse(chunking="bytes:1")),
            server.mount(cassette(exchange())),
            server.mount(cassette(exchange()), name="mine"),
        ]
        assert names == ["plain", "plain~2", "cassette", "mine"]
        got = [httpx.post(server.base_url(name) + PATH, json=ASKED).content for name in names]
        assert got == [b"3", b"3", BODY, BODY]
        server.unmount("mine")
        assert httpx.post(server.base_url("mine") + PATH, json=ASKED).status_code == 404


def test_what_a_client_did_is_noticed() -> None:
    requests: list[ServedRequest] = []
    with serving([cassette(exchange())], on_exchange=requests.append) as server:
        headers = {"authorization": "Bearer secret", "x-include-thinking": "false"}
        first = httpx.post(server.url + PATH, json=ASKED)
        second = httpx.post(f"{server.url}{PATH}?key=secret", json=ASKED, headers=headers)
        server.settle()
        seen = server.seen
    assert (first.status_code, second.status_code) == (200, 404)
    assert tuple(requests) == seen
    assert [(s.number, s.connection, s.turn, s.outcome, s.status) for s in seen] == [
        (1, 1, 1, "complete", 200),
        (2, 2, 1, "refused", 404),
    ]
    assert str(seen[0].exchange) == "cassette exchange 1"
    assert (seen[0].times, seen[0].sent, seen[0].size) == (1, len(BODY), len(BODY))
    assert seen[0].request.json == ASKED
    assert dict(seen[1].headers)["authorization"] == "[redacted]"
    assert seen[1].path == f"{PATH}?key=[redacted]"
    assert "secret" not in repr(seen)


def test_a_second_request_is_counted() -> None:
    with serving([cassette(exchange())], options=ReplayOptions(repeat=True)) as server:
        for _ in range(3):
            answer(server.port, request())
        assert [each.times for each in server.seen] == [1, 2, 3]
        assert server.connections == 3


async def test_a_server_in_the_callers_loop() -> None:
    async with ReplayServer([cassette(exchange())]) as server, httpx.AsyncClient() as asking:
        body = (await asking.post(server.url + PATH, json=ASKED)).content
        await server.settled()
        got = body, server.seen[0].outcome
    assert got == (BODY, "complete")


def test_closing_breaks_off_what_is_under_way() -> None:
    requests: list[ServedRequest] = []
    options = ReplayOptions.parse(stall="event:1")
    with serving([cassette(exchange())], options=options, on_exchange=requests.append) as server:
        connected = Client(server.port)
        connected.send(request())
        connected.socket.recv(1)
    assert [each.outcome for each in requests] == ["stalled"]
    connected.close()
    assert "conformance-replay" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(HarnessError, match="not running"):
        _ = server.url


def test_a_port_that_is_taken_is_a_usage_error() -> None:
    with (
        serving() as server,
        pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1:{server.port}: "),
        serving(port=server.port),
    ):
        pass


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="holds no recording"):
        ReplayServer([tmp_path])


def test_a_bare_stream_is_served_to_anybody(tmp_path: Path) -> None:
    file = tmp_path / "answer.sse"
    file.write_bytes(BODY)
    with serving([file]) as server:
        got = httpx.post(f"{server.base_url('answer')}/v1/responses", content=b"anything")
    assert (got.content, got.headers["content-type"]) == (BODY, "text/event-stream")


def test_ipv6_has_its_brackets() -> None:
    try:
        with serving([cassette(exchange())], host="::1") as server:
            assert server.url == f"http://[::1]:{server.port}"
            assert httpx.post(server.url + PATH, json=ASKED).content == BODY
    except UsageError as err:
        pytest.skip(str(err))


SHIPPED = [
    ("openai", "openai.chat/deepseek", "openai.chat"),
    ("openai", "openai.responses/openai", "openai.responses"),
    ("anthropic", "anthropic.messages/anthropic", "anthropic.messages"),
]


def official(sdk: str, dialect: str, url: str, body: dict[str, Any]) -> int:
    """How many events the vendor's client reads."""
    library = pytest.importorskip(sdk)
    extra = {key: value for key, value in body.items() if key not in ("model", "stream")}
    is_anthropic = sdk == "anthropic"
    kind = library.Anthropic if is_anthropic else library.OpenAI
    with kind(base_url=url if is_anthropic else f"{url}/v1", api_key="k", max_retries=0) as made:
        if dialect == "openai.chat":
            create, names = made.chat.completions.create, ["messages"]
        elif dialect == "openai.responses":
            create, names = made.responses.create, ["input"]
        else:
            create, names = made.messages.create, ["max_tokens", "messages"]
        kept = {name: extra.pop(name) for name in names}
        try:
            with create(model=body["model"], stream=True, **kept, extra_body=extra) as stream:
                return sum(1 for _ in stream)
        except library.NotFoundError:
            raise
        except library.APIError:  # a recorded error event: the request found its answer
            return 1


@pytest.mark.slow
@pytest.mark.parametrize(("sdk", "where", "dialect"), SHIPPED)
@pytest.mark.parametrize("chunking", ["recorded", "bytes:1", "seed:5"])
def test_vendor_clients_read_cassettes(sdk: str, where: str, dialect: str, chunking: str) -> None:
    root = Path(__file__).parent.parent.parent / "cassettes" / where
    options = ReplayOptions.parse(chunking=chunking)
    with serving([root], options=options) as server:
        streams = [
            (address, request)
            for address in server.unused()
            for each in open_recording(root / f"{address.name}.cassette.jsonl").exchanges
            if (request := each.request) is not None
            and each.number == address.exchange
            and (request.json or {}).get("stream")
            and each.end == "eof"
            and (each.response is None or each.response.status == 200)
        ]
        assert streams
        for address, asked in streams[:4]:
            assert official(sdk, dialect, server.base_url(address.name), asked.json) > 0
        server.settle()
        assert {each.outcome for each in server.seen} == {"complete"}
