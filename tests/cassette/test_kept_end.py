"""Kept files whose last line end somebody took, and what a half event says of a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance import Verdict
from conformance.cassette import convert, import_file
from conformance.cassette.importers.kept_end import TAKEN, missing_end, without_blank_lines
from conformance.recordings.check import check_paths
from tests.cassette.recorder_files import RUBY, indented
from tests.cassette.saved_files import CHUNK, LAST, as_event, stored
from tests.growth import grows_linearly

WHOLE = as_event({**CHUNK, "id": "c"}) + as_event({**LAST, "id": "c"}) + as_event("[DONE]")
RULE = "wire/sse/last-event-complete"
HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
ENDS = {
    "nothing": ("data: {}\n\n", ""),
    "a blank line": ("data: {}\n", "\n"),
    "two line ends": ("data: {}\n\ndata: [DONE]", "\n\n"),
    "CR LF": ("data: {}\r\n\r\ndata: {}", "\r\n\r\n"),
    "CR LF, one there": ("data: {}\r\n", "\r\n"),
    "half of CR LF": ("data: {}\r\n\r\ndata: {}\r", "\n\r\n"),
    "CR": ("data: {}\r\rdata: {}", "\r\r"),
    "a name before": ("event: a\ndata: {}", "\n\n"),
    "two lines of data": ('data: {"a":\ndata: 1}', "\n\n"),
    "a blank behind it": ("data: {}\n\ndata: [DONE] \n", "\n"),
    "half a value": ('data: {}\n\ndata: {"a"', ""),
    "no value": ("data: {}\n\ndata: 12", ""),
    "half a name": ("data: {}\n\neve", ""),
    "a name alone": ("data: {}\n\nevent: a", ""),
    "half a word": ("data: {}\n\ndata: [DO", ""),
    "a comment": ("data: {}\n\n: bye", ""),
    "an empty file": ("", ""),
}


@pytest.mark.parametrize("case", ENDS)
def test_only_line_ends_are_added_and_only_to_whole_events(case: str) -> None:
    body, expected = ENDS[case]
    assert missing_end(body.encode()) == expected.encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.sse", WHOLE.rstrip()),
        ("a.sse", WHOLE[:-1]),
        ("a.txt", WHOLE.rstrip()),
        ("a.http", f"{HEAD}\r\n{WHOLE.rstrip()}"),
        ("a.json", json.dumps([as_event(CHUNK), as_event(LAST), "data: [DONE]"])),
    ],
)
def test_a_trimmed_file_is_judged_as_the_whole_one(tmp_path: Path, name: str, content: str) -> None:
    path = stored(tmp_path, name, content)
    [found] = check_paths([path]).streams
    assert found.verdicts["wire/chat/done-present"] is Verdict.PASS
    assert found.verdicts[RULE] is Verdict.PASS
    assert list(found.notes).count(TAKEN) == 1
    assert import_file(path).exchanges[0].body.endswith(b"data: [DONE]\n\n")


def test_a_text_in_a_block_of_yaml_is_judged_as_the_whole_one(tmp_path: Path) -> None:
    """A block `|` keeps one line end, whatever blank lines stood there."""
    kept = RUBY.partition("string: !binary |-")[0] + f"string: |\n{indented(WHOLE, 8)}"
    [found] = check_paths([stored(tmp_path, "a.yml", kept)]).streams
    assert found.verdicts["wire/chat/done-present"] is Verdict.PASS
    assert found.verdicts[RULE] is Verdict.PASS
    assert list(found.notes).count(TAKEN) == 1


@pytest.mark.parametrize("end", [" ", " \n", " \n\n", "\t\n\n"])
def test_a_blank_after_the_last_word_hides_it_from_nobody(tmp_path: Path, end: str) -> None:
    """openai-python and openai-node ask how the data begins."""
    [found] = check_paths([stored(tmp_path, "a.sse", f"{WHOLE.rstrip()}{end}")]).streams
    for rule in ("wire/chat/done-present", "wire/sse/data-is-json", RULE):
        assert found.verdicts[rule] is Verdict.PASS


def test_what_is_taken_stays_so_in_a_cassette(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.sse", WHOLE.rstrip())
    convert(path, tmp_path / "a.cassette.jsonl")
    [found] = check_paths([tmp_path / "a.cassette.jsonl"]).streams
    assert found.verdicts[RULE] is Verdict.PASS


@pytest.mark.parametrize("head", ["", f"{HEAD}\r\n"])
def test_half_an_event_counts_only_as_missing_rest(tmp_path: Path, head: str) -> None:
    """Whether the server stopped there or who kept the file nobody knows."""
    path = stored(tmp_path, "a.http" if head else "a.sse", head + WHOLE[:-30])
    [found] = check_paths([path]).streams
    assert found.verdicts[RULE] is Verdict.UNTESTABLE
    assert "was not recorded" in found.reasons[RULE]
    assert found.verdicts["wire/chat/done-present"] is Verdict.FAIL


def test_half_an_event_of_a_recorded_length_is_the_server_s(tmp_path: Path) -> None:
    body = WHOLE[:-30]
    path = stored(tmp_path, "a.http", f"{HEAD}content-length: {len(body)}\r\n\r\n{body}")
    [found] = check_paths([path]).streams
    assert found.verdicts[RULE] is Verdict.FAIL


def test_a_recorded_connection_that_ends_inside_an_event_is_the_server_s(tmp_path: Path) -> None:
    records = [
        {"cassette": "1.0", "origin": "imported", "dialect": "openai.chat"},
        {"request": {"method": "POST", "path": "/v1/chat/completions", "headers": [], "json": {}}},
        {"response": {"status": 200, "headers": [["content-type", "text/event-stream"]]}},
        {"ms": 1.0, "text": WHOLE.rstrip()},
        {"end": "eof"},
    ]
    lines = "".join(json.dumps(each) + "\n" for each in records)
    [found] = check_paths([stored(tmp_path, "a.cassette.jsonl", lines)]).streams
    assert found.verdicts[RULE] is Verdict.FAIL


@pytest.mark.parametrize("line", [b":\n", b"event: a\n", b"data: {}\n"])
def test_lines_without_a_blank_one_take_linear_time(line: bytes) -> None:
    assert grows_linearly(lambda count: without_blank_lines(line * count), 10_000)
