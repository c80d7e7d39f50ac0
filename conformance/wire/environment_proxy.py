"""The proxy that environment variables name for a URL, as HTTP clients read them."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct


class EnvironmentProxy(Struct, frozen=True):
    """A proxy, without its password, and the variable that names it."""

    variable: str
    address: str


def environment_proxy(url: str) -> EnvironmentProxy | None:
    """The proxy that a request for this URL goes through; None where there is none."""
    parts = urlsplit(url)
    proxies = getproxies()
    scheme = next((each for each in (parts.scheme, "all") if each in proxies), None)
    if scheme is None or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return EnvironmentProxy(f"{scheme.upper()}_PROXY", proxies[scheme].rpartition("@")[2])
