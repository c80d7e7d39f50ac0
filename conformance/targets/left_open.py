"""Answers that have ended, while their connection stays open.

A first one is waited for, since some servers finish their own work before they close. A server that
does not close then will not do so later either: its other answers get a moment each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.dialects import SUPPORTED, dialect_at
from conformance.dialects.base import Reading
from conformance.judging.fast.joined import read_joined
from conformance.judging.transcript import Transcript

STAYED_OPEN: Final = "it was complete, and its connection stayed open"
FIRST_GRACE: Final = 10.0  # seconds of silence after the end
LATER_GRACE: Final = 2.0


class OpenAnswers:
    """How long answers of one target may stay open; `protocol` is its dialect, None: by path."""

    def __init__(self, protocol: str | None = None) -> None:
        self.grace = FIRST_GRACE
        self._protocol = protocol

    def note_one(self) -> None:
        """An answer stayed open for the whole grace."""
        self.grace = min(self.grace, LATER_GRACE)

    def has_said_end(self, request: Request, response: Response, chunks: Sequence[Chunk]) -> bool:
        """Whether a separate event says that what came so far is the whole answer."""
        dialect = SUPPORTED.get(self._protocol or dialect_at(request.path, request.json) or "")
        if dialect is None:
            return False
        exchange = Exchange(request=request, response=response, chunks=tuple(chunks), end="open")
        transcript = Transcript(exchange)
        for each in read_joined(exchange, dialect, Reading()):
            transcript.take(each.events)
        return transcript.has_done
