"""What clients of the Gemini API are put to beside recordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.json_values import value_at
from conformance.dialects.client_cases import ClientCases


def _whole_message(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    content = value_at(body, "candidates", 0, "content")
    return content if isinstance(content, dict) else None


CLIENT_CASES: Final = ClientCases(
    whole_message=_whole_message,
    effort_paths=(
        "generationConfig.thinkingConfig.thinkingLevel",
        "generationConfig.thinkingConfig.thinkingBudget",
    ),
    own_models="gemini-",
)
