"""The history that a model got before an answer, and the one before the same turn later.

Rule 1: `request.before` has the `system_prompt` and the `tools` as JSON, without cache markers, and
        `said`, a hash of the words, calls and results in the entries before the turn.
Rule 2: an answer has one from its own request, a returning turn from the request that brings it.
        `brings` has the types of the content that comes back. There is none if the history ends
        with words of the model that the answer continues.
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
        """The history before the answer to this request."""
        if self.talk.said and self.talk.said[-1].by == "model":
            return None
        return self._before(len(self.talk.entries), ())

    def before_turn(self, places: Sequence[int]) -> Event:
        """The history before the turn in these entries."""
        types = (content_types(self.talk.entries[place]) for place in places)
        return self._before(places[0], [each for found in types for each in found])

    def name_before(self, place: int) -> bytes:
        """A hash of everything before an entry."""
        return self.name + self.talk.before[place]

    def _before(self, count: int, brings: Sequence[str]) -> Event:
        data = {
            "system_prompt": self.instructions,
            "tools": self.tools,
            "said": f"{count} entries, {self.talk.before[count].hex()}",
            "brings": [*brings],
        }
        return Event(BEFORE, data, 0, "wire")
