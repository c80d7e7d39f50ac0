"""Requests: a conversation and what is wanted, as each API wants to be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from . import chat_request, messages_request, responses_request
from .ask import Ask
from .wire import Api

PATHS: Final[Mapping[Api, str]] = {
    "chat": "/chat/completions",
    "messages": "/messages",
    "responses": "/responses",
}
BODIES: Final[Mapping[Api, Callable[[Ask], dict[str, Any]]]] = {
    "chat": chat_request.body,
    "messages": messages_request.body,
    "responses": responses_request.body,
}
OPT_IN: Final = "x-include-thinking"


@dataclass(frozen=True, slots=True)
class Request:
    """One POST; `path` is relative to the base URL of the API."""

    path: str
    json: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def request(api: Api, ask: Ask) -> Request:
    """The request that asks for the next turn, as a stream."""
    # Compressed streams arrive late and in lumps.
    headers = {"accept": "text/event-stream", "accept-encoding": "identity"}
    if ask.include_thinking:
        headers[OPT_IN] = "true"
    if api == "messages":
        headers["anthropic-version"] = "2023-06-01"
    return Request(PATHS[api], BODIES[api](ask), headers)
