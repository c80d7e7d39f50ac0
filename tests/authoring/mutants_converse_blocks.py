"""Mutants of Converse: content blocks and what is in them."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import converse as aws
from tests.authoring import edits
from tests.authoring.edits import having
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_converse import BODY, CLAUDE, SPOKEN, TEXT, TOOLS, named
from tests.authoring.pieces import compact
from tests.authoring.turns import in_body

SUITE: Final = "wire/converse-blocks"
REDACTED: Final = f"{CLAUDE}/redacted"
CALLED: Final = f"{CLAUDE}/body-with-call"
GPT_OSS: Final = "bedrock.converse/gpt-oss/empty-text-first"
THOUGHT: Final = having("delta.reasoningContent.text")
SIGNED: Final = having("delta.reasoningContent.signature")
SEALED: Final = having("delta.reasoningContent.redactedContent")
OPENED: Final = having("start.toolUse")
INPUT: Final = having("delta.toolUse")
STOPPED: Final = named("contentBlockStop")
CONTENT: Final = "output.message.content"


def _nested(said: Any) -> Any:
    return {"reasoningText": {"text": said["text"]}}


def _reversed(content: Any) -> Any:
    return content[::-1]


def _flat(said: Any) -> Any:
    return {"text": said["reasoningText"]["text"]}


def _typed(block: Any) -> Any:
    return {"type": "text", **block}


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/carries",
        TEXT,
        (edits.change(THOUGHT, "delta.reasoningContent", lambda said: {"txt": said["text"]}),),
        also=(f"{SUITE}/delta-is-flat",),
    ),
    Mutant(
        f"{SUITE}/index-known",
        TEXT,
        (edits.remove(SPOKEN, "contentBlockIndex", nth=1),),
        also=(f"{SUITE}/block-lifecycle", f"{SUITE}/text-in-text"),
    ),
    # A block between the two was stripped, and the text kept its number.
    Mutant(
        f"{SUITE}/index-contiguous",
        TEXT,
        (
            edits.change_all(SPOKEN, "contentBlockIndex", 2),
            edits.change(STOPPED, "contentBlockIndex", 2, nth=1),
        ),
    ),
    Mutant(f"{SUITE}/blocks-serial", TEXT, (edits.move(STOPPED, by=1),)),
    Mutant(f"{SUITE}/block-lifecycle", TEXT, (edits.move(STOPPED, nth=1, by=-1),)),
    # What filters redacted content leaves the stop of its block.
    Mutant(f"{SUITE}/block-not-empty", REDACTED, (edits.drop(SEALED),)),
    Mutant(
        f"{SUITE}/no-reasoning-tags",
        GPT_OSS,
        (edits.change(SPOKEN, "delta.text", "<reasoning>Hm.</reasoning>About", nth=-1),),
    ),
    # A gateway that announces every block, as other APIs do.
    Mutant(
        f"{SUITE}/start-known",
        TOOLS,
        (edits.insert(aws.padded("contentBlockStart", contentBlockIndex=1, start={}), SPOKEN),),
    ),
    Mutant(
        f"{SUITE}/delta-single",
        TEXT,
        (edits.change(SIGNED, "delta.reasoningContent.text", " So it is."),),
    ),
    Mutant(
        f"{SUITE}/delta-is-flat",
        TEXT,
        (edits.change(THOUGHT, "delta.reasoningContent", _nested, nth=1),),
    ),
    Mutant(
        f"{SUITE}/text-is-text",
        TOOLS,
        (edits.change(INPUT, "delta.toolUse.input", None),),
        also=(f"{SUITE}/input-json",),
    ),
    Mutant(
        f"{SUITE}/text-in-text",
        TEXT,
        (edits.insert(aws.delta(0, text="So, "), SIGNED),),
        also=(f"{SUITE}/reasoning-in-reasoning",),
    ),
    Mutant(
        f"{SUITE}/reasoning-in-reasoning",
        TEXT,
        (edits.insert(aws.redacted(1, "late")[0], STOPPED, nth=1),),
    ),
    Mutant(
        f"{SUITE}/input-announced",
        TOOLS,
        (edits.drop(OPENED, nth=1),),
    ),
    Mutant(f"{SUITE}/signature-present", TEXT, (edits.drop(SIGNED),)),
    Mutant(
        f"{SUITE}/signature-absent",
        GPT_OSS,
        (edits.insert(aws.signed(1, "made up"), STOPPED, nth=1),),
    ),
    Mutant(f"{SUITE}/signature-once", TEXT, (edits.duplicate(SIGNED),)),
    Mutant(
        f"{SUITE}/signature-last",
        TEXT,
        (edits.move(SIGNED, by=-1),),
        also=(f"{SUITE}/signature-present",),
    ),
    Mutant(
        f"{SUITE}/signature-filled",
        TEXT,
        (edits.change(SIGNED, "delta.reasoningContent.signature", ""),),
    ),
    Mutant(
        f"{SUITE}/redacted-is-base64",
        REDACTED,
        (edits.change(SEALED, "delta.reasoningContent.redactedContent", "b'\\x12\\x34'"),),
    ),
    Mutant(
        f"{SUITE}/redacted-is-base64",
        REDACTED,
        (edits.change(SEALED, "delta.reasoningContent.redactedContent", ""),),
        name=f"{SUITE}/redacted-not-empty",
    ),
    Mutant(f"{SUITE}/redacted-alone", REDACTED, (edits.duplicate(SEALED),)),
    Mutant(f"{SUITE}/tool-named", TOOLS, (edits.remove(OPENED, "start.toolUse.name"),)),
    Mutant(
        f"{SUITE}/tool-id-unused",
        TOOLS,
        (edits.change(OPENED, "start.toolUse.toolUseId", "tooluse_synthetic_1", nth=1),),
    ),
    Mutant(f"{SUITE}/input-json", TOOLS, (edits.drop(INPUT, nth=1),)),
    Mutant(f"{SUITE}/body-block-single", BODY, (in_body(f"{CONTENT}.1", _typed),)),
    Mutant(f"{SUITE}/body-reasoning-first", BODY, (in_body(CONTENT, _reversed),)),
    Mutant(
        f"{SUITE}/body-reasoning-nested",
        BODY,
        (in_body(f"{CONTENT}.0.reasoningContent", _flat),),
    ),
    Mutant(
        f"{SUITE}/body-reasoning-signed",
        BODY,
        (in_body(f"{CONTENT}.0.reasoningContent.reasoningText.signature", ""),),
    ),
    # A gateway that translates Chat Completions left the text as it was.
    Mutant(
        f"{SUITE}/body-input-is-object",
        CALLED,
        (in_body(f"{CONTENT}.1.toolUse.input", compact),),
    ),
)
