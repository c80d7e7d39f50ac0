"""Secrets that our side sent: found wherever they come back, in any spelling.

Rule 1: only secrets of our side are learnt: a key that the user gave, values of request headers and
of query parameters that are not on an allow-list. Nothing from a server is ever learnt, so a server
decides neither what is replaced nor, by filling a memory, what is not.
Rule 2: learnt secrets are never forgotten. Too many or too long ones are refused with an error.
Rule 3: a secret is recognised as itself, in hexadecimal and in the three alignments of base64 (both
alphabets), each in any spelling that `spellings` decodes.
Rule 4: a secret that looks random, or has three words or more, is found anywhere, also inside other
text. One or two words (`key_likeness`) are found as a whole token only, never inside a longer name.
Rule 5: the first two characters stay, so a text that ends in one or two characters of a key need
not wait for the next event. Half of a long key is a secret, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import jsonschema_rs

from conformance.cassette.redaction import spellings
from conformance.cassette.redaction.credentials import find_credentials
from conformance.cassette.redaction.key_likeness import is_key_like, is_unmistakable
from conformance.cassette.redaction.placeholders import Placeholders
from conformance.cassette.redaction.secret_forms import (
    SHORTEST,
    forms_of,
    is_common_text,
    is_harmless,
    parts_of,
)
from conformance.cassette.redaction.secret_names import names_secret_header, search_validator
from conformance.cassette.redaction.spellings import decode_numbers, decode_spellings
from conformance.core.errors import CassetteError
from conformance.core.own_keys import NAMES

KEPT: Final = 2  # characters at the front of a secret that stay
HEAD: Final = 6  # so many characters identify a secret
SHORTEST_KEY: Final = HEAD
_LONGEST: Final = 4096
_MOST_BYTES: Final = 1 << 18
_MOST: Final = 1024
_LONGEST_PREFIX: Final = 16  # of a published shape
_GOES_ON: Final = 3
_LONGEST_ESCAPE: Final = 12
_ELLIPSES: Final = ("\u2026".encode(), b"...", rb"\u2026", b"&hellip;", b"&#8230;")
_ELLIPSIS: Final = re.compile(rb"\xe2\x80\xa6|\.\.\.")
# An escape that was cut, and an ellipsis for the rest.
_CLIPPED: Final = re.compile(rb"[\\%&#;A-Za-z0-9]{0,8}(?:\xe2\x80\xa6|\.\.\.)")
# A letter or digit, also after a mark that joins names (`openai.chat`).
_JOINED_BEFORE: Final = re.compile(rb"(?<!\\)[A-Za-z0-9\x80-\xff][-._]?\Z|_\Z")
_CONTEXT: Final = 3
_JOINED_AFTER: Final = re.compile(rb"[-.]?[A-Za-z0-9\x80-\xff]|_")
_NUMBERS: Final = re.compile(rb"\[[ \t]*+([0-9]{1,3}(?:[ \t\r\n]*+,[ \t\r\n]*+[0-9]{1,3})++)")
_LISTED: Final = r"\[\s*[0-9]{1,3}\s*,\s*[0-9]{1,3}\s*,"
_SPELLED: Final = f"{spellings.SIGNS}|{_LISTED}"
_CUT_ESCAPE: Final = (
    r'(?:%(?:25)*[0-9a-fA-F]?|&[#A-Za-z0-9;]{0,40}|\\\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?)"'
)
OTHERWISE_SPELLED: Final = rf'{_SPELLED}|{_CUT_ESCAPE}|"bytes"\s*:\s*\['
"""In whole frames that lack this, a secret stands, begins and continues as itself only."""


class SecretMatch(NamedTuple):
    """Where a secret is in a decoded text, as far as it goes. `form` is how it was written."""

    start: int
    size: int
    form: bytes

    @property
    def is_whole(self) -> bool:
        return self.size == len(self.form)


class KnownSecrets:
    """The learnt secrets. Every text that leaves the process is searched for them."""

    def __init__(self, placeholders: Placeholders) -> None:
        self._placeholders = placeholders
        self._learnt: set[str] = set()
        self._size = 0
        self._forms: dict[bytes, list[bytes]] = {}
        self._beginnings: set[bytes] = set()
        self._words: set[bytes] = set()  # forms of secrets made of words (rule 4)
        self._stand_ins: dict[bytes, bytes] = {}
        self._marks: jsonschema_rs.Validator | None = None

    def __bool__(self) -> bool:
        return bool(self._forms)

    @property
    def has_words(self) -> bool:
        """Whether any of them are secrets only by the text next to them."""
        return bool(self._words)

    def learn(self, secret: str, *, shortest: int = SHORTEST, anywhere: bool = True) -> None:
        """Learns a secret of any shape. Raises CassetteError if it is too much to remember.

        Without `anywhere` it is found as a whole token only, unless it looks random.
        """
        for part in (secret[at : at + _LONGEST] for at in range(0, len(secret), _LONGEST)):
            if len(part) < shortest or part in self._learnt or is_common_text(part):
                continue
            raw = part.encode("utf-8", "surrogatepass")
            self._size += len(raw)
            if self._size > _MOST_BYTES or len(self._learnt) >= _MOST:
                message = f"more than {_MOST} secrets, or {_MOST_BYTES} bytes of them, were sent"
                raise CassetteError(message, hint="record into several files")
            self._learnt.add(part)
            if not (anywhere or is_unmistakable(part)):
                self._words.add(raw)
            for form in forms_of(raw):
                self._add_form(form)
            spelled = json.dumps(part)[1:-1].encode()
            if b"\\" in spelled:  # what it escapes is not decoded
                self._add_form(spelled)
            self._marks = None

    def learn_key(self, value: str, *, words: bool = True) -> None:
        """The value of a header that the user gave: all of it, its parts, and what they encode.

        Without `words` nothing that is made of them.
        """
        key = value.strip().removeprefix("Bearer ")
        for part in (key, *parts_of(key)):
            if words or is_unmistakable(part):
                self.learn(part, shortest=SHORTEST_KEY, anywhere=False)

    def learn_headers(self, headers: Iterable[tuple[str, str]], *, shown: Any = None) -> None:
        """Learns values of request headers that are secret by the header's name, or look random.

        Values in `shown` are not secret.
        """
        for name, value in headers:
            if not is_harmless(name):
                is_named = names_secret_header(name) or name.lower() in NAMES
                for part in parts_of(value):
                    if part != shown and (is_named or is_key_like(part)):
                        self.learn(part, anywhere=False)

    def learn_parameter(self, name: str, value: str) -> None:
        """The value of a query parameter, as it is in the URL; as that of a header."""
        plain = unquote(value)
        if names_secret_header(name) or name.lower() in NAMES or is_key_like(plain):
            self.learn(plain, anywhere=False)

    def may_stand_in(self, text: bytes) -> bool:
        """Whether one may be in there, in any spelling. False is certain."""
        return is_spelled(text) or self.has_marks(text.decode("latin-1"))

    def may_begin_in(self, frames: bytes) -> bool:
        """Whether one may be in whole frames, or begin or continue in a text of theirs."""
        if self._words:
            return True  # the text before a word is in an event without one
        found = frames.decode("latin-1")
        return _otherwise_spelled_validator().is_valid(found) or self.has_marks(found)

    def has_marks(self, frames: str) -> bool:
        """Whether one may be there, or begin or go on, that is spelled as itself.

        Frames are decoded as Latin-1. False is certain.
        """
        if self._marks is None:
            # A quote is spelled with a backslash in every other event: few secrets have one.
            has_quotes = any(mark in one for one in self._learnt for mark in "\"'")
            self._marks = _marks_validator(
                tuple(chain.from_iterable(self._forms.values())), has_quotes=has_quotes
            )
        return self._marks.is_valid(frames)

    def cut_short(self, body: bytes, least: int = HEAD) -> tuple[int, int, bytes] | None:
        """What a body ends in the middle of, if `least` characters are there; as `spots`."""
        end = max(0, len(body) - _LONGEST)
        decoded = decode_spellings(body[end:])
        for match in self.matches(decoded.text):
            if self.is_word(match) and not match.is_whole:
                continue
            if match.start + match.size == len(decoded.text) and match.size >= least:
                start, stop = decoded.raw_span(match.start, match.start + match.size)
                meant = self.stand_in(match.form)[: match.size]
                raw = body[end + start : end + stop]
                return end + start, end + stop, spellings.spell_alike(raw, meant)
        return None

    def stand_in(self, form: bytes) -> bytes:
        """The stand-in for a secret: as long, with the same beginning."""
        if form not in self._stand_ins:
            self._stand_ins[form] = self._make_stand_in(form)
        return self._stand_ins[form]

    def _make_stand_in(self, form: bytes) -> bytes:
        """The one that its shape would be given, where it has one."""
        pieces, at = [], 0
        for start, stop, _ in sorted(find_credentials(form)):
            kept = start - at if not at and start <= _LONGEST_PREFIX else 0
            pieces += [self._plain(form[at:start], kept), self._plain(form[start:stop], 0)]
            at = stop
        return b"".join((*pieces, self._plain(form[at:], 0 if at else KEPT)))

    def _plain(self, text: bytes, kept: int) -> bytes:
        made = self._placeholders.plain(text.decode("utf-8", "surrogateescape"), kept)
        return made.encode("utf-8", "surrogateescape")

    def before(self, text: bytes) -> tuple[bytes, ...]:
        """The first characters of secrets that a text with an unknown beginning may continue."""
        start = text[:_GOES_ON]
        found = {
            form[:size]: None
            for form in chain.from_iterable(self._forms.values())
            if form not in self._words
            for size in range(1, KEPT + 1)
            if start == form[size : size + len(start)]
        }
        return tuple(found)

    def reach(self, text: bytes) -> int:
        """How many bytes at the front of a text a secret may have."""
        first = next(self.matches(text), None)
        return first.size if first is not None and not first.start else 0

    def is_word(self, match: SecretMatch) -> bool:
        """Whether it is a secret only by the text next to it."""
        return match.form in self._words

    def matches(self, text: bytes, before: bytes = b"") -> Iterator[SecretMatch]:
        """Secrets in a decoded text, and one that it may end in the middle of, however short.

        `before` is what is known of the text before it.
        """
        at, last = 0, len(text) - HEAD
        while at <= last:
            best = self._match_at(text, at, before)
            if best is None:
                at += 1
            else:
                yield best
                at += best.size
        at = max(at, last + 1)
        for start in range(at, len(text)):
            form = self._known_beginning(text[start:])
            if form is not None:
                yield SecretMatch(start, len(text) - start, form)
                return

    def _match_at(self, text: bytes, at: int, before: bytes) -> SecretMatch | None:
        forms = self._forms.get(text[at : at + HEAD])
        if forms is not None and self._words:
            forms = [f for f in forms if f not in self._words or _is_token(text, at, f, before)]
        if not forms:
            return None
        size, form = max((_common_length(text, at, form), form) for form in forms)
        if size == len(form) or at + size == len(text):
            return SecretMatch(at, size, form)
        if size >= _least_length(form) and form not in self._words:
            return SecretMatch(at, size, form)
        if size >= HEAD and _CLIPPED.match(text, at + size):
            return SecretMatch(at, size, form)
        return None

    def _known_beginning(self, end: bytes) -> bytes | None:
        """A form that begins so; None where none does."""
        if end not in self._beginnings:
            return None
        return next(f for forms in self._forms.values() for f in forms if f.startswith(end))

    def spots(
        self, raw: bytes, *, clipped: bool = False, going_on: Sequence[tuple[int, int]] = ()
    ) -> list[tuple[int, int, bytes]]:
        """Start and stop in a raw text, and what is to be there.

        With `clipped`, an ellipsis may stand for the front of a secret, or for its end. What stands
        next to the stretches `going_on` is elsewhere: no word is looked for in them.
        """
        if not (self.may_stand_in(raw) or (clipped and any(mark in raw for mark in _ELLIPSES))):
            return []
        found = []
        decoded = decode_spellings(raw)
        for match, skipped in self._clipped_secrets(decoded.text) if clipped else ():
            start, stop = decoded.raw_span(match.start, match.start + match.size)
            meant = self.stand_in(match.form)[skipped:]
            found.append((start, stop, spellings.spell_alike(raw[start:stop], meant)))
        for match in self._settled(decoded.text):
            start, stop = decoded.raw_span(match.start, match.start + match.size)
            if self.is_word(match) and any(a <= start < b for a, b in going_on):
                continue
            meant = self.stand_in(match.form)[: match.size]
            found.append((start, stop, spellings.spell_alike(raw[start:stop], meant)))
        for listed in _NUMBERS.finditer(raw):
            numbers = decode_numbers(listed[1])
            for match in self._settled(numbers.text):
                start, stop = numbers.raw_span(match.start, match.start + match.size)
                filled = spellings.fill_numbers(listed[1][start:stop])
                found.append((listed.start(1) + start, listed.start(1) + stop, filled))
        return sorted(found)

    def _clipped_secrets(self, text: bytes) -> Iterator[tuple[SecretMatch, int]]:
        """Ends of secrets after an ellipsis, and how many characters of each are missing."""
        for mark in _ELLIPSIS.finditer(text):
            for at in range(mark.end(), min(mark.end() + _LONGEST_ESCAPE, len(text) - HEAD) + 1):
                ends = self._ends_from(text, at)
                if ends is not None:
                    form, skipped = ends
                    yield SecretMatch(at, len(form) - skipped, form), skipped
                    break

    def _ends_from(self, text: bytes, at: int) -> tuple[bytes, int] | None:
        """A secret of which the whole end is there, and where that end begins."""
        gram = text[at : at + HEAD]
        for form in chain.from_iterable(self._forms.values()):
            skipped = -1 if form in self._words else form.find(gram)
            while skipped >= 0:
                if text.startswith(form[skipped:], at):
                    return form, skipped
                skipped = form.find(gram, skipped + 1)
        return None

    def _settled(self, text: bytes) -> Iterator[SecretMatch]:
        return (
            one
            for one in self.matches(text)
            if one.is_whole
            or (one.size >= _least_length(one.form) and not self.is_word(one))
            or (one.size >= HEAD and _CLIPPED.match(text, one.start + one.size))
        )

    def _add_form(self, form: bytes) -> None:
        head = form[:HEAD]
        known = self._forms.setdefault(head, [])
        if form not in known:
            known.append(form)
            self._beginnings.update(form[:size] for size in range(1, HEAD))


def _is_token(text: bytes, at: int, form: bytes, before: bytes) -> bool:
    """Whether it is there and is no part of a longer word or name, as far as anybody knows."""
    size = _common_length(text, at, form)
    if _JOINED_BEFORE.search((before + text[max(0, at - _CONTEXT) : at])[-_CONTEXT:]):
        return False
    if size == len(form):
        return _JOINED_AFTER.match(text, at + size) is None
    return at + size == len(text) or _CLIPPED.match(text, at + size) is not None


def _common_length(text: bytes, at: int, form: bytes) -> int:
    if text.startswith(form, at):
        return len(form)
    there = text[at : at + len(form)]
    pairs = zip(there, form, strict=False)
    return next((size for size, (a, b) in enumerate(pairs) if a != b), len(there))


def _least_length(form: bytes) -> int:
    """From how many bytes on a part is as good as the whole."""
    return min(len(form), max(12, min(20, len(form) // 2)))


def is_spelled(text: bytes) -> bool:
    """Whether something may be spelled otherwise than as itself. False is certain."""
    return _spelled_validator().is_valid(text.decode("latin-1"))


@cache
def _spelled_validator() -> jsonschema_rs.Validator:
    return search_validator(_SPELLED)


@cache
def _otherwise_spelled_validator() -> jsonschema_rs.Validator:
    return search_validator(OTHERWISE_SPELLED)


@lru_cache(maxsize=32)  # every conversation of a client sends the same key
def _marks_validator(forms: tuple[bytes, ...], *, has_quotes: bool) -> jsonschema_rs.Validator:
    """Finds what is where a secret is, and where a string begins or continues as one.

    Nothing but text is looked for: engines find hundreds of such at once in a microsecond.
    """
    marks: set[bytes] = set()
    for form in forms:
        marks.add(form[:HEAD])
        marks.update(form[:size] + b'"' for size in range(_GOES_ON, HEAD))
        for first in range(1, KEPT + 1):
            marks.add(b'"' + form[first : first + _GOES_ON])
            marks.update(b'"%b"' % form[first : first + size] for size in range(1, _GOES_ON))
    pattern = "|".join(
        (*sorted(map(_escape_literal, marks)), *((r"\\[\"']",) if has_quotes else ()))
    )
    return search_validator(pattern)


def _escape_literal(text: bytes) -> str:
    return re.escape(text.decode("latin-1"))
