"""The proxy that environment variables name for a URL, as HTTP clients read them."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct


class EnvironmentProxy(Struct, frozen=True):
    """A proxy and the variable that names it; `address` is the proxy without its password."""

    variable: str
    address: str
    url: str

    @property
    def authorization(self) -> str:
        """The value of `proxy-authorization`; empty where the variable names no user."""
        parts = urlsplit(self.url)
        if parts.username is None:
            return ""
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return f"Basic {b64encode(user.encode()).decode()}"

    def explain(self, words: str) -> str:
        """What went wrong, with the way that was taken."""
        return f"{words}, asked through the proxy {self.address}"

    @property
    def hint(self) -> str:
        return f"unset {self.variable}, or name the host in NO_PROXY"


def environment_proxy(url: str) -> EnvironmentProxy | None:
    """The proxy that a request for this URL goes through; None where there is none."""
    parts = urlsplit(url)
    proxies = getproxies()
    scheme = next((each for each in (parts.scheme, "all") if each in proxies), None)
    if scheme is None or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    named = proxies[scheme]
    whole = named if "://" in named else f"http://{named}"
    return EnvironmentProxy(f"{scheme.upper()}_PROXY", named.rpartition("@")[2], whole)
