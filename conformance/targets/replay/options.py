"""How cassettes are replayed, as data: cuts, times, faults, legal edits, and how requests match.

Every knob has a spelling (`seed:7`, `scale:0.5`, `event:12`) that flags, YAML and tests share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, Self

from msgspec import Struct

from conformance.core.errors import UsageError
from conformance.dialects.requests import OPT_IN

_MOST: Final = 2**40  # bytes, events and seeds; far beyond any recording

# Fields of a request that name who asks or how it is billed, and never what is answered. Ids of
# messages and tool calls are not among them: a client has them from the recorded answer, so
# another id in its next request is a fault worth a miss.
VOLATILE: Final = ("metadata", "prompt_cache_key", "safety_identifier", "user")
# Headers that change the answer to an equal body.
TELLING_HEADERS: Final = (OPT_IN,)


class Chunking(Struct, frozen=True):
    """Where the bytes are cut into chunks.

    `recorded`  as they were. `events`  at event ends. `bytes`  every `number` bytes.
    `seed`      at random, and at the spots where clients break: inside UTF-8 characters, between
                CR and LF, inside field names, between the two line ends of a blank line.
    """

    kind: Literal["recorded", "events", "bytes", "seed"] = "recorded"
    number: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """`recorded`, `events`, `bytes:N` or `seed:N`. Raises UsageError."""
        match text.partition(":"):
            case ("recorded" | "events" as kind, "", _):
                return cls(kind)
            case ("bytes" | "seed" as kind, ":", number):
                return cls(kind, _parse_number(number, text, least=int(kind == "bytes")))
        raise UsageError(f"expected recorded, events, bytes:N or seed:N, got {text!r}")

    def __str__(self) -> str:
        return self.kind if self.kind in ("recorded", "events") else f"{self.kind}:{self.number}"


class ReplayTiming(Struct, frozen=True):
    """Recorded gaps times `factor`: 1 is as recorded, 0 does not wait."""

    factor: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Self:
        """`recorded`, `none` or `scale:F`. Raises UsageError."""
        if text in ("recorded", "none"):
            return cls(float(text == "recorded"))
        kind, _, factor = text.partition(":")
        try:
            value = float(factor) if kind == "scale" else math.nan
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1e6:
            raise UsageError(f"expected recorded, none or scale:F, got {text!r}")
        return cls(value)

    def __str__(self) -> str:
        return {0.0: "none", 1.0: "recorded"}.get(self.factor, f"scale:{self.factor:g}")


class BodySpot(Struct, frozen=True):
    """A place in a body: after its event number `at`, or after its first `at` bytes."""

    unit: Literal["event", "byte"]
    at: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """`event:K` or `byte:N`, from 0, the place before the first. Raises UsageError."""
        match text.partition(":"):
            case ("event" | "byte" as unit, ":", number):
                return cls(unit, _parse_number(number, text))
        raise UsageError(f"expected event:K or byte:N, got {text!r}")

    def __str__(self) -> str:
        return f"{self.unit}:{self.at}"


CutKind = Literal["fin", "rst"]


class ReplayOptions(Struct, frozen=True):
    """All knobs of a replay.

    `cut`      breaks the answer off there, `how`: a FIN before the end of the body, or a RST.
    `stall`    says nothing more from there on, and keeps the connection open.
    `corrupt`  sends one bit of the byte before that place wrong: of a binary message its checksum.
    `comments` puts SSE comments between events and between their lines.
    `crlf`     ends lines with CR LF where they end with LF.
    `repeat`   answers again what has been answered before; default: once per exchange.
    `ignore`   dotted paths of request bodies that need not match; `*` stands for any key or index.
    `headers`  request headers that must match, besides method, path and body.
    `exact_paths`  distinguishes `/v1/responses` from `/responses`.
    `hop`      which side of a gateway's or an application's recording is served.
    `own_form` answers who asks for a stream with streams alone, and who does not with whole bodies,
               also where no request was recorded.
    `version`  answers only who asks in that version of the API, where no request was recorded.
    """

    chunking: Chunking = Chunking()
    timing: ReplayTiming = ReplayTiming()
    cut: BodySpot | None = None
    how: CutKind = "fin"
    stall: BodySpot | None = None
    corrupt: BodySpot | None = None
    comments: bool = False
    crlf: bool = False
    repeat: bool = False
    ignore: tuple[str, ...] = VOLATILE
    headers: tuple[str, ...] = TELLING_HEADERS
    exact_paths: bool = False
    hop: Literal["upstream", "downstream"] = "downstream"
    own_form: bool = False
    version: str = ""

    def __post_init__(self) -> None:
        if self.cut and self.stall:
            raise UsageError("a stream is either cut or stalls, not both")
        if self.how not in ("fin", "rst"):
            raise UsageError(f"how: expected fin or rst, got {self.how!r}")

    @classmethod
    def parse(
        cls, *, ignore: Iterable[str] = (), headers: Iterable[str] = (), **knobs: str | bool | None
    ) -> Self:
        """The knobs from their spellings, or as they are; None leaves the default.

        `ignore` and `headers` add to the defaults. Raises UsageError.
        """
        values: dict[str, Any] = {name: each for name, each in knobs.items() if each is not None}
        for name in (each for each in _SPELLED if each in values):
            try:
                values[name] = _SPELLED[name](values[name])
            except UsageError as err:
                raise UsageError(f"{name}: {err.message}") from err
        return cls(ignore=(*VOLATILE, *ignore), headers=(*TELLING_HEADERS, *headers), **values)


_SPELLED: Final[Mapping[str, Callable[[str], object]]] = {
    "chunking": Chunking.parse,
    "timing": ReplayTiming.parse,
    "cut": BodySpot.parse,
    "stall": BodySpot.parse,
    "corrupt": BodySpot.parse,
}


class ReplayLimits(Struct, frozen=True):
    """The bounds of one client of a replay server. Sizes in bytes, times in seconds.

    `requests` bounds the bodies of all connections together, `request_s` the time from a request's
    first byte to its last, `idle_s` the time between two requests, `hold_s` a stall and a client
    that does not read, `close_s` what is left to deliver when the server stops. `seen` requests and
    `kept` bytes of their bodies are kept to look at.
    """

    head: int = 64 * 1024
    body: int = 32 * 1024 * 1024
    requests: int = 256 * 1024 * 1024
    kept: int = 64 * 1024 * 1024
    seen: int = 10_000
    sessions: int = 4_096
    connections: int = 1_024
    request_s: float = 30.0
    idle_s: float = 300.0
    hold_s: float = 600.0
    close_s: float = 2.0


def _parse_number(number: str, text: str, *, least: int = 0) -> int:
    value = int(number) if number.isascii() and number.isdigit() and len(number) < 16 else -1
    if not least <= value <= _MOST:
        raise UsageError(f"expected a number of at least {least}, got {text!r}")
    return value
