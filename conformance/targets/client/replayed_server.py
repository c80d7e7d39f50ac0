"""Whose recordings a client gets that is made for one system: the SDK of a provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.cassette import Header

_NOBODY_S: Final = ("auto", "strict")


def replayed_server(profile: str | None, *, is_client_s: bool) -> str | None:
    """The system that a profile names; None where it names a client, a file or nothing."""
    if profile is None or is_client_s or profile in _NOBODY_S:
        return None
    return None if profile.endswith((".yaml", ".yml")) else profile


def is_replayed(header: Header, server: str | None) -> bool:
    """Whether a recording is of that system; all are where none is named."""
    return server in (None, header.profile, header.target.get("name"))


def server_notes(server: str | None) -> Iterator[str]:
    """Yield notes on what was left out, and by which word of the command."""
    if server is not None:
        yield f"of what ships, only recordings of {server} were replayed: --profile {server}"
