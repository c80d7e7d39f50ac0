"""Requests that were edited after they were recorded, as their own head shows.

People add `stream_options` to kept requests so that a newer client finds its answer again. The
answer is one to the request as it was sent, so that member asks for nothing. No other member is
left out: bodies that a recorder spells anew are longer by chance, and may need what is as long.
"""

from __future__ import annotations

from typing import Final

import msgspec

from conformance.cassette.importers.http_messages import Headers

_ADDED: Final = "stream_options"
EDITED: Final = "a request is longer than its content-length by {}, added later: left out"


def added_member(body: bytes | None, headers: Headers) -> str:
    """The member that was added, if it is the only one without which the body has its length."""
    stated = {name.lower(): value.strip() for name, value in headers}
    length = stated.get("content-length", "")
    if body is None or "content-encoding" in stated or not (length.isascii() and length.isdigit()):
        return ""
    surplus = len(body) - int(length[:12])
    if surplus <= 0:
        return ""
    try:
        members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    found = [name for name, raw in members.items() if surplus in _lengths(name, bytes(raw))]
    return _ADDED if found == [_ADDED] else ""


def _lengths(name: str, raw: bytes) -> tuple[int, int]:
    """How long a member is with its comma, without spaces and with them."""
    written = len(msgspec.json.encode(name)) + len(b":,") + len(raw)
    return written, written + len(b"  ")
