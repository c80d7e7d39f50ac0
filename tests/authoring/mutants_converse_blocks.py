"""Mutants of Converse: content blocks and what is in them."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import converse as aws
from tests.authoring import edits
from tests.authoring.edits import having
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_converse import BODY, SPOKEN, TEXT, TOOLS, named
from tests.authoring.turns import in_body

SUITE: Final = "wire/converse-blocks"
GPT_OSS: Final = "bedrock.converse/gpt-oss/empty-text-first"
THOUGHT: Final = having("delta.reasoningContent.text")
SIGNED: Final = having("delta.reasoningContent.signature")
STOPPED: Final = named("contentBlockStop")
CONTENT: Final = "output.message.content"


def _nested(said: Any) -> Any:
    return {"reasoningText": {"text": said["text"]}}


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
    # A gateway that announces every block, as other APIs do.
    Mutant(
        f"{SUITE}/start-known",
        TOOLS,
        (edits.insert(aws.padded("contentBlockStart", contentBlockIndex=1, start={}), SPOKEN),),
    ),
    Mutant(
        f"{SUITE}/delta-is-flat",
        TEXT,
        (edits.change(THOUGHT, "delta.reasoningContent", _nested, nth=1),),
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
        f"{SUITE}/signature-absent",
        GPT_OSS,
        (edits.insert(aws.signed(1, "made up"), STOPPED, nth=1),),
    ),
    Mutant(f"{SUITE}/body-block-single", BODY, (in_body(f"{CONTENT}.1", _typed),)),
    Mutant(
        f"{SUITE}/body-reasoning-nested",
        BODY,
        (in_body(f"{CONTENT}.0.reasoningContent", _flat),),
    ),
)
