"""Binary messages under replay: cut again they stay the same, and faults are sent as asked for."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from conformance.cassette import open_recording
from conformance.core.binary import MessageParser
from conformance.core.events import Frame
from conformance.core.shipped import cassettes
from conformance.targets.replay import ReplayOptions, serving

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
