"""Usage and errors: the values that both OpenAI dialects shape nearly alike."""

from __future__ import annotations

from typing import Any

from conformance.dialects.json_edge import mapping, string, whole


def usage(value: Any) -> dict[str, Any] | None:
    """Data of `usage` from a usage object of either dialect; None where there is no object.

    Counts that are missing or not whole numbers are left out.
    """
    if not isinstance(value, dict):
        return None
    details = (value.get("completion_tokens_details"), value.get("output_tokens_details"))
    # Copilot and SGLang put it at the top.
    thought = (_first_count(mapping(each), "reasoning_tokens") for each in (*details, value))
    counts = {
        "input": _first_count(value, "prompt_tokens", "input_tokens"),
        "output": _first_count(value, "completion_tokens", "output_tokens"),
        "reasoning": next((n for n in thought if n is not None), None),
        "total": _first_count(value, "total_tokens"),
    }
    return {"choice": 0, **{name: n for name, n in counts.items() if n is not None}}


def error(value: Any) -> dict[str, Any]:
    """Data of `error` from an error object or a bare message.

    `code` falls back to the error's type; a code that is an HTTP status is also the status.
    """
    fields = mapping(value)
    code = fields.get("code")
    if not isinstance(code, (str, int)) or code == "":
        code = string(fields.get("type"))
    data: dict[str, Any] = {
        "choice": 0,
        "code": code,
        "message": string(fields.get("message")) or string(value),
    }
    status = _first_count(fields, "status", "status_code")
    if status is None and type(code) is int and 100 <= code <= 599:
        status = code
    return data if status is None else {**data, "status": status}


def _first_count(value: dict[str, Any], *names: str) -> int | None:
    return next((n for name in names if (n := whole(value.get(name))) is not None), None)
