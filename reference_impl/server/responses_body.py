"""Responses in one piece: the response that closes a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .refusal import openai_error
from .wire import Wire


class ResponsesBody:
    """Keeps the last response; a failed one says so itself, in `status` and `error`."""

    def __init__(self) -> None:
        self._response: Mapping[str, Any] | None = None

    def add(self, wire: Wire) -> None:
        if not isinstance(wire.data, str) and "response" in wire.data:
            self._response = wire.data["response"]

    def body(self) -> tuple[int, Mapping[str, Any]]:
        """Status and payload."""
        if self._response is None:
            return 500, openai_error("no response was made")
        return 200, self._response
