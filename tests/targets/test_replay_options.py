from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from conformance.cassette import Recording, discover, open_recording
from conformance.core.binary import MessageParser
from conformance.core.errors import UsageError
from conformance.core.events import Exchange, Frame
from conformance.core.shipped import cassettes
from conformance.targets.replay import (
    BodySpot,
    Chunking,
    ReplayLimits,
    ReplayOptions,
    ReplayTiming,
    serving,
)
from tests.targets.replay_wire import Client, request

SPELLINGS = [
    (Chunking.parse, "recorded", Chunking()),
    (Chunking.parse, "events", Chunking("events")),
    (Chunking.parse, "bytes:3", Chunking("bytes", 3)),
    (Chunking.parse, "seed:0", Chunking("seed", 0)),
    (ReplayTiming.parse, "recorded", ReplayTiming(1)),
    (ReplayTiming.parse, "none", ReplayTiming(0)),
    (ReplayTiming.parse, "scale:0.25", ReplayTiming(0.25)),
    (BodySpot.parse, "event:0", BodySpot("event", 0)),
    (BodySpot.parse, "byte:17", BodySpot("byte", 17)),
]
WRONG = [
    *((Chunking.parse, text) for text in ("", "Events", "bytes", "bytes:0", "bytes:-1", "seed:x")),
    *((Chunking.parse, text) for text in ("seed:", "recorded:1", "bytes:1.5", "bytes:²", "x:1")),
    *(
        (ReplayTiming.parse, text)
        for text in ("", "scale", "scale:", "scale:-1", "scale:nan", "scale:x")
    ),
    *((ReplayTiming.parse, text) for text in ("scale:inf", "none:1", "1")),
    *(
        (BodySpot.parse, text)
        for text in ("", "5", "event", "event:-1", "byte:", "line:3", "byte:9e9")
    ),
    *((BodySpot.parse, text) for text in (f"byte:{10**30}", f"byte:{2**45}")),
]


@pytest.mark.parametrize(("parse", "text", "value"), SPELLINGS)
def test_spelling_is_its_value(parse: Callable[[str], object], text: str, value: object) -> None:
    assert parse(text) == value
    assert str(value) == text


@pytest.mark.parametrize(("parse", "text"), WRONG)
def test_a_wrong_spelling_is_a_usage_error(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        parse(text)


def test_an_error_names_the_option() -> None:
    with pytest.raises(UsageError, match="stall: expected event:K or byte:N, got 'x'"):
        ReplayOptions.parse(stall="x")
    with pytest.raises(UsageError, match="how: expected fin or rst, got 'now'"):
        ReplayOptions.parse(how="now")


def test_cut_and_stall_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="not both"):
        ReplayOptions.parse(cut="event:1", stall="event:2")


def test_spellings_make_the_same_options_as_values() -> None:
    parsed = ReplayOptions.parse(
        chunking="seed:3", timing="scale:2", cut="byte:9", how="rst", crlf=True, comments=True
    )
    assert parsed == ReplayOptions(
        Chunking("seed", 3), ReplayTiming(2), BodySpot("byte", 9), "rst", comments=True, crlf=True
    )


def test_more_fields_and_headers_add_to_the_defaults() -> None:
    parsed, default = ReplayOptions.parse(ignore=("seed",), headers=("x-a",)), ReplayOptions()
    assert parsed.ignore == (*default.ignore, "seed")
    assert parsed.headers == (*default.headers, "x-a")


SHIPPED = Path(__file__).parents[2] / "cassettes"
CAPTURES = os.environ.get("CONFORMANCE_CAPTURES")


SWITCHED = 101  # to a WebSocket: test_replay_sockets.py asks for those


def replayed(port: int, prefix: str, exchange: Exchange) -> tuple[int, bytes]:
    """The status and body that the recorded request gets."""
    asked = exchange.request
    connected = Client(port)
    try:
        if asked is None:
            connected.send(request(b"{}", path=f"{prefix}/v1/chat/completions"))
        else:
            body = b"" if asked.json is None else json.dumps(asked.json).encode()
            headers = [f"{k}: {v}" for k, v in asked.headers if k.lower() == "x-include-thinking"]
            path = prefix + asked.path
            connected.send(request(body, method=asked.method, path=path, headers=headers))
        got = connected.answer()
    finally:
        connected.close()
    return got.status, got.body


def check(recording: Recording) -> int:
    """Asks for every exchange, in its order; how many there were."""
    served = [each for each in recording.exchanges if each.hop != "upstream"]
    options = ReplayOptions.parse(chunking="seed:1")
    with serving([recording], options=options, limits=ReplayLimits(hold_s=0.05)) as server:
        (name,) = {address.name for address in server.unused()}
        for each in served:
            status = (each.response.status if each.response else None) or 200
            if each.end == "reset" or status == SWITCHED:
                continue
            body = b"".join(chunk.data for chunk in each.chunks)
            assert replayed(server.port, f"/c/{name}", each) == (status, body), each.number
    return len(served)


def test_every_shipped_exchange_answers_its_own_request() -> None:
    files = discover(SHIPPED)
    assert sum(check(open_recording(file)) for file in files) >= len(files) > 0


@pytest.mark.captures
@pytest.mark.skipif(not CAPTURES, reason="CONFORMANCE_CAPTURES names no folder")
def test_real_recordings_come_back_byte_by_byte() -> None:
    files = discover(str(CAPTURES))
    assert sum(check(open_recording(file)) for file in files) >= len(files) > 0


RECORDING = cassettes() / "bedrock.converse/claude/thinking-then-text.cassette.jsonl"


def frames(data: bytes) -> list[Frame]:
    parser = MessageParser()
    return [*parser.feed(data), *parser.close()]


def fetched(path: Path, **options: str) -> bytes:
    (exchange,) = open_recording(path).exchanges
    assert exchange.request is not None
    data = b""
    with (
        serving([path], options=ReplayOptions.parse(**options)) as replay,
        httpx.Client() as client,
    ):
        url = f"{replay.url}{exchange.request.path}"
        with client.stream("POST", url, json=exchange.request.json) as answer:
            try:
                for chunk in answer.iter_raw():
                    data += chunk
            except httpx.RemoteProtocolError:
                pass
    return data


@pytest.mark.parametrize("chunking", ["recorded", "events", "bytes:1", "seed:3"])
def test_messages_stay_the_same(chunking: str) -> None:
    assert fetched(RECORDING, chunking=chunking) == open_recording(RECORDING).exchanges[0].body


def test_a_wrong_checksum_is_sent_where_it_is_wanted() -> None:
    whole = frames(open_recording(RECORDING).exchanges[0].body)
    found = frames(fetched(RECORDING, corrupt="event:3"))
    assert [each.offset for each in found] == [each.offset for each in whole]
    assert [n for n, each in enumerate(found, 1) if each.event == "bad-checksum"] == [3]


def test_a_byte_is_sent_wrong() -> None:
    body = open_recording(RECORDING).exchanges[0].body
    sent = fetched(RECORDING, corrupt="byte:8", chunking="bytes:3")
    assert [at for at, byte in enumerate(sent) if byte != body[at]] == [7]
    assert fetched(RECORDING, corrupt="byte:0") == body


def test_a_cut_falls_between_messages_or_inside_one() -> None:
    whole = frames(open_recording(RECORDING).exchanges[0].body)
    assert frames(fetched(RECORDING, cut="event:2")) == whole[:2]
    inside = frames(fetched(RECORDING, cut=f"byte:{whole[2].offset + 20}"))
    assert [each.event for each in inside[2:]] == ["unfinished"]
