"""Binary messages in cassettes: readable where they can be, exact always, and without secrets."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import Cassette, Header, discover, open_recording, read, write
from conformance.cassette.inspect import inspect
from conformance.cassette.redaction.redact import Redactor
from conformance.cassette.redaction.scan import scan
from conformance.core.binary import encode_message
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.framing import Framer

BINARY = Response(200, "1.1", (("content-type", "application/vnd.amazon.eventstream"),))
SECRET = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5q" * 2


def event(kind: str, payload: object) -> bytes:
    headers = ((":event-type", kind), (":message-type", "event"))
    return encode_message(headers, json.dumps(payload).encode())


def delta(text: str) -> bytes:
    return event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}})


def wrapped(payload: object) -> bytes:
    inner = base64.b64encode(json.dumps(payload).encode()).decode()
    return event("chunk", {"bytes": inner, "p": "abcd"})


def recorded(*chunks: bytes) -> Exchange:
    return Exchange(response=BINARY, chunks=tuple(Chunk(each, 1.0) for each in chunks))


def texts_of(exchange: Exchange) -> list[str]:
    framer = Framer(exchange.response)
    return [frame.data for frame in (*framer.feed(exchange.body), *framer.close())]


def written(exchange: Exchange, path: Path) -> list[str]:
    write(path, Cassette(Header(origin="synthetic"), (exchange,)), seal=True)
    assert read(path).exchanges[0].chunks == exchange.chunks
    return path.read_text(encoding="utf-8").splitlines()


def test_whole_messages_are_written_to_be_read(tmp_path: Path) -> None:
    lines = written(recorded(delta("Hi") + delta(" there")), tmp_path / "x.cassette.jsonl")
    messages = [json.loads(line)["message"] for line in lines if '"message":' in line]
    assert [json.loads(each["payload"])["delta"]["text"] for each in messages] == ["Hi", " there"]
    assert messages[0]["headers"] == {":event-type": "contentBlockDelta", ":message-type": "event"}


@pytest.mark.parametrize("name", ["kept.bin", "kept.txt", "kept"])
def test_a_file_of_messages_is_known_by_its_first_bytes(tmp_path: Path, name: str) -> None:
    stream = event("messageStart", {"role": "assistant"}) + delta("Hi")
    (tmp_path / name).write_bytes(stream)
    (tmp_path / f"other-{name}").write_bytes(b"\0" + stream)
    assert open_recording(tmp_path / name).exchanges[0].body == stream
    with pytest.raises(CassetteError):
        open_recording(tmp_path / f"other-{name}")
    assert discover(tmp_path) == (tmp_path / name,)


def test_other_bytes_are_kept_as_they_are(tmp_path: Path) -> None:
    message = delta("Hi")
    broken = message[:-1] + b"\x00"
    chunks = (message[:7], message[7:], broken, b"", b"\x00\xff" * 600_000)
    written(recorded(*chunks), tmp_path / "x.cassette.jsonl")


def test_a_header_that_is_too_long_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.cassette.jsonl"
    lines = written(recorded(delta("Hi")), path)
    path.write_text("\n".join(lines).replace(":event-type", "x" * 300), encoding="utf-8")
    with pytest.raises(CassetteError, match="headers of less than"):
        read(path)


@given(st.lists(st.integers(0, 900), max_size=6))
def test_secrets_go_and_messages_stay_whole(cuts: Sequence[int]) -> None:
    body = delta(f"my key is {SECRET} ok") + wrapped({"type": "x", "text": f"key {SECRET}"})
    places = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    chunks = [body[a:b] for a, b in pairwise(places)]
    clean = Redactor().exchange(recorded(*chunks))
    assert [len(chunk.data) for chunk in clean.chunks] == list(map(len, chunks))
    texts = texts_of(clean)
    assert len(texts) == 2
    assert not any(SECRET in text for text in texts)
    assert SECRET.encode() not in clean.body


def test_a_secret_over_several_messages_goes() -> None:
    pieces = ["key ", *(SECRET[at : at + 6] for at in range(0, len(SECRET), 6)), " ok"]
    clean = Redactor().exchange(recorded(*map(delta, pieces)))
    joined = "".join(json.loads(text)["delta"]["text"] for text in texts_of(clean))
    assert len(joined) == len("".join(pieces))
    assert SECRET not in joined


def test_a_wrong_checksum_stays_evidence() -> None:
    broken = delta(f"key {SECRET}")[:-1] + b"\x00"
    clean = Redactor().exchange(recorded(broken, delta("x")))
    framer = Framer(clean.response)
    kinds = [frame.event for frame in framer.feed(clean.body)]
    assert kinds == ["bad-checksum", "contentBlockDelta"]
    assert SECRET.encode() not in clean.body


def test_a_scan_finds_what_was_left(tmp_path: Path) -> None:
    path = tmp_path / "x.cassette.jsonl"
    pieces = [SECRET[at : at + 9] for at in range(0, len(SECRET), 9)]
    written(recorded(delta("x "), wrapped({"text": SECRET}), *map(delta, pieces)), path)
    found = list(scan(path))
    assert found[0].place.line == 5
    assert any(each.rule == "over several events" for each in found)


def test_messages_are_shown_with_headers_and_payload() -> None:
    message = delta("Hi")
    lines = list(inspect(recorded(message + message, message[:9], message[9:])))[3:-1]
    shown = ":event-type contentBlockDelta, :message-type event: {"
    assert [shown in line for line in lines] == [True, True, False, False]
    assert [line[19:26].strip() for line in lines] == ["1", "2", "3", ""]
