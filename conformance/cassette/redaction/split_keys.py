"""Keys that no single frame of a stream holds: texts of frames that are near a finding.

Rule 1: pieces of one text are put together as a recorder does it (`deltas.texts_in`), looked
through as any text that leaves, and what was found is dealt out over the pieces.
Rule 2: a text may begin before the first frame and continue after the last one. What it ends in is
taken for a key as soon as it begins like one, or would be one with more after it; letters and
digits that may be the rest of one are blanked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from conformance.cassette.redaction.deltas import texts_in
from conformance.cassette.redaction.leaving import MOST_SHOWN, redacted
from conformance.core.excerpts import without_front

# What may come after the last frame, and names after which it would be a key.
_RESTS: Final = ("Zk9Qm3vX7Lr5tYpW8sBnHd2kLmN4pQ9xRw3Tz6", "Zk9Qm3vX7L@host/")
_IS_NAMED: Final = re.compile(
    "(?i)key|secret|pass|pwd|auth|token|sig|credential|pat|cookie|bearer|basic|://"
)
_LONGEST: Final = 600
_CONTEXT: Final = 64  # how far before a secret the text says that it is one
_Channel = tuple[object, ...]


class _Piece(NamedTuple):
    """What a frame says of a text, and where."""

    frame: int
    start: int
    raw: bytes


def without_split_keys(
    shown: Sequence[str], earlier: Iterable[str], *, begins: bool
) -> tuple[list[str], tuple[str, ...]]:
    """Frames of one stream, each as long as before; and the pieces of keys that stood in them.

    `earlier` are those before them, the latest first. `begins`: nothing stood before those.
    """
    frames = [_encode_text(each) for each in shown]
    texts = _texts_of(frames)
    if not texts:
        return list(shown), ()
    clean = [bytearray(each) for each in frames]
    found: list[str] = []
    for channel, before in _texts_before(texts, earlier).items():
        pieces, at = texts[channel], len(before.text)
        whole = b"".join((before.text, *(piece.raw for piece in pieces)))
        after = _clean_text(whole, begins=begins or before.is_whole)
        for frame, start, raw in pieces:
            part = after[at : at + len(raw)]
            if part != raw:
                clean[frame][start : start + len(raw)] = part
                found.append(_replaced_part(raw, part))
            at += len(raw)
    return [each.decode("utf-8", "surrogatepass") for each in clean], tuple(found)


def without_pieces(text: str, pieces: Sequence[str]) -> str:
    """A text in which nothing of the pieces stands that is longer than any part of a key may be."""
    size = MOST_SHOWN + 1
    parts = {each[at : at + size] for each in pieces for at in range(len(each) - size + 1)}
    blanks = {
        place
        for at in range(len(text) - size + 1)
        if text[at : at + size] in parts
        for place in range(at, at + size)
    }
    return "".join("x" if at in blanks else each for at, each in enumerate(text))


def _texts_of(frames: Sequence[bytes]) -> dict[_Channel, list[_Piece]]:
    texts: dict[_Channel, list[_Piece]] = {}
    for number, frame in enumerate(frames):
        for channel, start, raw in _texts_in(frame):
            texts.setdefault(channel, []).append(_Piece(number, start, raw))
    return texts


class _Before:
    """What stood before a text, as far back as a key may begin that continues in it."""

    def __init__(self) -> None:
        self.text = b""
        self.is_whole = False

    def put_before(self, raw: bytes) -> None:
        self.text = raw + self.text
        self.is_whole = self.text.rfind(b" ") >= _CONTEXT


def _texts_before(channels: Iterable[_Channel], frames: Iterable[str]) -> dict[_Channel, _Before]:
    texts = {channel: _Before() for channel in channels}
    open_ = len(texts)
    for frame in frames:
        for channel, _, raw in _texts_in(_encode_text(frame)):
            before = texts.get(channel)
            if before is not None and not before.is_whole:
                before.put_before(raw)
                open_ -= before.is_whole
        if not open_:
            break
    return texts


@lru_cache(maxsize=256)
def _texts_in(frame: bytes) -> tuple[tuple[_Channel, int, bytes], ...]:
    return tuple(texts_in(frame))  # of one finding and the next, nearly all frames are the same


def _clean_text(whole: bytes, *, begins: bool) -> bytes:
    text = redacted(whole.decode("utf-8", "surrogatepass"), is_open=True)
    if not text[-1:].isspace() and _IS_NAMED.search(text, max(0, len(text) - _LONGEST)):
        for rest in _RESTS:
            text = redacted(text + rest)[: len(text)]
    return _encode_text(text if begins else without_front(text))


def _replaced_part(before: bytes, after: bytes) -> str:
    """From the first byte that was replaced to the last."""
    changed = [at for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    return before[changed[0] : changed[-1] + 1].decode("utf-8", "replace")


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
