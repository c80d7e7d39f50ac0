"""What our side sent is found however it is spelled; what a server says teaches nothing."""

from __future__ import annotations

import base64
import json
import random
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import BodyRedactor, Redactor
from conformance.cassette.redaction.known_secrets import KnownSecrets
from conformance.cassette.redaction.placeholders import Placeholders
from conformance.cassette.redaction.spellings import decode_spellings, spell_alike
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Exchange, Request, Response
from tests.each import each
from tests.growth import grows_linearly

KEY = "n0-Sha/pe+at_all=77xY"
SPELLINGS = {
    "plain": KEY,
    "escaped slash": KEY.replace("/", r"\/"),
    "escaped plus": KEY.replace("+", r"\u002B"),
    "all escaped": "".join(rf"\u{ord(c):04x}" for c in KEY),
    "escaped in a string": "".join(rf"\\u{ord(c):04X}" for c in KEY),
    "percent": quote(KEY, safe=""),
    "all percent": "".join(f"%{ord(c):02x}" for c in KEY),
    "percent twice": "".join(f"%25{ord(c):02X}" for c in KEY),
    "percent in escapes": "".join(rf"\u0025{ord(c):02X}" for c in KEY),
    "decimal entities": "".join(f"&#{ord(c)};" for c in KEY),
    "hexadecimal entities": "".join(f"&#x{ord(c):X};" for c in KEY),
    "named entities": KEY.replace("/", "&sol;").replace("+", "&plus;").replace("=", "&equals;"),
    "entities twice": KEY.replace("/", "&amp;#47;"),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64, shifted once": base64.b64encode(b"x" + KEY.encode() + b"y").decode(),
    "base64, shifted twice": base64.b64encode(b"xy" + KEY.encode() + b"z").decode(),
    "base64 for URLs": base64.urlsafe_b64encode(b"user:" + KEY.encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
    "hexadecimal, upper case": KEY.encode().hex().upper(),
    "byte values": json.dumps(list(KEY.encode())),
}
EVENT = 'data: {"choices":[{"index":0,"delta":{"content":%s}}]}\n\n'


def knowing(*secrets: str) -> Redactor:
    redactor = Redactor()
    redactor.request(Request(headers=tuple(("x-own", secret) for secret in secrets)))
    return redactor


def redacted(redactor: Redactor, events: list[bytes]) -> bytes:
    streaming = BodyRedactor(redactor)
    done = [one for event in events for one in streaming.feed(Chunk(event, 1.0))]
    done += streaming.close()
    assert [len(one.data) for one in done] == [len(event) for event in events]
    return b"".join(one.data for one in done)


def redacted_body(body: bytes) -> str:
    payloads = (json.loads(line[6:]) for line in body.decode().splitlines() if line)
    return "".join(each["choices"][0]["delta"]["content"] for each in payloads)


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_secret_is_found_in_every_spelling(name: str) -> None:
    redactor = knowing(KEY)
    before = f'data: {{"content":"say {SPELLINGS[name]} now"}}\n\n'
    after = redactor.text(before)
    assert after != before
    assert SPELLINGS[name][8:] not in after
    assert len(after) == len(before)
    assert [each.rule for each in redactor.counts()] == ["header", "known"]
    json.loads(after[6:])
    assert redactor.text(after) == after


@each(SPELLINGS, (1, 2, 5, 30))
def test_a_secret_over_events_is_found_in_every_spelling(name: str, longest: int) -> None:
    if name == "byte values":
        return  # a list of numbers is one value
    rng = random.Random(f"{name}{longest}")
    rest = "It is: " + json.loads(f'"{SPELLINGS[name]}"') + ", keep it."
    pieces = []
    while rest:
        size = rng.randint(1, longest)
        pieces.append(rest[:size])
        rest = rest[size:]
    events = [(EVENT % json.dumps(piece)).encode() for piece in pieces]
    clean = redacted_body(redacted(knowing(KEY), events))
    assert clean.startswith("It is: ")
    assert clean.endswith(", keep it.")
    assert decode_spellings(SPELLINGS[name].encode()).text.decode()[8:] not in clean
    assert KEY[6:] not in decode_spellings(clean.encode()).text.decode()


def test_a_secret_is_found_over_any_number_of_events() -> None:
    events = []
    for char in f"My key is {KEY}!":
        events.append((EVENT % json.dumps(char)).encode())
        events += [b'data: {"choices":[{"index":1,"delta":{"content":"and "}}]}\n\n'] * 300
    clean = redacted(knowing(KEY), events)
    mine = [line for line in clean.splitlines() if b'"index":0' in line]
    text = redacted_body(b"\n".join(mine))
    assert text.startswith("My key is n0")
    # What had to be let go before it was told for a secret is the beginning alone.
    assert KEY[5:] not in text
    assert text.endswith("!")


def test_tokens_and_their_bytes_are_replaced_with_the_text() -> None:
    events = []
    for piece in ("Key: ", *(KEY[at : at + 3] for at in range(0, len(KEY), 3)), " it is"):
        likely = [{"token": piece, "logprob": -0.1, "bytes": list(piece.encode())}]
        token = {**likely[0], "top_logprobs": [*likely, {"token": "x", "bytes": [120]}]}
        choice = {"index": 0, "delta": {"content": piece}, "logprobs": {"content": [token]}}
        events.append(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
    clean = redacted(knowing(KEY), events)
    tokens = [
        json.loads(line[6:])["choices"][0]["logprobs"]["content"][0]
        for line in clean.decode().splitlines()
        if line
    ]
    for spelled in (
        "".join(one["token"] for one in tokens),
        "".join(one["top_logprobs"][0]["token"] for one in tokens),
        b"".join(bytes(one["bytes"]) for one in tokens).decode(),
        b"".join(bytes(one["top_logprobs"][0]["bytes"]) for one in tokens).decode(),
        redacted_body(clean),
    ):
        assert spelled.startswith("Key: ")
        assert KEY[6:] not in spelled


def test_a_server_teaches_nothing() -> None:
    redactor = Redactor()
    redactor.response(Response(200, headers=(("set-cookie", "a=finish_reason; path=/v1/chat"),)))
    body = b'{"finish_reason":"stop","text":"</think> /v1/chat"}'
    assert redactor.body(body) == body


def test_no_number_of_signatures_pushes_a_key_out() -> None:
    redactor = knowing(KEY)
    for number in range(200):
        redactor.body(b'{"signature":"%064d"}' % number)
    assert KEY not in redactor.text(f"wrong key {KEY}")


def test_words_of_the_protocol_are_no_opaque_data() -> None:
    body = b'{"signature":"reasoning_content"}{"reasoning_content":"x"}'
    assert b'{"reasoning_content":"x"}' in Redactor().body(body)


@pytest.mark.parametrize(
    ("header", "secret"),
    [
        (("Authorization", f"Bearer {KEY}"), KEY),
        (("Authorization", f"Basic {base64.b64encode(b'me:hunter2-Xy').decode()}"), "hunter2-Xy"),
        (("Cookie", "session=abcdefgh1; theme=dark"), "abcdefgh1"),
        (("X-Anything", KEY), KEY),
    ],
)
def test_values_of_request_headers_are_learnt(header: tuple[str, str], secret: str) -> None:
    redactor = Redactor()
    redactor.request(Request(headers=(header,)))
    assert secret not in redactor.text(f"unknown: {secret}")


@pytest.mark.parametrize(
    "header",
    [
        ("Host", "api.example.com"),
        ("X-Stainless-Package-Version", "1.100.0-beta"),
        ("Content-Type", "application/json"),
        ("X-Mode", "reasoning_content"),
        ("Authorization", "[redacted]"),
    ],
)
def test_what_is_no_secret_is_not_learnt(header: tuple[str, str]) -> None:
    redactor = Redactor()
    redactor.request(Request(headers=(header,)))
    assert redactor.text(header[1]) == header[1]


def test_query_values_and_passwords_of_urls_are_learnt() -> None:
    redactor = Redactor()
    redactor.request(Request(path="http://me:pass-word-1@host/?sig=own%2Fvalue-22&limit=12345678"))
    text = "pass-word-1 own/value-22 12345678"
    assert redactor.text(text).endswith("12345678")
    assert "pass-word-1" not in redactor.text(text)
    assert "own/value-22" not in redactor.text(text)


def test_too_much_to_remember_is_refused() -> None:
    with pytest.raises(CassetteError, match="secrets"):
        knowing(*(f"own-value-{number:06d}" for number in range(2000)))


@given(st.text(max_size=40), st.integers(0, 40), st.sampled_from(["u", "%", "#"]))
def test_places_of_decoded_text_are_places_of_the_raw_one(text: str, at: int, how: str) -> None:
    spell = {"u": r"\u{:04x}", "%": "%{:02x}", "#": "&#{};"}[how]
    plain = [c for c in text if 32 < ord(c) < 127 and c not in r"\%&"]
    raw = "".join(spell.format(ord(c)) if n % 3 == at % 3 else c for n, c in enumerate(plain))
    decoded = decode_spellings(raw.encode())
    assert decoded.text.decode() == "".join(plain)
    assert decoded.place(len(decoded.text)) == len(raw)
    pieces = [decoded.raw_span(n, n + 1) for n in range(len(plain))]
    assert b"".join(raw.encode()[start:stop] for start, stop in pieces) == raw.encode()
    turned = "".join(chr(158 - ord(c)) for c in plain).replace("\\", "x")
    assert len(spell_alike(raw.encode(), turned.encode())) == len(raw)


@pytest.mark.parametrize(
    "unit", ["\\", "%25", "%", "&amp;", "&", KEY[:6], KEY[:-1], "[1,", "\\u006e", '"bytes":[1]']
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    def redact(size: int) -> None:
        knowing(KEY).text(unit * (size // len(unit)))

    assert grows_linearly(redact, 500_000)


def test_stand_ins_keep_what_reveals_nothing() -> None:
    known = KnownSecrets(Placeholders())
    known.learn("sk-ant-api03-" + "Ab1Cd2Ef3G" * 3)
    made = known.stand_in(b"sk-ant-api03-" + b"Ab1Cd2Ef3G" * 3)
    assert made.startswith(b"sk-")
    assert Redactor().body(b"Bearer " + made) == b"Bearer " + made


def test_a_whole_exchange_knows_what_its_request_sent() -> None:
    exchange = Exchange(
        request=Request(headers=(("authorization", f"Bearer {KEY}"),), json={"note": KEY}),
        response=Response(401, headers=(("content-type", f"text/{KEY}"),)),
        chunks=(Chunk(json.dumps({"error": KEY}).encode()),),
        seen=({"type": "error", "message": KEY},),
    )
    assert KEY not in str(Redactor().exchange(exchange))
