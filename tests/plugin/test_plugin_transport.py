"""`conformance_transport`: what `conformance_server` does, for httpx clients and without a port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from conformance.cassette import open_recording
from conformance.pytest_plugin.transport import Portal
from conformance.targets.replay import ReplayOptions, ThreadedServer, serving
from tests.plugin.conftest import PLAIN, Project, counts, recorded

HOME = "cassettes/test_client/test_asks"
KEPT, NEXT = "0001-chat.cassette.jsonl", "0002-chat.cassette.jsonl"
WAYS = {
    "synchronous": """
def test_asks(conformance_transport):
    with httpx.Client(transport=conformance_transport, base_url="http://x/v1") as client:
        for more in ASKED:
            assert client.post("/chat/completions", json=BODY | more).status_code == 200
""",
    "asynchronous": """
def test_asks(conformance_transport):
    import asyncio

    async def ask():
        async with httpx.AsyncClient(transport=conformance_transport) as client:
            for more in ASKED:
                answer = await client.post("http://x/v1/chat/completions", json=BODY | more)
                assert answer.status_code == 200

    asyncio.run(ask())
""",
}
OTHERS = {
    "requests": """
def test_asks(conformance_transport):
    with requests.Session() as session:
        session.mount("http://", conformance_transport.requests_adapter())
        for more in ASKED:
            answer = session.post("http://x/v1/chat/completions", json=BODY | more)
            assert answer.status_code == 200
""",
    "aiohttp": """
def test_asks(conformance_transport):
    import asyncio

    async def ask():
        connector = conformance_transport.aiohttp_connector()
        async with aiohttp.ClientSession(connector=connector) as session:
            for more in ASKED:
                url = "http://x/v1/chat/completions"
                async with session.post(url, json=BODY | more) as answer:
                    assert answer.status == 200
                    await answer.read()

    asyncio.run(ask())
""",
}
LIBRARIES = tuple(name for name in ("httpx", "httpx2") if find_spec(name))
way = pytest.mark.parametrize(
    "way", [*(f"{library} {kind}" for library in LIBRARIES for kind in WAYS), *OTHERS]
)
library = pytest.mark.parametrize("library", LIBRARIES)


def asks(project: Project, way: str, *asked: dict[str, int]) -> None:
    library, _, kind = way.partition(" ")
    text = WAYS[kind].replace("httpx.", f"{library}.") if kind else OTHERS[library]
    project.tests(f"import {library}\nASKED = {list(asked or [{}])!r}\n{text}")


def other(kept: Path) -> None:
    """Makes the recording one of another request."""
    text = kept.read_text(encoding="utf-8").replace('"json":{', '"json":{"n":2,', 1)
    kept.write_text(text, encoding="utf-8")


def live(server: ThreadedServer, mode: str) -> tuple[str, str]:
    return f"--conformance-url={server.url}/v1", f"--conformance-record={mode}"


@way
def test_transport_records_once(project: Project, upstream: ThreadedServer, way: str) -> None:
    asks(project, way)
    for _ in range(2):
        counts(project.run(*live(upstream, "once")), passed=1)
    counts(project.run(), passed=1)
    assert upstream.requests == 1
    assert recorded(project) == [KEPT]
    (fresh,) = open_recording(project.path / HOME / KEPT).exchanges
    (known,) = open_recording(PLAIN).exchanges
    assert fresh.end == "eof"
    assert [each.data for each in fresh.chunks] == [each.data for each in known.chunks]
    assert all(each.ms is not None for each in fresh.chunks)


@pytest.mark.one_in(5)
@way
def test_transport_adds_new_episodes(project: Project, upstream: ThreadedServer, way: str) -> None:
    project.take(PLAIN, f"{HOME}/{KEPT}")
    asks(project, way, {}, {})
    counts(project.run(), failed=1)
    counts(project.run(*live(upstream, "new_episodes")), passed=1)
    assert upstream.requests == 1
    assert recorded(project) == [KEPT, NEXT]
    counts(project.run(), passed=1)


@pytest.mark.parametrize(("mode", "left"), [("all", [KEPT, NEXT]), ("rewrite", [KEPT])])
def test_transport_asks_again(
    project: Project, upstream: ThreadedServer, mode: str, left: list[str]
) -> None:
    project.take(PLAIN, f"{HOME}/0007-old.cassette.jsonl")
    other(project.take(PLAIN, f"{HOME}/{KEPT}"))
    asks(project, "httpx synchronous")
    counts(project.run(*live(upstream, mode)), passed=1)
    assert upstream.requests == 1
    assert recorded(project) == left
    assert open_recording(project.path / HOME / left[-1]).header.origin == "live"


def test_unused_episodes_fail_a_test(project: Project, upstream: ThreadedServer) -> None:
    other(project.take(PLAIN, f"{HOME}/{KEPT}"))
    asks(project, "httpx synchronous")
    result = project.run(*live(upstream, "new_episodes"))
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*never requested: 0001-chat exchange 1*"])


APP = """
started = False


async def app(scope, receive, send):
    global started
    if scope["type"] == "lifespan":
        await receive()
        started = True
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await receive()
    assert started
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for piece in (b"data: 1\\n", b"\\n", b"data: [DONE]\\n\\n"):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
"""
NO_PORTS = """
import socket

import pytest


@pytest.fixture(autouse=True)
def no_ports(monkeypatch):
    for name in ("bind", "connect"):
        def refused(own, *given, usual=getattr(socket.socket, name)):
            assert own.family == socket.AF_UNIX, "a port was asked for"
            return usual(own, *given)

        monkeypatch.setattr(socket.socket, name, refused)
"""


@way
def test_application_is_recorded_without_a_port(
    project: Project, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.syspath_prepend(project.path)
    project.write("served.py", APP)
    project.write("conftest.py", NO_PORTS)
    asks(project, way)
    args = ("--conformance-url=asgi:served:app", "--conformance-record=once")
    counts(project.run(*args), passed=1)
    (fresh,) = open_recording(project.path / HOME / KEPT).exchanges
    assert [each.data for each in fresh.chunks] == [b"data: 1\n", b"\n", b"data: [DONE]\n\n"]
    (project.path / "served.py").unlink()
    counts(project.run(), passed=1)


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("asgi:nowhere:app", "*cannot load nowhere:app: ModuleNotFoundError*"),
        ("ftp://x", "expected an http or https URL, got *"),
    ],
)
def test_target_that_cannot_be_recorded_is_reported(project: Project, url: str, line: str) -> None:
    asks(project, "httpx synchronous")
    result = project.run(f"--conformance-url={url}", "--conformance-record=all")
    counts(result, errors=1)
    result.stdout.fnmatch_lines([line])
    result.stdout.no_fnmatch_line("*During handling*")


def test_server_fixture_records_no_application(project: Project) -> None:
    project.tests("def test_asks(conformance_server):\n    ask(conformance_server)\n")
    result = project.run("--conformance-url=asgi:served:app", "--conformance-record=all")
    counts(result, errors=1)
    result.stdout.fnmatch_lines(["*conformance_server records no application*"])


def test_transport_to_nobody_leaves_no_recording(project: Project) -> None:
    project.tests(
        "def test_asks(conformance_transport):\n"
        "    client = httpx.Client(transport=conformance_transport)\n"
        "    with client, pytest.raises(httpx.ConnectError):\n"
        "        client.post('http://x/v1/chat/completions', json=BODY)\n"
    )
    result = project.run("--conformance-url=http://127.0.0.1:9", "--conformance-record=once")
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*POST /v1/chat/completions got no answer*"])
    assert recorded(project) == []


@pytest.mark.parametrize(
    ("how", "error", "end"),
    [("fin", "RemoteProtocolError", "protocol-error"), ("rst", "ReadError", "reset")],
)
@library
def test_break_is_recorded(project: Project, library: str, how: str, error: str, end: str) -> None:
    project.tests(
        f"import {library}\n"
        "def test_asks(conformance_transport):\n"
        f"    client = {library}.Client(transport=conformance_transport)\n"
        f"    with client, pytest.raises({library}.{error}):\n"
        "        client.post('http://x/v1/chat/completions', json=BODY)\n"
    )
    options = ReplayOptions.parse(cut="event:2", how=how, repeat=True)
    with serving([PLAIN], options=options) as server:
        counts(project.run(*live(server, "once")), passed=1)
    assert open_recording(project.path / HOME / KEPT).exchanges[0].end == end


def test_transport_records_that_a_client_left(project: Project, upstream: ThreadedServer) -> None:
    project.tests(
        "def test_asks(conformance_transport):\n"
        "    client = httpx.Client(transport=conformance_transport)\n"
        "    where = 'http://x/v1/chat/completions'\n"
        "    with client, client.stream('POST', where, json=BODY) as response:\n"
        "        next(response.iter_raw())\n"
    )
    counts(project.run(*live(upstream, "once")), passed=1)
    (fresh,) = open_recording(project.path / HOME / KEPT).exchanges
    assert fresh.end == "client-closed"
    assert len(fresh.chunks) == 1


def test_answer_that_a_client_forgot_is_closed(project: Project, upstream: ThreadedServer) -> None:
    project.tests(
        "def test_asks(conformance_transport):\n"
        "    request = httpx.Request('POST', 'http://x/v1/chat/completions', json=BODY)\n"
        "    assert conformance_transport.handle_request(request).status_code == 200\n"
    )
    counts(project.run(*live(upstream, "once")), passed=1)
    (fresh,) = open_recording(project.path / HOME / KEPT).exchanges
    assert (fresh.end, fresh.chunks) == ("client-closed", ())


def test_failed_application_is_no_tape(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(project.path)
    project.write("served.py", "async def app(scope, receive, send):\n    raise OSError('full')\n")
    project.tests(
        "def test_asks(conformance_transport):\n"
        "    client = httpx.Client(transport=conformance_transport)\n"
        "    with client, pytest.raises(httpx.ReadError, match='OSError: full'):\n"
        "        client.post('http://x/v1/chat/completions', json=BODY)\n"
    )
    result = project.run("--conformance-url=asgi:served:app", "--conformance-record=once")
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*got no answer*the application raised OSError: full"])
    assert recorded(project) == []


def test_transport_records_no_secrets(project: Project, upstream: ThreadedServer) -> None:
    key = "sk-proj-" + "A1b2C3d4" * 5
    project.tests(
        "def test_asks(conformance_transport):\n"
        f"    headers = {{'authorization': 'Bearer {key}'}}\n"
        "    with httpx.Client(transport=conformance_transport, headers=headers) as client:\n"
        "        client.post('http://x/v1/chat/completions', json=BODY)\n"
    )
    counts(project.run(*live(upstream, "once")), passed=1)
    text = (project.path / HOME / KEPT).read_text(encoding="utf-8")
    assert '"authorization"' in text
    assert key not in text


class Endless(httpx.AsyncBaseTransport, httpx.AsyncByteStream):
    """A body that says one word and falls silent."""

    def __init__(self) -> None:
        self.is_closed = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:  # noqa: ARG002
        return httpx.Response(200, stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"word"
        await self.is_closed.wait()

    async def aclose(self) -> None:
        self.is_closed.set()


async def test_client_of_a_portal_may_give_up_waiting() -> None:
    inner = Endless()
    portal = Portal(inner, asyncio.get_running_loop())
    client = httpx.AsyncClient(transport=portal)
    async with client, client.stream("GET", "http://x") as response:
        pieces = response.aiter_raw()
        assert await anext(pieces) == b"word"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(pieces), 0.01)
    assert inner.is_closed.is_set()


PORTLESS = """
def test_asks(conformance_transport):
    with httpx.Client(transport=conformance_transport, base_url="http://x/v1") as client:
        with client.stream("POST", "/chat/completions", json=BODY) as response:
            assert len(list(response.iter_raw())) > 3


async def ask_again(transport):
    async with httpx.AsyncClient(transport=transport, base_url="http://x/v1") as client:
        return await client.post("/chat/completions", json=BODY)


def test_again(conformance_transport):
    import asyncio
    assert asyncio.run(ask_again(conformance_transport)).status_code == 200
"""


def test_httpx_clients_need_no_port(project: Project) -> None:
    for name in ("test_asks", "test_again"):
        project.take(PLAIN, f"cassettes/test_client/{name}/0001-chat.cassette.jsonl")
    project.tests(PORTLESS)
    counts(project.run(), passed=2)


def test_portless_miss_and_unused_exchange_fail(project: Project) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(
        "def test_asks(conformance_transport):\n"
        "    with httpx.Client(transport=conformance_transport) as client:\n"
        "        client.post('http://x/v1/chat/completions', json=BODY | {'n': 2})\n"
    )
    result = project.run()
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*n was not recorded, sent 2*", "*never requested: 0001-chat*"])


@pytest.mark.parametrize(("how", "error"), [("fin", "RemoteProtocolError"), ("rst", "ReadError")])
@library
def test_portless_cut_is_a_cut(project: Project, library: str, how: str, error: str) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(
        f"import {library}\n\n"
        f"@pytest.mark.conformance(cut='event:2', how={how!r})\n"
        "def test_asks(conformance_transport):\n"
        f"    client = {library}.Client(transport=conformance_transport)\n"
        f"    with client, pytest.raises({library}.{error}):\n"
        "        client.post('http://x/v1/chat/completions', json=BODY)\n"
    )
    counts(project.run(), passed=1)
