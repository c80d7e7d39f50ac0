"""Responses over a WebSocket (https://developers.openai.com/api/docs/guides/websocket-mode).

A client sends `response.create` with the body of an HTTP request, "except that transport-specific
fields like `stream` and `background` are not used". The server sends the events of a stream, each
in a message; an error may answer a request alone. `stream_id` names a lane: "Requests with the
same `stream_id` are processed FIFO, and events for the response echo the same `stream_id`"
(openai-python, `responses_client_event.py`, 2026-08-13).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.connection import SocketForm
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.openai_responses.vocabulary import (
    ANNOUNCEMENTS,
    CREATE,
    CREATED,
    TERMINALS,
)

_CONTROLS: Final = (CREATE, "response.steer", "response.inject", "response.cancel")
"""What a client sends, and what the server says of it: about no answer by itself."""


def _is_about_answer(kind: str) -> bool:
    return kind.startswith("response.") and not (
        kind in _CONTROLS or kind.startswith(("response.steer.", "response.inject."))
    )


def _answer_name(payload: Mapping[str, Any]) -> str:
    return string(mapping(payload.get("response")).get("id"))


SOCKET: Final = SocketForm(
    asks=CREATE,
    lane="stream_id",
    envelope=frozenset({"type", "stream_id"}),
    is_about_answer=_is_about_answer,
    first=CREATED,
    begins=ANNOUNCEMENTS,
    ends=TERMINALS,
    error="error",
    name=_answer_name,
)
