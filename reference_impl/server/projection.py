"""From engine events to what one API sends: the part that is alike for all of them."""

from __future__ import annotations

import logging
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeVar

import msgspec

from .engine import EngineError, Finish, ReasoningDelta, Start, TextDelta, ToolCall
from .refusal import Refusal, failed
from .summary import AnswerEvent
from .wire import Wire


def utc_text(seconds: float, timespec: str = "auto") -> str:
    """A time since 1970, as Google and Ollama write it."""
    at = datetime.fromtimestamp(seconds, UTC)
    return at.isoformat(timespec=timespec).replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Stamp:
    """`token` gives another unused word each time, `clock` seconds since 1970."""

    token: Callable[[], str] = lambda: secrets.token_hex(12)
    clock: Callable[[], float] = time.time

    def new(self, prefix: str) -> str:
        return f"{prefix}{self.token()}"

    def now(self) -> int:
        """Whole seconds since 1970."""
        return int(self.clock())


_log: Final = logging.getLogger(__name__)

Item_co = TypeVar("Item_co", covariant=True)


class Projection(Protocol):
    """Engine events in, wire events out; pure, so that a table of both can test it.

    `is_over` is true once the closing events were given: whatever would follow is not read.
    """

    @property
    def is_over(self) -> bool: ...

    def opening(self) -> Iterable[Wire]: ...

    def feed(self, event: AnswerEvent) -> Iterable[Wire]: ...

    def fail(self, message: str) -> Iterable[Wire]: ...


class ArgumentsError(ValueError):
    """The arguments of a call, as the model wrote them, are no JSON."""


def call_arguments(written: str) -> Any:
    """The value of a call; nothing written is an empty object. Raises ArgumentsError."""
    try:
        return msgspec.json.decode(written or "{}")
    except msgspec.DecodeError as err:
        raise ArgumentsError(f"the arguments of a tool call are not JSON: {err}") from err


class AnswerProjection(ABC):
    """The part that the projections of most APIs share: a method for each kind of event."""

    def __init__(self) -> None:
        self.is_over = False

    def opening(self) -> Iterator[Wire]:
        """Nothing: most APIs begin with the generation."""
        yield from ()

    def feed(self, event: AnswerEvent) -> Iterator[Wire]:
        try:
            yield from self._project_event(event)
        except ArgumentsError as err:
            yield from self.fail(str(err))

    def fail(self, message: str) -> Iterator[Wire]:
        """The error is the last event; what is open stays open."""
        yield from self._emit_error(failed(message))
        self.is_over = True

    def _project_event(self, event: AnswerEvent) -> Iterator[Wire]:
        match event:
            case Start():
                yield from self._emit_start(event)
            case ReasoningDelta():
                yield from self._emit_thinking(event.text)
            case TextDelta():
                yield from self._emit_text(event.text)
            case ToolCall():
                yield from self._emit_call(event)
            case Finish(reason="cancelled"):
                yield from self.fail("the generation was cancelled")
            case Finish():
                yield from self._emit_finish(event)
                self.is_over = True

    def _emit_start(self, _: Start) -> Iterator[Wire]:
        yield from ()

    @abstractmethod
    def _emit_thinking(self, text: str) -> Iterator[Wire]: ...

    @abstractmethod
    def _emit_text(self, text: str) -> Iterator[Wire]: ...

    @abstractmethod
    def _emit_call(self, call: ToolCall) -> Iterator[Wire]: ...

    @abstractmethod
    def _emit_finish(self, finish: Finish) -> Iterator[Wire]: ...

    @abstractmethod
    def _emit_error(self, refusal: Refusal) -> Iterator[Wire]: ...


class BlockProjection(AnswerProjection):
    """One block is open at a time; blocks count from 0, and none is reopened."""

    def __init__(self) -> None:
        super().__init__()
        self._index = 0
        self._open = ""  # the kind of block that is open

    def _enter_block(self, kind: str, **fields: Any) -> Iterator[Wire]:
        """Open a block of that kind, with these fields, unless one is open."""
        if self._open != kind:
            yield from self._leave_block()
            self._open = kind
            yield from self._begin_block(kind, **fields)

    def _leave_block(self) -> Iterator[Wire]:
        kind, self._open = self._open, ""
        if kind:
            yield from self._end_block(kind)
            self._index += 1

    @abstractmethod
    def _begin_block(self, kind: str, **fields: Any) -> Iterator[Wire]: ...

    @abstractmethod
    def _end_block(self, kind: str) -> Iterator[Wire]: ...


class AnswerBody(ABC):
    """Adds up the events of a stream; `body` is the whole answer, or the error that ended it."""

    def __init__(self, envelope: Callable[[Refusal], Mapping[str, Any]]) -> None:
        self._envelope = envelope
        self._error: Mapping[str, Any] | None = None

    def add(self, wire: Wire) -> None:
        if not isinstance(wire.data, str):
            self._add_payload(wire.event, wire.data)

    def body(self) -> tuple[int, Mapping[str, Any]]:
        """Status and payload."""
        if self._error is not None:
            return 500, self._error
        try:
            return 200, self._whole_body()
        except ArgumentsError as err:
            return 500, self._envelope(failed(str(err)))

    @abstractmethod
    def _add_payload(self, event: str, data: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def _whole_body(self) -> Mapping[str, Any]: ...


class Events(Protocol[Item_co]):
    """Events of one generation; closing it ends the work."""

    def __aiter__(self) -> AsyncIterator[Item_co]: ...

    def aclose(self) -> Awaitable[None]: ...


async def projected(
    begin: Callable[[], Events[AnswerEvent]], projection: Projection
) -> AsyncGenerator[Wire, None]:
    """Everything that is sent for one generation, an end included, whatever happens to it.

    `begin` is called with the first event: what nobody reads is not generated.
    """
    for wire in projection.opening():
        yield wire
    failure = "the generation ended without saying why"
    try:
        async with aclosing(begin()) as events:
            async for event in events:
                for wire in projection.feed(event):
                    yield wire
                if projection.is_over:
                    return
    except EngineError as err:
        failure = str(err)
    _log.warning("generation failed: %s", failure)
    for wire in projection.fail(failure):
        yield wire
