"""The pair of tokens around a model's thinking, as its tokenizer's added tokens name it.

Rule 1: an opener is an added token in brackets with a word of the family (think, thought, reason).
Rule 2: its closer follows from its spelling, and must be an added token, too: each is one token.
Rule 3: of several pairs the one whose opener was added first counts, which has the lowest id.

A model without such a pair says nothing about where thinking ends: its text passes through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from conformance.core.errors import Place, UsageError

_T = TypeVar("_T")

# In a model's folder, the likeliest first.
FILES: Final = ("tokenizer.json", "tokenizer_config.json", "added_tokens.json")
_EXPECTED: Final = f"expected {', '.join(FILES[:-1])} or {FILES[-1]}"
_MAX_BYTES: Final = 64 * 1024 * 1024  # the largest that is known has 33 million
_LONGEST: Final = 64  # characters of a marker
_MOST_PAIRS: Final = 64

_FAMILY: Final = re.compile(
    r"(?<![a-z])(?:think(?:ing)?|thoughts?|reason(?:ing)?)(?![a-z])", re.IGNORECASE
)
_BRACKETS: Final = (("<|", "|>"), ("<", ">"), ("[", "]"), ("◁", "▷"))
_ENDS: Final = {"start": "end", "begin": "end", "open": "close", "prefix": "suffix"}
_BEGINS: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_ENDS)})(?![a-z])", re.IGNORECASE)


class Token(Struct, frozen=True):
    """An added token. A special one is often left out when text is made of tokens."""

    id: int
    text: str
    special: bool = False


class MarkerPair(Struct, frozen=True):
    """What opens and what closes a block of thinking."""

    open: Token
    close: Token


class Found(Struct, frozen=True):
    """The file that was read, and its pairs: the first one counts, none means pass-through."""

    file: Path
    pairs: tuple[MarkerPair, ...]


class _AddedToken(msgspec.Struct):
    content: str
    id: int = -1
    special: bool = False


class _TokenizerFile(msgspec.Struct):
    """What the files say of added tokens; all else is skipped unread."""

    added_tokens: list[_AddedToken] | None = None
    added_tokens_decoder: dict[int, _AddedToken] | None = None


def find(path: Path) -> Found:
    """The pairs of a tokenizer file or a model's folder.

    Raises UsageError where there is no tokenizer, or its file is broken or too large.
    """
    if not path.is_dir():
        tokens = _added_tokens(path)
        if tokens is None:
            raise UsageError("states no added tokens", place=Place(str(path)), hint=_EXPECTED)
        return Found(path, tuple(pairs(tokens)))
    for file in (path / name for name in FILES):
        tokens = _added_tokens(file) if file.is_file() else None
        if tokens is not None:
            return Found(file, tuple(pairs(tokens)))
    raise UsageError("holds no tokenizer", place=Place(str(path)), hint=_EXPECTED)


def pairs(tokens: list[Token]) -> Iterator[MarkerPair]:
    """Every pair among added tokens, in the order of the ids of what opens; 64 at most."""
    short = sorted(
        (each for each in tokens if len(each.text) <= _LONGEST), key=lambda each: each.id
    )
    known: dict[str, Token] = {}
    for token in short:
        known.setdefault(token.text, token)
    found = 0
    for token in known.values():
        closer = next((known[text] for text in _close_markers(token.text) if text in known), None)
        if closer is not None and found < _MOST_PAIRS:
            found += 1
            yield MarkerPair(token, closer)


def _close_markers(opener: str) -> Iterator[str]:
    """How what closes may be spelled, the likeliest first; nothing where it opens no thinking."""
    for left, right in _BRACKETS:
        inside = opener[len(left) : -len(right)]
        if f"{left}{inside}{right}" != opener:
            continue
        if _FAMILY.search(inside) and not inside.startswith("/"):
            yield f"{left}/{inside}{right}"
            if _BEGINS.search(inside):
                yield f"{left}{_BEGINS.sub(_ending_of, inside)}{right}"
        return


def _ending_of(match: re.Match[str]) -> str:
    end = _ENDS[match[0].lower()]
    return end.upper() if match[0].isupper() else end


def _added_tokens(file: Path) -> list[Token] | None:
    """Added tokens of one file; None where it says nothing of them."""
    data = _read_bounded(file)
    if file.name == FILES[-1]:
        flat = _decode_file(file, data, dict[str, int])
        return [Token(number, text) for text, number in flat.items()]
    stated = _decode_file(file, data, _TokenizerFile)
    if stated.added_tokens is not None:
        return [Token(each.id, each.content, each.special) for each in stated.added_tokens]
    if stated.added_tokens_decoder is not None:
        known = stated.added_tokens_decoder.items()
        return [Token(number, each.content, each.special) for number, each in known]
    return None


def _decode_file(file: Path, data: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise UsageError(f"no tokenizer: {err}", place=Place(str(file))) from err
    except RecursionError as err:
        raise UsageError("no tokenizer: nested too deeply", place=Place(str(file))) from err


def _read_bounded(file: Path) -> bytes:
    place = Place(str(file))
    if not file.exists():
        raise UsageError("no such file or folder", place=place)
    if not file.is_file():
        raise UsageError("expected a file or a folder", place=place)
    try:
        with file.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except OSError as err:
        raise UsageError(f"cannot be read: {err.strerror}", place=place) from err
    if len(data) > _MAX_BYTES:
        raise UsageError(f"holds more than {_MAX_BYTES:,} bytes", place=place)
    return data
