"""What streams of other files share with those of Converse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tests.authoring import converse as aws
from tests.authoring.draft import Draft
from tests.authoring.pieces import Fields, Piece

DIALECT: Final = "bedrock.converse"
CLAUDE: Final = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ENABLED: Final[Fields] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


def drafted(topic: str, asked: Fields, pieces: Iterable[Piece], **facts: Any) -> Draft:
    stream = {"profile": topic.partition("/")[0], "content_type": aws.STREAM}
    return Draft(
        name=f"{DIALECT}/{topic}",
        dialect=DIALECT,
        asked=asked,
        pieces=tuple(pieces),
        target={"name": topic.partition("/")[0]},
        **{**stream, "path": _path(CLAUDE, "converse-stream"), **facts},
    )


def _path(model: str, operation: str) -> str:
    return f"/model/{model.replace(':', '%3A')}/{operation}"
