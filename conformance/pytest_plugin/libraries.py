"""httpx and httpx2: one interface under two names, so a transport answers under that of who asks.

Official SDKs have moved to httpx2; a client takes responses, streams and errors of its own library
only. Neither is imported here: whoever made a request has done that.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any, Final

NAMES: Final = ("httpx", "httpx2")


def library_of(request: Any) -> ModuleType:
    """The library that made a request."""
    roots = (kind.__module__.partition(".")[0] for kind in type(request).__mro__)
    return sys.modules[next(root for root in roots if root in NAMES)]


def answered(
    request: Any,
    status: int,
    headers: Any,
    body: object,
    extensions: Mapping[str, Any] | None = None,
) -> Any:
    """A response to a request. `body` gives its pieces, to both kinds of iteration."""
    library = library_of(request)
    stream = _stream(library)(body)
    return library.Response(status, headers=headers, stream=stream, extensions=extensions)


def broken(request: Any, error: str, why: str) -> Exception:
    """The error of that name that the client of a request knows."""
    made = getattr(library_of(request), error)(why)
    assert isinstance(made, Exception)
    return made


@cache
def _stream(library: ModuleType) -> Any:
    """The class of a body that the library takes for its own."""

    class Stream(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc,name-defined]  # known when it runs
        def __init__(self, body: Any) -> None:
            self._body = body

        def __iter__(self) -> Any:
            return iter(self._body)

        def __aiter__(self) -> Any:
            return aiter(self._body)

        def close(self) -> None:
            self._body.close()

        async def aclose(self) -> None:
            await self._body.aclose()

    return Stream
