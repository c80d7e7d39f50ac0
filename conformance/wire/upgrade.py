"""The way from HTTP to a WebSocket: https://www.rfc-editor.org/rfc/rfc6455#section-4.

No extension is ever negotiated: without compression every message is on the wire as it is kept, and
nothing small can unpack to something large.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from importlib.util import find_spec
from typing import Final

from conformance.core.errors import UsageError
from conformance.core.events import UPGRADED
from conformance.wire.client import ResponseHead
from conformance.wire.heads import Headers, has_token, header_value, response_head, without_headers
from conformance.wire.requests import HttpRequest, RequestRejected

VERSION: Final = "13"
_GUID: Final = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_KEY_BYTES: Final = 16
_OF_HANDSHAKE: Final = ("sec-websocket-accept", "sec-websocket-extensions")


_MISSING: Final = "WebSockets need a library that is not installed"
_HINT: Final = 'pip install "reasoning-conformance[websocket]"'


def missing_library() -> str:
    """Why no WebSocket can be spoken here, where the library that reads frames is missing."""
    return "" if find_spec("websockets") else f"{_MISSING} ({_HINT})"


def require_websockets() -> None:
    """Raises UsageError where the library that reads frames is not installed."""
    if missing_library():
        raise UsageError(_MISSING, hint=_HINT)


def names_socket(url: str | None) -> bool:
    return url is not None and url.partition("://")[0].lower() in ("ws", "wss")


def http_url(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{'https' if scheme.lower() == 'wss' else 'http'}://{rest}"


def asks_upgrade(request: HttpRequest) -> bool:
    """Whether a client wants to go on over a WebSocket."""
    names_websocket = has_token(request.headers, "upgrade", "websocket")
    return names_websocket and has_token(request.headers, "connection", "upgrade")


def client_key(request: HttpRequest) -> str:
    """The key of a handshake. Raises RequestRejected for one that is none."""
    if request.method != "GET" or not request.http11:
        raise RequestRejected(400, "a WebSocket begins with a GET of HTTP/1.1")
    version = header_value(request.headers, "sec-websocket-version")
    if version != VERSION:
        raise RequestRejected(426, f"expected sec-websocket-version {VERSION}")
    key = header_value(request.headers, "sec-websocket-key") or ""
    try:
        size = len(base64.b64decode(key, validate=True))
    except (binascii.Error, ValueError):
        size = 0
    if size != _KEY_BYTES:
        raise RequestRejected(400, f"expected a sec-websocket-key of {_KEY_BYTES} bytes in base64")
    return key


def new_key() -> str:
    return base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()


def accepting_key(key: str) -> str:
    """What the server answers to a client's key."""
    digest = hashlib.sha1((key + _GUID).encode(), usedforsecurity=False).digest()
    return base64.b64encode(digest).decode()


def offered_headers(headers: Headers) -> Headers:
    """The headers of a handshake that is passed on: no extension is offered."""
    kept = without_headers(headers, "sec-websocket-extensions")
    return (*kept, ("Connection", "Upgrade"), ("Upgrade", "websocket"))


def accepted_head(head: ResponseHead) -> bytes:
    """The head of a handshake that was accepted, as it is passed on."""
    headers = without_headers(head.response.headers, "sec-websocket-extensions")
    return response_head(UPGRADED, headers, reason=head.reason)


def upgrade_headers(key: str) -> Headers:
    """What a client adds to its request."""
    return (
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Version", VERSION),
        ("Sec-WebSocket-Key", key),
    )


def upgrade_head(key: str, headers: Headers) -> bytes:
    """The head that accepts, with those `headers` that do not concern the connection."""
    accepted: Headers = (
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Accept", accepting_key(key)),
    )
    return response_head(UPGRADED, (*accepted, *without_headers(headers, *_OF_HANDSHAKE)))
