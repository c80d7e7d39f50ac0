"""What a dialect is: a name, its wire vocabulary, and a reader from frames to events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from conformance.core.events import Ending, Event, Frame, Request, Vocabulary
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.requests import RequestForm
from conformance.dialects.script import Script, StreamFraming


@dataclass(frozen=True, slots=True)
class Reading:
    """How a profile says a stream is to be read.

    `markers` are (open, close) pairs that wrap reasoning inside visible text; empty: visible text
    is text, whatever it holds. `opened_by_prompt`: the stream begins inside the first pair.
    `last_close`: a block ends at the last close marker before other output, not at the first.
    `fields` maps a semantic name (`thinking`, `opaque`, `text`) to private dotted paths below a
    delta, tried in order; the first non-empty one counts, so mirrored fields are never summed.
    """

    markers: tuple[tuple[str, str], ...] = ()
    opened_by_prompt: bool = False
    last_close: bool = False
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Reader(Protocol):
    """Stateful, one per exchange, sans-IO; never raises on hostile input."""

    def request(self, request: Request) -> list[Event]:
        """Wire events `request` and one `request.item` per history entry, all with number 0."""

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        """Wire events, then semantic events, of a frame of kind `event` or `body`.

        `payload` is the decoded JSON value of `frame.data`, or NOT_JSON.
        """

    def end(self, how: Ending, number: int) -> list[Event]:
        """Ends still owed (`thinking.end`, ...), then `cut` unless the wire's terminal came."""

    def echo(self) -> Mapping[str, Any] | None:
        """The response's own copy of request parameters, as far as seen; None if there is none."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Fields that differ between the many frames of one run of deltas.

    `paths` lead from the payload to strings and whole numbers; `text` is the one among them whose
    text the semantic delta carries. `within` says of a wire event type at which prefix of the
    payload its data stands, where that is not the payload itself.
    """

    paths: tuple[str, ...]
    text: str
    within: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A wire grammar, and what else the toolkit can do with it: a facet each, None without it.

    `recognises` looks at one decoded payload and says whether it is ours. `columns` gives what a
    payload of deltas may differ in from the next one, or None; reading one frame that holds the
    joined text of many must leave the reader as reading the many does. `framing` is that of a
    stream; a body is a body in every dialect. `mutation` names the module that has a `MUTATION`:
    few who load a dialect edit its streams.
    """

    name: str
    vocabulary: Vocabulary
    reader: Callable[[Reading], Reader]
    recognises: Callable[[Frame, Any], bool]
    columns: Callable[[Any, Reading], Columns | None] = lambda _payload, _reading: None
    framing: StreamFraming = "sse"
    endpoint: Endpoint | None = None
    models: ModelListing | None = None
    request: RequestForm | None = None
    mutation: str = ""
    script: Script | None = None
