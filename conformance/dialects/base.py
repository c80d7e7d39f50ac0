"""What a dialect is: a name, its wire vocabulary, and a reader from frames to events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.core.events import Event, Exchange, Frame, Request, Vocabulary
from conformance.core.framing import Framing
from conformance.core.reading import Reader, Reading
from conformance.core.trace import TracedFrame, trace_exchange
from conformance.dialects.agent import AgentForm
from conformance.dialects.client_cases import ClientCases
from conformance.dialects.connection import SocketForm
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.requests import RequestForm
from conformance.dialects.script import Script
from conformance.dialects.turns import HistoryForm, prompt_texts
from conformance.dialects.wire_keys import AnswerBounds, ItemPlaces, SseEnvelope, WireKeys

__all__ = ["DeltaColumns", "Dialect", "Reader", "Reading", "facets"]

_FACETS: Final[Mapping[str, str]] = {
    "NAME": "name",
    "VOCABULARY": "vocabulary",
    "WIRE_KEYS": "keys",
    "ENVELOPE": "envelope",
    "BOUNDS": "bounds",
    "COLUMNS": "columns",
    "delta_columns": "columns",
    "REQUEST": "request",
    "TURNS": "turns",
    "SCRIPT": "script",
    "CLIENT_CASES": "client",
    "AGENT": "agent",
    "SOCKET": "socket",
    **{name: name for name in ("recognises", "doubts", "is_piece")},
}


class KnobWatcher(Protocol):
    """Watches what the knobs of one dialect are about, in one exchange."""

    def see(self, event: Event) -> None:
        """Takes the next event of the exchange, of any layer."""

    def values(self, *, framed: bool) -> dict[str, Any]:
        """Observed values; `framed` is False where line framing was rebuilt and shows nothing."""


class PrivateTextWatcher(Protocol):
    """Watches the fields that the dialect does not know, for text that is like thinking."""

    def see(self, event: Event) -> None:
        """Takes the next event of the exchange, of any layer."""

    def thinking(self) -> tuple[str, ...]:
        """Paths of fields that carry text, longest text first."""


class DeltaColumns(Struct, frozen=True):
    """Fields that differ between the many frames of one run of deltas.

    `paths` lead from the payload to strings and whole numbers; `text` is the one among them whose
    text the semantic delta carries. `within` says of a wire event type at which path of the
    payload its data is, where that is not the payload itself. A text with one of the characters
    in `alone` may be more than text to the reader, and is read by itself. `mirrors` are those of
    `paths` that repeat the text; a frame in which one differs is read by itself.
    """

    paths: tuple[str, ...]
    text: str
    within: Mapping[str, str] = field(default_factory=dict)
    alone: str = ""
    mirrors: tuple[str, ...] = ()


class Refinement(Struct, frozen=True):
    """The dialect whose payloads another one shares, all but those that this one recognises.

    `mark` is in the text of these. A stream with one of them is of the dialect that refines,
    and may be read as the other one all the same.
    """

    dialect: str
    mark: str


class Dialect(Struct, frozen=True):
    """A wire grammar, and what else the toolkit can do with it: a facet each, None without it.

    `recognises` looks at one decoded payload and says whether it is ours. `columns` gives what a
    payload of deltas may differ in from the next one, or None; reading one frame that holds the
    joined text of many must leave the reader as reading the many does. `framing` is that of a
    stream, `framing_at` that of a stream asked for at a path, where the path shows; a body is a
    body in every dialect. `carriers` are dialects without a reader whose payloads may hold it in
    their texts: a stream that shows one of them does not contradict. `refines` is stated by a
    dialect that shares most payloads with another one. `special_tokens` are the markers of its text
    by their ids. `turns` says how requests repeat what was said. `is_application`: an application
    speaks in it, and is asked at one address, its URL or, where `agent` says how, a command;
    without `request` it is only listened to. `carries_opaque`: it has a place for signatures and
    for thinking that is sealed; `names_tools`: it shows calls by the model's own name and
    arguments; `tells_parts`: it separates one part of thinking from the next; `tells_reasons`: it
    says why a model stopped; `is_opaque`: who answers in it need not show thinking and calls at
    all. `takes_back` are wire events by which its interface forgets what it
    was shown before. `unit` is its word for one answer. `socket` says what the messages of a
    WebSocket mean, where it is spoken over one. `is_piece`: a payload says of itself that it is a
    piece of a stream, though a body may be spelled like it. `counts_within`: tokens of thinking
    are counted within those of the output. `echoes`: an answer may repeat parameters of its
    request (`Reader.echo`). `doubts` says why the first payloads of a stream, though recognised,
    are those of another protocol.
    """

    name: str
    vocabulary: Vocabulary
    reader: Callable[[Reading], Reader]
    recognises: Callable[[Frame, Any], bool]
    columns: Callable[[Any, Reading], DeltaColumns | None] = lambda _payload, _reading: None
    framing: Framing = "sse"
    framing_at: Callable[[str], Framing] | None = None
    keys: WireKeys = field(default_factory=WireKeys)
    envelope: SseEnvelope = field(default_factory=SseEnvelope)
    bounds: AnswerBounds = field(default_factory=AnswerBounds)
    items: ItemPlaces | None = None
    knobs: Callable[[], KnobWatcher] | None = None
    private_texts: Callable[[], PrivateTextWatcher] | None = None
    endpoint: Endpoint | None = None
    models: ModelListing | None = None
    request: RequestForm | None = None
    turns: HistoryForm | None = None
    client: ClientCases | None = None
    script: Script | None = None
    carriers: frozenset[str] = frozenset()
    refines: Refinement | None = None
    special_tokens: Mapping[int, str] = field(default_factory=dict)
    is_application: bool = False
    agent: AgentForm | None = None
    carries_opaque: bool = True
    names_tools: bool = True
    tells_parts: bool = True
    tells_reasons: bool = True
    is_opaque: bool = False
    takes_back: frozenset[str] = frozenset()
    unit: str = "answer"
    socket: SocketForm | None = None
    is_piece: Callable[[Any], bool] = lambda _payload: False
    counts_within: bool = False
    echoes: bool = False
    doubts: Callable[[Sequence[Mapping[str, Any]]], str | None] = lambda _payloads: None

    def stated(self, request: Request | None) -> Request | None:
        """The request as rules know it: with its keys spelled as here, and what its path says.

        What a path may say is `Endpoint.stated`.
        """
        if request is None or self.endpoint is None or not isinstance(request.json, Mapping):
            return request
        body = request.json if self.request is None else self.request.spelled(request.json)
        fields = self.endpoint.stated(request.path)
        return (
            replace(request, json={**fields, **body})
            if fields or body is not request.json
            else request
        )

    def asks_for_stream(self, path: str, body: Any) -> bool | None:
        """Whether a request asks for a stream; None where requests of the dialect are not known."""
        request = self.stated(Request(path=path, json=body))
        if self.request is None or request is None:
            return None
        at = self.request.streams_at
        return (at is not None and at(path)) or self.request.streams(request.json)

    def prompt_texts(self, request: Request | None) -> Iterator[str]:
        """Every text of a request, as `stated` gives it, except earlier answers."""
        return prompt_texts(request.json if request else None, self.turns)

    def expected_framing(self, request: Request | None) -> Framing | None:
        """How the answer is framed that a request asks for; None where that is not known.

        Raw text is the answer to no request: only what the dialect is can tell it.
        """
        if self.framing == "text":
            return self.framing
        if request is None or request.json is None:
            return None
        streams = self.asks_for_stream(request.path, request.json)
        if streams is None:
            return None
        return self.stream_framing(request.path) if streams else "body"

    def stream_framing(self, path: str) -> Framing:
        """How a stream is framed that is requested at a path, empty where that is not known."""
        return self.framing_at(path) if path and self.framing_at else self.framing

    def trace(self, exchange: Exchange, reading: Reading) -> Iterator[TracedFrame]:
        """Everything that a recorded exchange gives rise to, from the request to the end."""
        expected = self.expected_framing(exchange.request)
        whole = replace(exchange, request=self.stated(exchange.request))
        return trace_exchange(whole, self.reader(reading), expected)


def facets(folder: str, *modules: str) -> dict[str, Any]:
    """The facets that the reader and these modules of a folder hold under their usual names."""
    found: dict[str, Any] = {}
    for module in ("reader", *modules):
        held = vars(import_module(f"{folder}.{module}"))
        found |= {facet: held[name] for name, facet in _FACETS.items() if name in held}
    return found
