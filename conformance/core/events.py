"""The values that all other modules use: frames, events, exchanges, and the shared vocabulary.

A *frame* is one SSE event, comment or field line, one line of NDJSON, a marker or line of raw text,
or one message of an AWS event stream, with its byte offset (a JSON response body is one frame of
kind `body`). A dialect turns a frame into *wire events* (the decoded payload, arrays unrolled) and
*semantic events* (what a correct client would report, with the same names in every dialect).
Transport events (`http.request`, `sse.frame`, ...) complete the trace.

Rule 1: the number of a frame (from 1; 0 is the request and the response head) is the number of
every event that it gave rise to. Two events of one frame are neither before nor after each other.
Rule 2: inside one frame the order is transport, wire, semantic; of semantic events message,
step, thinking, opaque, text, snapshot, refusal, tool, finish, usage, error, done.
Rule 3: every semantic event carries `choice` (0 where the dialect has none).
Rule 4: an `error` ends the answer unless its `final` is false: then the dialect states that the
        stream goes on to its proper end.
Rule 5: an exchange may hold several answers in sequence (runs, turns, prompts, or several answers
        saved in one file). The dialect decides where the next one begins; the first events of that
        frame may end the previous answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import Struct

FrameKind = Literal[
    "event",
    "comment",
    "ignored",
    "line",
    "ignored-line",
    "element",
    "ignored-element",
    "text",
    "binary",
    "ignored-binary",
    "body",
]
HeaderValue = str | int | bool
Layer = Literal["transport", "wire", "semantic"]
Fidelity = Literal["bytes", "text", "events"]
Side = Literal["client", "server"]
Ending = Literal["eof", "reset", "client-closed", "idle-timeout", "protocol-error", "open"]

STREAMED: Final = frozenset({"event", "line", "element", "text", "binary"})
"""Kinds of frames that a stream says something in."""
UPGRADED: Final = 101
"""The status of a response after which WebSocket messages follow."""
ENDINGS: Final[tuple[Ending, ...]] = get_args(Ending)

TRANSPORT_EVENTS: Final = frozenset(
    {
        *("http.request", "http.response", "http.end"),
        *("sse.frame", "sse.comment", "sse.ignored"),
        *("line.frame", "line.ignored", "element.frame", "element.ignored"),
        *("binary.frame", "binary.ignored"),
    }
)

TURN_EVENTS: Final = frozenset(
    {
        *("turn.call", "turn.text", "turn.named", "turn.result", "turn.again"),
        *("turn.resumed", "turn.moved", "turn.doubled", "turn.misplaced"),
        *("turn.asked_twice", "turn.rival"),
    }
)
"""The calls and the text of an answer, or of the turn that brings it back, in any dialect; and what
a request sends to a server that keeps the answer which it names."""

REQUEST_EVENTS: Final = (
    frozenset(
        {
            *("request", "request.item", "request.part", "request.call", "request.result"),
            *("request.reasoning", "request.before"),
        }
    )
    | TURN_EVENTS
)
"""The body of a request: whole, and its history by entries, parts, calls, results and reasoning.

`request.before` holds what precedes a turn: only comparisons of linked answers have it, and
the events of turns.
"""

# Type -> the fields it may carry, besides `choice`.
SEMANTIC_EVENTS: Final[Mapping[str, frozenset[str]]] = {
    "message.start": frozenset({"role", "id", "resumed"}),
    "step.start": frozenset({"step"}),
    "step.end": frozenset({"step"}),
    "thinking.start": frozenset({"block", "channel", "explicit", "id"}),
    "thinking.delta": frozenset({"blank", "block", "channel", "part", "phase", "split", "text"}),
    "thinking.part": frozenset({"block", "part"}),
    "thinking.end": frozenset({"block", "explicit"}),
    "thinking.opaque": frozenset({"block", "kind", "data"}),
    "text.start": frozenset({"block"}),
    "text.delta": frozenset({"blank", "block", "phase", "text"}),
    "text.end": frozenset({"block"}),
    "snapshot": frozenset({"text", "thinking"}),
    "refusal.delta": frozenset({"text"}),
    "tool.start": frozenset({"index", "id", "name", "hosted"}),
    "tool.delta": frozenset({"index", "arguments"}),
    # `fit` is added by who judges, where the request says what a call has to be.
    "tool.end": frozenset({"index", "id", "name", "arguments", "hosted", "fit"}),
    "usage": frozenset({"input", "output", "reasoning", "total"}),
    "finish": frozenset({"flushed", "reason", "shown"}),
    "error": frozenset({"code", "final", "message", "status"}),
    "done": frozenset({"explicit"}),
    "cut": frozenset({"how"}),
}


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One unit of the wire.

    `event`   dispatched by the standard: `event` (default `message`), `data`, `id` (the last
              event id at dispatch), `named` (an `event:` line was there).
    `comment` `data` is the text after the colon; `event` is empty.
    `ignored` what the standard throws away: `event` names why (`unknown-field`, `no-data`,
              `unfinished`, `bad-id`, `bad-retry`, `bad-utf8`, `too-long`), `data` is the line or
              block, empty where it was too long.
    `line`    `data` is one line of NDJSON without its end. `ignored-line` is to it what `ignored`
              is to `event` (`unfinished`, `bad-utf8`, `too-long`).
    `text`    `data` is a marker (`<|end|>`), or a line of the text between markers, with its end.
    `binary`  one message of an AWS event stream: `event` is its type, `data` its payload,
              `headers` are its headers. `ignored-binary` is to it what `ignored` is to `event`
              (`bad-prelude`, `bad-checksum`, `bad-headers`, `bad-utf8`, `too-long`, `unfinished`).
    `element` `data` is one element of a JSON array that grows; `ignored-element` likewise
              (`unfinished`, `bad-utf8`, `after-end`, `too-long`).
    `body`    `data` is a whole JSON response body.
    `offset` is the 0-based byte at which the frame's first line begins.
    """

    kind: FrameKind
    event: str
    data: str
    id: str
    offset: int
    named: bool = False
    headers: tuple[tuple[str, HeaderValue], ...] = ()


class Event(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened: `data` is the decoded payload, `number` the frame's number.

    `answer` is the number of the answer that it belongs to, from 1. `place` holds indices that the
    wire leaves out and its reader infers: rules that follow one item or part need them.
    """

    type: str
    data: Mapping[str, Any]
    number: int
    layer: Layer
    answer: int = 1
    place: Mapping[str, int] | None = None


class Request(Struct, frozen=True):
    """A recorded request. `json` is None where the body was not recorded or is not JSON.

    A body that is not JSON is in `text`, or in `base64` if it is not UTF-8. `server` is the scheme
    and host of a recorded URL.
    """

    method: str = "POST"
    path: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    json: Any = None
    text: str | None = None
    base64: bytes | None = None
    server: str = ""

    @property
    def host(self) -> str:
        """The host name of the server, without a port; empty if the recording lacks it."""
        named = {name.lower(): value for name, value in self.headers}.get("host", "")
        host = self.server.partition("://")[2] or named
        return host.rpartition("@")[2].partition(":")[0].lower()

    @property
    def raw(self) -> bytes | None:
        """A body that is not JSON; None where there was none, or it was not recorded."""
        return self.base64 if self.text is None else self.text.encode()

    def with_raw(self, body: bytes) -> Request:
        """The request with a body that is not JSON; an empty one is none."""
        try:
            return msgspec.structs.replace(self, text=body.decode() or None, base64=None)
        except UnicodeDecodeError:
            return msgspec.structs.replace(self, text=None, base64=body)


class Response(Struct, frozen=True):
    """The head of an answer. `status` is None where it was not recorded (a bare `.sse` file)."""

    status: int | None = None
    http: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def as_event(self) -> dict[str, Any]:
        """Status, version and headers as the event of the head has them.

        Many recorders drop all headers and the version: the key is absent then, because the
        headers are unknown.
        """
        stated: dict[str, Any] = {"status": self.status, "http": self.http}
        if self.headers or self.http:
            stated["headers"] = {name.lower(): value for name, value in self.headers}
        return stated

    @property
    def is_upgrade(self) -> bool:
        """Whether messages of a WebSocket follow."""
        return self.status == UPGRADED

    def header(self, name: str) -> str | None:
        """Value of the last header of that name, in any case; None if absent."""
        wanted = name.lower()
        return next((v for k, v in reversed(self.headers) if k.lower() == wanted), None)


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """Bytes that arrived together. `ms` since the chunk before; None where no clock was kept."""

    data: bytes
    ms: float | None = None


class SocketMessage(Chunk, frozen=True, gc=False):
    """One message of a WebSocket, whole: who sent it, and whether it was binary."""

    side: Side = "server"
    binary: bool = False


class Exchange(Struct, frozen=True):
    """One request with its response, as recorded.

    `request` is None where it was not recorded. `chunks` are the response body. `seen` holds the
    reports of a client under test (harness objects, unchanged), None where there was no client.
    `user_choices` holds what that client's user chose (model, effort, summary, history,
    include_thinking), None if unknown. `touched` has ids of rules whose verdict may differ from
    the one on the original bytes, because redaction replaced what they read; `*` means every rule.
    `close_code` is the close code of a WebSocket, None if there was none or it was not recorded.
    """

    number: int = 1
    request: Request | None = None
    response: Response | None = None
    chunks: tuple[Chunk, ...] = ()
    end: Ending = "eof"
    dialect: str | None = None
    scenario: str = ""
    role: str = ""
    hop: str = ""
    after: int | None = None
    seen: tuple[Mapping[str, Any], ...] | None = None
    user_choices: Mapping[str, Any] | None = None
    name: str = ""
    touched: tuple[str, ...] = ()
    close_code: int | None = None

    @property
    def is_connection(self) -> bool:
        """Whether this is a whole WebSocket: its chunks are messages of both sides."""
        return bool(self.chunks) and isinstance(self.chunks[0], SocketMessage)

    @property
    def body(self) -> bytes:
        """The response body, as it came over the wire."""
        return b"".join(chunk.data for chunk in self.chunks)


class Vocabulary(Struct, frozen=True):
    """The wire event types that a dialect speaks; rules are linted against it.

    `open` names prefixes under which servers may invent types (`response.`): there an unknown type
    is legal on the wire, but still a lint error in a rule file.
    """

    dialect: str
    wire: frozenset[str]
    open: tuple[str, ...] = ()
