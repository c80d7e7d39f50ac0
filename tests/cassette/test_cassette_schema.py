"""The JSON Schema of a cassette line agrees with the writer and refuses what the reader refuses."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from conformance.cassette import Cassette, CassetteClock, Header, Redaction, write
from conformance.core.events import Chunk, Exchange, Request, Response, SocketMessage

SCHEMA = json.loads(files("conformance.schemas").joinpath("cassette.schema.json").read_text())
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)

FULL = Exchange(
    request=Request("POST", "/v1", (("a", "b"),), {"x": 1}),
    response=Response(200, "1.1", (("content-type", "text/event-stream"),)),
    chunks=(Chunk(b"data: 1\n\nda", 1.5), Chunk(b"\xc3"), Chunk(b"", 0.0)),
    end="reset",
    dialect="openai.chat",
    scenario="think",
    role="plain",
    hop="upstream",
    after=1,
    seen=({"type": "thinking.start"},),
    user_choices={"model": "m", "effort": "low", "include_thinking": True},
)
MESSAGES = (
    SocketMessage(b"{}", 1.0, "client"),
    SocketMessage(b"\xff", None, "server", binary=True),
)
HEADER = Header(
    origin="imported",
    fidelity="text",
    dialect="openai.responses",
    profile="ogx",
    recorder={"name": "x"},
    recorded_at="2026-11-20T10:00:00Z",
    target={"name": "ogx"},
    model={"id": "m"},
    licence="MIT",
    expect={"a/b": "FAIL"},
    redactions=(Redaction("header", 1),),
    extra={"x": 1},
)


@pytest.mark.parametrize("seal", [True, False])
def test_everything_written_is_valid(tmp_path: Path, seal: bool) -> None:
    path = tmp_path / "a.cassette.jsonl"
    bare = Exchange(number=2)
    socket = Exchange(number=3, response=Response(101), chunks=MESSAGES)
    cassette = Cassette(
        HEADER, (FULL, bare, socket), {1: CassetteClock(1, 2, 3)}, trailer=(Redaction("query", 1),)
    )
    write(path, cassette, seal=seal)
    lines = path.read_text().splitlines()
    assert len(lines) == 17
    for line in lines:
        VALIDATOR.validate(json.loads(line))


@pytest.mark.parametrize(
    "line",
    [
        [],
        {"cassette": "2.0"},
        {"cassette": "1.0", "origin": "dream"},
        {"text": 1},
        {"text": "a", "ms": -1},
        {"text": "a", "hex": "61"},
        {"hex": "c"},
        {"text": "a", "from": "proxy"},
        {"end": "boredom"},
        {"request": {"headers": {}}},
        {"request": {}, "exchange": 0},
        {"request": {}, "user_choices": []},
        {"request": {}, "user_choices": {"effort": 3}},
        {"seen": [1]},
        {"redactions": [{"rule": "x"}]},
    ],
)
def test_wrong_lines_are_invalid(line: Any) -> None:
    assert not VALIDATOR.is_valid(line)


@pytest.mark.parametrize(
    "line", [{"novelty": 1}, {"text": "", "ms": None, "new": 1}, {"request": None}]
)
def test_what_readers_skip_is_valid(line: Any) -> None:
    assert VALIDATOR.is_valid(line)
