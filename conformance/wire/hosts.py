"""Which requests a server on this machine answers, by the Host header.

A web page can make its own name resolve to this machine (DNS rebinding), and then read what is
served here. Its requests still carry its name, so names of other hosts are refused. An address in
the header is not such a name. https://www.rfc-editor.org/rfc/rfc9110#section-7.2

A page can do harm without reading answers, because its requests are passed on and recorded.
Browsers state the origin of a request: requests from pages of other sites are refused, except pages
of this machine. https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import urlsplit

from msgspec import Struct

from conformance.core.errors import UsageError
from conformance.core.excerpts import beginning
from conformance.wire.heads import header_value
from conformance.wire.requests import HttpRequest, RequestRejected

_HOST: Final = re.compile(r"\[([^\]]*)\](?::\d*)?|([^:]*)(?::\d*)?")
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://(?:\[[0-9a-f:.]+\]|[^\s/?#@:\[\]]+)(?::\d{1,5})?")
_LOOPBACK: Final = "localhost"
_MISDIRECTED: Final = 421
_FORBIDDEN: Final = 403
_CROSS_SITE: Final = "cross-site"


class AllowedHosts(Struct, frozen=True):
    """Names in lower case; addresses and those of the loopback are always allowed.

    `origins` are those of pages elsewhere that may ask, too, as browsers spell them.
    """

    names: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    @classmethod
    def at(cls, bound: str, added: Iterable[str] = (), origins: Iterable[str] = ()) -> Self:
        """Those of a server that listens at `bound`, and more."""
        names = frozenset(name.lower().rstrip(".") for name in (bound, *added))
        return cls(names, parsed_origins(origins))

    def check_request(self, request: HttpRequest) -> None:
        """Raises RequestRejected if the request is for another host, or from another site."""
        stated = header_value(request.headers, "host")
        found = _HOST.fullmatch(stated.strip()) if stated else None
        name = (found[1] or found[2] or "") if found else stated or ""
        if not self._allows_name(name.lower().rstrip(".")):
            why = f"the Host header names {beginning(name, 100, '')!r}, and only this machine's own"
            raise RequestRejected(_MISDIRECTED, f"{why} names are served; --allow-host adds one")
        refuse_foreign_pages(request, self.origins)

    def _allows_name(self, name: str) -> bool:
        return not name or name in self.names or _is_own_name(name) or _is_address(name)


def parsed_origins(origins: Iterable[str]) -> frozenset[str]:
    """Origins as browsers spell them. Raises UsageError for other texts."""
    return frozenset(map(_parsed_origin, origins))


def refuse_foreign_pages(request: HttpRequest, origins: frozenset[str]) -> None:
    """Raises RequestRejected for what a page of another site sends, unless its origin is named."""
    origin = (header_value(request.headers, "origin") or "").strip().lower()
    site = (header_value(request.headers, "sec-fetch-site") or "").strip().lower()
    if origin in origins:
        return
    if not origin and site != _CROSS_SITE:
        return
    if origin and (_is_local(origin) or _is_same(origin, header_value(request.headers, "host"))):
        return
    who = f"a page of {beginning(origin, 100, '')!r}" if origin else "a page of another site"
    raise RequestRejected(_FORBIDDEN, f"{who} asks, which is refused; --allow-origin adds one")


def _parsed_origin(text: str) -> str:
    origin = text.strip().lower().rstrip("/")
    if origin != "null" and not _ORIGIN.fullmatch(origin):
        raise UsageError(f"--allow-origin expects SCHEME://HOST[:PORT] or null, got {text!r}")
    return origin


def _is_local(origin: str) -> bool:
    """Whether a page comes from this machine."""
    try:
        parts = urlsplit(origin)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and (_is_own_name(host) or is_loopback(host))


def _is_same(origin: str, host: str | None) -> bool:
    """Whether a page came from the very server that it asks."""
    return bool(host) and origin.partition("://")[2] == (host or "").strip().lower()


def _is_own_name(name: str) -> bool:
    return name == _LOOPBACK or name.endswith(f".{_LOOPBACK}")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    return host.lower() == _LOOPBACK or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
