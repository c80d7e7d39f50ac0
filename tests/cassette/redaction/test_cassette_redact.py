"""Redaction: nothing secret is left, and everything else means what it meant."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import BodyRedactor, Cassette, Header, Redaction, Redactor, redact
from conformance.cassette.redaction.placeholders import Placeholders, is_stand_in
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Exchange, Request, Response
from tests.growth import grows_linearly

BLOB = "gAAAAABqPBGsQ7o-UumUlNuYz1ac4CuvJNgMl_CW4bqlE4ECoZjFRewShEcb=="
KEYS = {
    "key.sk": "sk-proj-Ab1" + "c3D4" * 8,
    "key.google": "AIza" + "Sy0-" * 8 + "abc",
    "key.github": "ghp_" + "A1b2" * 9,
    "key.github-pat": "github_pat_" + "A1_b" * 8,
    "key.slack": "xoxb-123456789012-abcdefABCDEF",
    "key.aws": "AKIA" + "ABCD" * 4,
    "key.huggingface": "hf_" + "aBcD" * 9,
    "key.groq": "gsk_" + "aBc1" * 13,
    "key.xai": "xai-" + "aBc1" * 20,
    "key.nvidia": "nvapi-" + "aB-1" * 16,
    "key.jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
}
OPAQUE = {
    "opaque.encrypted_content": '{"type":"reasoning","encrypted_content":"%s"}',
    "opaque.signature": '{"type":"signature_delta","signature" : "%s"}',
    "opaque.reasoning_opaque": '{"delta":{"reasoning_opaque":"%s"}}',
    "opaque.thoughtSignature": '{"parts":[{"text":"","thoughtSignature":"%s"}]}',
    "opaque.data": '{"content_block":{"data":"%s","type":"redacted_thinking"}}',
    "field.authorization": '{"tools":[{"type":"mcp","authorization":"%s"}]}',
}
DETAILS = '{"reasoning_details":[{"type":"reasoning.encrypted","data":"%s","format":"x"}]}'


def counted(redactor: Redactor) -> dict[str, int]:
    return {one.rule: one.count for one in redactor.counts()}


@pytest.mark.parametrize("rule", KEYS)
@pytest.mark.parametrize(
    "frame", ["%s", '{"text":"say \\n%s now"}', "data: key=%s\n\n", '"\\u0022%s"']
)
def test_keys_are_found_by_their_shape(rule: str, frame: str) -> None:
    redactor = Redactor()
    before = (frame % KEYS[rule]).encode()
    after = redactor.body(before)
    assert KEYS[rule].encode() not in after
    assert len(after) == len(before)
    assert re.sub(rb"\w", b"", after) == re.sub(rb"\w", b"", before)
    assert counted(redactor) == {rule: 3 if rule == "key.jwt" else 1}


@pytest.mark.parametrize(
    "text",
    [
        "the task-management-and-risk-assessment-framework2 works",
        "sk-loading-indicator-icon-wrapper-element",
        '{"type":"text","data":"not opaque at all, just data"}',
        '{"signature":""}',
        '{"type":"redacted_thinking","data":""}',
        '{"text":"\\"signature\\":\\"quoted text\\""}',
        "bearer of good news, says the Bearer",
        "eyJust a word. eyJust another. eyJust a third",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.body(text.encode()) == text.encode()
    assert redactor.counts() == ()


@pytest.mark.parametrize("rule", OPAQUE)
@pytest.mark.parametrize(
    "frame", ["%s", "data: %s\n\n", "event: x\r\ndata: %s\r\n\r\n", ": it's \"\n%s"]
)
def test_opaque_data_is_found_by_its_key(rule: str, frame: str) -> None:
    redactor = Redactor()
    before = (frame % (OPAQUE[rule] % BLOB)).encode()
    after = redactor.body(before)
    assert BLOB.encode() not in after
    assert len(after) == len(before)
    assert after.startswith(before[: before.index(BLOB[:4].encode())])
    assert counted(redactor) == {rule: 1}


def test_encrypted_details_are_found_by_their_type() -> None:
    redactor = Redactor()
    assert BLOB.encode() not in redactor.body((DETAILS % BLOB).encode())
    assert counted(redactor) == {"opaque.data": 1}


def test_a_secret_that_the_end_cut_off_is_found() -> None:
    half = f'data: {{"encrypted_content":"{BLOB}'.encode()
    assert BLOB.encode() not in Redactor().body(half)


def test_synthetic_signatures_can_stay() -> None:
    body = (OPAQUE["opaque.signature"] % BLOB).encode()
    assert Redactor(opaque=False).body(body) == body
    secret = (OPAQUE["field.authorization"] % BLOB).encode()
    assert Redactor(opaque=False).body(secret) != secret


def test_equal_secrets_get_equal_stand_ins_wherever_they_stand() -> None:
    wire = f'data: {{"encrypted_content":"{BLOB}"}}\n\ndata: {{"encrypted_content":"{BLOB}x"}}\n\n'
    exchange = Exchange(
        request=Request(json={"input": [{"encrypted_content": BLOB}]}),
        chunks=(Chunk(wire.encode()),),
        seen=({"type": "thinking.opaque", "kind": "encrypted", "data": BLOB},),
        user_choices={"encrypted_content": BLOB},
    )
    clean = Redactor().exchange(exchange)
    found = re.findall(r'"encrypted_content":"([^"]*)"', clean.chunks[0].data.decode())
    assert clean.request is not None
    assert clean.seen is not None
    assert clean.request.json["input"][0]["encrypted_content"] == found[0]
    assert clean.seen[0]["data"] == found[0]
    assert clean.user_choices == {"encrypted_content": found[0]}
    assert found[0] != found[1][:-1]
    assert BLOB not in str(clean)


def test_two_cassettes_share_no_stand_in() -> None:
    assert Placeholders().plain(BLOB) != Placeholders().plain(BLOB)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("0123456789", r"[0-9]{10}"),
        ("deadbeef00", r"[0-9a-f]{10}"),
        ("ABCDEF0099", r"[0-9A-F]{10}"),
        ("abcdefxyz", r"[a-z]{9}"),
        ("a-b_c=Z9==", r"\w-\w_\w=\w\w=="),
        ("äß€🔑", "··…🔑"),
        ("", ""),
    ],
)
def test_stand_ins_keep_alphabet_and_length(text: str, pattern: str) -> None:
    assert re.fullmatch(pattern, Placeholders().plain(text))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30), st.booleans())
def test_spelling_changes_no_length_and_no_meaning(text: str, ascii_only: bool) -> None:
    placeholders = Placeholders()
    raw = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
    spelled = placeholders.spelled(raw)
    assert len(spelled.encode("utf-8", "surrogatepass")) == len(
        raw.encode("utf-8", "surrogatepass")
    )
    assert json.loads(f'"{spelled}"', strict=False) == placeholders.plain(text)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.binary(max_size=20))
def test_secret_split_over_chunks_leaves_the_chunks_as_cut(sizes: list[int], noise: bytes) -> None:
    lines = [OPAQUE["opaque.signature"] % BLOB, KEYS["key.sk"], DETAILS % BLOB]
    body = noise + b"\n\n" + b"".join(f"data: {line}\n\n".encode() for line in lines)
    chunks, at = [], 0
    for size in (*sizes, len(body)):
        chunks.append(Chunk(body[at : at + size], float(size)))
        at += size
    clean = Redactor().exchange(Exchange(chunks=tuple(chunks))).chunks
    joined = b"".join(chunk.data for chunk in clean)
    assert [(len(c.data), c.ms) for c in clean] == [(len(c.data), c.ms) for c in chunks]
    assert BLOB.encode() not in joined
    assert KEYS["key.sk"].encode() not in joined

    redactor = Redactor()
    streaming = BodyRedactor(redactor)
    streamed = [done for chunk in chunks for done in streaming.feed(chunk)] + streaming.close()
    assert [(len(c.data), c.ms) for c in streamed] == [(len(c.data), c.ms) for c in chunks]
    assert b"".join(c.data for c in streamed) == redactor.body(body)


def test_a_streaming_redactor_gives_up_finished_events_at_once() -> None:
    streaming = BodyRedactor(Redactor())
    assert streaming.feed(Chunk(b"data: 1\n\n", 1.0)) == [Chunk(b"data: 1\n\n", 1.0)]
    assert streaming.feed(Chunk(b"data: 2\n", 2.0)) == []
    assert streaming.feed(Chunk(b"\ndata", 3.0)) == [Chunk(b"data: 2\n", 2.0)]
    assert streaming.close() == [Chunk(b"\ndata", 3.0)]


def test_lines_of_ndjson_come_out_one_by_one() -> None:
    streaming = BodyRedactor(
        Redactor(), Response(headers=(("content-type", "application/x-ndjson"),))
    )
    assert streaming.feed(Chunk(b'{"a":1}\n{"b"', 1.0)) == []
    assert streaming.feed(Chunk(b":2}\n", 2.0)) == [
        Chunk(b'{"a":1}\n{"b"', 1.0),
        Chunk(b":2}\n", 2.0),
    ]


def test_the_rest_of_a_frame_that_is_too_long_is_blank() -> None:
    streaming = BodyRedactor(Redactor(), longest=40)
    chunks = [
        Chunk(one, 1.0) for one in (b'data: {"a":"' + b"b" * 30, b"Zz9-" * 5, b'"}\n\nfine\n\n')
    ]
    out = [done for chunk in chunks for done in streaming.feed(chunk)] + streaming.close()
    assert [len(one.data) for one in out] == [len(one.data) for one in chunks]
    assert b"".join(one.data for one in out) == (
        b'data: {"a":"' + b"b" * 30 + b"Xx0-" * 5 + b'"}\n\nfine\n\n'
    )


@pytest.mark.parametrize("cut", [1, 5, 15])
def test_half_a_key_at_the_end_of_a_body_is_replaced(cut: int) -> None:
    body = b'data: {"delta":"' + KEYS["key.sk"][: 3 + cut].encode()
    streaming = BodyRedactor(Redactor())
    (clean,) = [*streaming.feed(Chunk(body, 1.0)), *streaming.close()]
    assert clean.data[:-cut] == body[:-cut]
    assert clean.data[-cut:] != body[-cut:]
    whole = Redactor().exchange(Exchange(chunks=(Chunk(body),))).chunks[0].data
    assert whole[-cut:] != body[-cut:]


def test_a_credential_of_a_header_is_known_in_bodies() -> None:
    request = Request(
        headers=(("Authorization", "Bearer local-dev-token"), ("cookie", "s=abcdefgh1"))
    )
    redactor = Redactor()
    redactor.request(request)
    echo = b'{"error":"token local-dev-token of session abcdefgh1 is unknown"}'
    clean = redactor.body(echo)
    assert b"local-dev-token" not in clean
    assert b"abcdefgh1" not in clean
    assert len(clean) == len(echo)
    assert redactor.text("local-dev-token") == clean[16:31].decode()


def test_the_model_that_a_header_names_too_is_no_secret() -> None:
    text = '{"turn_id":"0199c2f1-77aa","model":"quince-large-2"}'
    request = Request(headers=(("x-turn-metadata", text),), json={"model": "quince-large-2"})
    redactor = Redactor()
    assert redactor.request(request).json == request.json
    assert redactor.text("quince-large-2") == "quince-large-2"
    assert redactor.text("0199c2f1-77aa") != "0199c2f1-77aa"


def test_opaque_data_that_leaks_into_a_text_is_replaced_the_same() -> None:
    chunks = (OPAQUE["opaque.signature"] % BLOB, f'{{"delta":"see {BLOB} there"}}')
    wire = "".join(f"data: {one}\n\n" for one in chunks).encode()
    clean = Redactor().exchange(Exchange(chunks=(Chunk(wire),))).chunks[0].data.decode()
    (first,) = re.findall(r'"signature":"([^"]*)"', clean.replace('" : "', '":"'))
    assert f"see {first} there" in clean


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_a_stand_in_is_known_and_stays(text: str) -> None:
    stand_in = Placeholders().plain(text)
    assert is_stand_in(stand_in)
    assert Placeholders().spelled(stand_in) == stand_in


def test_who_asks_counts_near_the_root_only() -> None:
    redactor = Redactor()
    tool = b'{"content":[{"type":"tool_use","input":{"user":"bob","people":[{"user":"eve"}]}}]}'
    assert redactor.body(tool) == tool
    assert b"jane" not in redactor.body(b'{"user":"jane","metadata":{"user_id":"jane"}}')


def test_headers_and_queries_pass_by_allow_list_only() -> None:
    redactor = Redactor()
    request = redactor.request(
        Request(
            path="https://me:pw@host/v1/x?api-version=2&key=secret&flag=&stream=true",
            headers=(
                ("Content-Type", "application/json"),
                ("Authorization", "Bearer abc"),
                ("X-Custom", "v"),
                ("User-Agent", f"curl {KEYS['key.sk']}"),
            ),
        )
    )
    assert request.path == (
        "https://[redacted]@host/v1/x?api-version=2&key=[redacted]&flag=&stream=true"
    )
    values = dict(request.headers)
    assert values["Content-Type"] == "application/json"
    assert values["Authorization"] == values["X-Custom"] == "[redacted]"
    assert KEYS["key.sk"] not in values["User-Agent"]
    assert counted(redactor) == {"header": 2, "key.sk": 1, "query": 1, "userinfo": 1}


def test_lists_can_be_widened() -> None:
    redactor = Redactor(headers={"X-Custom"}, query={"key"})
    request = Request(path="/?key=1", headers=(("x-custom", "v"),))
    assert redactor.request(request) == request


def test_counts_stand_in_the_header_with_those_before() -> None:
    header = Header(
        redactions=(Redaction("header", 2),), target={"url": "http://h/?a=1", "k": KEYS["key.sk"]}
    )
    exchange = Exchange(response=Response(200, headers=(("set-cookie", "x"),)))
    clean = redact(Cassette(header, (exchange,), trailer=(Redaction("query", 1),)))
    assert clean.header.redactions == (
        Redaction("header", 3),
        Redaction("key.sk", 1),
        Redaction("query", 1),
    )
    assert clean.trailer == ()
    assert KEYS["key.sk"] not in str(clean)


def test_redacting_again_counts_no_header_twice() -> None:
    exchange = Exchange(request=Request(path="/?k=v", headers=(("cookie", "x"),)))
    once = redact(Cassette(Header(), (exchange,)))
    assert redact(once) == once


def test_a_compressed_body_is_refused() -> None:
    response = Response(200, headers=(("Content-Encoding", "gzip"),))
    with pytest.raises(CassetteError, match="content-encoding 'gzip' cannot be redacted"):
        Redactor().exchange(Exchange(response=response))


def test_deep_json_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(CassetteError, match="nested too deeply"):
        Redactor().value(deep)
    while deep:
        deep = deep.pop()


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "unit",
    [
        b'\\"',
        b'"',
        b'{"',
        b'{"data":"x"',
        b"eyJ-",
        b"eyJaaaaaaaaa.",
        b"sk-a",
        b"Bearer  ",
        b"signature[",
    ],
)
def test_hostile_bodies_take_linear_time(unit: bytes) -> None:
    hints = b'"signature" redacted_thinking eyJ sk- Bearer '

    def redact_units(size: int) -> None:
        Redactor().body(hints + unit * (size // len(unit)))

    assert grows_linearly(redact_units, 1_000_000)


@pytest.mark.parametrize("key", ["sk-proj-", "pa-", "hf_", "SG.", "AcB-"])
def test_a_stand_in_does_not_begin_like_a_key_by_chance(key: str) -> None:
    """Another pattern would find it, and write over its check."""
    made = Placeholders().plain(key + "Ab3dEf9hIj2kLm5nOp8q" * 3)
    name = key[: len(key.rstrip("-_.").partition("-")[0])]
    assert made.startswith("".join("x" if each.islower() else "X" for each in name))
    assert is_stand_in(made)
