"""Colour on a terminal, by what a word means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

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


@dataclass(frozen=True, slots=True)
class Paint:
    """Wraps text in the colour of a verdict or of a part of the page; or leaves it as it is."""

    colour: bool = False

    def __call__(self, meaning: str, text: str) -> str:
        code = _CODES.get(meaning) if self.colour else None
        return f"\x1b[{code}m{text}\x1b[0m" if code else text
