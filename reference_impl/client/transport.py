"""RequestEdit a request and gives the events of the answer as they come. Needs httpx.

Rule 1: an answer that does not end is ended: by its deadline, by a bound on its bytes, or shortly
after the API said that it is done.
Rule 2: redirects are not followed, for a key would go along.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from .apis import APIS, Request
from .event import Event
from .reader import Reader, Reading
from .wire import Api

if TYPE_CHECKING:
    import httpx

MOST_BYTES: Final = 256 * 1024 * 1024
# Seconds for which a server may keep the connection open once it has said that it is done.
GRACE: Final = 1.0
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

Chunks = Callable[[bytes], bytes]


class Unreachable(Exception):  # noqa: N818  # it names what the server is
    """No answer came: refused, unknown host, or silent until the deadline."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where to send requests. `base_url` ends in the version, `deadline` is in seconds.

    `tamper` sees every chunk before it is read; a named defect may live there.
    """

    api: Api
    base_url: str
    key: str = ""
    deadline: float = 600.0
    reading: Reading = field(default_factory=Reading)
    tamper: Chunks | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether the server is this machine, so that no proxy is asked."""
        return urlsplit(self.base_url).hostname in _LOOPBACK


class Exchange:
    """One request and its answer. `echo` is complete when the events are."""

    def __init__(self, server: Server, request: Request) -> None:
        self._server = server
        self._request = request
        self._reader: Reader | None = None

    @property
    def echo(self) -> dict[str, object]:
        """The fields to send back as they came, next to the pieces of the turn."""
        return self._reader.echo if self._reader else {}

    async def events(self) -> AsyncIterator[Event]:
        """The events, as they come. Raises Unreachable before the first."""
        import httpx  # noqa: PLC0415  # reading streams needs no HTTP

        deadline = asyncio.get_running_loop().time() + self._server.deadline
        trusts = not self._server.is_loopback
        # Loading certificates takes longer than a short answer; http to here has none.
        verify = trusts or self._server.base_url.startswith("https:")
        async with httpx.AsyncClient(timeout=None, trust_env=trusts, verify=verify) as client:  # noqa: S113
            response = await self._sent(client, deadline)
            try:
                async for event in self._received(response, deadline):
                    yield event
            finally:
                await response.aclose()

    async def _sent(self, client: httpx.AsyncClient, deadline: float) -> httpx.Response:
        import httpx  # noqa: PLC0415  # as above

        url = self._server.base_url.rstrip("/") + self._request.path
        headers = {"content-type": "application/json", **self._request.headers}
        headers.update(APIS[self._server.api].credentials(self._server.key))
        # ASCII: text that came in halves of characters goes back as it is.
        content = json.dumps(self._request.json).encode()
        try:
            async with asyncio.timeout_at(deadline):
                request = client.build_request("POST", url, content=content, headers=headers)
                return await client.send(request, stream=True)
        except TimeoutError as err:
            raise Unreachable(f"{url}: no answer in {self._server.deadline:g} s") from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise Unreachable(f"{url}: {str(err) or type(err).__name__}") from err

    async def _received(self, response: httpx.Response, deadline: float) -> AsyncIterator[Event]:
        server = self._server
        self._reader = Reader(server.api, server.reading, status=response.status_code)
        ended: list[str] = []
        chunks = response.aiter_bytes()
        size, is_done = 0, False
        while not ended:
            chunk = b""
            with _noted_ending(ended):
                async with asyncio.timeout_at(deadline):
                    chunk = await anext(chunks)
            size += len(chunk)
            if size > MOST_BYTES:
                ended.append("protocol-error")
            for event in self._reader.feed(server.tamper(chunk) if server.tamper else chunk):
                yield event
                is_done = is_done or event.type == "done"
            if is_done:
                deadline = min(deadline, asyncio.get_running_loop().time() + GRACE)
        for event in self._reader.close(ended[0]):
            yield event


@contextmanager
def _noted_ending(ended: list[str]) -> Iterator[None]:
    """Note how the bytes stop, where they do."""
    import httpx  # noqa: PLC0415  # as above

    try:
        yield
    except StopAsyncIteration:
        ended.append("eof")
    except TimeoutError:
        ended.append("idle-timeout")
    except httpx.ReadError:
        ended.append("reset")
    except (httpx.HTTPError, httpx.StreamError):
        ended.append("protocol-error")
