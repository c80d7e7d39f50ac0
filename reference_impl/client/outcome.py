"""What the APIs say of how an answer went: errors, usage, finish reasons, in one vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from .event import Report
from .payload import count_of, object_of, text_of

REASONS: Final = {
    "function_call": "tool_calls",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    # Converse
    "model_context_window_exceeded": "length",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    # Cohere
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "TOOL_CALL": "tool_calls",
    # Interactions, whose status says why
    "requires_action": "tool_calls",
    "budget_exceeded": "length",
    # Gemini
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        (
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
        ),
        "content_filter",
    ),
}
# Codes between these are statuses of HTTP.
_STATUSES: Final = range(100, 600)


def finish(report: Report, reason: Any, choice: int = 0) -> None:
    """Report why the answer ends; reasons that nobody knows are reported as they are."""
    if text_of(reason):
        report.add("finish", choice, reason=REASONS.get(reason, reason))


def usage(report: Report, given: Any) -> None:
    """Report the tokens that an API counted, under whichever names it has for them."""
    counts = object_of(given)
    tokens(
        report,
        {
            "input": _count(counts, "prompt_tokens", "input_tokens"),
            "output": _count(counts, "completion_tokens", "output_tokens"),
            "reasoning": _reasoning(counts),
            "total": _count(counts, "total_tokens"),
        },
    )


def tokens(report: Report, given: Mapping[str, Any]) -> None:
    """Report counts that already have the client's names; what is no count is left out."""
    counts = {name: count_of(value) for name, value in given.items()}
    if any(value is not None for value in counts.values()):
        report.add("usage", **counts)


def added(counts: Mapping[str, Any], names: Iterable[str]) -> int | None:
    """The sum of the counts of these names; None where there is none."""
    known = [number for name in names if (number := count_of(counts.get(name))) is not None]
    return sum(known) if known else None


def _count(counts: Mapping[str, Any], *names: str) -> int | None:
    found = (count_of(counts.get(name)) for name in names)
    return next((value for value in found if value is not None), None)


def _reasoning(counts: Mapping[str, Any]) -> int | None:
    details = (counts.get("output_tokens_details"), counts.get("completion_tokens_details"))
    places = (*map(object_of, details), counts)
    found = (_count(place, "reasoning_tokens", "thinking_tokens") for place in places)
    return next((value for value in found if value is not None), None)


def error(report: Report, given: Any, *, status: int | None = None) -> None:
    """Report an error: an object with code or type and message, or a bare string."""
    if isinstance(given, str):
        report.add("error", code="", message=given, status=status)
        return
    fields = object_of(given)
    code = next((fields[key] for key in ("code", "type") if _is_code(fields.get(key))), "")
    said = (fields.get("status_code"), fields.get("status"), code)
    known = (value for value in said if count_of(value) in _STATUSES)
    report.add(
        "error", code=code, message=text_of(fields.get("message")), status=next(known, status)
    )


def _is_code(value: Any) -> bool:
    return bool(text_of(value)) or count_of(value) is not None
