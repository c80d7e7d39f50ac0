"""A server by its URL."""

from __future__ import annotations

from typing import Final, Self
from urllib.parse import SplitResult, urlsplit, urlunsplit

from msgspec import Struct

from conformance.core.errors import UsageError
from conformance.core.excerpts import beginning
from conformance.report.printable import visible

_SHOWN: Final = 200


class Origin(Struct, frozen=True):
    """The address of a server, and the beginning of its paths.

    `cacert` is a file of certificate authorities; empty means those of this machine. `insecure`:
    the certificate is not checked.
    """

    host: str
    port: int
    tls: bool
    netloc: str
    path: str
    query: str
    cacert: str = ""
    insecure: bool = False

    @classmethod
    def parse(cls, url: str, cacert: str = "", *, insecure: bool = False) -> Self:
        """Raises UsageError for anything but an http or https URL."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as err:
            raise UsageError(f"expected a URL, got {_without_user(url)!r}: {err}") from err
        _check_parts(parts, url)
        tls = parts.scheme == "https"
        assert parts.hostname
        name = bracketed(parts.hostname)
        return cls(
            host=parts.hostname,
            port=port or (443 if tls else 80),
            tls=tls,
            netloc=name if port is None else f"{name}:{port}",
            path=parts.path.rstrip("/"),
            query=parts.query,
            cacert=cacert,
            insecure=insecure,
        )

    def target(self, path: str) -> str:
        """The request target for a path below the URL's own."""
        query = f"?{self.query}" if self.query and "?" not in path else ""
        return f"{self.path}{path}{query}" if self.path or path else f"/{query}"


def bracketed(host: str) -> str:
    """The host as it is in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def shown_url(url: str) -> str:
    """A URL as it may be shown: without its user, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "no valid URL"
    netloc = parts.netloc.rpartition("@")[2]
    return visible(urlunsplit((parts.scheme, netloc, parts.path, "", "")), _SHOWN)


def _check_parts(parts: SplitResult, url: str) -> None:
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = _without_user(url)
        hint = "" if "://" in url else f"http://{shown}?"
        raise UsageError(f"expected an http or https URL, got {shown!r}", hint=hint)
    if parts.username is not None:
        raise UsageError("a URL with a password in it is refused", hint="see --api-key-env")
    if not url.isprintable() or " " in url:
        raise UsageError("expected a URL, got characters that none may have")


def _without_user(url: str) -> str:
    return beginning(url.rsplit("@", maxsplit=1)[-1], 100, "")
