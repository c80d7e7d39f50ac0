"""The arguments of a call as the value that some APIs send."""

from __future__ import annotations

from typing import Any

import msgspec


class ArgumentsError(ValueError):
    """What the model wrote as the arguments of a call is no JSON."""


def call_arguments(written: str) -> Any:
    """The value of a call; nothing written is an empty object. Raises ArgumentsError."""
    try:
        return msgspec.json.decode(written or "{}")
    except msgspec.DecodeError as err:
        raise ArgumentsError(f"the arguments of a tool call are not JSON: {err}") from err
