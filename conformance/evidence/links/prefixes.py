"""What a model was given before an answer, and what a later request gives before the same turn.

Rule 1: `request.before` has the `system_prompt` and the `tools` as JSON, without marks of caches,
        and what is `said` before the turn: a name for the words, calls and results of its entries.
Rule 2: an answer has one by its own request, a turn that comes back by the request that brings it.
        `brings` has the types of the content that comes back. Where the history before an answer
        ends with words of the model, which the answer went on with, there is none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.dialects.given_before import content_types, given_instructions, given_tools
from conformance.dialects.requests import RequestForm
from conformance.evidence.links.requests import RepeatedTalk, digest

BEFORE: Final = "request.before"


class TalkPrefix(Struct, frozen=True):
    """What one request gives the model: its instructions and tools, and its entries by number."""

    talk: RepeatedTalk
    instructions: str
    tools: str
    name: bytes  # of both

    @classmethod
    def of(cls, talk: RepeatedTalk, form: RequestForm) -> TalkPrefix:
        # Most requests of a conversation have the same ones: they are kept once.
        instructions = sys.intern(given_instructions(talk.body, form))
        tools = sys.intern(given_tools(talk.body))
        return cls(talk, instructions, tools, digest(instructions, tools))

    def before_answer(self) -> Event | None:
        """What stands before the answer to this request."""
        if self.talk.said and self.talk.said[-1].by == "model":
            return None
        return self._before(len(self.talk.entries), ())

    def before_turn(self, places: Sequence[int]) -> Event:
        """What stands before the turn in these entries."""
        types = (content_types(self.talk.entries[place]) for place in places)
        return self._before(places[0], [each for found in types for each in found])

    def name_before(self, place: int) -> bytes:
        """A name for all that stands before an entry."""
        return self.name + self.talk.before[place]

    def _before(self, count: int, brings: Sequence[str]) -> Event:
        data = {
            "system_prompt": self.instructions,
            "tools": self.tools,
            "said": f"{count} entries, {self.talk.before[count].hex()}",
            "brings": [*brings],
        }
        return Event(BEFORE, data, 0, "wire")
