"""Bounds what a server may send before its response head: interim responses have no other bound.

HTTP libraries bound one head, and skip any number of 1xx responses
(https://www.rfc-editor.org/rfc/rfc9110#section-15.2: "A client MUST be able to parse one or more
1xx responses received prior to a final response").
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import httpx

MOST_HEAD: Final = 1024 * 1024
_CONNECTED: Final = (".connect_tcp.complete", ".start_tls.complete")


class HeadBound:
    """The bound of one request, whose extension `trace` is `watch`.

    Reading raises httpx.RemoteProtocolError beyond it, until `is_over`.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._size = 0

    async def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Hears of the connection when it is there (https://www.python-httpx.org/advanced/extensions/#trace)."""
        if event.endswith(_CONNECTED):
            stream = info["return_value"]
            stream.read = self._counting(stream.read)

    def _counting(self, read: Callable[..., Awaitable[bytes]]) -> Callable[..., Awaitable[bytes]]:
        # There is no other place to count at: neither the library nor its trace shows a 1xx.
        async def counted(*arguments: Any, **named: Any) -> bytes:
            data = await read(*arguments, **named)
            if not self.is_over:
                self._size += len(data)
                if self._size > MOST_HEAD:
                    raise httpx.RemoteProtocolError(f"no response head in {MOST_HEAD:,} bytes")
            return data

        return counted
