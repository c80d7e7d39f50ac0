"""Who may vouch for a server."""

from __future__ import annotations

import ssl
from functools import cache
from pathlib import Path

from conformance.core.errors import Place, UsageError
from conformance.core.regular_file import expect_regular


@cache
def certificates(cacert: str = "", *, insecure: bool = False) -> ssl.SSLContext:
    """Whom to trust, read once: the authorities in this file, or those of this machine.

    `insecure` trusts everybody. Raises UsageError for a file that holds no authority.
    """
    trusted = _trusted(cacert, insecure=insecure)
    # Python hides that a connection was cut; `tls_end` asks for it.
    trusted.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
    return trusted


def _trusted(cacert: str, *, insecure: bool) -> ssl.SSLContext:
    if insecure:
        anybody = ssl.create_default_context()
        anybody.check_hostname = False
        anybody.verify_mode = ssl.CERT_NONE
        return anybody
    if cacert:
        try:
            expect_regular(Path(cacert))
            return ssl.create_default_context(cafile=cacert)
        except OSError as err:  # ssl.SSLError is one
            place = Place(cacert)
            raise UsageError("cannot be read as certificates in PEM", place=place) from err
    # httpx knows the certificates of this machine and of certifi, and $SSL_CERT_FILE.
    import httpx  # noqa: PLC0415  # slow to import, and needed for https only

    return httpx.create_ssl_context()
