r"""Text from the wire, made safe to show, and the colours of a terminal.

A stream under test may hold escape sequences, bidirectional marks or half a surrogate pair. What
does not print is written as Python writes it in a literal (`\x1b`, `\u202e`), one line stays one
line, and nothing is longer than its limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import combining, east_asian_width

from conformance.core.excerpts import excerpt

LABELLED: Final = "  {:<9} {}"
LIMIT: Final = 600  # characters; a sentence of a finding fits, a payload does not
_CODES: Final[Mapping[str, str]] = {
    "FAIL": "1;31",
    "ERROR": "1;35",
    "PASS": "32",
    "INCONCLUSIVE": "33",
    "VACUOUS": "33",
    "UNTESTABLE": "33",
    "NOT-APPLICABLE": "2",
    "title": "1",
    "quiet": "2",
    "mark": "1;31",
    "warning": "33",
}


def visible(text: str, limit: int = LIMIT) -> str:
    """One line of printable characters; at most `limit` of the text's own, then how many more.

    A text that is cut is redacted before.
    """
    rest = len(text) - limit
    shown = excerpt(text, 0, limit) if rest > 0 else text
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else _escape_character(c) for c in shown)
    return f"{shown}… (+{rest} characters)" if rest > 0 else shown


def _escape_character(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def columns(text: str) -> int:
    """How many columns of a terminal a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_columns, text))


def fitting(text: str, width: int) -> str:
    """A printable text; where it takes more columns than `width`, as much as fits before `…`."""
    if columns(text) <= width:
        return text
    taken = 0
    for at, character in enumerate(text):
        taken += _character_columns(character)
        if taken > width - 1:
            return f"{text[:at]}…"
    return text


def fitting_ends(text: str, width: int) -> str:
    """As `fitting`, with the text's beginning and more of its end around `…`."""
    if columns(text) <= width:
        return text
    head = fitting(text, width // 3).removesuffix("…")
    tail = fitting(text[::-1], width - columns(head)).removesuffix("…")[::-1]
    return f"{head}…{tail}"


def _character_columns(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def labelled_lines(label: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines under one label, which precedes the first."""
    for number, line in enumerate(lines):
        yield LABELLED.format("" if number else label, line)


@dataclass(frozen=True, slots=True)
class Paint:
    """Wraps text in the colour of a verdict or of a part of the page; or leaves it as it is."""

    colour: bool = False

    def __call__(self, meaning: str, text: str) -> str:
        code = _CODES.get(meaning) if self.colour else None
        return f"\x1b[{code}m{text}\x1b[0m" if code else text
