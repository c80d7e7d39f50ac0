"""What streams of other files share with those of AG-UI."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.authoring.agui import (
    RUN,
)
from tests.authoring.draft import stream_draft
from tests.authoring.pieces import Fields

DIALECT: Final = "agui"

drafted = partial(stream_draft, dialect=DIALECT, path="/agent")


def run_input(question: str) -> Fields:
    said = {"id": "user-1", "role": "user", "content": question}
    rest: Fields = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return {**RUN, "messages": [said], **rest}
