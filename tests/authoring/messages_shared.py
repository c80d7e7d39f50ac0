"""What streams of other files share with those of the Messages API."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.authoring.draft import stream_draft

DIALECT: Final = "anthropic.messages"

BREAD: Final = "The dough has to rise twice, so the loaf takes about four hours in all."
BREAD_TEXT: Final = "Plan for four hours, most of them waiting."

drafted = partial(stream_draft, dialect=DIALECT, path="/v1/messages")
