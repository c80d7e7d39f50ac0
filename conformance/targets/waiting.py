"""Waits for a target that is still starting, such as a gateway that looks for us first."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

import httpx

_LOOK: Final = 0.2  # seconds
_PORTS: Final = {"https": 443, "http": 80}


async def wait_until_listening(url: httpx.URL, seconds: float) -> bool:
    """Waits until anybody listens at the URL, so long at most; whether anybody was seen to."""
    until = monotonic() + seconds
    while monotonic() < until:
        try:
            _, writer = await asyncio.open_connection(url.host, url.port or _PORTS[url.scheme])
        except OSError:
            await asyncio.sleep(_LOOK)
        else:
            writer.close()
            return True
    return False
