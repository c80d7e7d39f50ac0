"""An application for `conformance run --asgi tests.reference.defective:app`."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class Exchangeable:
    """Passes everything on to the application of the moment."""

    def __init__(self) -> None:
        self.inner: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.inner is not None
        await self.inner(scope, receive, send)


app = Exchangeable()
