"""Dialects: wire grammars, from frames to wire events and semantic events."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from conformance.core.errors import UsageError
from conformance.core.events import Frame
from conformance.core.json_values import NOT_JSON
from conformance.dialects import unsupported
from conformance.dialects.anthropic_messages import reader as messages
from conformance.dialects.base import Dialect, Reader, Reading
from conformance.dialects.openai_chat import reader as chat
from conformance.dialects.openai_responses import reader as responses

SUPPORTED: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect for dialect in (chat.DIALECT, responses.DIALECT, messages.DIALECT)
}
NAMES: Final = (*SUPPORTED, *unsupported.UNSUPPORTED)
"""Every dialect that `recognise` can name; those not in `SUPPORTED` have no reader yet."""

__all__ = [
    "NAMES",
    "NOT_JSON",
    "SUPPORTED",
    "Dialect",
    "Reader",
    "Reading",
    "get",
    "recognise",
]


def get(name: str) -> Dialect:
    """The dialect of that name; UsageError if there is none, or none yet."""
    if name in SUPPORTED:
        return SUPPORTED[name]
    known = ", ".join(SUPPORTED)
    if name in NAMES:
        raise UsageError(f"dialect {name} is not supported yet", hint=f"supported: {known}")
    near = get_close_matches(name, SUPPORTED, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"supported: {known}"
    raise UsageError(f"no dialect is called {name!r}", hint=hint)


def recognise(frame: Frame, payload: Any) -> str | None:
    """Name of the dialect that a payload belongs to, supported or not; None if it could be any."""
    for dialect in SUPPORTED.values():
        if dialect.recognises(frame, payload):
            return dialect.name
    return unsupported.named(payload)
