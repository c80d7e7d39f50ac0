"""A key that comes in pieces over several events is not to be read in a report of any of them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import Cassette, Header
from conformance.cassette.redaction import leaving
from conformance.cassette.redaction.placeholders import Blanks
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.excerpts import now_about
from conformance.judging.result import Report
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.report.files import FORMATS, render
from conformance.report.redacted import redact_report
from tests.report.test_one_door import KINDS, RULES, drawn, longest_run, sent

_MOST: Final = 4
SIZES: Final = (1, 2, 3, 5, 7, 11, 24)
# What stands in the place of the text: the fields of a delta.
FIELDS: Final[dict[str, dict[str, Any]]] = {
    "content": {"content": "TEXT"},
    "thinking": {"reasoning_content": "TEXT"},
    "arguments": {"tool_calls": [{"index": 0, "function": {"arguments": "TEXT"}}]},
}


@pytest.fixture(autouse=True)
def _blanks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(leaving, "_STAND_INS", Blanks())
    for each in (leaving._redactor, leaving._remembered):
        each.cache_clear()
    yield
    now_about(None)
    for each in (leaving._redactor, leaving._remembered):
        each.cache_clear()


def frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"


def pieces_of(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def frames_of(field: str, pieces: Sequence[str], at: int, rest: Sequence[str]) -> tuple[bytes, ...]:
    """Pieces in events; at one of them comes an event that breaks rules, and then the rest."""
    shape = json.dumps(FIELDS[field])
    deltas = [
        frame(json.loads(shape.replace('"TEXT"', json.dumps(piece)))) for piece in (*pieces, *rest)
    ]
    other = "reasoning_content" if field == "content" else "content"
    odd = frame({other: "</think>"}) + b'data: {"error":{"message":"no"}}\n\n'
    return (frame({"role": "assistant", "content": ""}), *deltas[:at], odd, *deltas[at:])


def findings_of(frames: Sequence[bytes], request: Request | None) -> Report:
    exchange = Exchange(
        request=request or Request("POST", "/v1/chat/completions"),
        response=Response(200, "1.1", (("content-type", "text/event-stream"),)),
        chunks=tuple(Chunk(each, 1.0) for each in frames),
        dialect="openai.chat",
    )
    cassette = Cassette(Header(profile="strict"), (exchange,))
    recording = InMemory(Path("a.jsonl"), "cassette", cassette)
    return redact_report(Report(tuple(check_recording(recording, RULES, CheckChoices()))))


def shown_together(report: Report, secret: str) -> int:
    """How many characters in a row of the secret the events of one finding show together.

    Marks of JSON and all that is no piece of a text are taken out, as a reader does.
    """
    best = 0
    for finding in report.findings:
        for field in ("content", "reasoning_content", "arguments"):
            pieces = re.compile(rf'"{field}": "((?:[^"\\]|\\.)*)')
            texts = [match[1] for line in finding.context for match in pieces.finditer(line.text)]
            best = max(best, longest_run(secret, "".join(texts)))
    return best


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_format_shows_a_key_that_came_in_pieces(kind: str, field: str) -> None:
    rng = random.Random(f"{kind} in {field}")
    found = 0
    for size in rng.sample(SIZES, 2):
        key, secret = drawn(kind, rng)
        lead = pieces_of("so " * rng.randrange(12), 3)
        pieces = pieces_of(f" {key} ", size)
        at = len(lead) + rng.randrange(1, len(pieces) + 1)
        frames = frames_of(field, (*lead, *pieces), at, pieces_of(" and more", 4))
        report = findings_of(frames, sent(kind, secret))
        found += len(report.findings)
        assert shown_together(report, secret) <= _MOST
        for name in FORMATS:
            shown = render(report, name, verbose=True)
            assert longest_run(secret, shown) <= _MOST, (name, size, shown)
    assert found
