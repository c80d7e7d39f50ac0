"""WebSockets in files of other programs: HTTP archives, flows of mitmproxy, lines of messages."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import Verdict
from conformance.cassette import find_recordings, open_recording
from conformance.core.events import Side
from conformance.judging.result import Report
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import CHUNK, LAST, archive, as_event, entry, netstring, stored
from tests.cassette.sockets import REALTIME, Talk, answer, at_once, in_turn

URL: Final = "wss://api.example.test/v1/responses"
REFUSED: Final = "this is the Realtime API, which is not supported"
BEGUN: Final = 1780000000.0
_KEYS: Final = ("type", "data", "opcode", "time", "code", "from")
SENT: Final[dict[Side, str]] = {"client": "send", "server": "receive"}


def har_entry(messages: Sequence[Any], url: str = URL, **more: Any) -> dict[str, Any]:
    """As Chrome's developer tools save a WebSocket."""
    return {
        "_resourceType": "websocket",
        "request": {"method": "GET", "url": url, "headers": []},
        "response": {"status": 101, "headers": [], "content": {"size": 0}, **more},
        "timings": {"wait": 3.5},
        "_webSocketMessages": list(messages),
    }


def har_messages(talk: Talk, *, binary: bool = False) -> list[dict[str, Any]]:
    found = []
    for number, (side, payload) in enumerate(talk):
        text = json.dumps(payload)
        data = base64.b64encode(text.encode()).decode() if binary else text
        time = BEGUN + number / 8
        found.append({"type": SENT[side], "time": time, "opcode": 1 + binary, "data": data})
    return found


def flow(talk: Talk, *, url: str = "/v1/responses", **socket: Any) -> bytes:
    """As mitmproxy 11 saves a WebSocket (`WebSocketMessage.get_state`)."""
    messages = [
        [1, side == "client", json.dumps(payload).encode(), BEGUN + at / 8, False, False]
        for at, (side, payload) in enumerate(talk)
    ]
    closed = {"closed_by_client": False, "close_code": 1000, "close_reason": ""}
    request = {"method": "GET", "path": url, "headers": [], "content": b"", "timestamp_end": BEGUN}
    response = {"status_code": 101, "http_version": "HTTP/1.1", "headers": [], "content": b""}
    state = {"messages": messages, **closed, **socket}
    return netstring({"type": "http", "request": request, "response": response, "websocket": state})


def lines(talk: Talk, line: Callable[[Side, Any], Any]) -> str:
    return "".join(json.dumps(line(side, payload)) + "\n" for side, payload in talk)


def turned(side: Side) -> str:
    return "in" if side == "client" else "out"


FILES: Final[dict[str, Callable[[Talk], str | bytes]]] = {
    "a.har": lambda talk: archive(har_entry(har_messages(talk))),
    "binary.har": lambda talk: archive(har_entry(har_messages(talk, binary=True))),
    "http2.har": lambda talk: archive(har_entry(har_messages(talk), status=200)),
    "a.flows": flow,
    "texts.jsonl": lambda talk: lines(talk, lambda s, p: {"from": s, "data": json.dumps(p)}),
    "values.ndjson": lambda talk: lines(talk, lambda s, p: {"direction": turned(s), "message": p}),
    "chrome.jsonl": lambda talk: "".join(json.dumps(m) + "\n" for m in har_messages(talk)),
    "flat.jsonl": lambda talk: lines(talk, lambda s, p: {"from": s, "ts": 1, **p}),
    "bare.jsonl": lambda talk: lines(talk, lambda _, p: p),
    "bare.log": lambda talk: lines(talk, lambda _, p: p),
}


def checked(folder: Path, name: str, data: str | bytes) -> Report:
    return check_paths([stored(folder, name, data)])


def failures(report: Report) -> list[str]:
    return [
        f"{finding.rule}:{finding.line}" for each in report.streams for finding in each.findings
    ]


@pytest.mark.parametrize("talk", [in_turn(), at_once()], ids=["in turn", "at once"])
@pytest.mark.parametrize("name", FILES)
def test_legal_talk_raises_nothing_in_any_file(tmp_path: Path, name: str, talk: Talk) -> None:
    report = checked(tmp_path, name, FILES[name](talk))
    assert failures(report) == []
    assert not report.errors
    assert [each.exchange for each in report.streams] == [1, 2]
    requests = [each.request for each in open_recording(tmp_path / name).exchanges]
    assert all(each is not None and each.json["model"] == "m" for each in requests)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_finds_what_is_read_by_name(tmp_path: Path, name: str) -> None:
    stored(tmp_path, name, FILES[name](in_turn()))
    assert [each.name for each in find_recordings([tmp_path]).recordings] == [name]


@pytest.mark.parametrize("name", FILES)
def test_a_second_end_is_found_in_any_file(tmp_path: Path, name: str) -> None:
    report = checked(tmp_path, name, FILES[name]([*in_turn(), answer("resp_2")[-1]]))
    assert {each.partition(":")[0] for each in failures(report)} == {
        *("wire/responses/sequence-from-zero", "wire/responses/terminal-once")
    }


def test_a_finding_stands_at_the_line_of_its_message(tmp_path: Path) -> None:
    talk = [*in_turn(), answer("resp_2")[-1]]
    report = checked(tmp_path, "a.jsonl", FILES["texts.jsonl"](talk))
    assert {each.rpartition(":")[2] for each in failures(report)} == {str(len(talk))}
    indented = json.dumps(json.loads(archive(har_entry(har_messages(talk)))), indent=1)
    found = failures(checked(tmp_path, "a.har", indented))
    last = max(n for n, each in enumerate(indented.splitlines(), 1) if '"type": "receive"' in each)
    assert {each.rpartition(":")[2] for each in found} == {str(last - 1)}


def test_a_server_alone_is_judged_by_lanes(tmp_path: Path) -> None:
    talk = [each for each in at_once() if each[0] == "server"]
    report = checked(tmp_path, "a.jsonl", FILES["bare.jsonl"](talk))
    assert failures(report) == []
    assert len(report.streams) == 2


def test_times_are_those_of_the_messages(tmp_path: Path) -> None:
    for name in ("a.har", "a.flows", "chrome.jsonl"):
        first, _ = open_recording(stored(tmp_path, name, FILES[name](in_turn()))).exchanges
        assert {chunk.ms for chunk in first.chunks} == {125.0}, name


ENDS: Final[dict[str, tuple[dict[str, Any], Verdict]]] = {
    "the server": ({"closed_by_client": False, "close_code": 1000}, Verdict.FAIL),
    "the server, in trouble": (
        {"closed_by_client": False, "close_code": 1011},
        Verdict.INCONCLUSIVE,
    ),
    "the client": ({"closed_by_client": True, "close_code": 1000}, Verdict.INCONCLUSIVE),
    "nobody": ({"closed_by_client": None, "close_code": None}, Verdict.INCONCLUSIVE),
}


@pytest.mark.parametrize("who", ENDS)
def test_who_closed_a_flow_decides_whose_fault_a_cut_is(tmp_path: Path, who: str) -> None:
    socket, verdict = ENDS[who]
    report = checked(tmp_path, "a.flows", flow(in_turn()[:-1], **socket))
    assert report.streams[1].verdicts["wire/responses/terminal-present"] is verdict


def test_messages_that_mitmproxy_made_up_or_held_back_are_not_judged(tmp_path: Path) -> None:
    made: list[Any] = [1, False, b'{"type": "response.created"}', BEGUN, False, True]
    held: list[Any] = [1, True, b'{"type": "response.create"}', BEGUN, True, False]
    talk = in_turn()
    whole = [[1, side == "client", json.dumps(p).encode(), BEGUN, False, False] for side, p in talk]
    report = checked(tmp_path, "a.flows", flow([], messages=[held, *whole, made, 5, [1]]))
    assert failures(report) == []
    assert len(report.streams) == 2


def test_what_is_foreign_or_broken_costs_itself_alone(tmp_path: Path) -> None:
    bad: list[Any] = [5, {"type": "send", "opcode": 2, "data": "***"}, {"type": 7, "data": "x"}]
    bad += [{"type": "receive", "opcode": 1}, {"type": "receive", "opcode": 9, "data": ""}]
    chat = har_entry([{"type": "send", "opcode": 1, "data": "{}"}], "wss://chat.example.test/")
    realtime = har_entry(har_messages([("server", each) for each in REALTIME]), "wss://a.test/rt")
    other = {"request": {"url": "https://example.test/"}}
    text = archive(other, 5, chat, realtime, har_entry([*bad, *har_messages(in_turn())]))
    report = checked(tmp_path, "a.har", text)
    assert failures(report) == []
    assert len(report.streams) == 2
    assert {note.partition(":")[0] for note in report.streams[0].notes} == {
        "messages of a WebSocket that cannot be read were skipped",
        "exchanges of other APIs were skipped",
        "broken entries were skipped",
        "exchanges were skipped",
    }


def test_a_line_that_was_cut_costs_itself_and_blames_nobody(tmp_path: Path) -> None:
    text = FILES["texts.jsonl"](in_turn())
    assert isinstance(text, str)
    report = checked(tmp_path, "a.jsonl", text[:-40])
    assert failures(report) == []
    assert report.streams[0].notes == ("lines that cannot be read were skipped: 1",)
    assert report.streams[1].verdicts["wire/responses/terminal-present"] is Verdict.INCONCLUSIVE


def test_an_entry_of_http_may_have_an_empty_list_of_messages(tmp_path: Path) -> None:
    text = as_event(CHUNK) + as_event(LAST) + as_event("[DONE]")
    whole = entry("https://api.example.test/v1/chat/completions", text)
    report = checked(tmp_path, "a.har", archive({**whole, "_webSocketMessages": []}))
    assert [each.dialect for each in report.streams] == ["openai.chat"]


ODD: Final[list[Any]] = [None, True, [], {}, -1, 0.5, 1e300, 10**40, "", "send", "\u0000"]


@settings(max_examples=6)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(_KEYS, st.sampled_from(ODD))))
def test_odd_messages_harm_nothing(fields: dict[str, Any]) -> None:
    with TemporaryDirectory() as folder:
        talk = har_messages(in_turn())
        text = archive(har_entry([fields, *talk, {"type": "receive", "opcode": 8, **fields}]))
        assert len(checked(Path(folder), "a.har", text).streams) >= 2
        state = [fields.get(key) for key in _KEYS]
        assert not checked(Path(folder), "a.flows", flow(in_turn(), messages=[state])).streams
        lines = [json.dumps(fields), *map(json.dumps, talk), json.dumps({**talk[0], **fields})]
        assert checked(Path(folder), "a.jsonl", "\n".join(lines)).streams


TALK: Final[Talk] = [
    ("client", {"type": "response.create", "response": {"modalities": ["audio"]}}),
    *(("server", each) for each in REALTIME),
]


@pytest.mark.parametrize("name", FILES)
def test_realtime_is_refused_by_its_name_and_a_folder_goes_on(tmp_path: Path, name: str) -> None:
    data = FILES[name](TALK)
    (error,) = checked(tmp_path, name, data).errors
    assert REFUSED in error
    assert "\n" not in error
    stored(tmp_path, "other.jsonl", FILES["bare.jsonl"](in_turn()))
    assert len(check_paths([tmp_path]).streams) == 2


def test_other_lines_with_a_side_are_no_messages(tmp_path: Path) -> None:
    rows = [{"from": "client", "data": "{}"}, {"type": "send", "data": "hello"}]
    text = "".join(json.dumps(each) + "\n" for each in rows)
    stored(tmp_path, "a.jsonl", text)
    assert find_recordings([tmp_path]).recordings == ()
