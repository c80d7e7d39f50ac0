"""Files as curl, proxies, browsers and programs write them: known, read, refused in one line.

What lies in `saved/` was written by curl 7.88.1 and mitmproxy 11.0.2, of one small server.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import discover, find_recordings, locate, open_recording, read, write
from conformance.cassette.importers.dotted_text import restore_line_ends
from conformance.cassette.importers.tnetstrings import BrokenNetstringError, read_netstrings
from conformance.cassette.kinds import all_kinds
from conformance.recordings.check import check_paths

SAVED = Path(__file__).parent / "saved"
BODY = (SAVED / "curl-i.txt").read_bytes().partition(b"\r\n\r\n")[2]
ASKED = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}
LAST = {"object": "chat.completion.chunk", "choices": [{"delta": {}, "finish_reason": "stop"}]}


def stored(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


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
def test_what_programs_saved_is_the_stream_to_the_byte(
    name: str, kind: str, chunks: int, timed: bool, asks: bool
) -> None:
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
    assert note.startswith("answers without a body were passed over: 1 (mitmproxy keeps none of")
    assert (
        open_recording(SAVED / "flow.har")
        .notes[0]
        .startswith("answers without a body were passed over: 2 (save the archive with contents")
    )


@pytest.mark.parametrize("name", sorted(path.name for path in SAVED.iterdir()))
def test_what_was_saved_becomes_a_cassette_and_is_judged_alike(tmp_path: Path, name: str) -> None:
    target = tmp_path / "a.cassette.jsonl"
    recording = open_recording(SAVED / name)
    write(target, recording.cassette)
    assert read(target).exchanges == recording.exchanges
    before, after = check_paths([SAVED / name]), check_paths([target])
    assert not before.errors
    assert [each.verdicts for each in before.streams] == [each.verdicts for each in after.streams]


def entry(url: str, text: str | None, **more: Any) -> dict[str, Any]:
    content = {"mimeType": "text/event-stream", **({} if text is None else {"text": text}), **more}
    response = {"status": 200, "httpVersion": "h2", "headers": [], "content": content}
    headers = [{"name": ":path", "value": "/"}, {"name": "accept", "value": "*/*"}]
    request = {"method": "POST", "url": url, "headers": headers}
    return {"request": request, "response": response, "timings": {"wait": 12.5}}


def archive(*entries: Any) -> str:
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": entries}})


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
    assert recording.notes == ("exchanges of no API that is judged were passed over: 2",)
    request = recording.exchanges[0].request
    assert request is not None
    assert (request.path, request.headers) == ("/v1/chat/completions", (("accept", "*/*"),))
    assert recording.exchanges[1].dialect == "openai.chat"


def test_an_archive_in_lines_places_its_bodies(tmp_path: Path) -> None:
    text = json.dumps(json.loads(archive(entry("/v1/chat/completions", BODY.decode()))), indent=1)
    path = stored(tmp_path, "a.har", text)
    [line] = locate(path, 1, [5])
    assert '"text": "data: ' in text.splitlines()[line - 1]


LISTS: dict[str, tuple[Any, str, int]] = {
    "payloads": ([CHUNK, LAST], "chunk-array", 2),
    "texts": ([f"data: {json.dumps(CHUNK)}\n\n", "data: [DO", "NE]\n\n"], "chunk-array", 3),
    "lines": ([f"data: {json.dumps(CHUNK)}", "data: [DONE]"], "chunk-array", 2),
    "lines with blanks": ([f"data: {json.dumps(CHUNK)}", "", "data: [DONE]", ""], "chunk-array", 4),
    "payloads as texts": ([json.dumps(CHUNK), json.dumps(LAST), "[DONE]"], "chunk-array", 3),
}


@pytest.mark.parametrize("case", LISTS)
def test_arrays_of_chunks_are_put_together(tmp_path: Path, case: str) -> None:
    value, kind, chunks = LISTS[case]
    for indent in (None, 2):
        recording = open_recording(stored(tmp_path, "a.json", json.dumps(value, indent=indent)))
        [exchange] = recording.exchanges
        assert (recording.kind, len(exchange.chunks)) == (kind, chunks)
        events = exchange.body.replace(b"\r", b"").strip().split(b"\n\n")
        assert json.loads(events[0].removeprefix(b"data: ")) == CHUNK
        assert events[-1] == b"data: [DONE]"
        [report] = check_paths([recording.path]).streams
        assert report.dialect == "openai.chat"


def test_an_api_that_answers_with_an_array_is_no_list_of_chunks(tmp_path: Path) -> None:
    answers = [{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}]
    assert open_recording(stored(tmp_path, "a.json", json.dumps(answers))).kind == "json"


def timed(stamps: list[Any], wrap: Callable[[Any], Any], key: str = "ts") -> str:
    chunks = [CHUNK, LAST, "[DONE]"]
    return "".join(
        json.dumps({key: stamp, "chunk": wrap(chunk)}) + "\n"
        for stamp, chunk in zip(stamps, chunks, strict=True)
    )


def as_event(chunk: Any) -> str:
    return f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n"


NOW_NS = 1718 * 10**15
STAMPS: dict[str, tuple[list[Any], str, list[float | None]]] = {
    "seconds": ([1718000000.5, 1718000000.75, 1718000001.0], "ts", [0.0, 250.0, 250.0]),
    "milliseconds": ([1718000000500, 1718000000750, 1718000001000], "time", [0.0, 250.0, 250.0]),
    "nanoseconds": (
        [NOW_NS, NOW_NS + 10**6, NOW_NS + 2 * 10**6],
        "t",
        [0.0, 1.0, 1.0],
    ),
    "dates": (
        ["2026-01-01T00:00:00.100Z", "2026-01-01T00:00:00.350Z", "2026-01-01T00:00:00.600Z"],
        "timestamp",
        [0.0, 250.0, 250.0],
    ),
    "by name": ([3, 253, 503], "elapsed_ms", [0.0, 250.0, 250.0]),
    "no unit": ([0.1, 0.35, 0.6], "ts", [None, None, None]),
    "backwards": ([1718000001.0, 1718000000.5, 1718000001.0], "ts", [None, None, None]),
    "no date": (["now", "then", "never"], "at", [None, None, None]),
}


@pytest.mark.parametrize("case", STAMPS)
@pytest.mark.parametrize("wrap", [as_event, lambda chunk: chunk])
def test_timed_chunks_keep_times_whose_unit_is_certain(
    tmp_path: Path, case: str, wrap: Callable[[Any], Any]
) -> None:
    stamps, key, expected = STAMPS[case]
    lines = timed(stamps, wrap, key)
    if wrap is not as_event:
        lines = lines.replace('"[DONE]"', json.dumps(LAST))
    recording = open_recording(stored(tmp_path, "a.jsonl", lines))
    [exchange] = recording.exchanges
    assert recording.kind == "timed-chunks"
    found = [chunk.ms for chunk in exchange.chunks]
    assert found == (expected if None in expected else pytest.approx(expected, abs=0.01))
    told = recording.notes[-1]
    assert told.startswith("times begin" if found[0] is not None else "times were left out")
    assert recording.locate(1, [0, len(exchange.body) - 1]) == [1, 3]


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


BAD: dict[str, tuple[str, bytes | str, str]] = {
    "head alone": ("a", "HTTP/1.1 200 OK", "no known|holds|expected|empty|HTTP"),
    "no trace": ("a.txt", "== Info: hello\nwhat\n", r"a\.txt:2: expected a block of a curl trace"),
    "a gap": (
        "a.txt",
        "<= Recv data, 40 bytes (0x28)\n0010: abc\n== Info: x\n",
        r"a\.txt:2: expected byte 0000 of the block",
    ),
    "too few": (
        "a.txt",
        "<= Recv data, 40 bytes (0x28)\n0000: abc\n== Info: x\n",
        r"a\.txt:1: expected 40 bytes, got 3",
    ),
    "no answer": ("a.txt", "=> Send data, 3 bytes (0x3)\n0000: abc\n", "the trace shows no answer"),
    "no head": (
        "a.txt",
        "<= Recv header, 3 bytes (0x3)\n0000: abc\n",
        r"a\.txt:1: expected a response head",
    ),
    "no archive": ("a.har", "{}", r"a\.har:1: expected a HAR file"),
    "broken archive": ("a.har", '{"log": {', "broken JSON"),
    "no response": ("a.har", archive({}), r"a\.har:1: entry 1 has no response"),
    "base64": (
        "a.har",
        archive(entry("/", "?", encoding="base64")),
        r"a\.har:1: entry 1 cannot be read: ",
    ),
    "no url": ("a.har", archive(entry("http://a[b/", "x")), "entry 1 cannot be read: Invalid IPv6"),
    "nothing judged": (
        "a.har",
        archive(entry("/", "<p>")),
        "holds no answer of an API that is judged: exchanges of no API that is judged were passed",
    ),
    "packed bomb": (
        "a",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + gzip.compress(bytes(80_000_000)),
        "inflates to more than 67,108,864 bytes",
    ),
    "broken coding": (
        "a",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b\x08\x00nonsense" + bytes(20),
        "the body is no gzip",
    ),
    "flow cut": ("a.mitm", b"99:4:type;4:http;8:response;", r"a\.mitm \(byte 0\): no file of mitm"),
    "deep flow": (
        "a.mitm",
        b"%d:4:type;" % 20 + b"1:" * 90,
        r"a\.mitm \(byte \d+\): no file of mitmproxy: expected",
    ),
    "mixed chunks": (
        "a.json",
        json.dumps([as_event(CHUNK), CHUNK]),
        r"a\.json:1: expected a text as the other chunks are",
    ),
    "no chunk": (
        "a.jsonl",
        timed([1, 2, 3], as_event) + '{"ts": 4}\n',
        r"a\.jsonl:4: expected an object with a time and a chunk",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, case: str) -> None:
    name, data, expected = BAD[case]
    path = stored(tmp_path, name, data)
    report = check_paths([path])
    [error] = report.errors
    assert "\n" not in error
    assert re.search(expected, error), error
    assert report.exit_code() == 2


Netstring = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def netstring(value: Any) -> bytes:
    if isinstance(value, dict):
        data, kind = b"".join(netstring(k) + netstring(v) for k, v in value.items()), b"}"
    elif isinstance(value, list):
        data, kind = b"".join(map(netstring, value)), b"]"
    elif value is None:
        data, kind = b"", b"~"
    elif isinstance(value, bool):
        data, kind = str(value).lower().encode(), b"!"
    elif isinstance(value, int):
        data, kind = str(value).encode(), b"#"
    elif isinstance(value, str):
        data, kind = value.encode(), b";"
    else:
        data, kind = value, b","
    return b"%d:%b%b" % (len(data), data, kind)


@given(st.lists(Netstring, max_size=3))
def test_netstrings_are_read_as_they_were_written(values: list[Any]) -> None:
    data = b"".join(map(netstring, values))
    assert [value for _, value in read_netstrings(data)] == values


@given(st.binary(max_size=200), Netstring)
def test_broken_netstrings_raise_their_own_error(noise: bytes, value: Any) -> None:
    data = netstring(value)[: len(noise)] + noise
    places = []
    try:
        places = [at for at, _ in read_netstrings(data)]
    except BrokenNetstringError as err:
        places = [err.at]
    assert all(0 <= at <= len(data) for at in places)


def test_netstrings_are_bounded() -> None:
    deep = b"0:~"
    for _ in range(100):
        deep = b"%d:%b]" % (len(deep), deep)
    for data in (deep, b"3000003:" + b"0:~" * 1_000_001 + b"]"):
        with pytest.raises(BrokenNetstringError, match=r"nested more than 64|more than 1,000,000"):
            list(read_netstrings(data))


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
def test_line_ends_come_back_behind_dots(payloads: list[Any], frame: str) -> None:
    for indent in (None, 1):
        if indent is None or "data" not in frame:
            body = "".join(frame % json.dumps(each, indent=indent) for each in payloads).encode()
            assert restore_line_ends(body.replace(b"\n", b".")) == body


LARGE = {
    "blocks": b"== Info: x\n<= Recv data, 1 bytes (0x1)\n0000: a\n" * 60_000,
    "requests": b"=> Send header, 1 bytes (0x1)\n0000: a\n" * 60_000,
    "flows": netstring({"type": "http", "response": {}, "a": "\n" * 200}) * 20_000,
    "dots": b"<= Recv header, 19 bytes (0x13)\n0000: HTTP/1.1 200 OK\n0011: \n"
    b"<= Recv data, 640064 bytes (0x1)\n"
    + b"".join(b"%04x: %b\n" % (at, b"." * 64) for at in range(0, 640_000, 64))
    + b"%04x: %b\n" % (640_000, b"x" * 64),
}


@pytest.mark.parametrize("case", LARGE)
def test_large_files_take_time_in_proportion(tmp_path: Path, case: str) -> None:
    """In proportion to the square of their length they would take minutes."""
    report = check_paths([stored(tmp_path, "a", LARGE[case])])
    assert len(report.errors) == 1


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
    names = {path.name for path in SAVED.iterdir()} | {"answer.json", "page.har"}
    assert {path.name for path in discover(tmp_path)} == names
    others = {path.name for path in find_recordings([tmp_path]).passed_over}
    assert others == {"package.json", "notes.txt"}
    report = check_paths([tmp_path])
    assert report.errors == ()
    assert report.notes == (
        "3 files were passed over, for no recording is known in them: 1 .har, 1 .json, 1 .txt",
    )
    assert report.exit_code(require_exercised=True) == 1


def test_each_kind_says_what_it_is() -> None:
    assert len({kind.name for kind in all_kinds()}) == len(all_kinds())
    assert all(kind.says for kind in all_kinds())
