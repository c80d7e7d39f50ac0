"""What streams of other files share with those of UI messages."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.authoring.draft import stream_draft
from tests.authoring.ui_message import (
    HEADER,
)

DIALECT: Final = "vercel.ui"

drafted = partial(stream_draft, dialect=DIALECT, path="/api/chat", answer_headers=(HEADER,))
