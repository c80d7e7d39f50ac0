"""Conversations of earlier responses, kept in memory and bounded: the oldest go first."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from .refusal import Refusal
from .turns import Turn
from .wire import encoded

MOST_RESPONSES: Final = 1024
MOST_BYTES: Final = 32 * 1024 * 1024


class Memory:
    """Response id -> the turns up to and with its answer."""

    def __init__(self, most: int = MOST_RESPONSES, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._held: OrderedDict[str, tuple[tuple[Turn, ...], int]] = OrderedDict()
        self._bytes = 0

    def recall(self, response_id: str) -> tuple[Turn, ...]:
        """Raises Refusal for a response that is not known, or not any more."""
        if response_id not in self._held:
            raise Refusal(
                f"previous response with id {response_id!r} not found",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return self._held[response_id][0]

    def keep(self, response_id: str, turns: tuple[Turn, ...]) -> None:
        """Keep a conversation, and let go of the oldest that there is no room for."""
        size = len(encoded(turns))
        _, before = self._held.pop(response_id, ((), 0))
        self._bytes -= before
        self._held[response_id] = (turns, size)
        self._bytes += size
        while len(self._held) > self._most or self._bytes > self._most_bytes:
            _, (_, freed) = self._held.popitem(last=False)
            self._bytes -= freed
