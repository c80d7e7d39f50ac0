"""No text that leaves shows more than four characters in a row of a key, wherever it is cut.

Keys are drawn from published shapes, behind names, and as what a request sent; stand-ins are blanks
here, so that none has characters of a key by chance.
"""

from __future__ import annotations

import html
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import pytest

from conformance.cassette import Cassette, Header
from conformance.cassette.redaction import leaving
from conformance.cassette.redaction.placeholders import Blanks
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.excerpts import (
    MARGIN,
    beginning,
    both_ends,
    clipped,
    ending,
    excerpt,
    now_about,
    outer_parts,
    redacted,
)
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.report.files import FORMATS, render
from conformance.report.printable import visible
from conformance.report.redacted import redact_report
from conformance.rules.forms.differences import view
from conformance.rules.forms.texts import Needles, Search, difference

_MIXED: Final = string.ascii_letters + string.digits
_MOST: Final = 4  # characters in a row of a key that may be read
RULES: Final = Rulebook.load()

# How a key is drawn: what stands before the secret characters, their alphabet and number, the rest.
KINDS: Final[dict[str, tuple[str, str, int, str]]] = {
    "github": ("gh" + "p_", _MIXED, 36, ""),
    "anthropic": ("sk" + "-", _MIXED, 90, ""),
    "hugging face": ("hf" + "_", _MIXED, 34, ""),
    "slack": ("xo" + "xb-", _MIXED, 40, ""),
    "aws": ("AK" + "IA", string.ascii_uppercase + string.digits, 16, ""),
    "bearer": ("Bearer ", _MIXED, 40, ""),
    "password in a URL": ("https://me:", _MIXED, 20, "@db.example/x"),
    "client secret": ("client_secret=", _MIXED, 32, "&x=1"),
    "header": ("X-Api-Key: ", _MIXED, 32, ""),
    "sent": ("", _MIXED, 32, ""),
}
SPELLINGS: Final[dict[str, Callable[[str], str]]] = {
    "plain": lambda key: key,
    "json escapes": lambda key: "".join(rf"\u{ord(c):04x}" for c in key),
    "every third in percent": lambda key: "".join(
        f"%{ord(c):02X}" if n % 3 == 0 else c for n, c in enumerate(key)
    ),
    "quoted": lambda key: quote(key, safe=""),
    "entities": lambda key: "".join(f"&#{ord(c)};" for c in key),
}


@pytest.fixture(autouse=True)
def _blanks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(leaving, "_STAND_INS", Blanks())
    _forget()
    yield
    now_about(None)
    _forget()


def _forget() -> None:
    leaving._redactor.cache_clear()  # what it made has other stand-ins
    leaving._remembered.cache_clear()


def drawn(kind: str, rng: random.Random) -> tuple[str, str]:
    """A key with what stands around it, and its secret characters."""
    before, alphabet, size, upstream = KINDS[kind]
    secret = "".join(rng.choice(alphabet) for _ in range(size - 2)) + "7a"[: 2 if size > 2 else 0]
    if alphabet.isupper() or "a" not in alphabet:
        secret = secret[:-2] + "7Q"
    return f"{before}{secret}{upstream}", secret


def longest_run(secret: str, shown: str) -> int:
    """How many characters in a row of the secret stand in a text, however they are spelled."""
    readings = {shown, html.unescape(shown), unquote(shown), _unescaped(shown)}
    readings |= {html.unescape(unquote(_unescaped(each))) for each in readings}
    best = 0
    for text in readings:
        for start in range(len(secret)):
            while best < len(secret) - start and secret[start : start + best + 1] in text:
                best += 1
    return best


def _unescaped(text: str) -> str:
    return re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)


def sent(kind: str, secret: str) -> Request | None:
    if kind != "sent":
        return None
    return Request("POST", "/v1/chat/completions", (("authorization", f"Bearer {secret}"),))


def cuts(text: str, rng: random.Random) -> Iterator[str]:
    """The text as every cut of ours would show it."""
    start, size = rng.randrange(len(text)), rng.randrange(1, len(text))
    yield excerpt(text, start, start + size)
    yield beginning(text, size)
    yield ending(text, size)
    yield both_ends(text, size // 2, size // 3)
    yield clipped(redacted(text), size)
    yield visible(redacted(text), size)
    yield view({"value": text})


def differences(lead: str, key: str, rest: str, rng: random.Random) -> Iterator[str]:
    """What is shown of two texts that part before a key, at its end or behind it."""
    for other in (f"{lead}- {key}{rest}", f"{lead}{key} -{rest}", f"{lead}{key}{rest}x"):
        yield from difference(f"{lead}{key}{rest}", other)[1:]
    cut = rng.randrange(len(lead) + len(key))
    yield difference(f"{lead}{key}{rest}", f"{lead}{key}{rest}"[:cut])[1]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_cut_of_a_text_shows_a_key(kind: str, spelling: str) -> None:
    rng = random.Random(f"{kind} {spelling}")
    for _ in range(40):
        key, secret = drawn(kind, rng)
        now_about(sent(kind, secret))
        lead = " ".join("word" for _ in range(rng.randrange(30)))
        spelled, rest = SPELLINGS[spelling](key), f" and{' more' * rng.randrange(60)}"
        for shown in (
            *cuts(f"{lead} {spelled}{rest}", rng),
            *differences(f"{lead} ", spelled, rest, rng),
        ):
            assert longest_run(secret, shown) <= _MOST, shown


@pytest.mark.parametrize("size", [MARGIN, 3 * MARGIN])
def test_what_is_longer_than_any_key_is_blanked(size: int) -> None:
    text = "key: sk" + "-" + "".join(random.Random(size).choices(_MIXED, k=size)) + " end"
    assert longest_run(text[8:-4], excerpt(text, size // 2, size // 2 + 60)) <= _MOST
    assert ending("word " * MARGIN, 12, "") == "d word word "


@pytest.mark.parametrize("size", [0, 5, 200, MARGIN - 40, MARGIN, 2 * MARGIN, 2 * MARGIN + 90])
@pytest.mark.parametrize("kind", KINDS)
def test_the_ends_of_a_text_are_shown_as_if_all_of_it_were_looked_at(kind: str, size: int) -> None:
    rng = random.Random(f"{kind} {size}")
    key, secret = drawn(kind, rng)
    now_about(sent(kind, secret))
    filling = "x" * size if size % 2 else "word " * (size // 5)
    for text in (f"say {key} {filling} end", f"say {filling} {key} end", f"{key}{filling}{key}"):
        kept = outer_parts(text, 56, 99)
        assert len(kept) <= 56 + 99 + 2 * MARGIN
        shown = both_ends(text, 56, 99)
        assert both_ends(kept, 56, 99) == shown
        if len(text) > 156:
            assert shown == f"{excerpt(text, 0, 56)}…{excerpt(text, len(text) - 99, len(text))}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 3, 17, 500])
def test_what_stands_around_a_needle_shows_no_key(kind: str, size: int) -> None:
    rng = random.Random(f"{kind} {size}")
    for _ in range(20):
        key, secret = drawn(kind, rng)
        now_about(sent(kind, secret))
        for text in (f"{'so ' * 99}{key}</think> x", f"so </think> {key} x", f"{key} </think> x"):
            search = Search(Needles.of(["</think>"]))
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            hits = [search.feed(piece, number) for number, piece in enumerate(pieces)]
            (hit,) = [each for each in hits if each is not None]
            assert longest_run(secret, hit.around) <= _MOST, hit.around


def leaking(kind: str, secret: str, content: str) -> Exchange:
    """A stream that says the key where rules quote it: as text, as a reason, in an error."""
    head = '"id":"c","object":"chat.completion.chunk","created":1,"model":"m"'
    choice = '"index":0,"delta":{"role":"assistant","content":%s},"finish_reason":%s'
    events = (
        f'{{{head},"choices":[{{{choice % (content, content)}}}]}}',
        f'{{"error":{{"message":{content},"code":{content}}}}}',
    )
    request = sent(kind, secret) or Request("POST", "/v1/chat/completions")
    return Exchange(
        request=request,
        response=Response(200, "1.1", (("content-type", "text/event-stream"),)),
        chunks=tuple(Chunk(f"data: {each}\n\n".encode(), 1.0) for each in events),
        dialect="openai.chat",
    )


@pytest.mark.parametrize("spelling", ["plain", "json escapes"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_format_shows_a_key_wherever_it_is_cut(kind: str, spelling: str) -> None:
    rng = random.Random(f"{kind} in {spelling}")
    for _ in range(6):
        key, secret = drawn(kind, rng)
        spelled = SPELLINGS[spelling](key) if spelling != "plain" else json.dumps(key)[1:-1]
        lead, rest = "z " * rng.randrange(90), " z" * rng.randrange(90)
        mark = rng.choice(["{} </think>", "</think> {}"]).format(spelled)
        exchange = leaking(kind, secret, f'"{lead}{mark}{rest}"')
        recording = InMemory(
            Path("a.jsonl"), "cassette", Cassette(Header(profile="strict"), (exchange,))
        )
        report = redact_report(Report(tuple(check_recording(recording, RULES, CheckChoices()))))
        assert len(report.findings) >= 2
        for name in FORMATS:
            shown = render(report, name, verbose=True)
            assert longest_run(secret, shown) <= _MOST, (name, shown)
