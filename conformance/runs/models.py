"""Which model to ask for, where the user does not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.errors import UsageError
from conformance.core.events import Request
from conformance.judging.trace import decode
from conformance.targets.server import Server

_SHOWN: Final = 5
_HINT: Final = "name one with --model"


async def only_model(server: Server, secrets: Mapping[str, Mapping[str, str]]) -> str:
    """The one model that the server lists. Raises UsageError where there is none, or several."""
    key = secrets.get("openai.chat")
    fetched = await server.fetch(Request("GET", "/models"), key)
    body = b"".join(chunk.data for chunk in fetched.exchange.chunks)
    names = _ids(decode(body.decode("utf-8", "replace")))
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(f"{server.url} lists no model", hint=_HINT)
    more = ", ..." if names[_SHOWN:] else ""
    raise UsageError(f"{server.url} lists {', '.join(names[:_SHOWN])}{more}", hint=_HINT)


def _ids(payload: Any) -> list[str]:
    listed = payload.get("data") if isinstance(payload, Mapping) else None
    entries = listed if isinstance(listed, list) else []
    ids = (each.get("id") for each in entries if isinstance(each, Mapping))
    return [each for each in ids if isinstance(each, str)]
