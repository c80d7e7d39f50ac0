"""What streams of other files share with those of generateContent."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.authoring.draft import stream_draft
from tests.authoring.gemini import (
    MODEL,
)

DIALECT: Final = "gemini.generate"
STREAM: Final = f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
ARRAY: Final = f"/v1beta/models/{MODEL}:streamGenerateContent"


drafted = partial(stream_draft, dialect=DIALECT, path=STREAM, content_type="text/event-stream")
