"""Recordings of OGX: a request, and the objects its SDK made of the answer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import discover, import_file, open_recording
from conformance.core.errors import CassetteError
from conformance.core.events import Request, Response
from conformance.recordings.check import check_paths

TEST = "tests/a.py::test_think[m]"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "2 + 2?"}], "stream": True}
LINES = [
    "event: message_start",
    'data: {"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[]}}',
    "",
    "event: content_block_delta",
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ü"}}',
    "",
]


def typed(data: Any, kind: str = "openai.types.chat.chat_completion_chunk.C") -> dict[str, Any]:
    return {"__type__": kind, "__data__": data}


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"role": None, **delta}, "finish_reason": finish}
    return typed({"id": "rec-1", "object": "chat.completion.chunk", "choices": [choice]})


HM, FOUR, STOP = chunk({"reasoning": "a  b"}), chunk({"content": "4."}), chunk({}, "stop")


def kept(folder: Path, body: Any, **changes: Any) -> Path:
    """A recording on disk; `request` and `response` are added to, other changes replace."""
    request = {
        "method": "POST",
        "url": "http://127.0.0.1:11434/v1/v1/chat/completions",
        "headers": {},
        "body": ASKED,
        "endpoint": "/v1/chat/completions",
        **changes.pop("request", {}),
    }
    response = {"body": body, "is_streaming": True, **changes.pop("response", {})}
    value = {"test_id": TEST, "request": request, "response": response, **changes}
    path = folder / "rec.json"
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    return path


def passthrough(path: str, payload: Any) -> dict[str, Any]:
    """What replaces a request where the recorder saw HTTP rather than an SDK."""
    return {"url": f"http://h{path}", "endpoint": None, "body": payload}


def body(path: Path) -> str:
    [exchange] = import_file(path).exchanges
    return exchange.body.decode()


def test_a_recording_is_known_by_its_shape(tmp_path: Path) -> None:
    recording = open_recording(kept(tmp_path, [HM, FOUR, STOP]))
    header = recording.header
    assert (recording.kind, header.origin, header.fidelity) == ("ogx", "imported", "events")
    assert header.extra == {"test_id": TEST}
    [exchange] = recording.exchanges
    assert exchange.request == Request("POST", "/v1/chat/completions", (), ASKED)
    assert exchange.response == Response()
    assert (exchange.dialect, exchange.end) == ("openai.chat", "eof")


def test_objects_become_events_of_one_line(tmp_path: Path) -> None:
    path = kept(tmp_path, [HM, FOUR, STOP])
    data = [json.dumps(each["__data__"], separators=(",", ":")) for each in (HM, FOUR, STOP)]
    assert "a  b" in data[0]
    assert body(path) == "".join(f"data: {each}\n\n" for each in [*data, "[DONE]"])


def test_every_event_is_found_again(tmp_path: Path) -> None:
    path = kept(tmp_path, [HM, HM, STOP])
    lines = path.read_text().splitlines()
    size = body(path).index("\n\n") + 2
    found = open_recording(path).locate(1, [-1, 0, size - 1, size, 2 * size])
    shown = [lines[line - 1].strip() for line in found]
    assert shown == ['"request": {', *['"__data__": {'] * 4]
    assert found[1] == found[2] < found[3] < found[4]


def test_a_whole_answer_is_a_body(tmp_path: Path) -> None:
    answer = {"object": "chat.completion", "choices": [], "note": "a  b"}
    path = kept(tmp_path, typed(answer), response={"is_streaming": False})
    [exchange] = import_file(path).exchanges
    assert json.loads(exchange.body) == answer
    assert exchange.response == Response(headers=(("content-type", "application/json"),))


@pytest.mark.parametrize("kind", ["ollama._types.ChatResponse", "ollama._types.GenerateResponse"])
@pytest.mark.parametrize("is_streaming", [True, False])
def test_nulls_of_ollama_sdk_are_no_keys(tmp_path: Path, kind: str, *, is_streaming: bool) -> None:
    answer = {"model": "m", "done": True, "message": {"content": "4", "thinking": None}, "x": None}
    one = typed(answer, kind)
    request = {"endpoint": "/api/chat"}
    response = {"is_streaming": is_streaming}
    path = kept(tmp_path, [one] if is_streaming else one, request=request, response=response)
    sent = {"model": "m", "done": True, "message": {"content": "4"}}
    head, _, words = body(path).rpartition("data: ")
    assert (head, json.loads(words)) == ("", sent)
    assert body(path).startswith("data: ") is is_streaming


def test_lines_of_sse_are_kept(tmp_path: Path) -> None:
    request = passthrough("/v1/messages", {"model": "m", "stream": True})
    path = kept(tmp_path, LINES, request=request)
    [exchange] = import_file(path).exchanges
    assert exchange.dialect == "anthropic.messages"
    assert exchange.body.decode() == "\n".join([*LINES, ""])
    at = exchange.body.index(b"content_block_delta")
    [line] = open_recording(path).locate(1, [at])
    assert "event: content_block_delta" in path.read_text().splitlines()[line - 1]


def test_a_body_that_came_over_http_keeps_its_status(tmp_path: Path) -> None:
    request = passthrough("/v1/messages?beta=true", {"model": "m"})
    response = {"is_streaming": False, "status": 200}
    path = kept(tmp_path, {"type": "message", "content": []}, request=request, response=response)
    [exchange] = import_file(path).exchanges
    assert exchange.response is not None
    assert exchange.response.status == 200


def test_what_the_sdk_merges_is_merged(tmp_path: Path) -> None:
    extra = {**ASKED, "extra_body": {"think": True}}
    [exchange] = import_file(kept(tmp_path, [STOP], request={"body": extra})).exchanges
    assert exchange.request is not None
    assert exchange.request.json == {**ASKED, "think": True}


RAISED = {"is_exception": True, "exception_message": "boom", "exception_data": {}}


def test_an_exception_in_the_middle_ends_the_stream(tmp_path: Path) -> None:
    path = kept(tmp_path, [HM, FOUR, STOP], response=RAISED)
    cassette = import_file(path)
    assert cassette.exchanges[0].end == "protocol-error"
    assert "[DONE]" not in body(path)
    assert any("ended in an exception, after 3 events" in note for note in cassette.notes)
    report = check_paths([path], rules=["wire/sse/ends-cleanly"])
    assert [finding.rule for finding in report.findings] == ["wire/sse/ends-cleanly"]


@pytest.mark.parametrize("nothing", [None, []])
def test_an_exception_before_any_event_leaves_no_body(tmp_path: Path, nothing: Any) -> None:
    cassette = import_file(kept(tmp_path, nothing, response=RAISED))
    assert cassette.exchanges[0].chunks == ()
    assert any("before any event" in note for note in cassette.notes)


@pytest.mark.parametrize("test", [None, "none", 5])
def test_the_test_is_kept_as_far_as_it_is_one(tmp_path: Path, test: Any) -> None:
    path = kept(tmp_path, [STOP], test_id=test)
    assert import_file(path).header.extra == ({} if test == 5 else {"test_id": test})


OTHERS = ["/v1/embeddings", "/v1/models", "/v1/completions", "", None, 5]


@pytest.mark.parametrize("endpoint", OTHERS)
def test_other_apis_are_refused_and_skipped_in_folders(tmp_path: Path, endpoint: Any) -> None:
    request = {"endpoint": endpoint, "url": endpoint or "http://[h/v1/responses"}
    path = kept(tmp_path, [], request=request, response={"is_streaming": False})
    with pytest.raises(CassetteError, match="which no dialect describes"):
        open_recording(path)
    assert discover(tmp_path) == ()


def test_folders_are_searched_for_answers(tmp_path: Path) -> None:
    path = kept(tmp_path, [STOP])
    packed = tmp_path / "old.json.gz"
    packed.write_bytes(gzip.compress(path.read_text().replace(TEST, "other").encode()))
    (tmp_path / "torn.json").write_text(path.read_text()[:400])
    (tmp_path / "huge.json").write_bytes(b"[" * 100_000)
    assert [each.name for each in discover(tmp_path)] == ["old.json.gz", "rec.json", "torn.json"]


BROKEN: list[tuple[bytes, str]] = [
    (b'{"request": {"url": "x"}, "response": {"body": [' + b"[" * 100_000, "broken JSON"),
    (b'{"request": {"url": "\xff"}}', "broken JSON"),
    (b'{"request": {"url": "/v1/responses"}, "response": {"body": [', "broken JSON"),
]


@pytest.mark.parametrize(("data", "message"), BROKEN)
def test_broken_recording_is_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "rec.json"
    path.write_bytes(data)
    with pytest.raises(CassetteError, match=message) as caught:
        open_recording(path)
    assert "\n" not in str(caught.value)


ODD_BODIES: list[Any] = ["text", 5, {"__data__": None}, [1, None, "x", {"__data__": []}], {}]


@pytest.mark.parametrize("odd", ODD_BODIES)
def test_an_odd_body_is_kept_as_it_is(tmp_path: Path, odd: Any) -> None:
    assert open_recording(kept(tmp_path, odd)).kind == "ogx"


def test_a_torn_archive_is_passed_over(tmp_path: Path) -> None:
    path = kept(tmp_path, [STOP])
    packed = gzip.compress(path.read_bytes())
    path.unlink()
    (tmp_path / "torn.json.gz").write_bytes(packed[: len(packed) // 8])
    (tmp_path / "none.json.gz").write_bytes(b"\x1f\x8bnot gzip")
    assert discover(tmp_path) == ()
