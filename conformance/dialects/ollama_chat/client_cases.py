"""What clients of Ollama's chat are put to beside recordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.client_cases import ClientCases


def _whole_message(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    message = body.get("message")
    return message if isinstance(message, dict) else None


CLIENT_CASES: Final = ClientCases(whole_message=_whole_message, effort_paths=("think",))
