"""A WebSocket through the recording proxy: passed on as it came, recorded message by message."""

from __future__ import annotations

import asyncio
import json
import struct
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from conformance.cassette import open_recording, read
from conformance.core.events import Exchange, SocketMessage
from conformance.targets.recording import (
    Origin,
    ProxyTimeouts,
    RecordingFolder,
    RecordingOptions,
    RecordingProxy,
    RecordingQueue,
)
from conformance.targets.replay import ReplayOptions, serving
from conformance.wire.server import running_in_thread
from tests.cassette.sockets import asked, at_once, cassette_text, in_turn
from tests.targets.test_replay_sockets import UPGRADE, kept, masked, messages_of, played

ACCEPTED = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)


@contextmanager
def recording(upstream: str, folder: Path, *, queued: bool = False, idle: float = 60) -> Any:
    options = RecordingOptions()
    shelf = RecordingQueue(folder, options) if queued else RecordingFolder(folder, options)
    notes: list[str] = []
    patience = ProxyTimeouts(5, idle)
    proxy = RecordingProxy(Origin.parse(upstream), shelf, timeouts=patience, warn=notes.append)
    with running_in_thread(proxy):
        yield proxy
    assert notes == []


def opened(proxy: RecordingProxy, **more: Any) -> ClientConnection:
    url = f"{proxy.url.replace('http', 'ws', 1)}/v1/responses"
    made: ClientConnection = connect(url, proxy=None, **more)
    return made


def recorded(folder: Path) -> Exchange:
    (path,) = folder.glob("*.cassette.jsonl")
    (exchange,) = read(path).exchanges
    return exchange


def shown(exchange: Exchange) -> list[tuple[str, bool, bytes]]:
    messages = [each for each in exchange.chunks if isinstance(each, SocketMessage)]
    return [(each.side, each.binary, each.data) for each in messages]


@pytest.mark.parametrize("queued", [False, True])
@pytest.mark.parametrize("chunking", ["recorded", "bytes:5"])
@pytest.mark.parametrize("talk", [in_turn(), at_once()], ids=["in turn", "at once"])
def test_played_stream_is_passed(tmp_path: Path, talk: Any, chunking: str, queued: bool) -> None:
    path, folder = kept(tmp_path, talk, end="client-closed"), tmp_path / "taken"
    messages = messages_of(path)
    with (
        serving([path], options=ReplayOptions.parse(chunking=chunking)) as server,
        recording(server.url, folder, queued=queued) as proxy,
        opened(proxy) as client,
    ):
        found = played(client, messages)
    assert found == [each.data for each in messages if each.side == "server"]
    taken = recorded(folder)
    assert shown(taken) == [(each.side, each.binary, each.data) for each in messages]
    assert (taken.end, taken.close_code) == ("client-closed", 1000)
    assert taken.response is not None
    assert taken.response.status == 101
    assert all(each.ms is not None for each in taken.chunks)
    (file,) = folder.iterdir()
    assert len(open_recording(file).exchanges) == 2


def test_a_recording_of_a_replay_replays(tmp_path: Path) -> None:
    path, folder = kept(tmp_path, in_turn()), tmp_path / "taken"
    with serving([path]) as server, recording(server.url, folder) as proxy, opened(proxy) as client:
        first = played(client, messages_of(path))
    (again,) = folder.iterdir()
    with serving([again]) as server:
        url = f"{server.url.replace('http', 'ws', 1)}/v1/responses"
        with connect(url, proxy=None) as client:
            assert played(client, messages_of(again)) == first
    assert recorded(folder).end == "eof"


KEY = "sk-" + "proj-9aB3xYz7Qw2LmN5pRt8VuKd4Hs6Jf1Gc"


def test_secrets_are_replaced_before_a_byte_is_written(tmp_path: Path) -> None:
    """Those in one message, those spelled out over several, and what the handshake sent."""
    token, folder = "tok-" + "4fJq8Lw2Zx6Vb9Nm", tmp_path / "taken"
    talk: Any = [asked()]
    talk += [("server", {"type": "response.output_text.delta", "delta": part})
             for part in ("the key is ", KEY[:9], KEY[9:20], KEY[20:])]  # fmt: skip
    talk += [
        ("server", {"type": "response.completed", "response": {"id": "r"}, "seen": token}),
        ("server", {"type": "codex.rate_limits", "plan": KEY}),
    ]
    path = kept(tmp_path, talk, end="client-closed")
    headers = {"Authorization": f"Bearer {token}"}
    with (
        serving([path]) as server,
        recording(server.url, folder) as proxy,
        opened(proxy, additional_headers=headers) as client,
    ):
        got = played(client, messages_of(path))
    assert KEY.encode() in got[-1]
    (file,) = folder.iterdir()
    text = file.read_text()
    assert KEY not in text
    assert token not in text
    deltas = [json.loads(each.data) for each in messages_of(file)[2:5]]
    assert "".join(each["delta"] for each in deltas) != KEY
    assert [len(each.data) for each in messages_of(file)] == [
        len(each.data) for each in messages_of(path)
    ]


def test_messages_are_on_disk_when_their_answer_has_ended(tmp_path: Path) -> None:
    path, folder = kept(tmp_path, in_turn(), end="client-closed"), tmp_path / "taken"
    messages = messages_of(path)
    with serving([path]) as server, recording(server.url, folder) as proxy, opened(proxy) as client:
        half = len(messages) // 2
        played(client, messages[:half])
        client.ping().wait(10)
        assert shown(recorded(folder)) == [(m.side, m.binary, m.data) for m in messages[:half]]
        assert recorded(folder).end == "open"
        played(client, messages[half:])


def test_an_answer_that_is_no_upgrade_is_passed_on_as_http(tmp_path: Path) -> None:
    path, folder = kept(tmp_path, in_turn()), tmp_path / "taken"
    with (
        serving([path], options=ReplayOptions(exact_paths=True)) as server,
        recording(f"{server.url}/other", folder) as proxy,
        pytest.raises(InvalidStatus) as found,
    ):
        opened(proxy)
    assert found.value.response.status_code == 404
    assert b"no recorded exchange is a WebSocket" in found.value.response.body
    taken = recorded(folder)
    assert (taken.end, taken.response and taken.response.status) == ("eof", 404)
    assert taken.body == found.value.response.body


def test_missing_library_has_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.wire.upgrade.find_spec", lambda _: None)
    with recording("http://127.0.0.1:1", tmp_path) as proxy, pytest.raises(InvalidStatus) as found:
        opened(proxy)
    assert found.value.response.status_code == 501
    assert b"reasoning-conformance[websocket]" in found.value.response.body


# Bytes of either side, written by hand.


async def _answer_to(port: int, says: bytes, *, is_half: bool) -> bytes:
    """What a client gets that says this behind the handshake, and then maybe nothing more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(UPGRADE)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.replace(b"\r\n", b"\n") == ACCEPTED.replace(b"\r\n", b"\n")
    writer.write(says)
    if is_half:
        writer.write_eof()
    try:
        return await reader.read()
    except ConnectionResetError:
        return b"RST"
    finally:
        writer.close()


def talked(
    folder: Path, says: bytes, answers: bytes, *, ends: str = "", idle: float = 60
) -> tuple[bytes, bytes, Exchange]:
    """What the server and the client got, each saying this behind the handshake."""
    got: asyncio.Queue[bytes] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ACCEPTED)
        head = await reader.readexactly(min(len(says), 6))
        writer.write(answers)
        if ends == "fin":
            writer.write_eof()
        if ends == "rst":
            await writer.drain()
            sock = writer.get_extra_info("socket")
            sock.setsockopt(1, 13, struct.pack("ii", 1, 0))
            writer.transport.abort()
        got.put_nowait(head + await reader.read() if ends != "rst" else b"")
        writer.close()

    async def run() -> tuple[bytes, bytes]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        shelf = RecordingFolder(folder, RecordingOptions())
        upstream = Origin.parse(f"http://127.0.0.1:{port}")
        async with (
            server,
            RecordingProxy(upstream, shelf, timeouts=ProxyTimeouts(5, idle)) as proxy,
        ):
            data = await _answer_to(int(proxy.url.rpartition(":")[2]), says, is_half=ends == "half")
            return await got.get(), data

    received, data = asyncio.run(run())
    return received, data, recorded(folder)


HELLO, REPLY = masked(b'{"a":1}'), Frame(Opcode.TEXT, b'{"b":1}').serialize(mask=False)
CLOSE = Frame(Opcode.CLOSE, struct.pack("!H", 1011) + b"oops").serialize(mask=False)


@pytest.mark.parametrize(
    ("says", "answers", "ends", "end"),
    [
        (HELLO, REPLY, "fin", "protocol-error"),
        (HELLO, REPLY + CLOSE, "fin", "reset"),
        (HELLO, REPLY, "rst", "reset"),
        (HELLO + masked(struct.pack("!H", 1000), Opcode.CLOSE), REPLY, "fin", "client-closed"),
        (HELLO, REPLY, "half", "client-closed"),
        (HELLO, REPLY, "", "idle-timeout"),
    ],
    ids=["fin", "close 1011", "rst", "client's close", "half-closed", "silence"],
)
def test_end_is_recorded(tmp_path: Path, says: bytes, answers: bytes, ends: str, end: str) -> None:
    got, data, taken = talked(tmp_path, says, answers, ends=ends, idle=0.3)
    assert ends == "rst" or got == says
    assert data in (answers, b"RST" if ends == "rst" else answers)
    assert taken.end == end
    assert shown(taken) == [("client", False, b'{"a":1}'), ("server", False, b'{"b":1}')]
    assert taken.close_code == {"reset": 1011 if ends == "fin" else None}.get(
        end, 1000 if says != HELLO else None
    )


UNMASKED = Frame(Opcode.TEXT, b"{}").serialize(mask=False)
HUGE = b"\x81\xff" + struct.pack("!Q", 200 * 1024 * 1024)
FAULTS = [
    ("unmasked", HELLO + UNMASKED + HELLO, REPLY, "client", 1002),
    ("over the bound", HELLO + HUGE + b"mask", REPLY, "client", 1009),
    ("compressed", HELLO + b"\xc1\x82maskxx", REPLY, "client", 1002),
    ("a masked server", HELLO, REPLY + HELLO, "server", 1014),
    ("a server over the bound", HELLO, REPLY + HUGE, "server", 1014),
    ("a server that compresses", HELLO, REPLY + b"\xc1\x01x", "server", 1014),
]


@pytest.mark.parametrize(
    ("says", "answers", "who", "code"), [each[1:] for each in FAULTS], ids=[n for n, *_ in FAULTS]
)
def test_what_is_no_websocket_is_not_passed_on(
    tmp_path: Path, says: bytes, answers: bytes, who: str, code: int
) -> None:
    got, data, taken = talked(tmp_path, says, answers)
    assert got.startswith(HELLO)
    assert got[len(HELLO) :][:1] == b"\x88"  # only a close
    assert data.startswith(b"\x88" if who == "client" else REPLY) or REPLY in data
    assert struct.unpack("!H", data[data.rindex(b"\x88") :][2:4]) == (code,)
    assert taken.end == ("client-closed" if who == "client" else "protocol-error")
    assert ("client", False, b'{"a":1}') in shown(taken)


def test_a_text_that_is_no_text_is_passed_on_and_recorded_as_it_came(tmp_path: Path) -> None:
    bad = Frame(Opcode.TEXT, b'{"b":"\xff"}').serialize(mask=False)
    got, data, taken = talked(tmp_path, HELLO, bad + CLOSE, ends="fin")
    assert (got, data) == (HELLO, bad + CLOSE)
    assert [each[2] for each in shown(taken)] == [b'{"a":1}', b'{"b":"\xff"}']


def test_pings_and_fragments_pass_as_they_are(tmp_path: Path) -> None:
    says = (
        Frame(Opcode.TEXT, b'{"a"', fin=False).serialize(mask=True)
        + masked(b"alive", Opcode.PING)
        + masked(b":1}", Opcode.CONT)
    )
    answers = Frame(Opcode.PONG, b"alive").serialize(mask=False) + REPLY + CLOSE
    got, data, taken = talked(tmp_path, says, answers, ends="fin")
    assert (got, data) == (says, answers)
    assert shown(taken) == [("client", False, b'{"a":1}'), ("server", False, b'{"b":1}')]


def test_the_close_of_the_server_reaches_the_client(tmp_path: Path) -> None:
    text = cassette_text([asked(), ("server", {})], end="reset")
    path, folder = tmp_path / "a.cassette.jsonl", tmp_path / "taken"
    path.write_text(text.replace('"end": "reset"', '"end": "reset", "close_code": 4001'))
    with serving([path]) as server, recording(server.url, folder) as proxy, opened(proxy) as client:
        played(client, messages_of(path))
        with pytest.raises(ConnectionClosed, match="4001"):
            client.recv(10)
    assert (recorded(folder).end, recorded(folder).close_code) == ("reset", 4001)
