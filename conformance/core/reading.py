"""What reads a dialect: from frames and their payloads to wire and semantic events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from conformance.core.events import Ending, Event, Frame, Request


class Reading(Struct, frozen=True):
    """How a profile says a stream is to be read.

    `markers` are (open, close) pairs that wrap reasoning inside visible text; empty: visible text
    is text, whatever it holds. `opened_by_prompt`: the stream begins inside the first pair.
    `last_close`: a block ends at the last close marker before other output, not at the first.
    `first_block_only`: markers after the first block are text.
    `fields` maps a semantic name (`thinking`, `opaque`, `text`) to private dotted paths below a
    delta, tried in order; the first non-empty one counts, so mirrored fields are never summed.
    """

    markers: tuple[tuple[str, str], ...] = ()
    opened_by_prompt: bool = False
    last_close: bool = False
    first_block_only: bool = False
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Reader(Protocol):
    """Stateful, one per exchange, sans-IO; never raises on hostile input."""

    def request(self, request: Request) -> list[Event]:
        """Wire events `request` and one `request.item` per history entry, all with number 0."""

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        """Wire events, then semantic events, of a frame of kind `event`, `line`, `text` or `body`.

        `payload` is the decoded JSON value of `frame.data`, or NOT_JSON; of raw text it is `data`.
        """

    def end(self, how: Ending, number: int) -> list[Event]:
        """Ends still owed (`thinking.end`, ...), then `cut` unless the wire's terminal came."""

    def echo(self, answer: int) -> Mapping[str, Any] | None:
        """An answer's own copy of request parameters, as far as seen; None if there is none.

        Of the answer under way, or of the one before it.
        """
