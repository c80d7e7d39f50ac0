"""What the server sent, where a recorder kept the objects that an SDK made of it.

google-genai dumps its objects in snake case, with null for what did not come and keys of its own,
by which such an object is known. Its server spells `finishReason`, and leaves out what it lacks.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.gemini_generate.spelling import in_camel_case

_SIGNS: Final = frozenset({"sdk_http_response", "automatic_function_calling_history"})
_OF_THE_SDK: Final = frozenset({*_SIGNS, "parsed"})
_OF_USERS: Final = frozenset({"args", "response"})  # a null in these was sent


def body_as_sent(value: Any) -> Any:
    """A body of one such object or of an array of them, as it was sent; None for anything else."""
    if not isinstance(value, list):
        return as_sent(value)
    sent = [as_sent(each) for each in value]
    return sent if sent and None not in sent else None


def as_sent(value: Any) -> dict[str, Any] | None:
    """The payload of which google-genai made this object; None for what is no such object."""
    if not isinstance(value, dict) or "candidates" not in value or not _SIGNS & value.keys():
        return None
    own = {key: inner for key, inner in value.items() if key not in _OF_THE_SDK}
    sent: dict[str, Any] = _without_nulls(in_camel_case(own))
    return sent


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: inner if key in _OF_USERS else _without_nulls(inner)
        for key, inner in value.items()
        if inner is not None
    }
