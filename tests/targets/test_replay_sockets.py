"""A recorded WebSocket played to a client: its messages, byte for byte, and each way to end."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from conformance.cassette import read
from conformance.core.errors import CassetteError
from conformance.core.events import SocketMessage
from conformance.targets.replay import ReplayLimits, ReplayOptions, ThreadedServer, serving
from conformance.targets.replay.tape import load_exchanges
from tests.cassette.sockets import asked, at_once, cassette_text, in_turn

UPGRADE = (
    b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n"
    b"connection: keep-alive, Upgrade\r\nsec-websocket-version: 13\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def kept(folder: Path, talk: Any, name: str = "talk", **more: Any) -> Path:
    path = folder / f"{name}.cassette.jsonl"
    path.write_text(cassette_text(talk, **more))
    return path


def opened(server: ThreadedServer, name: str = "", **more: Any) -> ClientConnection:
    url = server.base_url(name).replace("http", "ws", 1)
    made: ClientConnection = connect(f"{url}/v1/responses", proxy=None, compression=None, **more)
    return made


def played(client: ClientConnection, messages: list[SocketMessage]) -> list[bytes]:
    """Takes the client's part of a recorded talk; what the server says."""
    found = []
    for each in messages:
        if each.side == "client":
            client.send(each.data.decode())
        else:
            found.append(client.recv(10, decode=False))
    return found


def messages_of(path: Path) -> list[SocketMessage]:
    (exchange,) = read(path).exchanges
    return [each for each in exchange.chunks if isinstance(each, SocketMessage)]


@pytest.mark.parametrize("chunking", ["recorded", "events", "bytes:7", "seed:3"])
@pytest.mark.parametrize("talk", [in_turn(), at_once()], ids=["in turn", "at once"])
def test_every_message_comes_byte_for_byte(tmp_path: Path, talk: Any, chunking: str) -> None:
    path = kept(tmp_path, talk, end="client-closed")
    messages = messages_of(path)
    with serving([path], options=ReplayOptions.parse(chunking=chunking)) as server:
        with opened(server) as client:
            found = played(client, messages)
        server.settle()
        assert not server.unused()
    assert found == [each.data for each in messages if each.side == "server"]
    (seen,) = server.seen
    assert (seen.outcome, seen.status, seen.sent) == ("complete", 101, sum(map(len, found)))
    assert seen.size == seen.sent


def test_keys_may_stand_in_any_order_and_who_asks_does_not_matter(tmp_path: Path) -> None:
    path = kept(tmp_path, in_turn())
    with serving([path]) as server, opened(server) as client:
        turned = dict(reversed([*asked()[1].items(), ("user", "me")]))
        client.send(json.dumps(turned, indent=1))
        assert played(client, messages_of(path)[1:])[0] == messages_of(path)[1].data


def test_the_first_message_chooses_the_recording(tmp_path: Path) -> None:
    for name in ("one", "two"):
        kept(tmp_path, [asked(model=name), ("server", {"type": name})], name)
    with serving([tmp_path]) as server:
        for name in ("two", "one"):
            with opened(server) as client:
                client.send(json.dumps(asked(model=name)[1]))
                assert json.loads(client.recv(10)) == {"type": name}
        server.settle()
        assert [str(each.exchange) for each in server.seen] == ["two exchange 1", "one exchange 1"]


def test_messages_of_which_no_upgrade_was_kept_are_played_to_who_asks(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    lines = ({"from": side, "data": json.dumps(each)} for side, each in in_turn())
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    messages = messages_of(kept(tmp_path, in_turn(), "same"))
    with serving([path]) as server, opened(server) as client:
        found = played(client, messages)
    assert found == [each.data for each in messages if each.side == "server"]


def test_a_message_that_was_not_recorded_is_answered_by_what_differs(tmp_path: Path) -> None:
    path = kept(tmp_path, in_turn())
    with serving([path]) as server:
        with opened(server) as client:
            client.send(json.dumps(asked(model="other")[1]))
            error = json.loads(client.recv(10))
            with pytest.raises(ConnectionClosed, match="1008"):
                client.recv(10)
        server.settle()
    assert error["error"]["code"] == "replay_miss"
    assert 'model is "other", recorded "m"' in error["error"]["message"]
    (seen,) = server.seen
    assert (seen.outcome, seen.why) == ("refused", error["error"]["message"])


def test_a_message_after_the_end_is_refused(tmp_path: Path) -> None:
    path = kept(tmp_path, [asked(), ("server", {})], end="client-closed")
    with serving([path]) as server, opened(server) as client:
        played(client, messages_of(path))
        client.send("{}")
        assert "has no more" in str(client.recv(10))


def test_a_recording_is_played_once_or_again_and_again(tmp_path: Path) -> None:
    path = kept(tmp_path, [asked(), ("server", {})])
    for repeat in (False, True):
        with serving([path], options=ReplayOptions(repeat=repeat)) as server:
            for turn in range(2):
                if turn and not repeat:
                    with pytest.raises(Exception, match="HTTP 404"):
                        opened(server)
                else:
                    with opened(server) as client:
                        assert played(client, messages_of(path)) == [b"{}"]


ENDS: list[tuple[str, dict[str, Any], str]] = [
    ("eof", {}, "complete"),
    ("eof", {"close_code": 1001}, "complete"),
    ("reset", {"close_code": 1011}, "complete"),
    ("reset", {}, "cut"),
    ("protocol-error", {}, "cut"),
    ("idle-timeout", {}, "stalled"),
]


@pytest.mark.parametrize(("end", "more", "outcome"), ENDS)
def test_end_is_as_recorded(tmp_path: Path, end: str, more: dict[str, Any], outcome: str) -> None:
    path = kept(tmp_path, [asked(), ("server", {})], end=end)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], json.dumps(json.loads(lines[-1]) | more)]) + "\n")
    with serving([path], limits=ReplayLimits(hold_s=0.2)) as server:
        with opened(server) as client:
            assert played(client, messages_of(path)) == [b"{}"]
            with pytest.raises(ConnectionClosed) as found:
                client.recv(10)
        server.settle()
    closed = found.value.rcvd
    expected = more.get("close_code", 1000 if end == "eof" else None)
    assert (closed.code if closed else None) == expected
    assert [each.outcome for each in server.seen] == [outcome]


@pytest.mark.parametrize(
    ("cut", "how", "count"), [("event:0", "fin", 0), ("event:2", "rst", 2), ("byte:5", "fin", 0)]
)
def test_a_cut_breaks_off(tmp_path: Path, cut: str, how: str, count: int) -> None:
    path = kept(tmp_path, in_turn())
    with serving([path], options=ReplayOptions.parse(cut=cut, how=how)) as server:
        with opened(server) as client:
            client.send(json.dumps(asked()[1]))
            found = [client.recv(10) for _ in range(count)]
            with pytest.raises(ConnectionClosed):
                client.recv(10)
        server.settle()
    assert len(found) == count
    assert server.seen[0].outcome == "cut"


def test_a_server_that_speaks_first(tmp_path: Path) -> None:
    path = kept(tmp_path, [("server", {"type": "hello"}), *in_turn()])
    with serving([path]) as server, opened(server) as client:
        assert played(client, messages_of(path))[0] == b'{"type": "hello"}'


def test_without_a_library_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.wire.upgrade.find_spec", lambda _: None)
    with (
        pytest.raises(CassetteError, match=r"not installed.*\n?.*\[websocket\]"),
        serving([kept(tmp_path, in_turn())]),
    ):
        pass


def test_who_plays_without_a_server_refuses_a_websocket(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="is a WebSocket, which only a server replays"):
        load_exchanges([kept(tmp_path, in_turn())])


def raw(server: ThreadedServer, data: bytes) -> bytes:
    """What the server says to these bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", server.port), 10) as sock:
        sock.sendall(data)
        found = b""
        while data := sock.recv(65536):
            found += data
        return found


HANDSHAKES = [
    (UPGRADE.replace(b"13", b"8"), b"426"),
    (UPGRADE.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"short"), b"400"),
    (UPGRADE.replace(b"/v1/responses", b"/v1/chat/completions"), b"404"),
    (UPGRADE.replace(b"localhost", b""), b"101"),
]


@pytest.mark.parametrize(("data", "status"), HANDSHAKES, ids=["version", "key", "path", "host"])
def test_a_handshake_is_accepted_or_refused(tmp_path: Path, data: bytes, status: bytes) -> None:
    with serving([kept(tmp_path, in_turn())], limits=ReplayLimits(idle_s=0.1)) as server:
        assert raw(server, data).split(b" ", 2)[1] == status


def masked(data: bytes, opcode: Opcode = Opcode.TEXT) -> bytes:
    return Frame(opcode, data).serialize(mask=True)


HOSTILE = [
    (Frame(Opcode.TEXT, b"{}").serialize(mask=False), 1002),
    (masked(b"\xff"), 1007),
    (masked(bytes(3000), Opcode.BINARY), 1009),
    (masked(bytes(1500), Opcode.BINARY) * 2, 1008),
]


@pytest.mark.parametrize(
    ("data", "code"), HOSTILE, ids=["unmasked", "no text", "over the bound", "not recorded"]
)
def test_broken_protocol_closes_with_its_code(tmp_path: Path, data: bytes, code: int) -> None:
    limits = ReplayLimits(body=2000, close_s=0.1)
    with serving([kept(tmp_path, in_turn())], limits=limits) as server:
        answer = raw(server, UPGRADE + data)
        server.settle()
    assert code.to_bytes(2, "big") in answer.rsplit(b"\x88", 1)[1]
    assert [each.outcome in ("rejected", "refused") for each in server.seen] == [True]


def test_a_ping_is_answered_while_the_server_waits(tmp_path: Path) -> None:
    path = kept(tmp_path, in_turn())
    with serving([path]) as server, opened(server) as client:
        assert client.ping().wait(10)


def test_recorded_times_are_kept(tmp_path: Path) -> None:
    path = kept(tmp_path, [asked(), ("server", {}), ("server", {})], ms=20.0)
    with serving([path], options=ReplayOptions.parse(timing="recorded")) as server:
        with opened(server) as client:
            played(client, messages_of(path))
        server.settle()
    assert server.seen[0].ms >= 40
