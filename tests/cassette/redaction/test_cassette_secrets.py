"""No known shape of secret survives, wherever the bytes were cut."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from conformance.cassette import BodyRedactor, Redactor
from conformance.core.events import Chunk
from tests.cassette.redaction.secret_shapes import FIELDS, SHAPES
from tests.each import each

FRAMES = (
    'data: {"choices":[{"index":0,"delta":{"content":"say %s now"}}]}\n\n',
    "event: error\r\ndata: %s\r\n\r\n",
    ": %s\n\n",
)


def stream() -> bytes:
    """Every secret, each in an event of its own."""
    lines = [FRAMES[n % len(FRAMES)] % secret for n, secret in enumerate(SHAPES.values())]
    lines += [f"data: {around % secret}\n\n" for around, secret in FIELDS.values()]
    return "".join(lines).encode()


def cut(body: bytes, rng: random.Random) -> list[Chunk]:
    if rng.random() < 0.3:
        width = rng.choice((1, 2, 3, 5, 8))
        places = list(range(0, len(body), width))
    else:
        places = sorted(rng.sample(range(1, len(body)), rng.randint(0, 400)))
    return [Chunk(body[a:b], 0.1) for a, b in pairwise([0, *places, len(body)]) if b > a]


@each(SHAPES, FRAMES)
def test_a_shape_is_known_and_known_again(name: str, frame: str) -> None:
    redactor = Redactor()
    body = (frame % SHAPES[name]).encode()
    clean = redactor.body(body)
    assert len(clean) == len(body)
    assert SHAPES[name].encode() not in clean
    assert redactor.counts()
    again = Redactor()
    assert again.body(clean) == clean
    assert not again.counts()


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_known_and_known_again(name: str) -> None:
    around, secret = FIELDS[name]
    redactor = Redactor()
    clean = redactor.body((around % secret).encode())
    assert secret.encode() not in clean
    assert redactor.counts()
    assert Redactor().body(clean) == clean


@pytest.mark.parametrize("rounds", [50, pytest.param(1000, marks=pytest.mark.long)])
def test_no_secret_survives_any_chunking(rounds: int) -> None:
    rng = random.Random(rounds)
    body = stream()
    redactor = Redactor()
    whole = redactor.body(body)
    secrets = [*SHAPES.values(), *(secret for _, secret in FIELDS.values())]
    assert len(secrets) >= 40
    for secret in secrets:
        assert secret.encode() not in whole, secret
    for _ in range(rounds):
        chunks = cut(body, rng)
        streaming = BodyRedactor(redactor)
        clean = [done for chunk in chunks for done in streaming.feed(chunk)] + streaming.close()
        assert [len(one.data) for one in clean] == [len(one.data) for one in chunks]
        assert b"".join(one.data for one in clean) == whole
