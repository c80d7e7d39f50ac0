"""Bodies of dialects that are no event streams, and lines of adapters, to edit."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from conformance import Checker
from conformance.cassette import open_recording
from conformance.core.events import Exchange
from conformance.core.shipped import cassettes
from conformance.targets.client.protocol import decode_answer, read_introduction, request_of
from tests.fuzz.cutting import cut

_LARGEST: Final = 30_000  # bytes of a body that is edited
_NO_STREAMS: Final = ("bedrock.converse", "harmony", "acp", "codex", "claude.stream", "opal")
_INTRODUCTION: Final = (
    b'{"implementation":{"name":"a","language":"python","version":"1","dialects":["openai.chat"],'
    b'"ops":["stream"],"events":["text.delta"],"features":[]}}'
)
ANSWERS: Final = (
    _INTRODUCTION,
    b'{"seq":"1","event":{"type":"text.delta","text":"a","vendor":true}}',
    b'{"seq":"1","event":{"type":"text.delta","text":"\\ud83d!"}}',
    b'{"seq":"1","end":{"how":"cut"},"ms":3}',
    b'{"seq":null,"errored":{"message":"it failed"}}',
    b'{"seq":"1","request":{"json":{},"headers":[["a","b"]],"method":"POST","path":"/"}}',
    b'{"seq":"1","events":[{"type":"text.delta","text":"a"}]}',
    b'{"seq":"1","skipped":"no such thing"}',
)


def answer_sources() -> list[tuple[str, bytes]]:
    return [("answer", each) for each in ANSWERS]


def read_answer(_: str, data: bytes, __: Random, ___: Path) -> None:
    """Reads a line of an adapter. Raises HarnessError, and what nobody documents."""
    answer = decode_answer(data)
    if "implementation" in answer:
        read_introduction(answer)
    if "request" in answer:
        request_of(answer["request"])


@cache
def _recorded() -> list[Exchange]:
    """Answers of shipped recordings in these dialects."""
    exchanges = [
        each
        for path in sorted(cassettes().rglob("*.cassette.jsonl"))
        for each in open_recording(path).exchanges
    ]
    return [
        each
        for each in exchanges
        if (each.dialect or "").startswith(_NO_STREAMS) and 0 < len(each.body) <= _LARGEST
    ]


def body_sources() -> list[tuple[str, bytes]]:
    """Bodies by dialect."""
    return [(each.dialect or "", each.body) for each in _recorded()]


def read_body(dialect: str, data: bytes, source: Random, _: Path) -> None:
    """Judges a body, in chunks of any size, in place of a recorded one."""
    recorded = source.choice([each for each in _recorded() if each.dialect == dialect])
    has_clock = source.random() < 0.5
    chunks = cut(data, source, clock=has_clock)
    given = [(each.ms, each.data) if has_clock else each.data for each in chunks]
    _checker(dialect).check(given, request=recorded.request, response=recorded.response)


@cache
def _checker(dialect: str) -> Checker:
    return Checker(dialect, profile="strict")
