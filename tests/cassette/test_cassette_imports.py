"""Foreign recordings: what is kept, what is rebuilt, what is refused."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest

from conformance.cassette import Redactor, convert, import_file, locate, open_recording, read
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Request

VCR_TEXT = """\
version: 1
interactions:
- request:
    method: POST
    uri: https://api.example.test/v1/messages?beta=true
    headers: {content-type: [application/json], x-api-key: [secret]}
    body: '{"model": "m", "stream": true}'
  response:
    status: {code: 200, message: OK}
    headers:
      content-type: [text/event-stream]
    body:
      string: "event: ping\\r\\ndata: {\\"a\\": 1}\\r\\n\\r\\n"
- request:
    method: GET
    uri: /v1/messages
    headers: {}
    body: null
  response:
    status: {code: 404, message: no}
    headers: {Content-Encoding: [gzip], Content-Length: ['99'], X: y}
    body: {string: !!binary "@ZIPPED"}
- request: {method: POST, uri: /v1/messages, parsed_body: {n: 1, f: 1.5, t: true, s: "1", z: null}}
  response: {status_code: 200, headers: {}, parsed_body: {a: [1, x]}}
- request: {uri: /v1/messages}
  response: {status: {code: 200}, headers: {}, body: {base64_string: @BINARY}}
"""
VCR = VCR_TEXT.replace(
    "@ZIPPED", base64.b64encode(gzip.compress(b"zipped", mtime=0)).decode()
).replace("@BINARY", base64.b64encode(b"\xff\x00").decode())


def written(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    ("name", "kind", "content_type"),
    [
        ("a.sse", "sse", None),
        ("a.ndjson", "ndjson", "application/x-ndjson"),
        ("a.json", "json", "application/json"),
        ("a.sse.gz", "sse", None),
    ],
)
def test_raw_bodies_are_kept(
    tmp_path: Path, name: str, kind: str, content_type: str | None
) -> None:
    body = b'{"a":\r\n 1}\n\n'
    packed = gzip.compress(body) if name.endswith(".gz") else body
    recording = open_recording(written(tmp_path, name, packed), dialect="openai.chat")
    [exchange] = recording.exchanges
    assert (recording.kind, recording.header.fidelity) == (kind, "bytes")
    assert recording.header.origin == "imported"
    assert exchange.chunks == (Chunk(body),)
    assert exchange.body == body
    assert exchange.dialect == "openai.chat"
    assert exchange.request is None
    assert exchange.response is not None
    assert exchange.response.status is None
    assert exchange.response.header("content-type") == content_type
    assert recording.locate(1, [-1, 0, 6, 7, 11, 12]) == [1, 1, 1, 2, 3, 4]


FRAMED = [
    (
        '{"type":"response.created"}',
        'event: response.created\ndata: {"type":"response.created"}\n\n',
    ),
    ('{"type":"ping"}', 'event: ping\ndata: {"type":"ping"}\n\n'),
    ('{"type":"text-delta"}', 'data: {"type":"text-delta"}\n\n'),
    ('{"type":"response.a\\nid: x"}', 'data: {"type":"response.a\\nid: x"}\n\n'),
    ("[1]", "data: [1]\n\n"),
]


@pytest.mark.parametrize(("line", "frame"), FRAMED)
def test_framing_is_rebuilt_from_the_payload(tmp_path: Path, line: str, frame: str) -> None:
    path = written(tmp_path, "a.chunks.txt", f"\n{line}\r\n{line}")
    cassette = import_file(path)
    assert cassette.header.fidelity == "events"
    assert cassette.exchanges[0].body.decode() == frame * 2
    assert locate(path, 1, [0, len(frame) - 1, len(frame), 10**6]) == [2, 2, 3, 3]


CHAT = '{"object":"chat.completion.chunk","choices":[{"finish_reason":%s}]}\n'


@pytest.mark.parametrize(
    ("lines", "ends"),
    [
        (CHAT % '"stop"', 1),
        (CHAT % '"stop"' + "[DONE]\n", 1),
        (CHAT % "null", 0),
        ('{"object":"chat.completion.chunk","choices":5}\n', 0),
    ],
)
def test_done_is_rebuilt_only_after_a_finish(tmp_path: Path, lines: str, ends: int) -> None:
    cassette = import_file(written(tmp_path, "a.jsonl", lines))
    assert cassette.exchanges[0].body.count(b"data: [DONE]\n\n") == ends
    assert bool(cassette.notes) == (ends == 1 and "[DONE]" not in lines)


def test_a_jsonl_file_is_what_its_first_line_says(tmp_path: Path) -> None:
    cassette = written(tmp_path, "a.jsonl", '{"cassette": "1.0"}\n')
    assert open_recording(cassette).kind == "cassette"
    stream = written(tmp_path, "b.jsonl", "data: 1\n\n")
    assert open_recording(stream).kind == "sse"
    assert open_recording(written(tmp_path, "stream", ": ping\n\n")).kind == "sse"


def test_a_jsonl_file_may_hold_one_answer_over_many_lines(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "Hi"}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    answer = {"id": "c", "object": "chat.completion", "model": "m", "choices": choices}
    text = json.dumps(answer, indent=2)
    path = tmp_path / "a.jsonl"
    path.write_text(text, encoding="utf-8")
    (exchange,) = open_recording(path).exchanges
    assert exchange.body == text.encode()
    path.write_text(text + "\n" + text, encoding="utf-8")
    with pytest.raises(CassetteError, match="one JSON value a line"):
        open_recording(path)


def test_vcr_interactions_become_exchanges(tmp_path: Path) -> None:
    path = written(tmp_path, "a.yaml", VCR)
    recording = open_recording(path)
    stream, zipped, parsed, binary = recording.exchanges
    assert (recording.kind, recording.header.fidelity) == ("vcr", "text")
    assert stream.request == Request(
        "POST",
        "/v1/messages?beta=true",
        (("content-type", "application/json"), ("x-api-key", "secret")),
        {"model": "m", "stream": True},
        server="https://api.example.test",
    )
    assert stream.body == b'event: ping\r\ndata: {"a": 1}\r\n\r\n'
    assert stream.response is not None
    assert stream.response.status == 200
    assert zipped.response is not None
    assert (zipped.response.status, zipped.response.headers) == (404, (("X", "y"),))
    assert zipped.body == b"zipped"
    assert parsed.request is not None
    assert parsed.request.json == {"n": 1, "f": 1.5, "t": True, "s": "1", "z": None}
    assert json.loads(parsed.body) == {"a": [1, "x"]}
    assert binary.request == Request("POST", "/v1/messages")
    assert binary.body == b"\xff\x00"
    assert recording.locate(1, [0, 20]) == [13, 13]


def test_vcr_as_json_gives_the_same(tmp_path: Path) -> None:
    answer = {"status": {"code": 200}, "headers": {"a": ["b"]}, "body": {"string": "data: 🔑\n\n"}}
    request = {"method": "POST", "uri": "/v1/messages", "headers": {}, "body": "{}"}
    tree = {"version": 1, "interactions": [{"request": request, "response": answer}]}
    recording = open_recording(written(tmp_path, "a.json", json.dumps(tree)))
    assert recording.kind == "vcr"
    assert recording.exchanges[0].body == "data: 🔑\n\n".encode()


def test_a_header_over_a_body_that_was_decoded_is_dropped(tmp_path: Path) -> None:
    text = VCR.replace("content-type: [text/event-stream]", "content-encoding: [gzip]")
    [exchange, *_] = import_file(written(tmp_path, "a.yaml", text)).exchanges
    assert exchange.response is not None
    assert exchange.response.headers == ()
    assert exchange.body.startswith(b"event: ping")


BOMB = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcde", "bcdef", strict=True)
)
GZIP_BOMB = base64.b64encode(gzip.compress(bytes(80_000_000), 1, mtime=0)).decode()
GZIPPED = """\
interactions:
- response: {headers: {content-encoding: gzip}, body: {string: !!binary "@"}}
"""
BAD: dict[str, tuple[str, str | bytes, str]] = {
    "empty": ("a.sse", "", "the file is empty"),
    "empty lines": ("a.jsonl", "\n\n", "the file is empty"),
    "unknown": ("a.bin", "\0", r"unknown kind of recording, expected \.cassette\.jsonl"),
    "text": ("a.txt", "hello\n", "no answer of a model, but text, and no stream: 'hello'"),
    "not json": ("a.jsonl", '{"a":1}\nnope\n', r"a\.jsonl:2: expected one JSON value a line"),
    "deep line": ("a.jsonl", "[" * 100_000, r"a\.jsonl:1: expected one JSON value"),
    "broken body": ("a.json", "{", "broken JSON"),
    "deep body": ("a.json", "[" * 100_000, "broken JSON"),
    "not utf-8": ("a.json", b'"\xff"', "broken JSON"),
    "yaml": ("a.yaml", "interactions: [\n", r"a\.yaml:2:1: broken YAML"),
    "yaml bytes": ("a.yaml", b"a: \xff\n", "broken YAML"),
    "no vcr": ("a.yaml", "rules: []\n", "expected a VCR cassette with `interactions`"),
    "no interactions": ("a.yaml", "interactions: []\n", "expected a VCR cassette"),
    "no response": (
        "a.yaml",
        "interactions:\n- request:\n    uri: h\n",
        r"a\.yaml:3: entry 1 has no response",
    ),
    "of another tool": ("a.yaml", "interactions:\n- a: 1\n", "expected a VCR cassette with"),
    "no uri": (
        "a.yaml",
        "interactions:\n- response: {}\n  request: {uri: 'http://a[b/'}\n",
        "entry 1 cannot be read: Invalid IPv6 URL",
    ),
    "aliases": ("a.yaml", BOMB, r"a\.yaml:3:8: aliases of large values are not allowed, got \*b"),
    "deep yaml": ("a.yaml", "[" * 500, r"nested more than 200 deep|nesting"),
    "tag": ("a.yaml", "interactions: [{response: {body: !!binary '?'}}]", "not base64"),
    "gzip": ("a.yaml", GZIPPED.replace("@", "H4sIAAAA"), "entry 1 cannot be read: it is cut short"),
    "gzip bomb": (
        "a.yaml",
        GZIPPED.replace("@", GZIP_BOMB),
        "inflates to more than 67,108,864 bytes",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, case: str) -> None:
    name, data, expected = BAD[case]
    with pytest.raises(CassetteError, match=expected) as caught:
        open_recording(written(tmp_path, name, data))
    assert "\n" not in str(caught.value)


def test_python_tags_construct_nothing(tmp_path: Path) -> None:
    text = "interactions:\n- response: {body: {string: !!python/object/apply:os.getcwd []}}\n"
    with pytest.raises(CassetteError, match="expected a text, got a list or an object"):
        import_file(written(tmp_path, "a.yaml", text))


def test_a_cassette_is_no_foreign_file(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="expected a foreign recording, got a cassette"):
        import_file(written(tmp_path, "a.cassette.jsonl", '{"cassette":"1.0"}\n'))


def test_converting_redacts_by_default(tmp_path: Path) -> None:
    source, target = written(tmp_path, "a.yaml", VCR), tmp_path / "a.cassette.jsonl"
    convert(source, target, dialect="anthropic.messages", seal=True)
    cassette = read(target)
    assert cassette.sealed
    assert cassette.header.dialect == "anthropic.messages"
    assert "secret" not in target.read_text()
    convert(source, target, clean=False)
    assert "secret" in target.read_text()
    convert(source, target, redactor=Redactor(headers={"x-api-key"}))
    assert "secret" in target.read_text()
    convert(target, target, seal=True)
    assert read(target).sealed


def test_raw_text_is_known_by_its_marker_or_by_who_names_the_dialect(tmp_path: Path) -> None:
    marked = written(tmp_path, "a.txt", "<|channel|>final<|message|>Hi.<|return|>")
    assert open_recording(marked).kind == "text"
    plain = written(tmp_path, "b.txt", "finalHi.")
    [exchange] = open_recording(plain, dialect="harmony").exchanges
    assert exchange.body == b"finalHi."


def test_a_body_with_a_history_is_a_request_of_the_dialect_that_is_named(tmp_path: Path) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    file = written(tmp_path, "a.json", json.dumps(asked))
    [exchange] = import_file(file, dialect="anthropic.messages").exchanges
    assert exchange.request == Request("POST", "", (("content-type", "application/json"),), asked)
    assert (exchange.chunks, exchange.end) == ((), "open")
    for dialect in (None, "openai.responses"):
        [answer] = import_file(file, dialect=dialect).exchanges
        assert answer.request is None
        assert answer.body == file.read_bytes()


def test_an_answer_is_none_of_the_dialect_that_is_named(tmp_path: Path) -> None:
    message: dict[str, object] = {
        "type": "message",
        "content": [],
        "stop_reason": None,
        "messages": [],
    }
    file = written(tmp_path, "a.json", json.dumps(message))
    [exchange] = import_file(file, dialect="anthropic.messages").exchanges
    assert exchange.request is None
