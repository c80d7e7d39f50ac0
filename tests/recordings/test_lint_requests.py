"""Recordings of one suite of tests that no request will find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import Cassette, Header, write
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.recordings.linting import lint_recordings

TEST = "tests/a.py::test_answers[m]"
THINKS = "tests/test_reasoning.py::test_streams[m]"
CHUNK = '{"object":"chat.completion.chunk","id":"c1","choices":[{"index":0,%s}]}'
HM = CHUNK % '"delta":{"reasoning":"Hm"}'
END = CHUNK % '"delta":{},"finish_reason":"stop"'
PLAIN = f"data: {END}\n\ndata: [DONE]\n\n"
WHOLE = '{"object":"chat.completion","id":"c1","choices":[]}'


def kept(
    folder: Path, name: str, test: str | None, *, body: str = PLAIN, **asked: Any
) -> tuple[str, int]:
    """A cassette that states its test; its name and the line of its response head."""
    request = Request("POST", "/v1/chat/completions", json={"model": "m", "stream": True, **asked})
    exchange = Exchange(request=request, response=Response(), chunks=(Chunk(body.encode()),))
    header = Header(
        origin="imported",
        fidelity="events",
        dialect="openai.chat",
        profile="strict",
        extra={"test_id": test},
    )
    write(folder / f"{name}.cassette.jsonl", Cassette(header, (exchange,)))
    return f"{name}.cassette.jsonl", 3


def reported(folder: Path) -> list[tuple[tuple[str, int | None], str]]:
    problems = lint_recordings([folder]).problems
    return [((Path(p.place.file).name, p.place.line), p.code) for p in problems]


def test_recordings_of_different_requests_and_tests_are_fine(tmp_path: Path) -> None:
    kept(tmp_path, "a", TEST)
    kept(tmp_path, "b", TEST, seed=2)
    kept(tmp_path, "c", "tests/b.py::test_other")
    kept(tmp_path, "d", "tests/b.py::test_whole", body=WHOLE, stream=False)
    assert reported(tmp_path) == []


def test_a_recording_of_no_test_is_never_found(tmp_path: Path) -> None:
    lost = kept(tmp_path, "a", None)
    assert reported(tmp_path) == [(lost, "test-missing")]


def test_of_one_request_recorded_twice_one_is_never_found(tmp_path: Path) -> None:
    kept(tmp_path, "a", TEST)
    again = kept(tmp_path, "b", TEST)
    assert reported(tmp_path) == [(again, "request-twice")]


def test_one_test_asks_for_a_stream_or_for_none(tmp_path: Path) -> None:
    kept(tmp_path, "a", TEST)
    other = kept(tmp_path, "b", TEST, body=WHOLE, stream=False)
    assert reported(tmp_path) == [(other, "stream-otherwise")]


def test_a_lost_stream_of_what_is_requested_whole_by_now_is_reported(tmp_path: Path) -> None:
    lost = kept(tmp_path, "a", None, stream_options={"include_usage": True})
    kept(tmp_path, "b", TEST, body=WHOLE, stream=False)
    assert reported(tmp_path) == [(lost, "test-missing"), (lost, "stream-otherwise")]


def test_what_a_test_promises_one_of_its_recordings_holds(tmp_path: Path) -> None:
    first = kept(tmp_path, "a", THINKS)
    kept(tmp_path, "b", THINKS, seed=2)
    assert reported(tmp_path) == [(first, "thinking-claimed")]
    kept(tmp_path, "c", THINKS, seed=3, body=f"data: {HM}\n\n{PLAIN}")
    assert reported(tmp_path) == []


@pytest.mark.parametrize("test", ["tests/a.py::test_no_reasoning", "tests/a.py::test_x[think]"])
def test_a_test_promises_thinking_by_its_own_name_only(tmp_path: Path, test: str) -> None:
    kept(tmp_path, "a", test)
    assert reported(tmp_path) == []
