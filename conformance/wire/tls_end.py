"""Whether TLS was closed, or cut: where only the end of the connection ends a body.

https://www.rfc-editor.org/rfc/rfc9112#section-9.8: "A response that has neither chunked transfer
coding nor Content-Length is complete only if a valid closure alert has been received."
"""

from __future__ import annotations

import ssl
from typing import Final, Protocol

CUT: Final = "TLS was cut: a body without a length ends with the alert close_notify"


class TlsEnd(Protocol):
    def read(self, size: int, /) -> bytes: ...


def was_closed_in_order(tls: TlsEnd | None) -> bool:
    """At the end of a connection, through its `ssl_object`; true without TLS.

    Event loops report both ends in the same way. TLS itself does not: after the alert it reads
    nothing, and without one it would wait for more.
    """
    try:
        return tls is None or not tls.read(1)
    except ssl.SSLZeroReturnError:
        return True
    except ssl.SSLError:
        return False
