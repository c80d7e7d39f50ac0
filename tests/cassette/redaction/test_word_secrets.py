"""What is made of words is a secret only by its name, and only where it stands alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from conformance.cassette import BodyRedactor, Redactor
from conformance.cassette.redaction.own_keys import remember_named, secrets_sent
from conformance.core import own_keys
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Request

EVENT = 'data: {"choices":[{"index":0,"delta":{"content":%s}}]}\n\n'
DRAWN = "Zk9Qm3vX7Lr5tYpW8sBn"


@pytest.fixture
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(own_keys, "NAMES", own_keys.NAMES)
    names, keys = dict(own_keys.NAMES), dict(own_keys.KEYS)
    yield
    for memory, before in ((own_keys.NAMES, names), (own_keys.KEYS, keys)):
        memory.clear()
        memory.update(before)


def redacted_pieces(pieces: list[str], *headers: tuple[str, str]) -> list[str]:
    """The texts of a stream that was asked for with these headers."""
    redactor = Redactor()
    redactor.learn_request(Request(headers=headers))
    body = BodyRedactor(redactor)
    events = [Chunk((EVENT % json.dumps(piece)).encode(), 1.0) for piece in pieces]
    clean = b"".join(chunk.data for chunk in (*body.feed_all(events), *body.close()))
    payloads = (json.loads(line[6:]) for line in clean.decode().splitlines() if line)
    return [each["choices"][0]["delta"]["content"] for each in payloads]


@pytest.mark.parametrize(
    "pieces",
    [
        ["a conversational agent"],
        ["a conversation", "al agent"],
        ["re", "conversation x"],
        list("my conversational is"),
        ["openai.", "conversation", " x"],
        ["a pre_conversation or conversation-like"],
    ],
)
def test_a_word_inside_another_one_stays(pieces: list[str]) -> None:
    assert redacted_pieces(pieces, ("x-api-key", "conversation")) == pieces


@pytest.mark.parametrize(
    "pieces",
    [
        ["a conversation", " agent"],
        ["a conv", "ersation", ", he said"],
        list("my conversation is"),
        ["in\nconversation\n"],
        ["it is conversation."],
        ["conversation"],
    ],
)
def test_a_word_that_stands_alone_is_replaced(pieces: list[str]) -> None:
    clean = redacted_pieces(pieces, ("x-api-key", "conversation"))
    assert list(map(len, clean)) == list(map(len, pieces))
    assert "conversation" not in "".join(clean)


@pytest.mark.parametrize(
    "header",
    [
        ("x-portkey-provider", "openai-compatible"),
        ("x-request-purpose", "conversation"),
        ("x-model", "claude-sonnet-4-20250514"),
        ("x-max-tokens", "40960000"),
    ],
)
def test_a_harmless_value_teaches_nothing(header: tuple[str, str]) -> None:
    text = f"it says {header[1]} here"
    assert redacted_pieces([text], header) == [text]
    assert secrets_sent(*header) == []


@pytest.mark.parametrize("name", ["x-own", "x-api-key", "cookie"])
def test_what_looks_drawn_is_found_glued_to_other_characters(name: str) -> None:
    headers = (("x-api-key", "conversation"), (name, DRAWN))
    pieces = ["a conv", "ersation", "xZk9", "Qm3vX7Lr5tYp", "W8sBnfoo"]
    clean = "".join(redacted_pieces(pieces, *headers))
    assert DRAWN[2:] not in clean
    assert clean.endswith("foo")


@pytest.mark.usefixtures("nothing_named")
def test_the_user_names_a_header_or_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PHRASE", "bicycle")
    remember_named(["MY_PHRASE", "X-Request-Purpose"])
    (clean,) = redacted_pieces(["a bicycle of conversation"], ("x-request-purpose", "conversation"))
    assert "bicycle" not in clean
    assert "conversation" not in clean
    assert "openai.chat/bicycles" in Redactor().text("openai.chat/bicycles")


@pytest.mark.usefixtures("nothing_named")
@pytest.mark.parametrize(
    ("name", "value"), [("NO_SUCH_VARIABLE", ""), ("SHORT_ONE", "abc"), ("not a header", "")]
)
def test_name_of_nothing_is_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError):
        remember_named([name])
