"""Mutants of `wire/messages-blocks`: content blocks and what is in them."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.messages import delta, redacted, signature_of
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_messages import CLOSED, ENDING, TEXT, said
from tests.authoring.pieces import Fields, Message

REDACTED: Final = "anthropic.messages/anthropic/redacted"
UNSIGNED: Final = "anthropic.messages/ollama/thinking-unsigned"
SUITE: Final = "wire/messages-blocks"

SIGNED: Final = said("signature")


def _event(fields: Fields) -> Message:
    return Message(fields, str(fields["type"]))


MUTANTS: Final = (
    # Thinking that nobody may see follows the answer.
    Mutant(
        f"{SUITE}/thinking-before-text",
        TEXT,
        tuple(edits.insert(_event(fields), ENDING) for fields in redacted(2)),
    ),
    Mutant(
        f"{SUITE}/text-in-text",
        TEXT,
        (edits.insert(_event(delta(0, "text", text="Well. ")), SIGNED),),
    ),
    Mutant(
        f"{SUITE}/signature-in-thinking",
        TEXT,
        (edits.insert(_event(delta(1, "signature", signature=signature_of(0))), CLOSED, 1),),
    ),
    Mutant(
        f"{SUITE}/input-in-tool",
        TEXT,
        (edits.insert(_event(delta(1, "input_json", partial_json="{}")), CLOSED, 1),),
    ),
    Mutant(
        f"{SUITE}/signature-absent",
        UNSIGNED,
        (edits.insert(_event(delta(0, "signature", signature=signature_of(0))), CLOSED),),
    ),
    Mutant(
        f"{SUITE}/redacted-silent",
        REDACTED,
        (edits.insert(_event(delta(1, "citations", citation={})), CLOSED, 1),),
    ),
)
