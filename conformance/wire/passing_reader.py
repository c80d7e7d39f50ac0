"""A stream reader whose bytes can be taken in the turn of the loop in which they come.

Waking a task for every read takes another turn, and more processor time than passing the bytes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, SupportsIndex

READ_SIZE: Final = 256 * 1024

TakeBytes = Callable[[bytes], bool]
"""Takes what came; whether more may come at once."""


class PassingReader(asyncio.StreamReader):
    """Is read as any other, but while `pass_on` is under way."""

    def __init__(self) -> None:
        super().__init__(limit=READ_SIZE)
        self._take: TakeBytes | None = None
        self._stopped: asyncio.Future[None] | None = None

    async def pass_on(self, take: TakeBytes) -> None:
        """Passes bytes to `take` until it wants no more for now, or until the end (`at_eof`).

        Later bytes wait here, which slows the other side down. Raises OSError if the connection
        broke.
        """
        while self._buffer:  # type: ignore[attr-defined]  # nothing public shows, and reading waits
            if not take(await self.read(READ_SIZE)):
                return
        if self.at_eof():
            return
        self._take = take
        self._stopped = asyncio.get_running_loop().create_future()
        try:
            await self._stopped
        finally:
            self._take = self._stopped = None
        if (broken := self.exception()) is not None:
            raise broken

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        """As the base class, for its protocol."""
        if self._take is None:
            super().feed_data(data)
            return
        try:
            goes_on = self._take(bytes(data))
        except Exception as err:  # noqa: BLE001  # it is raised in the task that waits
            self._stop(err)
        else:
            if not goes_on:
                self._stop()

    def feed_eof(self) -> None:
        """As the base class, for its protocol."""
        super().feed_eof()
        self._stop()

    def set_exception(self, exc: Exception) -> None:
        """As the base class, for its protocol."""
        super().set_exception(exc)
        self._stop()

    def _stop(self, error: Exception | None = None) -> None:
        self._take = None
        if self._stopped is None or self._stopped.done():
            return
        if error is None:
            self._stopped.set_result(None)
        else:
            self._stopped.set_exception(error)
