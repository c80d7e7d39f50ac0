"""WebSockets in cassettes: kept as they were, and taken apart for whoever judges them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import Verdict
from conformance.cassette import convert, locate, open_recording, read, write
from conformance.cassette.connections import split_connections
from conformance.cassette.header import Cassette, Header
from conformance.cassette.redaction.redact import redact
from conformance.cassette.redaction.scan import scan
from conformance.core.errors import CassetteError, UsageError
from conformance.core.events import Exchange, Response, SocketMessage
from conformance.dialects import get
from conformance.judging.result import Report, StreamResult
from conformance.recordings.check import check_paths
from conformance.recordings.identification import identity_of
from conformance.recordings.linting import lint_recordings
from tests.cassette.saved_files import stored
from tests.cassette.sockets import (
    LIMIT,
    NOT_FOUND,
    REALTIME,
    Talk,
    answer,
    asked,
    at_once,
    cassette_text,
    in_turn,
)

HEADER = Header(origin="live")
KEY = "sk-proj-" + "Ab3dEf9hIj2kLm5nOp8qRs1tUv4wXy7z" * 2
TERMINAL = "wire/responses/terminal-present"
NO_JSON = "wire/sse/data-is-json"


def kept(folder: Path, talk: Any, **more: Any) -> Path:
    return stored(folder, "ws.cassette.jsonl", cassette_text(talk, **more))


def checked(folder: Path, talk: Any, **more: Any) -> Report:
    return check_paths([kept(folder, talk, **more)])


def failed(result: StreamResult) -> set[str]:
    return {rule for rule, verdict in result.verdicts.items() if verdict is Verdict.FAIL}


def connection(*messages: SocketMessage) -> Cassette:
    exchange = Exchange(response=Response(101), chunks=messages, end="eof")
    return Cassette(HEADER, (exchange,))


MESSAGES = (
    SocketMessage(b"", 0.0, "client"),
    SocketMessage(b'{"a":\r\n 1}', 0.5, "server"),
    SocketMessage("é\u2028".encode(), None, "server"),
    SocketMessage(b"plain text", 1.0, "client", binary=True),
    SocketMessage(b"\xff\x00", 1.0, "server", binary=True),
    SocketMessage(b"x" * 2_500_000, 1.0, "server"),
)


@pytest.mark.parametrize("seal", [False, True])
def test_what_is_written_is_read_again(tmp_path: Path, seal: bool) -> None:
    path = tmp_path / "one.cassette.jsonl"
    write(path, connection(*MESSAGES), seal=seal)
    assert read(path).exchanges[0].chunks == MESSAGES


def test_a_message_begins_with_its_side_and_longer_ones_go_on_without(tmp_path: Path) -> None:
    path = tmp_path / "one.cassette.jsonl"
    write(path, connection(*MESSAGES))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[3:]]
    sides = [each.get("from") for each in lines]
    assert sides == ["client", "server", "server", "client", "server", "server", None, None, None]


def test_messages_and_chunks_do_not_mix(tmp_path: Path) -> None:
    text = cassette_text([asked()]).replace('{"end"', '{"text": "x", "ms": 1.0}\n{"end"')
    with pytest.raises(CassetteError, match="data with no `from` among others of one exchange"):
        read(stored(tmp_path, "one.cassette.jsonl", text))


def test_converting_twice_changes_nothing_more(tmp_path: Path) -> None:
    one, other = tmp_path / "1.cassette.jsonl", tmp_path / "2.cassette.jsonl"
    found = convert(kept(tmp_path, at_once()), one)
    convert(one, other)
    assert one.read_bytes() == other.read_bytes()
    assert len(found.exchanges) == 1
    assert len(found.exchanges[0].chunks) == len(at_once())


def test_every_answer_is_an_exchange_with_its_request(tmp_path: Path) -> None:
    recording = open_recording(kept(tmp_path, in_turn()))
    first, second = recording.exchanges
    assert recording.kept is not None
    assert (first.number, second.number) == (1, 2)
    assert second.request is not None
    assert second.request.path == "/v1/responses"
    assert second.request.json["previous_response_id"] == "resp_1"
    assert "type" not in second.request.json
    assert first.chunks[0].ms == 1.5
    assert recording.cassette.clocks[2].begun is None


def test_what_has_no_websocket_stays_the_same_value() -> None:
    plain = Cassette(HEADER, (Exchange(),))
    assert split_connections(plain) is plain


@pytest.mark.parametrize("talk", [in_turn(), at_once()], ids=["in turn", "at once"])
def test_legal_talk_raises_nothing(tmp_path: Path, talk: Talk) -> None:
    report = checked(tmp_path, talk)
    assert [failed(each) for each in report.streams] == [set(), set()]
    assert not report.errors
    assert sum(v is Verdict.PASS for v in report.streams[1].verdicts.values()) > 80


def test_the_second_request_is_linked_to_the_first_answer(tmp_path: Path) -> None:
    second = checked(tmp_path, in_turn()).streams[1]
    assert [(link.exchange, link.evidence) for link in second.links] == [
        (1, "the id of the answer")
    ]


WARM = [
    ("server", {**payload, "response": {**payload["response"], "id": "resp_0", "output": []}})
    for _, payload in (answer()[0], answer()[1], answer()[-1])
]
for _number, (_side, _payload) in enumerate(WARM):
    _payload["sequence_number"] = _number
LEGAL: dict[str, Any] = {
    "limit reached while idle": [*in_turn(), ("server", LIMIT)],
    "limits of the backend": [asked(), ("server", {"type": "codex.rate_limits"}), *answer()],
    "prepared": [asked(generate=False), *WARM, asked(previous_response_id="resp_0"), *answer()],
    "refused, then asked again": [asked(), ("server", NOT_FOUND), asked(), *answer()],
    "one refused beside another": [
        *(asked("a"), asked("b"), ("server", {**NOT_FOUND, "stream_id": "a"})),
        *answer("resp_1", "b"),
    ],
    "steered": [asked(), *answer()[:3], ("client", {"type": "response.steer"}), *answer()[3:]],
    "indented": [(side, json.dumps(payload, indent=1)) for side, payload in in_turn()],
}


@pytest.mark.parametrize("case", LEGAL)
def test_what_the_api_documents_raises_nothing(tmp_path: Path, case: str) -> None:
    report = checked(tmp_path, LEGAL[case])
    assert [failed(each) for each in report.streams] == [set()] * len(report.streams)
    assert report.streams


FIRST, SECOND = answer(), answer("resp_2")
BROKEN: dict[str, tuple[Any, str, int, set[str]]] = {
    "closed early": ([*in_turn()[:-1]], "eof", 2, {TERMINAL}),
    "never answered": ([asked(), *FIRST, asked()], "eof", 2, {TERMINAL}),
    "cut by the next": ([asked(), *FIRST[:-1], asked(), *SECOND], "eof", 1, {TERMINAL}),
    "two ends": (
        [asked(), *FIRST, FIRST[-1], asked(), *SECOND],
        *("eof", 1, {"wire/responses/terminal-once", "wire/responses/sequence-from-zero"}),
    ),
    "an event of the other answer": (
        [(s, {**p, "stream_id": "a"} if at == 15 else p) for at, (s, p) in enumerate(at_once())],
        *("eof", 1, {"wire/responses/sequence-from-zero"}),
    ),
    "no lanes": (
        [(s, {k: v for k, v in p.items() if k != "stream_id"}) for s, p in at_once()],
        *("eof", 1, {TERMINAL}),
    ),
    "an event without a response": (
        [FIRST[4], *in_turn()],
        *("eof", 1, {"wire/responses/created-first"}),
    ),
    "an event behind the end": (
        [*in_turn(), SECOND[4]],
        *("eof", 2, {"wire/responses/terminal-last"}),
    ),
    "no JSON": ([asked(), FIRST[0], ("server", "hello"), *FIRST[1:]], *("eof", 1, {NO_JSON})),
    "no JSON, nothing else": ([asked(), ("server", "Bad gateway")], *("eof", 1, {NO_JSON})),
    "reset": ([*in_turn()[:-1]], "reset", 2, {"wire/sse/ends-cleanly"}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_broken_is_found_where_it_is(tmp_path: Path, case: str) -> None:
    talk, end, number, rules = BROKEN[case]
    results = {each.exchange: each for each in checked(tmp_path, talk, end=end).streams}
    assert rules <= failed(results[number])


def test_bytes_that_are_no_utf8_are_found_and_lose_nothing(tmp_path: Path) -> None:
    text = cassette_text([asked(), *FIRST])
    first = json.dumps(json.dumps(FIRST[0][1]))
    broken = json.dumps(FIRST[0][1]).encode().replace(b"resp_1", b"resp\xff1")
    text = text.replace(f'"text": {first}', f'"hex": "{broken.hex()}"')
    (result,) = check_paths([stored(tmp_path, "ws.cassette.jsonl", text)]).streams
    assert "wire/sse/utf8" in failed(result)
    assert result.verdicts[TERMINAL] is Verdict.PASS


@pytest.mark.parametrize("end", ["open", "client-closed"])
def test_nobody_is_blamed_for_an_end_that_the_server_did_not_make(tmp_path: Path, end: str) -> None:
    result = checked(tmp_path, in_turn()[:-1], end=end).streams[1]
    assert failed(result) == set()
    assert result.verdicts[TERMINAL] is Verdict.INCONCLUSIVE


def test_a_connection_that_fails_is_an_error_of_the_answers_under_way(tmp_path: Path) -> None:
    (result,) = checked(tmp_path, [asked("a"), *answer("r", "a")[:5], ("server", LIMIT)]).streams
    assert result.error is not None
    assert result.error.code == "websocket_connection_limit_reached"


def test_a_finding_stands_at_the_line_of_its_message(tmp_path: Path) -> None:
    talk = [*in_turn(), SECOND[-1]]
    result = checked(tmp_path, talk).streams[1]
    assert {each.line for each in result.findings} == {3 + len(talk)}


def test_there_are_no_more_exchanges_than_answers(tmp_path: Path) -> None:
    path = kept(tmp_path, in_turn())
    assert locate(path, 2, [0]) == [3 + len(answer()) + 3]
    with pytest.raises(UsageError, match="has no exchange 3"):
        locate(path, 3, [0])


def test_exchanges_next_to_a_websocket_are_numbered_on(tmp_path: Path) -> None:
    text = cassette_text(in_turn())
    more = '{"request": null, "exchange": 2, "after": 1}\n{"response": null}\n{"end": "eof"}\n'
    recording = open_recording(stored(tmp_path, "ws.cassette.jsonl", text + more))
    assert [(each.number, each.after) for each in recording.exchanges] == [
        *((1, None), (2, None), (3, 1))
    ]


def test_realtime_is_refused_by_its_name(tmp_path: Path) -> None:
    report = checked(tmp_path, [("server", each) for each in REALTIME])
    assert "this is the Realtime API, which is not supported" in report.errors[0]
    assert not report.streams


def test_the_framing_of_messages_is_nobody_s_habit(tmp_path: Path) -> None:
    recording = open_recording(kept(tmp_path, in_turn()))
    identity = identity_of(recording, recording.exchanges[0], get("openai.responses"))
    assert identity.knobs.keys().isdisjoint({"done", "event_lines"})


def test_lint_asks_no_message_for_stream(tmp_path: Path) -> None:
    problems = lint_recordings([kept(tmp_path, in_turn())]).problems
    assert [each.message for each in problems] == []


def _with_key(deltas: int) -> Talk:
    """A key that the text of one lane spells out over its first deltas, and one in a request."""
    size = len(KEY) // deltas + 1
    pieces = iter([KEY[at : at + size] for at in range(0, len(KEY), size)])
    talk: Talk = []
    for side, payload in at_once():
        mine = payload["type"] == "response.output_text.delta" and payload["stream_id"] == "a"
        piece = next(pieces, None) if mine else None
        talk.append((side, payload if piece is None else {**payload, "delta": piece}))
    talk[0][1]["metadata"] = {"api_key": KEY}
    return talk


@pytest.mark.parametrize("deltas", [1, 2])
def test_a_key_is_taken_out_of_messages_of_both_sides(tmp_path: Path, deltas: int) -> None:
    path = kept(tmp_path, _with_key(deltas))
    found = read(path)
    clean = redact(found)
    whole = b"".join(chunk.data for chunk in clean.exchanges[0].chunks)
    assert KEY[20:60].encode() not in whole
    assert KEY[:20].encode() not in whole
    before, after = found.exchanges[0].chunks, clean.exchanges[0].chunks
    assert [len(each.data) for each in before] == [len(each.data) for each in after]
    assert len(list(scan(path))) >= 2
    write(path, clean)
    assert list(scan(path)) == []


def test_line_ends_inside_a_message_survive_redaction() -> None:
    text = b'{"type": "response.created",\r\n "api_key": "' + KEY.encode() + b'"\n}'
    (clean,) = redact(connection(SocketMessage(text, None, "server"))).exchanges[0].chunks
    assert KEY.encode() not in clean.data
    assert (clean.data.count(b"\n"), clean.data.index(b"\r\n")) == (2, text.index(b"\r\n"))
