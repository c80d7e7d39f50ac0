"""A text that a reader would take for nothing is found, but for what the dialect allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Final, NamedTuple

import pytest

from conformance.dialects import SUPPORTED
from conformance.editing.stream import Stream
from conformance.judging.rulebook import Rulebook
from conformance.mutate import BaseRecording, shipped_bases
from conformance.recordings.unchanged import UnchangedExchanges
from tests.mutate.lost_texts import (
    EDITS,
    MISTYPED,
    TextKind,
    edited,
    holder_places,
    text_places,
    type_places,
)

_EVERY_EDIT: Final = " ".join((*EDITS, MISTYPED))
# Dialect, path (or `types: path`) and edits that are legal, each with its source.
ALLOWED: Final[Mapping[tuple[str, str, str], str]] = {
    ("*.chat", "choices.*.delta.*", "dropped null"): (
        "openai-openapi: a delta's content and refusal are nullable, no key of a delta is required;"
        " mistralai: content: NotRequired[Nullable[...]]"
    ),
    ("agui", "delta", "dropped"): "ag-ui-protocol: the delta of a chunk is optional",
    ("agui", "messages.*.content", "dropped list object null"): (
        "ag-ui-protocol: an assistant with calls has no content, a user may have a list of parts,"
        " an activity an object"
    ),
    ("google.a2a", "result.*status.message*", "dropped null"): (
        "a2a.proto: a message of the status is optional, and a2a-sdk leaves out parts that are none"
    ),
    ("bedrock.converse", "delta.citation", "object"): (
        "API_runtime_CitationsDelta: no member is required"
    ),
    ("bedrock.converse", "delta.citation.sourceContent", "dropped"): (
        "API_runtime_CitationsDelta: no member is required"
    ),
    ("claude.stream-json", "result", "dropped null"): (
        "claude-agent-sdk: a result of an error has no text"
    ),
    ("claude.stream-json", "message", "mistyped"): "the type of a message adds nothing to its line",
    ("acp", "tool_call*: params.update.content*", _EVERY_EDIT): (
        "ACP schema: content of a call is optional, and what a tool gave, not the model"
    ),
    ("codex.app-server", "turn/start/*: *", _EVERY_EDIT): "a request of the client, no answer",
    ("codex.app-server", "item/*/userMessage/*: *", _EVERY_EDIT): (
        "codex README: a userMessage repeats the input of the user"
    ),
    ("codex.app-server", "params.turn.items*", "null mistyped"): (
        "codex README: items of turn/completed repeat what was sent"
    ),
    ("opencode.serve", "*properties.part", "mistyped"): (
        "@opencode-ai/sdk: a question has parts of other types, too, which are no answer"
    ),
    ("ollama.*", "*thinking", "dropped"): (
        "ollama: thinking is left out where it is empty, and a line may say nothing"
    ),
    ("copilot.cli", "data.reasoningText", "dropped null"): (
        "@github/copilot-sdk: reasoningText?: string; assistant.reasoning has it, too"
    ),
    ("gemini.generate", "candidates", "dropped list null"): (
        "types.py: candidates: Optional; chunks of token counts have none"
    ),
    ("gemini.generate", "candidates.*.content*", "dropped null object"): (
        "types.py: content and parts: Optional; a chunk that finishes has none"
    ),
    (
        "langchain.events",
        "params.data.content*",
        "dropped list misspelt mistyped null number object",
    ): "langgraph-api repeats what a tool gave as a message with `content`: it is no answer",
    ("langgraph", "[a-z]*", "misspelt dropped list object number null mistyped"): (
        "langgraph: the keys of a state and its forms are those of the graph's author"
    ),
    ("langgraph", "*.content.*.thinking", "dropped"): (
        "langchain-anthropic: a block of thinking may hold its signature alone"
    ),
    ("langgraph", "*.summary.*", "mistyped"): "langchain-core: what is in a summary is its text",
    ("langgraph", "*.tool_call_chunks.*", "mistyped"): (
        "langchain-core: what is in tool_call_chunks is one, whatever its type"
    ),
    ("*.chat", "choices.*.delta", "object"): "keys of vendors are legal in a delta",
    ("openai.chat", "choices.*.delta.content.*.thinking", "dropped"): (
        "LiteLLM: providers send a part of thinking with a text instead"
    ),
}


class Lost(NamedTuple):
    """A stream with one text edited; `edit` says how."""

    base: BaseRecording
    kind: TextKind
    edit: str
    stream: Stream


def is_allowed(dialect: str, kind: TextKind, edit: str) -> bool:
    ways = kind.path, f"{kind.types}: {kind.path}"
    return any(
        fnmatchcase(dialect, known) and edit in edits.split()
        for known, path, edits in ALLOWED
        if any(fnmatchcase(way, path) for way in ways)
    )


@cache
def bases() -> tuple[BaseRecording, ...]:
    return tuple(base for base in shipped_bases() if not base.has_client)


def lost(dialect: str) -> Iterator[Lost]:
    """Every kind of text of a dialect, of what holds it, and of its types, edited once each."""
    seen: set[object] = set()
    for base in bases():
        for stream in base.streams() if base.name.split("/")[0] == dialect else ():
            texts = text_places(stream)
            of_holders, of_types = holder_places(texts), type_places(stream, texts)
            for group, edits in ((texts, EDITS), (of_holders, EDITS), (of_types, (MISTYPED,))):
                for kind, places in group.items():
                    new = [edit for edit in edits if (kind, edit) not in seen]
                    seen.update((kind, edit) for edit in new)
                    for edit in new:
                        yield Lost(base, kind, edit, edited(stream, *places[0], edit))


@pytest.mark.parametrize("dialect", SUPPORTED)
def test_a_text_that_nobody_can_read_is_found(dialect: str) -> None:
    rulebook = Rulebook.load()
    plain: dict[str, frozenset[str]] = {}
    judges: dict[str, UnchangedExchanges | None] = {}
    missed: list[tuple[str, TextKind, str]] = []
    tried = 0
    for base, kind, edit, stream in lost(dialect):
        if base.name not in plain:
            judges[base.name] = base.unchanged()
            plain[base.name] = base.judge(rulebook, unchanged=judges[base.name]).killed_by
        judged = base.judge(rulebook, stream.result(), judges[base.name])
        found = judged.killed_by - plain[base.name]
        tried += 1
        if not found and not is_allowed(dialect, kind, edit):
            missed.append((base.name, kind, edit))
    assert tried
    assert missed == []
