"""LangChain's own reader makes of every recording the texts, thoughts and calls that ours does.

It is no dependency: `pip install langchain-core`, of a release with event streaming v3. It reads
the events of one message, so those of LangGraph's server are taken out of their envelopes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import open_recording
from conformance.core.events import Exchange
from conformance.core.reading import Reading
from conformance.core.shipped import cassettes
from conformance.dialects import get
from conformance.judging.transcript import read_transcript

pytest.importorskip(
    "langchain_core.language_models.chat_model_stream", reason="no langchain-core that has v3"
)
reader: Final = import_module("langchain_core.language_models.chat_model_stream")

pytestmark = pytest.mark.live

DIALECT: Final = "langchain.events"
STREAMS: Final = sorted((cassettes() / DIALECT).glob("*/*.jsonl"))
KINDS: Final = ("reasoning", "text")
OTHERS: Final = ("tool", "human", "user", "system")  # whose messages are none of the model
FAILING: Final = ("failed", "message-failed")  # the reader has no event for a failure


def events_of(exchange: Exchange) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of messages, each with whose they are: a namespace and a node, or one stream."""
    for line in exchange.body.decode().splitlines():
        data = line.removeprefix("data:").strip()
        if not data.startswith("{"):
            continue
        payload = json.loads(data)
        params = payload.get("params") or {}
        event = params.get("data", payload)
        if payload.get("method") in (None, "messages") and "event" in event:
            yield f"{params.get('namespace')} {params.get('node')}", event


def official(exchange: Exchange) -> tuple[str, str, list[str]]:
    """What the reader makes of the model's messages, in the order in which it came.

    Of each place one message is open.
    """
    open_ones: dict[str, Any] = {}
    texts = dict.fromkeys(KINDS, "")
    calls: list[Any] = []
    for place, event in events_of(exchange):
        if event["event"] == "message-start":
            is_model = event.get("role") not in OTHERS
            open_ones[place] = reader.ChatModelStream() if is_model else None
        if (one := open_ones.get(place)) is None:
            continue
        before = {kind: getattr(one, f"_{kind}_acc") for kind in KINDS}
        one.dispatch(event)
        for kind, known in before.items():
            texts[kind] += getattr(one, f"_{kind}_acc").removeprefix(known)
        if event["event"] == "message-finish":
            calls += one.tool_calls.get()
    return texts["reasoning"], texts["text"], sorted(map(_call, calls))


def _call(call: Mapping[str, Any]) -> str:
    return f"{call['name']}({json.dumps(call['args'], sort_keys=True)})"


def ours(exchange: Exchange) -> tuple[str, str, list[str]]:
    transcript = read_transcript(exchange, get(DIALECT), Reading())
    calls = [
        {**each, "args": json.loads(str(each["arguments"]) or "{}")} for each in transcript.tools
    ]
    return "".join(transcript.thinking), "".join(transcript.text), sorted(map(_call, calls))


@pytest.mark.parametrize("file", STREAMS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_the_reader_agrees_with_ours(file: Path) -> None:
    if file.name.startswith(FAILING):
        pytest.skip("it tells of a failure by another way than an event")
    for exchange in open_recording(file).exchanges:
        assert official(exchange) == ours(exchange)
