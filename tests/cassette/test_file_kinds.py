"""Files as curl, proxies, browsers and programs write them: known, read and judged."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.cassette import discover, find_recordings, locate, open_recording, read, write
from conformance.cassette.importers.curl_trace import restore_line_ends
from conformance.cassette.kinds import all_kinds
from conformance.core.events import Exchange
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import BODY, CHUNK, LAST, SAVED, archive, entry, stored

ASKED = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(
    ("name", "kind", "chunks", "timed", "asks"),
    [
        ("curl-i.txt", "curl", 1, False, False),
        ("curl-i-raw.txt", "curl", 1, False, False),
        ("curl-i-gzip.txt", "curl", 1, False, False),
        ("trace.txt", "curl-trace", 5, True, True),
        ("trace-no-times.txt", "curl-trace", 5, False, True),
        ("trace-gzip.txt", "curl-trace", 1, True, True),
        ("flow.mitm", "mitmproxy", 1, False, True),
        ("flow.har", "har", 1, False, True),
    ],
)
def test_saved_stream_is_exact(name: str, kind: str, chunks: int, timed: bool, asks: bool) -> None:
    recording = open_recording(SAVED / name)
    first = recording.exchanges[0]
    assert recording.kind == kind
    assert {each.body for each in recording.exchanges} == {BODY}
    assert len(first.chunks) == chunks
    assert all((chunk.ms is not None) == timed for chunk in first.chunks)
    assert first.end == "eof"
    assert first.response is not None
    assert first.response.status == 200
    assert first.response.header("content-type") == "text/event-stream"
    assert (first.request.json if first.request else None) == (ASKED if asks else None)
    assert recording.locate(1, [len(BODY) - 1])[0] >= 1


def test_a_head_that_is_kept_as_a_heading_is_a_head(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"### " + (SAVED / "curl-i.txt").read_bytes())
    recording = open_recording(path)
    assert (recording.kind, recording.exchanges[0].body) == ("curl", BODY)
    whole = open_recording(SAVED / "curl-i.txt")
    assert recording.locate(1, [len(BODY) - 1]) == whole.locate(1, [len(BODY) - 1])


def test_times_of_a_trace_are_evidence() -> None:
    recording = open_recording(SAVED / "trace.txt")
    waits = [chunk.ms or 0.0 for chunk in recording.exchanges[0].chunks]
    assert waits[0] == pytest.approx(0.148)
    assert all(20 < wait < 60 for wait in waits[1:])
    assert recording.cassette.clocks[1].head == pytest.approx(2.22)
    assert recording.locate(1, [-1, 0, 197]) == [41, 43, 57]


def test_line_ends_of_an_ascii_trace_are_restored() -> None:
    recording = open_recording(SAVED / "trace-ascii.txt")
    shown = bytes(byte if byte == 10 or 32 <= byte < 127 else ord(".") for byte in BODY)
    assert recording.exchanges[0].body == shown
    assert recording.header.fidelity == "events"
    assert recording.notes[0].startswith("--trace-ascii writes a dot for each line end")


def test_a_stream_that_curl_saw_break_off_is_no_whole_one() -> None:
    recording = open_recording(SAVED / "trace-ascii-cut.txt")
    assert recording.exchanges[0].end == "protocol-error"
    torn = b"".join((SAVED / "trace.txt").read_bytes().splitlines(keepends=True)[:60])
    assert torn.endswith(b"\n")


def test_a_trace_that_stops_is_torn(tmp_path: Path) -> None:
    lines = (SAVED / "trace.txt").read_bytes().splitlines(keepends=True)
    recording = open_recording(stored(tmp_path, "a", b"".join(lines[:60])))
    assert (recording.torn, recording.exchanges[0].end) == (True, "open")


def test_answers_without_a_body_are_counted_not_judged() -> None:
    [note] = open_recording(SAVED / "flow.mitm").notes
    assert note.startswith("answers without a body were skipped: 1 (mitmproxy keeps none of")
    assert (
        open_recording(SAVED / "flow.har")
        .notes[0]
        .startswith("answers without a body were skipped: 2 (save the archive with contents")
    )


def without_server(exchange: Exchange) -> Exchange:
    """As it is written: these were recorded on a machine whose name is nobody's business."""
    asked = exchange.request
    return replace(exchange, request=asked and replace(asked, server=""))


@pytest.mark.parametrize("name", sorted(path.name for path in SAVED.iterdir()))
def test_saved_file_becomes_a_cassette_and_is_judged_the_same(tmp_path: Path, name: str) -> None:
    target = tmp_path / "a.cassette.jsonl"
    recording = open_recording(SAVED / name)
    write(target, recording.cassette)
    assert read(target).exchanges == tuple(map(without_server, recording.exchanges))
    before, after = check_paths([SAVED / name]), check_paths([target])
    assert not before.errors
    assert [each.verdicts for each in before.streams] == [each.verdicts for each in after.streams]


def test_an_archive_gives_the_answers_of_models_and_counts_the_rest(tmp_path: Path) -> None:
    packed = base64.b64encode(BODY).decode()
    entries = (
        entry("https://a.test/logo.svg", "<svg/>"),
        entry("https://a.test/v1/chat/completions", packed, encoding="base64"),
        entry("https://a.test/chat", BODY.decode()),  # known by what it says
        entry("https://a.test/news", "data: 5\n\n"),
    )
    path = stored(tmp_path, "a.har", "\ufeff" + archive(*entries))
    recording = open_recording(path)
    assert [each.body for each in recording.exchanges] == [BODY, BODY]
    assert [each.number for each in recording.exchanges] == [1, 2]
    assert recording.cassette.clocks[1].head == 12.5
    assert recording.notes == ("exchanges of other APIs were skipped: 2",)
    request = recording.exchanges[0].request
    assert request is not None
    assert (request.path, request.headers) == ("/v1/chat/completions", (("accept", "*/*"),))
    assert recording.exchanges[1].dialect == "openai.chat"


@pytest.mark.parametrize(
    ("second", "third", "paths"),
    [
        ("2026-11-23T02:55:36Z", "2026-11-23T02:55:35.5+00:00", ["/1", "/3", "/2"]),
        ("2026-11-23T02:55:36Z", "2026-11-23T02:55:36Z", ["/1", "/2", "/3"]),
        ("yesterday", "2026-11-23T02:55:35Z", ["/1", "/2", "/3"]),
    ],
)
def test_an_archive_is_read_in_the_order_in_which_requests_were_sent(
    second: str, third: str, paths: list[str], tmp_path: Path
) -> None:
    times = ("2026-11-23T02:55:34Z", second, third)
    entries = (
        {**entry(f"https://a.test/{n}", BODY.decode()), "startedDateTime": time}
        for n, time in enumerate(times, 1)
    )
    recording = open_recording(stored(tmp_path, "a.har", archive(*entries)))
    assert [each.request and each.request.path for each in recording.exchanges] == paths


def test_an_archive_in_lines_places_its_bodies(tmp_path: Path) -> None:
    text = json.dumps(json.loads(archive(entry("/v1/chat/completions", BODY.decode()))), indent=1)
    path = stored(tmp_path, "a.har", text)
    [line] = locate(path, 1, [5])
    assert '"text": "data: ' in text.splitlines()[line - 1]


def test_lines_of_ollama_need_no_name(tmp_path: Path) -> None:
    line = json.dumps({"model": "m", "message": {"content": "a"}, "done": False}) + "\n"
    for name in ("a.txt", "a", "a.log", "a.ndjson"):
        assert open_recording(stored(tmp_path, name, line * 2)).kind == "ndjson"
    assert open_recording(
        stored(tmp_path, "a", json.dumps(CHUNK) + "\n" + json.dumps(LAST))
    ).kind == ("jsonl")


def test_a_packed_file_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    for name in ("a.sse", "b", "c.txt"):
        path = stored(tmp_path, name, gzip.compress(BODY))
        assert open_recording(path).exchanges[0].body == BODY


Shown = st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="."))
Payloads = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | Shown,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(Shown, inner, max_size=3),
    max_leaves=8,
).map(lambda value: {"choices": value})


@given(
    st.lists(Payloads, min_size=1, max_size=5),
    st.sampled_from(["data: %s\n\n", "event: a.b\ndata: %s\n\n", "%s\n"]),
)
def test_line_ends_come_back_from_dots(payloads: list[Any], frame: str) -> None:
    for indent in (None, 1):
        if indent is None or "data" not in frame:
            body = "".join(frame % json.dumps(each, indent=indent) for each in payloads).encode()
            assert restore_line_ends(body.replace(b"\n", b".")) == body


def test_folders_find_every_known_kind_and_count_the_rest(tmp_path: Path) -> None:
    for path in SAVED.iterdir():
        stored(tmp_path, path.name, path.read_bytes())
    stored(tmp_path, "answer.json", json.dumps({"object": "chat.completion", "choices": []}))
    stored(tmp_path, "package.json", '{"name": "x"}')
    stored(tmp_path, "page.har", archive(entry("/", "<p>")))
    stored(tmp_path, "notes.txt", "hello")
    stored(tmp_path, "README.md", "data: 5")
    (tmp_path / ".git").mkdir()
    stored(tmp_path / ".git", "x", BODY)
    names = {path.name for path in SAVED.iterdir()} | {"answer.json"}
    assert {path.name for path in discover(tmp_path)} == names
    found = find_recordings([tmp_path])
    assert {path.name for path in found.unknown} == {"package.json", "notes.txt"}
    assert {path.name for path in found.of_no_api} == {"page.har"}
    report = check_paths([tmp_path])
    assert report.errors == ()
    assert report.notes == (
        "2 files were skipped: no recording is known in them: 1 .json, 1 .txt",
        "1 file was skipped: no answer of an API that is judged is in it: 1 .har",
    )
    assert report.exit_code(require_exercised=True) == 1


def test_each_kind_says_what_it_is() -> None:
    assert len({kind.name for kind in all_kinds()}) == len(all_kinds())
    assert all(kind.says for kind in all_kinds())


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_body_in_a_folder_is_read_whatever_mark_it_begins_with(tmp_path: Path, mark: str) -> None:
    candidate = {"content": {"parts": [{"text": "Yes."}], "role": "model"}, "finishReason": "STOP"}
    stored(
        tmp_path, "a.json", mark + json.dumps([{"candidates": [candidate], "modelVersion": "m"}])
    )
    (stream,) = check_paths([tmp_path]).streams
    assert stream.dialect == "gemini.generate"
