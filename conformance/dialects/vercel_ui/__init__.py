"""The UI message stream of the AI SDK."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.vercel_ui.reader import UiMessageReader
from conformance.dialects.vercel_ui.wire_keys import PARTS, no_other_columns

DIALECT: Final = Dialect(
    **facets(__name__, "wire_keys", "requests"),
    reader=UiMessageReader,
    columns=PARTS.columns(no_other_columns),
    is_application=True,
    unit="message",
    takes_back=frozenset({"start", "reset-step"}),
)
