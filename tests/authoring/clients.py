"""Cassettes with what a client reported of a stream: one that reports everything as it was sent.

One of them does not declare what it reports, as recordings of a client without an adapter do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from conformance.core.events import SEMANTIC_EVENTS
from conformance.recordings.api import check_chunks
from tests.authoring.draft import Draft


def drafts(streams: Mapping[str, Draft]) -> Iterator[Draft]:
    """A client's report of streams that are drafts already, by name."""
    yield _watched(streams["openai.chat/deepseek/thinking-then-text"], "thinking-then-text")
    undeclared = _watched(streams["openai.chat/deepseek/parallel-tools"], "parallel-tools")
    yield replace(undeclared, reports=())
    yield _watched(streams["openai.responses/openai/summary-then-call"], "summary-then-call")
    yield _watched(streams["openai.responses/openai/summary-four-parts"], "summary-four-parts")
    yield _watched(streams["openai.responses/deepseek/raw-thinking"], "raw-thinking")
    yield _watched(streams["anthropic.messages/anthropic/thinking-then-tools"], "signed-thinking")


def _watched(stream: Draft, topic: str) -> Draft:
    return replace(
        stream,
        name=f"{stream.dialect}/client/{topic}",
        target={"name": "client"},
        seen=tuple(reported(stream)),
        reports=tuple(sorted(SEMANTIC_EVENTS)),
    )


def reported(stream: Draft) -> Iterator[dict[str, Any]]:
    """The semantic events of the stream, as a client's adapter would send them."""
    report = check_chunks(
        [stream.body()], dialect=stream.dialect, profile=stream.profile, keep=True
    )
    for event in report.events:
        if event.layer == "semantic":
            yield {"type": event.type, **event.data}
