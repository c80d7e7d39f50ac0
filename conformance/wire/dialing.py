"""Opens connections to servers: directly, or through the proxy that the environment names.

Through a proxy, a plain-text request names the server itself; TLS goes through a tunnel (CONNECT),
which is invisible to the server.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from conformance.wire.environment_proxy import EnvironmentProxy, environment_proxy
from conformance.wire.faults import BrokenExchange, describe_network_error, network_hint
from conformance.wire.heads import Headers
from conformance.wire.origin import Origin, bracketed
from conformance.wire.passing_reader import PassingReader
from conformance.wire.trust import certificates

_PORTS: Final = {"http": 80, "https": 443}


class OpenedConnection(Struct, frozen=True):
    """Both directions of a connection, the prefix of each target, and headers for the proxy."""

    reader: PassingReader
    writer: asyncio.StreamWriter
    before_target: str = ""
    headers: Headers = ()


class Dialer:
    """Opens connections; it asks the environment for a proxy once for each origin."""

    def __init__(self) -> None:
        self._proxies: dict[Origin, EnvironmentProxy | None] = {}

    async def open(self, origin: Origin) -> OpenedConnection:
        """Raises BrokenExchange if nothing answers."""
        if origin not in self._proxies:
            self._proxies[origin] = _proxy_for(origin)
        return await _open_by(self._proxies[origin], origin)


def _proxy_for(origin: Origin) -> EnvironmentProxy | None:
    scheme = "https" if origin.tls else "http"
    return environment_proxy(f"{scheme}://{origin.netloc}")


async def _open_by(proxy: EnvironmentProxy | None, origin: Origin) -> OpenedConnection:
    try:
        if proxy is None:
            return OpenedConnection(
                *await _open_connection(origin.host, origin.port, _trusted_context(origin))
            )
        return await _open_through(proxy, origin)
    except (OSError, EOFError, asyncio.LimitOverrunError) as err:
        words, hint = describe_network_error(err), network_hint(err)
        if proxy is not None:
            words, hint = proxy.explain(words), hint or proxy.hint
        why = f"{origin.netloc}: cannot connect: {words}"
        raise BrokenExchange("reset", why, hint=hint) from err


async def _open_through(proxy: EnvironmentProxy, origin: Origin) -> OpenedConnection:
    parts = urlsplit(proxy.url)
    if parts.scheme not in _PORTS or not parts.hostname:
        why = f"the environment's proxy {proxy.address} is none that speaks HTTP"
        raise BrokenExchange("reset", f"{origin.netloc}: cannot connect: {why}", hint=proxy.hint)
    trusted = certificates() if parts.scheme == "https" else None
    reader, writer = await _open_connection(
        parts.hostname, parts.port or _PORTS[parts.scheme], trusted
    )
    own = (("proxy-authorization", proxy.authorization),) if proxy.authorization else ()
    if not origin.tls:
        return OpenedConnection(reader, writer, f"http://{origin.netloc}", own)
    try:
        await _ask_for_tunnel(proxy, origin, reader, writer)
        trusted = _trusted_context(origin)
        assert trusted is not None
        await writer.start_tls(trusted, server_hostname=origin.host)
    except BaseException:
        writer.transport.abort()
        raise
    return OpenedConnection(reader, writer)


async def _ask_for_tunnel(
    proxy: EnvironmentProxy,
    origin: Origin,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Raises BrokenExchange where the proxy refuses."""
    at = f"{bracketed(origin.host)}:{origin.port}"
    own = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    writer.write(f"CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n{own}\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    status = head.split(maxsplit=2)[1:2]
    if status != [b"200"]:
        status_code = b"".join(status)[:3].decode("latin-1")
        why = f"the proxy {proxy.address} does not pass on: HTTP {status_code}"
        raise BrokenExchange("reset", f"{origin.netloc}: cannot connect: {why}", hint=proxy.hint)


async def _open_connection(
    host: str, port: int, trusted: ssl.SSLContext | None
) -> tuple[PassingReader, asyncio.StreamWriter]:
    """As `asyncio.open_connection`, with a reader of ours."""
    loop = asyncio.get_running_loop()
    reader = PassingReader()
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_connection(lambda: protocol, host, port, ssl=trusted)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _trusted_context(origin: Origin) -> ssl.SSLContext | None:
    return certificates(origin.cacert, insecure=origin.insecure) if origin.tls else None
