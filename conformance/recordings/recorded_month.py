"""When an answer was recorded, as far as that can be trusted."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Final

from conformance.cassette.header import Header
from conformance.core.events import Exchange

_STATED: Final = re.compile(r"(20[0-9]{2}-(?:0[1-9]|1[0-2]))(?:-|$)")


def recorded_month(header: Header, exchange: Exchange) -> str:
    """The month, `2025-03`; empty where it is not known.

    A server that we asked ourselves does not say what time it is: only where the recorder kept no
    time does the head of an imported answer count.
    """
    if header.recorded_at is not None:
        stated = _STATED.match(header.recorded_at)
        return stated[1] if stated else ""
    if header.origin != "imported" or exchange.response is None:
        return ""
    try:
        return parsedate_to_datetime(exchange.response.header("date") or "").strftime("%Y-%m")
    except ValueError:
        return ""
