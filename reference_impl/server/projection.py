"""From engine events to what one API sends: the part that is alike for all of them."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import Final, Protocol, TypeVar

from .engine import EngineError
from .summary import AnswerEvent
from .wire import Wire

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
