"""How to read an answer with thinking markers in its text if no profile decides that.

Rule 1: a text that begins in thinking is read with its markers: that block, and all that follow.
        If the text has only a closing marker, the prompt opened the block.
Rule 2: a block that begins after other text may be thinking or words: both readings are valid.
Rule 3: the model only mentions an opening marker that is in quotes or in code, or that is never
        closed in a complete answer; also a closing marker after a quotation mark, and one in the
        text of a server that sends thinking separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from conformance.core.reading import Reading
from conformance.dialects.marked_texts import PAIRS
from conformance.judging.transcript import Transcript

_QUOTES: Final = ("`", "'", '"')


def marked_readings(answer: Transcript, reading: Reading) -> Sequence[Reading]:
    """The readings that hold of an answer that was read without markers, the likeliest first."""
    text = "".join(answer.text)
    is_done = answer.ending in ("complete", "tools")
    for opened, closed in PAIRS:
        if opened not in text and closed not in text:
            continue
        pair = (opened, closed)
        marked = replace(reading, markers=(pair,))
        before, _, rest = text.partition(closed)
        goes_on = _holds_block(rest, pair, is_done=is_done)
        if before.lstrip().startswith(opened):
            return [replace(marked, first_block_only=not goes_on)]
        is_named = opened in before or before[-1:] in _QUOTES
        if closed in text and not (is_named or answer.thought):
            return [replace(marked, opened_by_prompt=True, first_block_only=not goes_on)]
        if _holds_block(text, pair, is_done=is_done):
            return [reading, marked]
    return [reading]


def _holds_block(text: str, pair: tuple[str, str], *, is_done: bool) -> bool:
    """Whether an open marker in the text may begin a block of thinking (rule 3)."""
    opened, closed = pair
    at = text.find(opened)
    while at >= 0:
        before, after = text[:at], text[at + len(opened) :]
        is_named = before.count("`") % 2 or before[-1:] in _QUOTES
        if not is_named and (closed in after or not is_done):
            return True
        at = text.find(opened, at + 1)
    return False
