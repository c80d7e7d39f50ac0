"""Faults that show under load only: parts of one answer go to another one under way beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

from ..engine import Finish, TextDelta
from ..summary import AnswerEvent
from .defect import Scene

Item = TypeVar("Item")


class _Inbox(Generic[Item]):
    """The events that other streams put into one."""

    def __init__(self) -> None:
        self.items: list[Item] = []


class CrossedStreams(Generic[Item]):
    """Streams under way, by API. `strays` says which items go to another one, by their number.

    What came from there goes out before an item of its own for which `makes_way` holds.
    """

    def __init__(
        self, strays: Callable[[int, Item], bool], makes_way: Callable[[Item], bool]
    ) -> None:
        self._strays = strays
        self._makes_way = makes_way
        self._open: dict[str, list[_Inbox[Item]]] = {}

    async def __call__(self, source: AsyncIterator[Item], scene: Scene) -> AsyncIterator[Item]:
        under_way = self._open.setdefault(scene.api, [])
        own: _Inbox[Item] = _Inbox()
        under_way.append(own)
        number = 0
        try:
            async for item in source:
                await asyncio.sleep(0)  # so that all streams get on
                number += 1
                if self._makes_way(item):
                    for each in own.items:
                        yield each
                    own.items = []
                other = next((each for each in under_way if each is not own), None)
                if other is not None and self._strays(number, item):
                    other.items.append(item)
                else:
                    yield item
            for each in own.items:  # nothing is lost
                yield each
        finally:
            under_way.remove(own)


texts: CrossedStreams[AnswerEvent] = CrossedStreams(
    lambda _, event: isinstance(event, TextDelta),
    lambda event: isinstance(event, TextDelta | Finish),
)
"""Visible text goes to another answer."""

chunks: CrossedStreams[bytes] = CrossedStreams(lambda number, _: number > 1, lambda _: True)
"""Whole chunks but the first go to another answer."""
