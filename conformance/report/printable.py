r"""Text from the wire, made safe to show.

A stream under test may hold escape sequences, bidirectional marks or half a surrogate pair. What
does not print is written as Python writes it in a literal (`\x1b`, `\u202e`), one line stays one
line, and nothing is longer than its limit.
"""

from __future__ import annotations

from typing import Final

LIMIT: Final = 600  # characters; a sentence of a finding fits, a payload does not


def visible(text: str, limit: int = LIMIT) -> str:
    """One line of printable characters; at most `limit` of the text's own, then how many more."""
    rest = len(text) - limit
    shown = text[:limit] if rest > 0 else text
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else _escape_character(c) for c in shown)
    return f"{shown}… (+{rest} characters)" if rest > 0 else shown


def _escape_character(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
