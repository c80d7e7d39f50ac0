"""Finds what our side sent where an answer spells it out over events, however few characters each.

Rule 1: a text that may be in the middle of a secret is remembered for as long as the body goes on.
One or two characters of a secret are not: events that have no more are let pass unread, and what a
text continues with then shows what may have come before.
Rule 2: its events wait for the next ones only while three characters or more are there. If they
wait for too long they go, with the beginning of the stand-in in place of the secret's beginning:
the whole stand-in is known from the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

from conformance.cassette.redaction.known_secrets import HEAD, KnownSecrets, SecretMatch
from conformance.cassette.redaction.spellings import (
    DecodedText,
    decode_numbers,
    decode_spellings,
    fill_numbers,
    open_spelling,
    spell_alike,
)
from conformance.cassette.redaction.waiting_events import GONE, TextPiece, deal_out, drop_front

_WAITS_FROM: Final = 3  # characters of a secret
_MOST_TEXTS: Final = 1024

Channel = tuple[object, ...]


class _BegunSecret(Struct):
    """The end of a text that is a secret's beginning. `before`: what may precede it.

    As long as the text is `unread` before its place, that is found by how it goes on.
    """

    raw: bytes = b""
    before: bytes = b""
    left: bytes = b""  # what is before that, where words are looked for
    unread: bool = True
    pieces: list[TextPiece] = field(default_factory=list)
    size: int = 0  # characters of the secret that are there
    grew: int = 0
    numbers: bool = False  # it is spelled as a list of byte values

    def decoded(self) -> DecodedText:
        if self.numbers:
            return decode_numbers(self.raw)
        return decode_spellings(self.raw[: open_spelling(self.raw)])

    @property
    def is_easily_missed(self) -> bool:
        """Whether a quick look at its events would not have found it."""
        is_open = open_spelling(self.raw) < len(self.raw)
        return self.size < _WAITS_FROM and not (self.numbers or is_open)


class KnownTexts:
    """The texts of one body. `count` gets each secret that was found."""

    def __init__(self, known: KnownSecrets, count: Callable[[str], None]) -> None:
        self._known = known
        self._count = count
        self._begun: dict[Channel, _BegunSecret] = {}
        self._left: dict[Channel, bytes] = {}

    def __bool__(self) -> bool:
        return bool(self._begun)

    def take(self, channel: Channel, piece: TextPiece, raw: bytes, number: int) -> None:
        """A text continues in event `number`."""
        left = self._left.pop(channel, b"")
        text = self._begun.pop(channel, None)
        text = text or _BegunSecret(left=left, numbers=channel[0] == b"bytes")
        text.raw += raw
        text.pieces.append(piece)
        text.grew = number
        decoded = text.decoded()
        rest = self._replace_found(text, decoded)
        first = len(decoded.text) if rest is None else max(0, rest.start - len(text.before))
        keeps = decoded.place(first)
        text.size = rest.size if rest else 0
        if self._known.has_words:
            text.left = (text.left + decoded.text[:first])[-3:]
            self._left[channel] = text.left
            if len(self._left) > _MOST_TEXTS:
                del self._left[next(iter(self._left))]
        if decoded.text and (rest is None or rest.start):
            text.before, text.unread = b"", False
        drop_front(text.pieces, keeps)
        text.raw = text.raw[keeps:]
        if text.raw and (self._known.has_words or not text.is_easily_missed):
            self._begun[channel] = text
            if len(self._begun) > _MOST_TEXTS:
                self._end_text(self._begun.pop(next(iter(self._begun))))

    def waiting(self) -> set[int]:
        """Ids of events that may be changed yet."""
        return {
            id(piece.event)
            for text in self._begun.values()
            if text.size >= _WAITS_FROM
            for piece in text.pieces
        }

    def let_go(self, before: int) -> None:
        """Events of texts that did not grow since event `before` wait no more."""
        for text in self._begun.values():
            if text.grew < before and text.size >= _WAITS_FROM:
                self._end_text(text)
                text.pieces = [piece._replace(event=GONE) for piece in text.pieces]

    def close(self) -> None:
        """The body is over: a beginning is all there is."""
        for text in self._begun.values():
            self._end_text(text)
        self._begun.clear()

    def _replace_found(self, text: _BegunSecret, decoded: DecodedText) -> SecretMatch | None:
        """Distributes stand-ins; what the text ends in the middle of, if anything."""
        if text.unread and not self._known.has_words:
            befores = self._known.before(decoded.text)
            reach = self._known.reach
            text.before = max((b"", *befores), key=lambda each: reach(each + decoded.text))
        spelled = text.before + decoded.text
        for match in self._known.matches(spelled, text.left):
            is_open = not match.is_whole or self._known.is_word(match)
            if is_open and match.start + match.size == len(spelled):
                return match
            self._deal_match(text, decoded, match)
        return None

    def _deal_match(self, text: _BegunSecret, decoded: DecodedText, match: SecretMatch) -> None:
        skipped = max(0, len(text.before) - match.start)
        first = match.start + skipped - len(text.before)
        start, stop = decoded.raw_span(first, first + match.size - skipped)
        raw = text.raw[start:stop]
        meant = self._known.stand_in(match.form)[skipped : match.size]
        deal_out(text.pieces, start, fill_numbers(raw) if text.numbers else spell_alike(raw, meant))
        self._count("known")

    def _end_text(self, text: _BegunSecret) -> None:
        if text.size < HEAD:
            return
        decoded = text.decoded()
        for match in self._known.matches(text.before + decoded.text, text.left):
            if match.is_whole or not self._known.is_word(match):
                self._deal_match(text, decoded, match)
