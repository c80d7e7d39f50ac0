"""Mutants of `wire/messages-blocks`: content blocks and what is in them."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.messages import delta, redacted, signature_of
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_messages import CLOSED, ENDING, TEXT, TOOLS, begun, said
from tests.authoring.pieces import Fields, Message

REDACTED: Final = "anthropic.messages/anthropic/redacted"
UNSIGNED: Final = "anthropic.messages/ollama/thinking-unsigned"
SUITE: Final = "wire/messages-blocks"

SIGNED: Final = said("signature")


def _event(fields: Fields) -> Message:
    return Message(fields, str(fields["type"]))


MUTANTS: Final = (
    Mutant(f"{SUITE}/index-known", TEXT, (edits.remove(said("thinking"), "index"),)),
    # The thinking was stripped, and the rest was not numbered anew.
    Mutant(
        f"{SUITE}/index-contiguous",
        UNSIGNED,
        (edits.drop(begun("thinking")), edits.drop_all(said("thinking")), edits.drop(CLOSED)),
    ),
    Mutant(
        f"{SUITE}/block-present",
        REDACTED,
        (edits.remove(begun("redacted_thinking"), "content_block"),),
    ),
    Mutant(f"{SUITE}/block-lifecycle", TEXT, (edits.move(said("text"), -1, by=1),)),
    Mutant(f"{SUITE}/blocks-serial", TEXT, (edits.move(CLOSED, by=1),)),
    # The first words stand in the start and come once more as a delta.
    Mutant(
        f"{SUITE}/start-without-text",
        TEXT,
        (edits.change(begun("thinking"), "content_block.thinking", "The dough"),),
    ),
    Mutant(
        f"{SUITE}/start-fields", TEXT, (edits.remove(begun("thinking"), "content_block.thinking"),)
    ),
    Mutant(
        f"{SUITE}/signature-started",
        TEXT,
        (edits.remove(begun("thinking"), "content_block.signature"),),
    ),
    # Thinking that nobody may see follows the answer.
    Mutant(
        f"{SUITE}/thinking-before-text",
        TEXT,
        tuple(edits.insert(_event(fields), ENDING) for fields in redacted(2)),
    ),
    Mutant(f"{SUITE}/delta-fields", TEXT, (edits.change(said("text"), "delta.text", None),)),
    Mutant(
        f"{SUITE}/text-in-text",
        TEXT,
        (edits.insert(_event(delta(0, "text", text="Well. ")), SIGNED),),
    ),
    # The first block was opened as text before anybody knew what would come.
    Mutant(
        f"{SUITE}/thinking-in-thinking",
        UNSIGNED,
        (edits.change(begun("thinking"), "content_block", {"type": "text", "text": ""}),),
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
    Mutant(f"{SUITE}/signature-present", TEXT, (edits.drop(SIGNED),)),
    Mutant(
        f"{SUITE}/signature-absent",
        UNSIGNED,
        (edits.insert(_event(delta(0, "signature", signature=signature_of(0))), CLOSED),),
    ),
    Mutant(f"{SUITE}/signature-once", TEXT, (edits.duplicate(SIGNED),)),
    Mutant(f"{SUITE}/signature-last", TEXT, (edits.move(SIGNED, by=-1),)),
    Mutant(f"{SUITE}/signature-filled", TEXT, (edits.change(SIGNED, "delta.signature", ""),)),
    Mutant(
        f"{SUITE}/redacted-data",
        REDACTED,
        (edits.remove(begun("redacted_thinking"), "content_block.data"),),
    ),
    Mutant(
        f"{SUITE}/redacted-silent",
        REDACTED,
        (edits.insert(_event(delta(1, "citations", citation={})), CLOSED, 1),),
    ),
    Mutant(f"{SUITE}/tool-named", TOOLS, (edits.remove(begun("tool_use"), "content_block.id"),)),
    Mutant(
        f"{SUITE}/tool-id-unused",
        TOOLS,
        (edits.change(begun("tool_use"), "content_block.id", "toolu_3"),),
    ),
    # A gateway that has the whole call at once, and streams it too.
    Mutant(
        f"{SUITE}/input-once",
        TOOLS,
        (edits.change(begun("tool_use"), "content_block.input", {"city": "Oslo"}),),
    ),
    Mutant(f"{SUITE}/input-json", TOOLS, (edits.drop(said("input_json"), 2),)),
)
