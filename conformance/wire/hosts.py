"""Whom a server that listens on this machine answers, by the Host header.

A page in a browser can let its own name resolve to this machine (DNS rebinding), and then read
what is served here. Its requests still carry its name: names of others are refused. An address in
the header is nobody's name. https://www.rfc-editor.org/rfc/rfc9110#section-7.2
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final, Self

from msgspec import Struct

from conformance.core.excerpts import beginning
from conformance.wire.heads import header_value
from conformance.wire.requests import HttpRequest, RequestRejected

_HOST: Final = re.compile(r"\[([^\]]*)\](?::\d*)?|([^:]*)(?::\d*)?")
_LOOPBACK: Final = "localhost"
_MISDIRECTED: Final = 421


class AllowedHosts(Struct, frozen=True):
    """Names in lower case; addresses and those of the loopback are always allowed."""

    names: frozenset[str] = frozenset()

    @classmethod
    def at(cls, bound: str, added: Iterable[str] = ()) -> Self:
        """Those of a server that listens at `bound`, and more."""
        return cls(frozenset(name.lower().rstrip(".") for name in (bound, *added)))

    def check_request(self, request: HttpRequest) -> None:
        """Raises RequestRejected where the request is meant for somebody else."""
        stated = header_value(request.headers, "host")
        found = _HOST.fullmatch(stated.strip()) if stated else None
        name = (found[1] or found[2] or "") if found else stated or ""
        if not self._allows_name(name.lower().rstrip(".")):
            named = f"the Host header names {beginning(name, 100, '')!r}"
            why = f"{named}, and only this machine's own names are served; --allow-host adds one"
            raise RequestRejected(_MISDIRECTED, why)

    def _allows_name(self, name: str) -> bool:
        return (
            not name
            or name in self.names
            or name == _LOOPBACK
            or name.endswith(f".{_LOOPBACK}")
            or _is_address(name)
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    return host.lower() == _LOOPBACK or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
