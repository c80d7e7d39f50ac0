"""`conformance run --url ws://...`: a server that is reached over WebSockets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from conformance.cli.run_options import RunArguments
from conformance.core.errors import UsageError
from conformance.dialects import ENDPOINTS, SOCKET_FORMS
from conformance.targets.server import LiveServer
from conformance.wire.origin import Origin
from conformance.wire.upgrade import http_url, names_socket, require_websockets


def with_socket_apis(given: RunArguments) -> RunArguments:
    """For a WebSocket the APIs that are spoken over one. Raises UsageError for any other."""
    if not names_socket(given.url):
        return given
    require_websockets()
    spoken = [ENDPOINTS[dialect].api for dialect in SOCKET_FORMS]
    for api in given.api or ():
        if api not in spoken:
            hint = f"--api {' or '.join(spoken)}, or an http URL"
            raise UsageError(f"{api} is not spoken over WebSockets", hint=hint)
    return replace(given, api=given.api or spoken)


def server_maker(given: RunArguments, url: str) -> Callable[..., LiveServer]:
    """What makes the target of a URL."""
    if not names_socket(url):
        return partial(LiveServer, url)
    from conformance.targets.socket_server import SocketServer  # noqa: PLC0415  # its library is an extra

    plain = http_url(url)
    origin = Origin.parse(plain, str(given.cacert or ""), insecure=given.insecure)
    return partial(SocketServer, plain, origin=origin)
