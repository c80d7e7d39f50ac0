"""What clients of Converse are put to beside recordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.json_values import value_at
from conformance.dialects.client_cases import ClientCases


def _whole_message(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    message = value_at(body, "output", "message")
    return message if isinstance(message, dict) else None


CLIENT_CASES: Final = ClientCases(
    whole_message=_whole_message,
    effort_paths=(
        "outputConfig.effort",
        "additionalModelRequestFields.reasoning_effort",
        "additionalModelRequestFields.reasoning_config",
        "additionalModelRequestFields.thinking",
    ),
)
