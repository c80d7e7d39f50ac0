"""The state that one process of the server shares."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers

from .defects import Scene, ServerDefect, hooked
from .engine import Model
from .projection import Events, Stamp
from .refusal import Refusal
from .sealing import Seal
from .settings import Settings
from .summary import AnswerEvent
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

    def __contains__(self, response_id: str) -> bool:
        return response_id in self._held

    def recall(self, response_id: str) -> tuple[Turn, ...]:
        """Raises Refusal for a response that is not known, or not any more."""
        if response_id not in self._held:
            raise Refusal(
                f"previous response with id {response_id!r} not found",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return self._held[response_id][0]

    def keep(self, response_id: str, turns: tuple[Turn, ...], *, is_stored: bool = True) -> None:
        """Keep a conversation, and let go of the oldest that there is no room for."""
        if not is_stored:
            return
        size = len(encoded(turns))
        self.forget(response_id)
        self._held[response_id] = (turns, size)
        self._bytes += size
        while len(self._held) > self._most or self._bytes > self._most_bytes:
            self.forget(next(iter(self._held)))

    def forget(self, response_id: str) -> None:
        _, freed = self._held.pop(response_id, ((), 0))
        self._bytes -= freed


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that an API needs to answer; `key` is what reasoning is sealed with."""

    model: Model
    settings: Settings = field(default_factory=Settings)
    stamp: Stamp = field(default_factory=Stamp)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    started: int = field(default_factory=lambda: int(time.time()))
    defect: ServerDefect | None = None
    memory: Memory = field(default_factory=Memory, repr=False)

    @property
    def model_id(self) -> str:
        """The name of the model that requests have to use."""
        return self.settings.model_name or self.model.model_id

    def seal(self, purpose: str) -> Seal:
        return Seal(self.key, purpose)

    def faulty(
        self, begin: Callable[[], Events[AnswerEvent]], scene: Scene
    ) -> Callable[[], Events[AnswerEvent]]:
        """The generation, with the fault that a defect has there."""
        if self.defect is None or self.defect.events is None:
            return begin
        hook = self.defect.events
        return lambda: hooked(begin(), hook, scene)


def check_key(expected: str, headers: Headers, in_query: str | None = None) -> None:
    """Raises Refusal unless the request carries the key; without an expected one all may ask."""
    if not expected:
        return
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    named = headers.get("x-api-key") or headers.get("x-goog-api-key") or in_query
    given = named or bearer
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise Refusal("the API key is missing or wrong", status=401, code="invalid_api_key")
