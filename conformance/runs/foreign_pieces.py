"""Pieces of another request's answer in an answer, and when they are evidence.

Rule 1: a piece counts where it is of another answer and not of what this request was answered
alone.
Rule 2: a model may say anything otherwise under load, also by chance what another one was answered.
So a piece accuses only by a word that the other request says itself, and that stands neither in the
accused request, with all its history, nor in its own answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from msgspec import Struct

from conformance.core.events import Request
from conformance.core.json_values import NOT_JSON, decode_json

PIECE: Final = 8  # so many equal characters are not a coincidence
_WORD: Final = re.compile(r"\w+")
_PART: Final = 4  # characters of a torn word that are still a part of it
_DEEPEST: Final = 16


class LoneAnswer(Struct, frozen=True):
    """The answer to a request that was sent alone; `question` is its text."""

    name: str
    text: str
    question: str = ""


class ForeignPiece(NamedTuple):
    """A piece of another answer, and the name of that."""

    text: str
    owner: str


def foreign_pieces(
    text: str, question: str, own: LoneAnswer, others: Iterable[LoneAnswer]
) -> Iterator[ForeignPiece]:
    """Pieces of other answers in an answer to the request with the text `question`."""
    if text == own.text:
        return
    known = f"{question}\n{own.question}\n{own.text}".casefold()
    for other in others:
        strange = _strange_pieces(own.text, other)
        for at in range(len(text) - PIECE + 1):
            piece = text[at : at + PIECE]
            if piece in strange and _accuses(_whole_words(text, at), other, known):
                yield ForeignPiece(piece, other.name)
                break


def shows_in(own: LoneAnswer, other: LoneAnswer) -> bool:
    """Whether a piece of another answer would accuse an answer to this request."""
    known = f"{own.question}\n{own.text}".casefold()
    pieces = _strange_pieces(own.text, other)
    starts = (at for at in range(len(other.text) - PIECE + 1))
    return any(
        other.text[at : at + PIECE] in pieces
        and _accuses(_whole_words(other.text, at), other, known)
        for at in starts
    )


def request_text(request: Request | None) -> str:
    """All that a request says: its strings, and those of JSON in them."""
    return "\n".join(_strings(request.json if request else None, 0))


def _strings(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            inner = decode_json(value)
            yield from () if inner is NOT_JSON else _strings(inner, depth + 1)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, depth + 1)


def _strange_pieces(own: str, other: LoneAnswer) -> set[str]:
    """Pieces of another answer that this text does not have."""
    starts = range(len(other.text) - PIECE + 1)
    return {piece for at in starts if (piece := other.text[at : at + PIECE]) not in own}


def _whole_words(text: str, at: int) -> str:
    """The piece that begins there, with the words whole that it cuts."""
    first, last = at, at + PIECE
    while first and _is_word(text[first]) and _is_word(text[first - 1]):
        first -= 1
    while last < len(text) and _is_word(text[last - 1]) and _is_word(text[last]):
        last += 1
    return text[first:last]


def _is_word(character: str) -> bool:
    return _WORD.fullmatch(character) is not None


def _accuses(piece: str, other: LoneAnswer, known: str) -> bool:
    """Rule 2; `known` is what the accused may say, in small letters."""
    question = other.question.casefold()
    theirs, ours = set(_WORD.findall(question)), set(_WORD.findall(known))
    return any(
        (word in theirs and word not in ours)
        or (len(word) >= _PART and word in question and word not in known)
        for word in _WORD.findall(piece.casefold())
    )
