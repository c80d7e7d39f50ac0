"""Which block a token lies in; on ids alone, before anything is decoded.

| token      | thinking | text       | tool       |
|------------|----------|------------|------------|
| think open | thinking | thinking   | thinking   |
| think close| text     | text       | tool       |
| tool open  | tool     | tool       | tool       |
| tool close | thinking | text       | text       |

A closer where nothing is open changes nothing; a tool call in the middle of thinking ends it, as
models that forget to close do.
The engine's thread follows the phases for the budget, the router for the events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from .markers import Markers


class Phase(Enum):
    THINKING = "thinking"
    TEXT = "text"
    TOOL = "tool"


Moves = Mapping[tuple[Phase, int], Phase]
"""Where a marker leads to, for each marker in each phase."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Ids that are more than text.

    `ends` end a generation; `silent` are other special tokens, never shown; `neutral` is a token
    that the decoder may start after (see `BlockDecoder`).
    """

    thinking: Markers | None
    tools: Markers | None
    ends: frozenset[int]
    silent: frozenset[int]
    neutral: int | None

    def moves(self) -> Moves:
        found: dict[tuple[Phase, int], Phase] = {}
        for pair, phase in ((self.thinking, Phase.THINKING), (self.tools, Phase.TOOL)):
            if pair is not None:
                found |= {(now, pair.open_id): phase for now in Phase}
                found |= {(now, pair.close_id): now for now in Phase}
                found[phase, pair.close_id] = Phase.TEXT
        return found
