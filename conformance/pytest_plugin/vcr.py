"""Whether vcrpy stands between the client and everything else.

It keeps one body per answer, so where a stream was cut into chunks, and when each came, is lost.
"""

from __future__ import annotations

import http.client
import sys
from typing import Final

FLATTENED: Final = (
    "vcrpy is active in this test: it joins the chunks of a stream and drops their times, so what"
    " came through it is judged as text only (rules about timing and cuts are untestable);"
    " conformance_server records streams as they are"
)
BETWEEN: Final = (
    "vcrpy is active in this test: what goes to conformance_server, or is recorded, goes through"
    " it, which joins the chunks of streams, or refuses them; take the marker off, or set"
    " ignore_localhost"
)


class FlattenedWarning(UserWarning):
    """Chunks and times of streams are lost on their way."""


def is_active() -> bool:
    """Whether a cassette of vcrpy is in use: it puts a class of its own into http.client."""
    if "vcr" not in sys.modules:
        return False
    return http.client.HTTPConnection.__module__.partition(".")[0] == "vcr"
