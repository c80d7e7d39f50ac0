"""Recorders of other people: every row reads what its recorder writes, by name and in folders."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from conformance.cassette import discover, open_recording
from conformance.cassette.importers.recorders.table import ROWS
from conformance.cassette.search import find_recordings
from conformance.core.errors import CassetteError, SpecError
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.authoring import file_table
from tests.cassette.recorder_files import (
    FILES,
    MASTRA,
    NOCK,
    REQ_LLM,
    STREAM,
    TEST_SERVER,
    TXTAR,
    WIREMOCK,
    interaction,
    packed,
)
from tests.cassette.saved_files import archive, entry, stored

CASES: Final = [(kind, name, text) for kind, files in FILES.items() for name, text in files]
_NO_STREAM: Final = (
    *("opal", "gemini-cli", "google-test-server"),
    *("batch-state", "inspect", "pairs"),
)
"""Their files keep payloads or bodies, no bytes of a stream."""
_NO_REQUEST: Final = ("answer-alone", "saloon", "txtar", "insta")


def test_every_row_has_a_file() -> None:
    assert {row.name for row in ROWS} == set(FILES)


@pytest.mark.parametrize(("kind", "name", "text"), CASES)
def test_recorder_is_read_from_folders(tmp_path: Path, kind: str, name: str, text: str) -> None:
    path = stored(tmp_path, name, text)
    recording = open_recording(path)
    assert recording.kind == kind
    assert discover(tmp_path) == (path,)
    first = recording.exchanges[0]
    if kind not in _NO_STREAM:
        assert first.body.decode() == STREAM
        assert first.dialect == "openai.chat"
    for offset in (-1, 0, len(first.body) - 1):
        [line] = recording.locate(1, [offset])
        assert 1 <= line <= text.count("\n") + 1
    report = check_paths([tmp_path])
    assert not report.errors
    assert len(report.streams) == len(recording.exchanges)


_WITH_HEADS: Final = {
    **{kind: FILES[kind][0] for kind in FILES if kind not in (*_NO_STREAM, *_NO_REQUEST)},
    "go-vcr": FILES["vcr"][-1],
}


@pytest.mark.parametrize("kind", _WITH_HEADS)
def test_request_and_head_are_kept(tmp_path: Path, kind: str) -> None:
    name, text = _WITH_HEADS[kind]
    first = open_recording(stored(tmp_path, name, text)).exchanges[0]
    assert first.request is not None
    assert first.request.path == "/v1/chat/completions"
    assert first.response is not None
    assert first.response.status == 200
    assert first.response.header("content-type") == "text/event-stream"


def test_chunks_and_their_times_are_kept(tmp_path: Path) -> None:
    recording = open_recording(stored(tmp_path, "a.json", json.dumps([MASTRA])))
    assert [each.ms for each in recording.exchanges[0].chunks] == [12, 3]
    pieces = open_recording(stored(tmp_path, "b.json", json.dumps(REQ_LLM))).exchanges[0].chunks
    assert [len(each.data) for each in pieces] == [len(e) for e in MASTRA["response"]["chunks"]]
    assert pieces[0].ms is None


@pytest.mark.parametrize(
    ("stated", "framing"),
    [("application/json; charset=UTF-8", "body"), ("text/event-stream", "sse")],
)
def test_one_value_under_head_of_json_is_body(tmp_path: Path, stated: str, framing: str) -> None:
    answer = {**TEST_SERVER["response"], "headers": {"content-type": stated}}
    text = json.dumps({"interactions": [{**TEST_SERVER, "response": answer}]})
    [stream] = check_paths([stored(tmp_path, "a.json", text)]).streams
    assert stream.framing == framing


def test_a_key_that_a_tag_would_construct_is_its_text(tmp_path: Path) -> None:
    name, text = FILES["vcr"][0]
    [exchange] = open_recording(stored(tmp_path, name, text)).exchanges
    assert exchange.request is not None
    assert exchange.request.headers == (("Accept", "*/*"),)
    assert exchange.response is not None
    assert exchange.response.headers == (("Content-Type", "text/event-stream"), ("Accept", "again"))


def test_one_line_of_json_is_no_transfer_chunk(tmp_path: Path) -> None:
    """Recorders keep the head over a body that they joined: it has no line end to tell it by."""
    answer = json.dumps({"object": "chat.completion", "choices": []})
    packed_alike = interaction(body={"string": answer})
    packed_alike["response"]["headers"] = {"transfer-encoding": ["chunked"]}
    path = stored(tmp_path, "a.json", json.dumps({"interactions": [packed_alike]}))
    assert open_recording(path).exchanges[0].body.decode() == answer


@pytest.mark.parametrize("body", [{}, {"encoding": "utf-8"}, {"string": None}])
def test_a_body_of_no_known_form_is_none(tmp_path: Path, body: dict[str, Any]) -> None:
    lost = json.dumps({"interactions": [interaction(body=body), interaction()]})
    recording = open_recording(stored(tmp_path, "a.json", lost))
    assert [bool(each.body) for each in recording.exchanges] == [True]


@pytest.mark.parametrize(("head", "count"), [({}, 1), ({"Content-Length": ["0"]}, 2)])
def test_vcrpy_loses_streamed_bodies(tmp_path: Path, head: dict[str, Any], count: int) -> None:
    empty = interaction(body={"string": ""})
    empty["response"]["headers"] |= head
    path = stored(tmp_path, "a.json", json.dumps({"interactions": [empty, interaction()]}))
    recording = open_recording(path)
    assert len(recording.exchanges) == count
    assert any("without a body" in note for note in recording.notes) is (count == 1)


def test_headers_that_nobody_kept_are_not_held_against_a_server(tmp_path: Path) -> None:
    bare, other = interaction(), interaction()
    bare["response"]["headers"] = {}
    other["response"]["headers"] = {"Date": ["today"]}
    path = stored(tmp_path, "a.json", json.dumps({"interactions": [bare, other]}))
    found = [each.verdicts["wire/sse/content-type"] for each in check_paths([path]).streams]
    assert found == [Verdict.NOT_APPLICABLE, Verdict.FAIL]


_LEGACY: Final = "exchanges were skipped: 1 (dialect openai.completions is not supported yet)"
_ASSISTANTS: Final = (
    "exchanges were skipped: 1 (this is the Assistants API, which is not supported)"
)
_OTHERS: Final = "exchanges of other APIs were skipped: 1"


@pytest.mark.parametrize(
    ("url", "answer", "note"),
    [
        ("/v1/completions", {"object": "text_completion", "choices": []}, _LEGACY),
        ("/v1/threads/t/messages", {"object": "thread.message", "content": []}, _ASSISTANTS),
        ("/v1/threads/t/messages", {"object": "list", "data": []}, _OTHERS),
        ("/models/m:embedContent", {"embedding": {}, "usageMetadata": {}}, _OTHERS),
        ("/v1beta/cachedContents", {"name": "cachedContents/a", "usageMetadata": {}}, _OTHERS),
    ],
)
def test_other_api_is_skipped(tmp_path: Path, url: str, answer: dict[str, Any], note: str) -> None:
    other = interaction(f"https://h{url}", {"string": json.dumps(answer)})
    other["response"]["headers"] = {"Content-Type": ["application/json"]}
    path = stored(tmp_path, "a.json", json.dumps({"interactions": [other, interaction()]}))
    recording = open_recording(path)
    assert [each.dialect for each in recording.exchanges] == ["openai.chat"]
    assert note in recording.notes
    assert check_paths([tmp_path]).errors == ()


def test_the_path_does_not_decide(tmp_path: Path) -> None:
    answer = interaction(url="https://h/agents/run")
    path = stored(tmp_path, "a.json", json.dumps({"interactions": [answer]}))
    assert discover(tmp_path) == (path,)
    assert open_recording(path).exchanges[0].dialect == "openai.chat"


BROKEN: Final[dict[str, Any]] = {
    "har": lambda: archive(entry("/a", "?", encoding="base64"), entry("/b", STREAM)),
    "vcr": lambda: {"interactions": [interaction(body={"base64_string": "?"}), interaction()]},
    "vcr no response": lambda: {"interactions": [{"request": {}}, interaction()]},
    "vcr no object": lambda: {"interactions": [5, interaction()]},
    "nock": lambda: [{**NOCK, "responseIsBinary": True}, NOCK],
    "nock url": lambda: [{**NOCK, "scope": "http://a[b"}, NOCK],
    "mastra": lambda: [{**MASTRA, "response": {"chunks": [{}], "status": 200}}, MASTRA],
    "wiremock": lambda: {
        "mappings": [{**WIREMOCK, "response": {"status": 200, "bodyFileName": "a.txt"}}, WIREMOCK]
    },
}


@pytest.mark.parametrize("case", BROKEN)
def test_one_bad_entry_costs_itself(tmp_path: Path, case: str) -> None:
    made = BROKEN[case]()
    text = made if isinstance(made, str) else json.dumps(made)
    path = stored(tmp_path, "a.json", text)
    recording = open_recording(path)
    assert [each.body.decode() for each in recording.exchanges] == [STREAM]
    assert [each.number for each in recording.exchanges] == [1]
    assert any("broken entries were skipped: 1: entry 1 " in each for each in recording.notes)
    assert check_paths([tmp_path]).errors == ()


def test_what_holds_no_judged_answer_is_counted_by_kind(tmp_path: Path) -> None:
    other = interaction(url="https://h/rates", body={"string": "{}"})
    stored(tmp_path, "a.json", json.dumps({"interactions": [other]}))
    stored(tmp_path, "b.yaml", json.dumps({"interactions": [other]}))
    stored(tmp_path, "c.json", json.dumps({"name": "x"}))
    stored(tmp_path, "d.sse", STREAM)
    found = find_recordings([tmp_path])
    assert [path.name for path in found.of_no_api] == ["a.json", "b.yaml"]
    assert [path.name for path in found.unknown] == ["c.json"]
    assert len(check_paths([tmp_path]).notes) == 2


def test_a_dialect_that_the_user_names_is_that_of_all(tmp_path: Path) -> None:
    other = interaction(url="https://h/odd", body={"string": '{"a": 1}'})
    path = stored(tmp_path, "a.json", json.dumps({"interactions": [other]}))
    with pytest.raises(CassetteError, match="holds no answer of an API that is judged"):
        open_recording(path)
    [exchange] = open_recording(path, dialect="openai.chat").exchanges
    assert exchange.dialect == "openai.chat"


def test_what_inflates_is_bounded_for_the_whole_file(tmp_path: Path) -> None:
    bomb = base64.b64encode(gzip.compress(bytes(40_000_000), mtime=0)).decode()
    answer = interaction(body={"base64_string": bomb})
    answer["response"]["headers"]["content-encoding"] = "gzip"
    path = stored(tmp_path, "a.json", json.dumps({"interactions": [answer, answer, interaction()]}))
    recording = open_recording(path)
    assert [len(each.body) for each in recording.exchanges] == [40_000_000, len(STREAM)]
    assert "entry 2 cannot be read: it inflates to more than" in recording.notes[-1]


LARGE: Final = "a: &a [" + "x, " * 17 + "x]\nb: *a\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LARGE, r"a\.yaml:2:4: aliases of large values are not allowed, got \*a"),
        ("a: *b\n", "aliases of large values|undefined alias"),
        ("a: &a [1]\nb: &b [*a]\nc: *b\n", r"a\.yaml:3:4: aliases of large values"),
    ],
)
def test_aliases_repeat_small_values_only(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(CassetteError, match=why):
        open_recording(stored(tmp_path, "a.yaml", text))


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("lead", ["", "event: x\n"])
def test_events_whose_blank_lines_were_dropped(tmp_path: Path, ends: str, lead: str) -> None:
    kept = "".join(f"{lead}{line}\n" for line in STREAM.split("\n\n") if line)
    path = stored(tmp_path, "a.sse", kept.replace("\n", ends))
    recording = open_recording(path)
    assert recording.header.fidelity == "events"
    assert recording.notes == ("no blank line ends an event in this file: they were put back",)
    [exchange] = recording.exchanges
    assert exchange.body.count(b"\n\n") == 3
    last = len(exchange.body) - 1
    assert recording.locate(1, [0, last]) == [1, kept.count("\n") - (1 if lead else 0)]


@pytest.mark.parametrize(
    "text",
    [
        STREAM.replace("\n\n", "\n", 1),  # one event runs into the next: the server's fault
        'data: {"a":\ndata: 1}\n',  # one value over two lines
        "data: [DONE]\n",
    ],
)
def test_other_streams_stay_as_they_are(tmp_path: Path, text: str) -> None:
    assert open_recording(stored(tmp_path, "a.sse", text)).header.fidelity == "bytes"


ROW: Final = """\
importers:
  - name: tapes
    says: tapes of ours
    entries: calls
    needs: [answer]
    url: where
    headers: answer.head
    status: answer.code
    body: {answer.raw: base64}
"""


def test_users_add_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call = {"where": "/v1/chat/completions", "answer": {"code": 200, "raw": packed(STREAM)}}
    path = stored(tmp_path, "a.json", json.dumps({"calls": [call]}))
    assert not discover(tmp_path)
    stored(tmp_path, "conformance.yaml", ROW)
    assert discover(tmp_path) == (path,)
    recording = open_recording(path)
    assert (recording.kind, recording.exchanges[0].body.decode()) == ("tapes", STREAM)


def test_row_of_a_user_reads_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = interaction("https://h.test/v1/chat/completions", body={"parts": packed(STREAM)})
    path = stored(tmp_path, "a.json", json.dumps({"interactions": [own]}))
    with pytest.raises(CassetteError, match="no answer of an API"):
        open_recording(path)
    row = ROW.replace("calls", "interactions").replace("[answer]", "[response.body.parts]")
    row = row.replace("where", "request.uri").replace("answer.raw", "response.body.parts")
    stored(tmp_path, "conformance.yaml", row)
    assert discover(tmp_path) == (path,)
    recording = open_recording(path)
    assert (recording.kind, recording.exchanges[0].body.decode()) == ("tapes", STREAM)


def test_a_request_and_a_status_alone_are_no_stub_of_wiremock(tmp_path: Path) -> None:
    answer = {"request": {"url": "/v1/chat/completions"}, "response": {"status": 200, "parts": []}}
    assert open_recording(stored(tmp_path, "a.json", json.dumps(answer))).kind == "json"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("base64", "base46"), "no coding is called 'base46'"),
        (("    url:", "    uri:"), "unknown field `uri`"),
        (("    body: {answer.raw: base64}\n", ""), "does not say where a body is"),
        (("needs: [answer]", "marks: ['(']"), "is no regular expression"),
    ],
)
def test_a_row_with_a_mistake_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    stored(tmp_path, "conformance.yaml", ROW.replace(*change))
    path = stored(tmp_path, "a.json", "{}")
    with pytest.raises(SpecError, match=why):
        open_recording(path)


def test_the_page_lists_every_kind() -> None:
    text = file_table.PAGE.read_text(encoding="utf-8")
    assert text == file_table.page(text), "stale: python -m tests.authoring.file_table"


def test_values_in_a_snapshot_are_no_stream(tmp_path: Path) -> None:
    events = json.dumps([{"type": "REASONING_START", "messageId": "m"}], indent=2)
    stored(tmp_path, "a.snap", f"---\nsource: a.rs\nexpression: events\n---\n{events}\n")
    assert check_paths([tmp_path]).streams == ()


def test_a_section_that_is_no_answer_is_counted(tmp_path: Path) -> None:
    recording = open_recording(stored(tmp_path, "a.txtar", TXTAR))
    assert recording.notes == ("exchanges of other APIs were skipped: 1",)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_what_an_api_has_kept_is_no_answer(tmp_path: Path, method: str) -> None:
    listed = interaction(
        body={"string": json.dumps({"object": "list", "data": [{"role": "user"}]})}
    )
    listed["response"]["headers"] = {"Content-Type": ["application/json"]}
    listed["request"]["method"] = method
    gone = {"object": "chat.completion.deleted", "id": "a", "deleted": True}
    deleted = {**listed, "response": {**listed["response"], "body": {"string": json.dumps(gone)}}}
    kept = {"interactions": [interaction(), listed, deleted]}
    recording = open_recording(stored(tmp_path, "a.json", json.dumps(kept)))
    assert len(recording.exchanges) == 1
    assert recording.notes[-1] == "exchanges of other APIs were skipped: 2"


def test_interactions_of_another_tool_are_passed_over(tmp_path: Path) -> None:
    kept = {"interactions": [{"request_sample": {"json": {}}, "response_sample": {"raw": "AA=="}}]}
    stored(tmp_path, "a.yaml", yaml.safe_dump(kept))
    stored(tmp_path, "b.json", json.dumps(kept))
    found = find_recordings([tmp_path])
    assert (found.recordings, [path.name for path in found.unknown]) == ((), ["b.json"])
    assert check_paths([tmp_path]).errors == ()
