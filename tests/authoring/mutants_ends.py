"""Mutants of ends that contradict each other: an error, and a success beside it or after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tests.authoring import stream_rows
from tests.authoring.draft import JSON_BODY, Draft
from tests.authoring.edits import Pieces
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Piece


def _pieces_of(drafts: Iterable[Draft], name: str) -> list[Piece]:
    """What another answer was made of."""
    return next(list(draft.pieces) for draft in drafts if draft.name == name)


def _named_twice(pieces: Pieces) -> list[Piece]:
    """A proxy writes its own name of the model in front of the other."""
    (body,) = pieces
    assert isinstance(body, bytes)
    return [body.replace(b'"model":', b'"model":"think-0","model":', 1)]


MUTANTS: Final = (
    Mutant(
        "wire/http/streamed-as-asked",
        "openai.chat/deepseek/thinking-then-text",
        (lambda _pieces: _pieces_of(stream_rows.drafts(), "openai.chat/deepseek/body"),),
        facts={"content_type": JSON_BODY},
    ),
    Mutant(
        "wire/json/keys-unique",
        "openai.chat/deepseek/body",
        (_named_twice,),
        name="wire/json/keys-unique-in-body",
    ),
)
