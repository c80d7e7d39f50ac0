"""ASGI applications in the test process: `asgi:MODULE:APP` in the place of a URL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from conformance.pytest_plugin.options import ASGI
from conformance.targets import asgi


@asynccontextmanager
async def hosted(url: str) -> AsyncIterator[asgi.Transport]:
    """A transport to the application, between its start-up and its shutdown. Raises UsageError."""
    application = asgi.load_application(url.removeprefix(ASGI))
    async with asgi.running_lifespan(application) as state:
        yield asgi.Transport(application, state)
