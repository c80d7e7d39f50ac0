"""The tokens around thinking and tool calls, found in a tokenizer's added tokens.

Rule 1: an opener is an added token with a word of the family in it; case does not matter.
Rule 2: its closer is derived from its spelling, and must be an added token too.
Rule 3: of several pairs the one that was added first counts.

Names are never compared with a list of models: `<seed:think>` and `[THINK]` follow by rule.

They say which block a token lies in; on ids alone, before anything is decoded.

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

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .events import EngineError

THINKING: Final = re.compile(r"think|thought|reason|inner|channel", re.IGNORECASE)
TOOLS: Final = re.compile(r"tool_?call", re.IGNORECASE)

_BRACKETS: Final = (("<|", "|>"), ("<", ">"), ("[", "]"), ("◁", "▷"))
_WORDS: Final = (("start", "end"), ("begin", "end"), ("prefix", "suffix"), ("open", "close"))


@dataclass(frozen=True, slots=True)
class Markers:
    open: str
    close: str
    open_id: int
    close_id: int


def closers(opener: str) -> Iterator[str]:
    """Spellings of the closer that an opener may have, likeliest first; none if it is no opener."""
    for left, right in _BRACKETS:
        if opener.startswith(left) and opener.endswith(right):
            inside = opener[len(left) : -len(right)]
            if inside.startswith("/"):
                return
            yield f"{left}/{inside}{right}"
    if opener.startswith("<|") and opener.endswith(">") and not opener.endswith("|>"):
        yield f"<{opener[2:-1]}|>"
    for begin, end in _WORDS:
        for spelt in ((begin, end), (begin.upper(), end.upper())):
            if spelt[0] in opener:
                yield opener.replace(*spelt)


def find_markers(added: Mapping[int, str], family: re.Pattern[str] = THINKING) -> Markers | None:
    """The pair of this family among added tokens (id to content), or None."""
    ids = {content: number for number, content in added.items()}
    for number, opener in sorted(added.items()):
        if family.search(opener):
            for closer in closers(opener):
                if closer in ids:
                    return Markers(opener, closer, number, ids[closer])
    return None


def named_markers(ids: Mapping[str, int], pair: tuple[str, str]) -> Markers:
    """The pair that the user named; raises EngineError unless both are tokens of their own."""
    for token in pair:
        if token not in ids:
            raise EngineError(f"think marker {token!r} is no single token of this tokenizer")
    if pair[0] == pair[1]:
        raise EngineError(f"think markers must differ, but both are {pair[0]!r}")
    return Markers(*pair, ids[pair[0]], ids[pair[1]])


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
