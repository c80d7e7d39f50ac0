r"""Finds a secret that a model writes over several events, a few characters in each.

An event has its part of a text in one string (`"delta":"..."`). A string may end inside a possible
secret (`sk-pro`); then its event, and those after it, wait for the next one.
Rule 1: strings under one key with the same indices are one text. It is read as spelled, with its
escapes, so positions in it are positions in the events.
Rule 2: a text waits while it continues within 64 events, for at most 2 KiB; at most 1,024 events
wait. After that it is judged as it is.
Rule 3: the stand-in for the whole secret is distributed over the strings, so that texts joined from
deltas equal the ones that the server repeats in one piece.
Rule 4: nearly all events hold no secret. One search for signs that every secret has shows this in a
microsecond (`is_plain`, `is_suspect`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from typing import Final

import jsonschema_rs
from msgspec import Struct, field

from conformance.cassette.redaction import credentials, known_secrets, opaque
from conformance.cassette.redaction.credentials import PREFIXES, SECRET_NAME, find_credentials
from conformance.cassette.redaction.known_secrets import KnownSecrets
from conformance.cassette.redaction.known_texts import KnownTexts
from conformance.cassette.redaction.secret_names import search_validator
from conformance.cassette.redaction.spellings import fill_numbers
from conformance.cassette.redaction.waiting_events import (
    TextPiece,
    WaitingEvent,
    deal_out,
    drop_front,
)
from conformance.core.framing import Framing
from conformance.dialects import WIRE_KEYS

_MOST_EVENTS: Final = 1024
_STALE: Final = 64
_LONGEST: Final = 2048
_LONGEST_INDICES: Final = 64
_KEYS: Final = "|".join(WIRE_KEYS.texts)
# The quote first: the engine skips to the next one, instead of looking back from every byte.
_STRING: Final = re.compile(
    rb'"(?<!\\")(%b)"\s*+:\s*+"((?:[^"\\\r\n]++|\\[^\r\n])++)"' % _KEYS.encode()
)
_INDEX: Final = re.compile(rb'"(?:%b)"\s*+:\s*+(\d{1,9})' % "|".join(WIRE_KEYS.indices).encode())
_LOGPROBS: Final = b'"logprobs"'
_BYTES: Final = b"bytes"
_TOKEN_KEY: Final = b'"token"'
_BYTES_KEY: Final = b'"bytes"'
_TOKEN: Final = re.compile(
    rb'("top_logprobs"\s*+:\s*+\[)|(\])|(?<!\\)"token"\s*+:\s*+"((?:[^"\\\r\n]|\\[^\r\n])++)"'
    rb'|"bytes"\s*+:\s*+\[([0-9,\s]++)\]'
)
_EVENT_END: Final = re.compile(rb"\n\r?\n|\r\r")
_LINE_END: Final = re.compile(rb"\n")
_KEY_CHARACTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_WORD: Final = rb"(?:(?<![A-Za-z])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
# What may become a secret that comes after a word or a mark, at the end of a text.
_OPEN_WORDS: Final = (
    rb"[Bb](?:e(?:a(?:r(?:e(?:r[ \t]*[A-Za-z0-9._~+/-]*=*)?)?)?)?)?",
    rb"[Bb](?:a(?:s(?:i(?:c[ \t]*[A-Za-z0-9+/]*=*)?)?)?)?",
    rb"h(?:t(?:t(?:ps?(?::(?:/(?:/[^\s\"\\<>]*)?)?)?)?)?)?",
)
_OPEN_MARKS: Final = (
    rb'\\"[A-Za-z_-]{0,60}',
    rb'\\"' + SECRET_NAME + rb'\\"[ \t]*(?::[ \t]*(?:\\"[^"\\]*)?)?',
    rb"-{1,5}(?:[A-Z ]{0,60}-*|[A-Z ]{0,60}-----(?:[A-Za-z0-9+/= \t]|\\{1,8}[a-z])*)",
)
_OPEN: Final = tuple(
    re.compile(pattern + rb"\Z")
    for pattern in (*(_WORD + one for one in _OPEN_WORDS), *_OPEN_MARKS)
)
_WHOLE_PREFIXES: Final = tuple(PREFIXES)
_BEGUN_PREFIXES: Final = frozenset(p[:size] for p in PREFIXES for size in range(1, len(p)))
# How far before a secret the text says that it is one.
_CONTEXT: Final = 64


class _OpenText(Struct):
    """The end of a text that may be a secret's beginning, and where it is."""

    raw: bytes = b""
    pieces: list[TextPiece] = field(default_factory=list)
    grew: int = 0


class Deltas:
    """Holds events back while one of their texts may end in a secret. One for each body.

    `stand_in` gives the replacement for a secret as it is spelled, of the same length; `clean`
    takes the secrets out that are in one event; `count` gets each rule that found one.
    `known` are secrets that have no shape.
    """

    def __init__(
        self,
        stand_in: Callable[[bytes], bytes],
        clean: Callable[[bytes], bytes],
        count: Callable[[str], None],
        framing: Framing | None = None,
        known: KnownSecrets | None = None,
    ) -> None:
        self._known = known
        self._begun = KnownTexts(known, count) if known is not None else None
        self._stand_in = stand_in
        self._clean = clean
        self._count = count
        self._texts: dict[tuple[object, ...], _OpenText] = {}
        self._events: deque[WaitingEvent] = deque()
        self._number = 0
        self._frame_end = _LINE_END if framing == "lines" else _EVENT_END

    @property
    def waits(self) -> bool:
        """Whether the next events matter for what came before."""
        return bool(self._events or self._texts or self._begun)

    def feed(self, frames: bytes) -> bytes:
        """Takes whole events or lines; gives those that wait for nothing, clean."""
        done: list[bytes] = []
        for frame in _split_frames(frames, self._frame_end):
            self._take_event(WaitingEvent(frame))
            self._let_go()
            done += self._ready_events()
        return b"".join(done)

    def close(self) -> bytes:
        for text in self._texts.values():
            self._replace_secrets(text, len(text.raw))
        self._texts.clear()
        if self._begun is not None:
            self._begun.close()
        return b"".join(self._ready_events())

    def _take_event(self, event: WaitingEvent) -> None:
        self._events.append(event)
        self._number += 1
        shaped = bool(self._texts) or not is_plain(event.data.decode("latin-1"))
        known = bool(self._begun) or bool(self._known and self._known.may_begin_in(event.data))
        if not (shaped or known):
            return
        for channel, start, raw in texts_in(event.data):
            piece = TextPiece(event, start, len(raw))
            if known and self._begun is not None:
                self._begun.take(channel, piece, raw, self._number)
            if shaped and channel[0] != _BYTES:
                self._take_text(channel, piece, raw)

    def _take_text(self, channel: tuple[object, ...], piece: TextPiece, raw: bytes) -> None:
        text = self._texts.pop(channel, None) or _OpenText()
        text.grew = self._number
        text.raw += raw
        text.pieces.append(piece)
        if self._look_through(text):
            self._texts[channel] = text

    def _look_through(self, text: _OpenText) -> bool:
        """Replaces what is whole; keeps the end that is not. Whether there is one."""
        size = len(text.raw)
        opens = min(_open_at(text.raw), _grows_at(text.raw))
        if size - opens > _LONGEST:
            opens = size
        self._replace_secrets(text, opens)
        text.raw = text.raw[opens:]
        drop_front(text.pieces, opens)
        return bool(text.raw)

    def _replace_secrets(self, text: _OpenText, stop: int) -> None:
        """Distributes a stand-in for every secret before `stop`."""
        if len(text.pieces) < 2:
            return  # in one string: what cleans events finds it
        for found in find_credentials(text.raw):
            if found.stop <= stop:
                self._deal_out(text, found.start, found.stop, found.rule)

    def _deal_out(self, text: _OpenText, start: int, stop: int, rule: str) -> None:
        secret = text.raw[start:stop]
        stand_in = self._stand_in(secret)
        deal_out(text.pieces, start, stand_in)
        if stand_in != secret:
            self._count(rule)

    def _let_go(self) -> None:
        """Texts that did not go on end here; where too many events wait, all do."""
        full = len(self._events) > _MOST_EVENTS
        for channel, text in list(self._texts.items()):
            if full or self._number - text.grew > _STALE:
                self._replace_secrets(text, len(text.raw))
                del self._texts[channel]
        if self._begun:
            self._begun.let_go(self._number + 1 if full else self._number - _STALE)

    def _ready_events(self) -> Iterator[bytes]:
        waiting = {id(piece.event) for text in self._texts.values() for piece in text.pieces}
        if self._begun:
            waiting |= self._begun.waiting()
        while self._events and id(self._events[0]) not in waiting:
            yield self._edited_event(self._events.popleft())

    def _edited_event(self, event: WaitingEvent) -> bytes:
        if not event.edits:
            return _with_bytes_filled(event.data, self._clean(event.data))
        data = bytearray(event.data)
        for at, part in event.edits:
            data[at : at + len(part)] = bytes(len(part))
        # Part of a stand-in could look like a secret of its own: it is put in when all is clean.
        data[:] = self._clean(bytes(data))
        for at, part in event.edits:
            data[at : at + len(part)] = part
        return _with_bytes_filled(event.data, bytes(data))


def _with_bytes_filled(before: bytes, after: bytes) -> bytes:
    """The bytes of a replaced token are replaced, too."""
    if before == after or _LOGPROBS not in after:
        return after
    data = bytearray(after)
    changed = False
    for match in _TOKEN.finditer(after):
        if match[3]:
            changed = before[match.start(3) : match.end(3)] != match[3]
        elif match[4] and changed:
            data[match.start(4) : match.end(4)] = fill_numbers(match[4])
    return bytes(data)


def texts_in(event: bytes) -> Iterator[tuple[tuple[object, ...], int, bytes]]:
    """The pieces of texts in an event: to which text each belongs, its place, and what it says."""
    indices = _indices_in(event)
    for number, match in enumerate(_STRING.finditer(event)):
        yield (match[1], number, indices), match.start(2), match[2]
    if _LOGPROBS in event and (_TOKEN_KEY in event or _BYTES_KEY in event):  # mostly it is null
        yield from _tokens_in(event, indices)


def _indices_in(event: bytes) -> bytes:
    """What distinguishes the texts of this event from those of another one."""
    indices = b",".join(_INDEX.findall(event))
    # An event of 100,000 choices has as many texts, each of which is looked up by all of them.
    return (
        indices if len(indices) <= _LONGEST_INDICES else blake2b(indices, digest_size=16).digest()
    )


def _tokens_in(event: bytes, indices: bytes) -> Iterator[tuple[tuple[object, ...], int, bytes]]:
    """The chosen tokens, and of each rank the likely ones, as strings and as bytes."""
    rank = 0
    for match in _TOKEN.finditer(event):
        if match[1]:
            rank = 1
        elif match[2]:
            rank = 0
        elif match[3]:
            yield (b"token", rank, indices), match.start(3), match[3]
            rank += bool(rank)
        else:  # with the bracket after it, so that two lists do not join two numbers
            yield (_BYTES, rank, indices), match.start(4), match[4] + b"]"


def _open_at(raw: bytes) -> int:
    """Where an end begins that may become a secret; the text's length where there is none."""
    end = raw[-_LONGEST:]
    places = [match.start() for match in (one.search(end) for one in _OPEN) if match]
    run = len(end.rstrip(_KEY_CHARACTERS))
    # After a backslash stand a letter, or u and four digits, that belong to the escape.
    escape = 0 if end[run - 1 : run] != b"\\" else 5 if end[run : run + 1] == b"u" else 1
    starts = [run + escape, *(run + match.end() for match in re.finditer(rb"\.", end[run:]))]
    for at in starts:
        rest = end[at:]
        if rest.startswith(_WHOLE_PREFIXES) or rest in _BEGUN_PREFIXES:
            places.append(at)
    return len(raw) - len(end) + min(places, default=len(end))


def _grows_at(raw: bytes) -> int:
    """Where a secret begins that may go on, with what distinguishes it; else the text's length."""
    starts = [found.start for found in find_credentials(raw) if found.stop == len(raw)]
    return max(0, min(starts, default=len(raw) + _CONTEXT) - _CONTEXT)


def _split_frames(frames: bytes, frame_end: re.Pattern[bytes]) -> Iterator[bytes]:
    at = 0
    for match in frame_end.finditer(frames):
        yield frames[at : match.end()]
        at = match.end()
    if at < len(frames):
        yield frames[at:]


def is_plain(frames: str) -> bool:
    """Whether whole frames neither hold a shape nor end in the middle of one. True is certain.

    Frames are decoded as Latin-1.
    """
    return not _signs_and_ends().is_valid(frames)


def is_plainly_spelled(frames: str) -> bool:
    """As `is_plain`; also whether no text is spelled otherwise than as itself.

    One search: what it costs hangs on the length of the frames, not on what is looked for.
    """
    return not _signs_ends_and_spellings().is_valid(frames)


def is_suspect(text: bytes) -> bool:
    """Whether the text may hold a secret. False is certain."""
    # Latin-1 maps bytes to characters one by one, and signs are ASCII.
    return _sign_validator().is_valid(text.decode("latin-1"))


def _ends_open() -> str:
    """A pattern for whole events, with no look-behind: all that `_open_at` finds in one of them."""
    partial = map(re.escape, _BEGUN_PREFIXES)
    whole = (re.escape(prefix) + rb"[A-Za-z0-9_.\-]*" for prefix in PREFIXES)
    any_text = rb'(?:[^"\\]|\\.)*'
    # `_open_at` takes a letter after an escaped backslash for an escape, too.
    escape = rb'\\u[0-9a-fA-F]{4}|\\.|\\\\(?:u[^"\\]{4}|[A-Za-z])'
    before = rb'(?:%b(?:[^A-Za-z"\\]|%b))?' % (any_text, escape)
    words = b"|".join((*sorted(partial), *whole, *_OPEN_WORDS))
    marks = b"|".join(_OPEN_MARKS)
    pattern = rb'"(?:%b)"\s*:\s*"(?:%b(?:%b)|%b(?:%b))"'
    return (pattern % (_KEYS.encode(), before, words, any_text, marks)).decode()


@cache
def _sign_validator() -> jsonschema_rs.Validator:
    return search_validator(*credentials.SIGNS, *opaque.SIGNS)


@cache
def _signs_and_ends() -> jsonschema_rs.Validator:
    return search_validator(*credentials.SIGNS, *opaque.SIGNS, _ends_open())


@cache
def _signs_ends_and_spellings() -> jsonschema_rs.Validator:
    return search_validator(
        *credentials.SIGNS, *opaque.SIGNS, _ends_open(), known_secrets.OTHERWISE_SPELLED
    )
