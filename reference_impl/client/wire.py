"""What the readers of all APIs have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .event import Event
from .markers import Pair
from .sse import Sse

Api = Literal["chat", "responses", "messages"]
Ending = Literal["eof", "reset", "idle-timeout", "protocol-error", "client-closed"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How text is to be read: the marker pairs around thinking in it, if any.

    `opened_by_prompt`: the prompt ends with the open marker, so that only the close one is sent.
    """

    markers: tuple[Pair, ...] = ()
    opened_by_prompt: bool = False


class WireReader(Protocol):
    """Reads one answer of one API."""

    def read(self, sse: Sse) -> list[Event]:
        """The events of one server-sent event."""

    def body(self, payload: dict[str, Any]) -> list[Event]:
        """The events of a whole JSON body."""

    def end(self, how: str) -> list[Event]:
        """The events of the end of the bytes."""
