"""Replay inside the process: a transport for httpx clients, synchronous or not, without a port.

Matching, cuts, times and endings are those of the replay server. What is lost is what only a socket
has: transfer chunks, and resets seen by the operating system.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx

from conformance.targets.replay import Address, ReplayOptions
from conformance.targets.replay.matching import Index, Shelf
from conformance.targets.replay.miss import Miss, explain
from conformance.targets.replay.reading import Asked
from conformance.targets.replay.script import Script
from conformance.targets.replay.tape import tapes


class ReplayTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers as recorded, each exchange once; `misses` say what nothing answered.

    Raises CassetteError for what cannot be replayed.
    """

    def __init__(self, sources: tuple[Path, ...], options: ReplayOptions | None = None) -> None:
        entries = [entry for each in tapes(sources) for entry in each.entries]
        self._shelf = Shelf(Index(entries, options or ReplayOptions()))
        self.misses: list[str] = []

    def unused(self) -> tuple[Address, ...]:
        """Exchanges that answered nobody."""
        return tuple(entry.address for entry in self._shelf.unused())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer(request, await request.aread())

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        headers = tuple((name.lower(), value) for name, value in request.headers.items())
        target = request.url.raw_path.decode("ascii", "replace")
        asked = Asked(request.method, target, headers, body, http11=True, keeps_alive=True)
        wanted = self._shelf.index.wanted(asked, target)
        match = self._shelf.take(wanted)
        if match is None:
            return self._missed(explain(wanted, self._shelf.index))
        script = match.script
        if not script.has_head:
            raise httpx.RemoteProtocolError("the connection broke before any answer")
        return httpx.Response(script.status, headers=list(script.headers), stream=_Body(script))

    def _missed(self, miss: Miss) -> httpx.Response:
        self.misses.append(miss.why)
        return httpx.Response(
            404, headers={"content-type": "application/json"}, content=miss.body()
        )


class _Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The pieces of one answer, and its end."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def __iter__(self) -> Iterator[bytes]:
        for ms, data in self._script.pieces():
            if ms:
                time.sleep(ms / 1000)
            yield data
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for ms, data in self._script.pieces():
            if ms:
                await asyncio.sleep(ms / 1000)
            yield data
        self._end()

    def _end(self) -> None:
        match self._script.end:
            case "fin":
                raise httpx.RemoteProtocolError("the answer was cut off before its end")
            case "rst":
                raise httpx.ReadError("the connection was reset")
            case "stall":
                raise httpx.ReadTimeout("nothing more came")
