"""How large a page may grow, shared among its exchanges, the gravest first.

At most 60 pictures, 300 frames in one (twice that where many findings stand), 4 million characters
of frames in all: about 8 MB with the mark-up, which browsers open at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ROWS: Final = 1000  # streams in the matrix
LISTED: Final = 250  # streams whose rules are listed
STREAMS: Final = 300  # streams told one by one
FINDINGS: Final = 60  # findings told per stream
FRAMES: Final = 300  # frames kept of one exchange
TEXT: Final = 700  # characters shown of a frame
TEXT_AT_FINDING: Final = 3000
_PICTURES: Final = 60
_CHARACTERS: Final = 4_000_000


@dataclass(slots=True)
class PageBudget:
    """What is left for pictures and frames."""

    pictures: int = _PICTURES
    characters: int = _CHARACTERS

    @property
    def is_spent(self) -> bool:
        return self.pictures <= 0 or self.characters <= 0

    def spend(self, characters: int) -> None:
        """One picture more, with frames of that many characters."""
        self.pictures -= 1
        self.characters -= characters
