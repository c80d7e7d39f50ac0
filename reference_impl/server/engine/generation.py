"""One stream of events, read in an event loop while the engine's thread makes tokens."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from typing import Self

from .events import EngineError, EngineEvent, Finish, Limits, Prompt, Start, Stream
from .loop import Loop
from .prompting import Prompter
from .work import Outcome, Work


class Generation:
    """An asynchronous iterator of events for one reader.

    The work ends within a token of `aclose`, of the reader's cancellation, or of the last
    reference to this object.
    """

    def __init__(
        self, loop: Loop, prompter: Prompter, prompt: Prompt, limits: Limits, parent: Stream | None
    ) -> None:
        """See `Engine.generate`."""
        prompter.check(prompt)
        self._router = prompter.router(prompt, limits)
        self._events: deque[EngineEvent] = deque([Start(len(prompt.ids))])
        self._error: EngineError | None = None
        self._over = False
        self._reader: asyncio.Future[None] | None = None
        self._children: weakref.WeakSet[Generation] = weakref.WeakSet()
        self._work = Work(
            prompt,
            limits,
            room=prompter.context - len(prompt.ids),
            vocabulary=prompter.vocabulary,
            on_token=self._on_token,
        )
        if isinstance(parent, Generation):
            parent.adopt(self)
        loop.submit(self._work)

    @property
    def waiting(self) -> bool:
        """The next event is there already: reading it takes no time."""
        return bool(self._events)

    def adopt(self, child: Generation) -> None:
        """Cancel that one too when this one is."""
        self._children.add(child)

    def cancel(self) -> None:
        """End the work, and that of children; a reader gets what was held back, and the end."""
        for child in list(self._children):
            child.cancel()
        if not self._over:
            self._events.extend(self._router.end("cancelled"))
            self._end()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EngineEvent:
        while not self._events:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._over:
                raise StopAsyncIteration
            await self._wait()
        return self._events.popleft()

    async def aclose(self) -> None:
        """End the work, and that of children; no further event comes."""
        self.cancel()
        self._events.clear()
        self._error = None

    async def _wait(self) -> None:
        self._reader = asyncio.get_running_loop().create_future()
        self._work.pinned = self
        try:
            await self._reader
        except asyncio.CancelledError:
            self.cancel()
            raise
        finally:
            self._reader = self._work.pinned = None

    def _on_token(self, token: int | None, outcome: Outcome) -> None:
        """Hear of one token, in the event loop. Raises nothing: the reader must learn of it."""
        if self._over:
            return
        if isinstance(outcome, Exception):
            self._fail(outcome)
            return
        try:
            events = [] if token is None else self._router.push(token)
            if outcome is not None and not _is_over(events):
                events += self._router.end(outcome)
        except Exception as err:  # noqa: BLE001 - see above
            self._fail(err)
        else:
            self._events.extend(events)
            if _is_over(events):
                self._end()
            elif events:
                self._wake()

    def _fail(self, err: Exception) -> None:
        if not isinstance(err, EngineError):
            failed = EngineError(f"the generation failed: {type(err).__name__}: {err}")
            failed.__cause__ = err
            err = failed
        self._error = err
        self._end()

    def _end(self) -> None:
        self._over = True
        self._work.cancelled = True  # a stop string is found here, not in the engine's thread
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


def _is_over(events: list[EngineEvent]) -> bool:
    return bool(events) and isinstance(events[-1], Finish)
