"""The UI message stream of the AI SDK."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.vercel_ui.reader import NAME, VOCABULARY, UiMessageReader, recognises
from conformance.dialects.vercel_ui.requests import REQUEST
from conformance.dialects.vercel_ui.wire_keys import (
    BOUNDS,
    ENVELOPE,
    PARTS,
    WIRE_KEYS,
    no_other_columns,
)

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=UiMessageReader,
    recognises=recognises,
    columns=PARTS.columns(no_other_columns),
    keys=WIRE_KEYS,
    envelope=ENVELOPE,
    bounds=BOUNDS,
    request=REQUEST,
    is_application=True,
    unit="message",
    takes_back=frozenset({"start", "reset-step"}),
)
