"""Which model to ask for, where the user does not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from conformance.core.errors import RemoteError, UsageError
from conformance.core.events import Request
from conformance.core.json_values import decode_json
from conformance.dialects import SUPPORTED, get
from conformance.targets.server import LiveServer

_SHOWN: Final = 5
_SHOWN_LENGTH: Final = 80
_HINT: Final = "name one with --model"


async def only_model(
    server: LiveServer, secrets: Mapping[str, Mapping[str, str]], dialects: Sequence[str] = ()
) -> str:
    """The one model that the server lists, in any of the dialects (default: all).

    Raises UsageError where there is none, or several, RemoteError where no list comes to its end.
    """
    names = await _listed_names(server, secrets, dialects or tuple(SUPPORTED))
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(f"{server.url} lists no model", hint=_HINT)
    shown = ", ".join(name[:_SHOWN_LENGTH] for name in names[:_SHOWN])
    if names[_SHOWN:]:
        shown = f"{len(names):,} models: {shown}, ..."
    raise UsageError(f"{server.url} lists {shown}", hint=_HINT)


async def _listed_names(
    server: LiveServer, secrets: Mapping[str, Mapping[str, str]], dialects: Sequence[str]
) -> list[str]:
    tried: set[str] = set()
    fault = ""
    for dialect in dialects:
        listing = get(dialect).models
        if listing is None or listing.path in tried:
            continue
        tried.add(listing.path)
        fetched = await server.fetch(Request("GET", listing.path), secrets.get(dialect))
        body = fetched.exchange.body
        if names := listing.names(decode_json(body.decode("utf-8", "replace"))):
            return names
        fault = fault or fetched.fault
    if fault:
        raise RemoteError(f"{server.url} broke off its list of models: {fault}", hint=_HINT)
    return []
