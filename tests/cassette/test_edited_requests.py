"""A member that was added to a kept request asks for nothing: the answer is to what was sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.cassette import open_recording
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import CHUNK, LAST, as_event, stored

_ASKED: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Why does it rise?"}],
    "stream": True,
}
_ADDED = {"stream_options": {"include_usage": True}}
_RULE = "wire/chat/usage-when-asked"
_SPELLED: list[tuple[str, str]] = [(",", ":"), (", ", ": ")]


def kept(folder: Path, body: str, length: int, *, coding: str = "") -> Path:
    headers = {"Content-Type": ["application/json"], "Content-Length": [str(length)]}
    headers |= {"Content-Encoding": [coding]} if coding else {}
    entry = {
        "request": {
            "method": "post",
            "uri": "http://h/v1/chat/completions",
            "body": {"encoding": "UTF-8", "string": body},
            "headers": headers,
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"Content-Type": ["text/event-stream"]},
            "body": {
                "encoding": "UTF-8",
                "string": as_event(CHUNK) + as_event(LAST) + as_event("[DONE]"),
            },
        },
    }
    whole = {"http_interactions": [entry], "recorded_with": "VCR 6.3.1"}
    return stored(folder, "a.yml", yaml.safe_dump(whole))


def asked(folder: Path) -> tuple[Any, str]:
    """The request as it is judged, and the verdict on what it asks for."""
    path = folder / "a.yml"
    recording = open_recording(path)
    [exchange] = recording.exchanges
    assert exchange.request is not None
    edited = any("added later" in each for each in recording.notes)
    assert edited == ("stream_options" not in exchange.request.json)
    [stream] = check_paths([path]).streams
    return exchange.request.json, stream.verdicts[_RULE]


@pytest.mark.parametrize("separators", _SPELLED)
def test_an_added_member_is_left_out(tmp_path: Path, separators: tuple[str, str]) -> None:
    sent = json.dumps(_ASKED, separators=separators)
    kept(tmp_path, json.dumps(_ASKED | _ADDED, separators=separators), len(sent))
    assert asked(tmp_path) == (_ASKED, "NOT-APPLICABLE")


@pytest.mark.parametrize(("off", "coding"), [(0, ""), (-1, ""), (40, "gzip"), (7, "")])
def test_any_other_length_leaves_a_request_as_it_is(tmp_path: Path, off: int, coding: str) -> None:
    body = json.dumps(_ASKED | _ADDED, separators=(",", ":"))
    kept(tmp_path, body, len(body) - off, coding=coding)
    assert asked(tmp_path) == (_ASKED | _ADDED, "FAIL")


def test_no_other_member_is_left_out(tmp_path: Path) -> None:
    """A recorder spelt the body anew; by chance it is longer by what a limit takes."""
    body = json.dumps(_ASKED | _ADDED | {"max_tokens": 4096})
    kept(tmp_path, body, len(body) - len('"max_tokens": 4096, '))
    request, _ = asked(tmp_path)
    assert request["max_tokens"] == 4096


def test_two_members_of_one_length_are_both_kept(tmp_path: Path) -> None:
    body = json.dumps(_ASKED | _ADDED | {"a": 1, "b": 2}, separators=(",", ":"))
    kept(tmp_path, body, len(body) - len('"a":1,'))
    request, verdict = asked(tmp_path)
    assert ({"a", "b"} <= request.keys(), verdict) == (True, "FAIL")
