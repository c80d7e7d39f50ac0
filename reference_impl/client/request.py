"""Requests: a conversation and what is wanted, as each API wants to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .apis import APIS
from .ask import Ask
from .frame import Framing
from .wire import Api

OPT_IN: Final = "x-include-thinking"
ACCEPTED: Final[Mapping[Framing, str]] = {
    "events": "text/event-stream",
    "lines": "application/x-ndjson",
    "binary": "application/vnd.amazon.eventstream",
}


@dataclass(frozen=True, slots=True)
class Request:
    """One POST; `path` is relative to the base URL of the API."""

    path: str
    json: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def request(api: Api, ask: Ask) -> Request:
    """The request that asks for the next turn, as a stream."""
    form = APIS[api]
    # Compressed streams arrive late and in lumps.
    headers = {"accept": ACCEPTED[form.framing], "accept-encoding": "identity"}
    if ask.include_thinking:
        headers[OPT_IN] = "true"
    return Request(form.path_for(ask.model), form.body(ask), {**headers, **form.headers})
