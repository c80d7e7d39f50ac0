"""What is let pass unread is what looking through it would leave as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.cassette import BodyRedactor, Redactor
from conformance.cassette.redaction import credentials, deltas, opaque, redact, secret_names
from conformance.cassette.redaction.known_secrets import KnownSecrets
from conformance.cassette.redaction.placeholders import Blanks
from conformance.core.events import Chunk, Request
from tests.cassette.redaction.test_known_secrets import SPELLINGS

KEY = SPELLINGS["plain"]
SHAPED = "s" + "k-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8"
WHOLE = (*SPELLINGS.values(), SHAPED, "Bea" + "rer " + SHAPED, '{"jwt":"a1b2c3d4e5f6g7h8"}')
PARTS = [each[at:stop] for each in WHOLE for at in (0, 1, 2, 3, 6) for stop in (at + 2, 7, None)]
WORDS = (" a", "é", "日本", "…", "\\", '"', "%", "&", "&amp;", "\\u00", "[1, 2, 3]", ".", "\n")
PLAIN = (" a", "b", "é", "日本", ".", "")
TEXTS = st.lists(st.sampled_from([*PARTS, *WORDS]), max_size=3).map("".join)


WAYS = ("{}", "{}", "%{:02X}", "%25{:02x}", r"\u{:04x}", r"\x{:02x}", "&#{};", "&amp;#{};")


@st.composite
def spelled_secrets(draw: st.DrawFn) -> str:
    """The key, each character of which is spelled in a way of its own."""
    ways = draw(st.lists(st.sampled_from(WAYS), min_size=len(KEY), max_size=len(KEY)))
    return "".join(
        char if way == "{}" else way.format(ord(char)) for char, way in zip(KEY, ways, strict=True)
    )


@st.composite
def cut_secrets(draw: st.DrawFn) -> list[str]:
    """Texts that say a secret together, and little else."""
    secret = draw(st.sampled_from([KEY, KEY, SHAPED, *WHOLE]) | spelled_secrets())
    cuts = sorted(draw(st.lists(st.integers(0, len(secret)), max_size=3)))
    places = [0, *cuts, len(secret)]
    pieces = [secret[at:stop] for at, stop in pairwise(places)]
    plain = st.sampled_from(PLAIN)
    pieces[0] = draw(plain) + pieces[0]
    pieces[-1] += draw(plain)
    return [draw(plain), *pieces, draw(plain)]


EVENT = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def event(text: str, *, is_ascii: bool) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    payload = json.dumps({**EVENT, "choices": [choice]}, ensure_ascii=is_ascii)
    return f"data: {payload}\n\n".encode()


def redacted(chunks: Sequence[bytes], *, learns: bool) -> bytes:
    redactor = Redactor(placeholders=Blanks())
    if learns:
        redactor.request(Request(headers=(("x-own", KEY),)))
    body = BodyRedactor(redactor)
    done = [*body.feed_all([Chunk(each, 1.0) for each in chunks]), *body.close()]
    return b"".join(each.data for each in done)


@given(
    cut_secrets() | st.lists(TEXTS, min_size=1, max_size=6),
    st.integers(1, 6),
    st.booleans(),
    st.booleans(),
)
@example(["n0", "e302d5"], 1, False, True)
@example(["n0", "%2DSha/pe+at_all=77xY"], 1, False, True)
@example(["n0", "%2", "DSha/pe+at_all=77xY"], 1, False, True)
@settings(max_examples=200)
def test_quick_scan_is_safe(texts: list[str], at_once: int, is_ascii: bool, learns: bool) -> None:
    events = [event(each, is_ascii=is_ascii) for each in texts]
    chunks = [b"".join(events[at : at + at_once]) for at in range(0, len(events), at_once)]
    quick = redacted(chunks, learns=learns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redact, "is_plain", lambda _: False)
        patch.setattr(redact, "is_plainly_spelled", lambda _: False)
        patch.setattr(redact, "is_suspect", lambda _: True)
        patch.setattr(deltas, "is_plain", lambda _: False)
        patch.setattr(KnownSecrets, "may_stand_in", lambda *_: True)
        patch.setattr(KnownSecrets, "may_begin_in", lambda *_: True)
        patch.setattr(KnownSecrets, "has_marks", lambda *_: True)
        assert redacted(chunks, learns=learns) == quick


@given(st.lists(st.sampled_from([*PARTS, *WORDS, "x-name", "accept"]), max_size=4).map("".join))
def test_headers_that_are_looked_at_together_are_those_that_are_looked_at_alone(text: str) -> None:
    headers = (("accept", text), ("x-plain", "v"), (text, "v"), ("server", "nginx"))
    together = Redactor(placeholders=Blanks())
    alone = Redactor(placeholders=Blanks())
    for each in (together, alone):
        each.learn(KEY)
    found = together._redact_headers(headers)
    assert found == tuple(one for pair in headers for one in alone._redact_headers((pair,)))


def test_no_search_asks_what_a_letter_of_any_script_is() -> None:
    """Rust's engine has no quick way to a word's border in a text beyond ASCII."""
    slow = r"\b"
    for pattern in (*opaque.SIGNS, secret_names.FAST_SIGN):
        assert slow not in pattern.replace(r"(?-u:\b)", "")
    assert slow in secret_names.SIGN


@given(st.lists(st.sampled_from(["jwt", "PWD", "é", "Ã", " ", '"', "a", "-", "_"])).map("".join))
def test_the_quick_sign_of_a_name_is_there_where_the_plain_one_is(text: str) -> None:
    raw = text.encode()
    if re.search(secret_names.SIGN.encode(), raw):
        assert secret_names.may_have_names(raw)


NAMES = ("user", "org_id", "password", "token", "id", "encrypted_content", "metadata", "type")
HELD = ("null", '""', '"u-1"', '"u', "7", "true", "nul", 'null "x"', '"" "x"', "{}", '["a"]', "")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.sampled_from((":", " : ", ":\n", "")),
            st.sampled_from(HELD),
            st.sampled_from((",", "}", ", ", "]", "\n\n", "")),
        ),
        max_size=5,
    )
)
@settings(deadline=None)
def test_quick_scan_of_fields_finds_every_name(
    parts: list[tuple[str, str, str, str]],
) -> None:
    pairs = (f'"{name}"{colon}{held}{mark}' for name, colon, held, mark in parts)
    body = b"{" + "".join(pairs).encode()
    all_of_them = opaque.secret_spans(body)
    expected = [each for each in all_of_them if not each.rule.startswith("opaque.")]
    assert opaque.field_spans(body) == expected


def test_signs_count_few_characters() -> None:
    """Who counts in many patterns at once is slow for good, after one page of random letters."""
    counts = re.findall(r"\{([0-9]+)", " ".join(credentials.SIGNS))
    assert counts
    assert max(map(int, counts)) <= 3
