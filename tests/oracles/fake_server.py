"""A server without a network: whatever a client asks, it is answered with the same bytes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import httpx


class FakeServer:
    """Answers with `body`, which is changed between two requests: clients are dear to make."""

    def __init__(self, content_type: str = "text/event-stream") -> None:
        self.body = b""
        self._head = {"content-type": content_type}

    def connection(self, made: type[Any] = httpx.Client) -> Any:
        """A connection of HTTPX, or one `made` by the library that a provider's client is of."""
        base = made if made is httpx.Client else made.__mro__[1]
        return made(transport=self.transport(import_module(base.__module__.partition(".")[0])))

    def transport(self, library: Any = httpx) -> Any:
        """What stands for the network in a library like HTTPX."""

        def answer(_: object) -> Any:
            return library.Response(200, content=self.body, headers=self._head)

        return library.MockTransport(answer)
