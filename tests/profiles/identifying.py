"""Streams whose senders are told apart, and how that is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.cassette import open_recording
from conformance.judging.rulebook import Rulebook
from conformance.recordings.choices import choose_dialect
from conformance.recordings.identification import ExchangeIdentification, identify_exchange
from tests.tables import read_table

CHAT = "openai.chat"
TABLE: list[dict[str, Any]] = read_table(Path(__file__).parent.parent / "captures" / "table.yaml")
RULEBOOK = Rulebook.load()


def chunk(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **more}


PRIVATE = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"my_reasoning": "let me see, "}),
    chunk({"my_reasoning": "two and two"}),
    chunk({"content": "Four."}),
    chunk({}, "stop", created=2),
]
GROQ = [chunk({"role": "assistant", "content": "Hi"}, x_groq={"id": "r"}), chunk({}, "stop")]
EMPTY = {"id": "", "system_fingerprint": "", "service_tier": ""}
SNOWFLAKE = [chunk({"role": "assistant", "content": "Hi"}, **EMPTY), chunk({}, "stop", **EMPTY)]


def written(path: Path, chunks: list[dict[str, Any]]) -> Path:
    lines = [f"data: {json.dumps(each)}\n\n" for each in chunks]
    path.write_text("".join([*lines, "data: [DONE]\n\n"]), encoding="utf-8")
    return path


def identified(path: Path, dialect: str | None = None) -> ExchangeIdentification:
    recording = open_recording(path)
    exchange = recording.exchanges[0]
    return identify_exchange(recording, exchange, choose_dialect(exchange, dialect), RULEBOOK)


# --- certain, a guess, or none
