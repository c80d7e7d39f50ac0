"""A stream of JSON lines is judged as the same payloads in an event stream are.

The payloads are three chunks with a lone `</think>` in the second: one finding, on one line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, open_recording, write
from conformance.core.clock import JoinedChunks
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.dialects import get
from conformance.diff import compare
from conformance.judging.fast.running import RunningView, check_wire
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.judging.wire import WireView
from conformance.profiles.lookup import find
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.rechunk import rechunk_recording
from conformance.rules.verdicts import Verdict
from conformance.targets.replay import ReplayOptions, serving

LEAK = "stripping/visible-text/no-markers"
RULES = Rulebook.load()


def chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    ids = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return json.dumps({**ids, "choices": [choice]}).encode()


LINES = [
    chunk({"role": "assistant", "content": "Hello"}),
    chunk({"content": " so </think> there"}),
    chunk({}, "stop"),
]
BODY = b"".join(line + b"\n" for line in LINES)
NDJSON = Response(200, "1.1", (("content-type", "application/x-ndjson"),))
ASKED = Request("POST", "/v1/chat/completions", (), {"model": "m", "stream": True, "messages": []})


def judged(path: Path) -> StreamResult:
    (result,) = check_recording(open_recording(path), RULES, CheckChoices())
    return result


def as_cassette(path: Path, *chunks: bytes, response: Response = NDJSON) -> Path:
    held = tuple(Chunk(data, 1.0) for data in chunks)
    exchange = Exchange(request=ASKED, response=response, chunks=held)
    write(path, Cassette(Header(origin="live", dialect="openai.chat"), (exchange,)))
    return path


@pytest.fixture
def jsonl(tmp_path: Path) -> StreamResult:
    path = tmp_path / "a.jsonl"
    path.write_bytes(BODY)
    return judged(path)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n"])
def test_a_file_of_lines(tmp_path: Path, jsonl: StreamResult, end: bytes) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(end.join(LINES))
    result = judged(path)
    # Lines show their bytes; what holds one payload a line was framed anew.
    shown = dict.fromkeys(("wire/sse/data-is-json", "wire/sse/utf8"), Verdict.PASS)
    assert result.verdicts == {**jsonl.verdicts, **shown}
    assert [f.rule for f in result.findings] == [LEAK]
    (finding, as_it_was) = (*result.findings, *jsonl.findings)
    line = 3 if end == b"\n\n" else 2
    offset = len(LINES[0] + end)
    assert (finding.line, finding.byte, finding.event) == (line, offset, as_it_was.event)
    same = replace(finding, line=as_it_was.line, byte=as_it_was.byte, id=as_it_was.id)
    assert same == as_it_was


def test_a_cassette_of_lines_has_a_line_for_each(tmp_path: Path, jsonl: StreamResult) -> None:
    path = as_cassette(tmp_path / "a.cassette.jsonl", BODY)
    # The server was asked for events, so that the content type is wrong is a finding, too.
    (finding,) = [each for each in judged(path).findings if each.rule == LEAK]
    assert finding.line is not None
    text = path.read_text().splitlines()[finding.line - 1]
    assert json.loads(text)["text"] == LINES[1].decode() + "\n"
    assert (finding.rule, finding.event, finding.context) == (LEAK, 2, jsonl.findings[0].context)


def test_verdicts_are_those_of_the_same_payloads_in_events(tmp_path: Path) -> None:
    lines = judged(as_cassette(tmp_path / "a.cassette.jsonl", BODY))
    events = [b"data: " + line + b"\n\n" for line in LINES]
    head = Response(200, "1.1", (("content-type", "text/event-stream"),))
    as_sse = judged(as_cassette(tmp_path / "b.cassette.jsonl", *events, response=head))
    assert lines.verdicts.keys() == as_sse.verdicts.keys()
    other = {rule for rule in lines.verdicts if lines.verdicts[rule] != as_sse.verdicts[rule]}
    # Lines are not events: what is asked of those says nothing of them.
    framing = {rule for rule in other if "lines came" in lines.reasons.get(rule, "")}
    assert other == framing | {"wire/sse/content-type"}


def test_where_lines_are_the_framing_of_the_api_rules_of_event_streams_do_not_apply() -> None:
    profile = find("strict", "openai.chat")
    own = replace(get("openai.chat"), framing="lines")
    setting = JudgeSetting(own, profile, RULES.bound(profile))
    exchange = Exchange(request=ASKED, response=NDJSON, chunks=(Chunk(BODY, 1.0),))
    result = check_wire(setting, exchange, exchange.chunks, "eof").result
    assert result.verdicts["wire/sse/fields-known"] is Verdict.NOT_APPLICABLE
    assert result.reasons["wire/sse/fields-known"] == "lines are the framing of this API"
    assert "lines came, not server-sent events" not in result.reasons.values()
    # An event stream is one, whoever sends it.
    stream = replace(exchange, chunks=(Chunk(b"data: {\n\n", 1.0),), response=None)
    result = check_wire(setting, stream, stream.chunks, "eof").result
    assert result.verdicts["wire/sse/data-is-json"] is Verdict.FAIL


def test_silence_between_lines_is_silence() -> None:
    profile = find("strict", "openai.chat")
    setting = JudgeSetting(get("openai.chat"), profile, RULES.bound(profile))
    chunks = tuple(Chunk(line + b"\n", 300_001.0) for line in LINES)
    exchange = Exchange(request=ASKED, response=NDJSON, chunks=chunks)
    result = check_wire(setting, exchange, chunks, "eof").result
    assert result.verdicts["wire/timing/no-long-silence"] is Verdict.FAIL


@pytest.mark.parametrize("response", [NDJSON, None, Response(headers=(("content-type", "x/y"),))])
def test_verdicts_and_findings_are_same_however_lines_are_cut(
    response: Response | None,
) -> None:
    profile = find("strict", "openai.chat")

    def outcome(chunks: Sequence[bytes], *, keep: bool) -> object:
        # What is kept is judged chunk by chunk; otherwise chunks are joined first.
        setting = JudgeSetting(get("openai.chat"), profile, RULES.bound(profile), keep=keep)
        held = tuple(map(Chunk, chunks))
        exchange = Exchange(request=ASKED, response=response, chunks=held)
        return replace(check_wire(setting, exchange, held, "eof").result, events=())

    whole = outcome([BODY], keep=True)
    assert outcome([line + b"\n" for line in LINES], keep=False) == whole
    assert outcome([BODY[at : at + 1] for at in range(len(BODY))], keep=False) == whole
    for at in range(1, len(BODY), 5):
        assert outcome([BODY[:at], BODY[at:]], keep=at % 2 == 0) == whole


def test_cuts_that_are_tried_on_a_recording_agree(tmp_path: Path) -> None:
    path = as_cassette(tmp_path / "a.cassette.jsonl", BODY)
    assert rechunk_recording(open_recording(path), RULES, CheckChoices(), rounds=3) > 3


@given(st.lists(st.integers(1, len(BODY) - 1), unique=True).map(sorted), st.booleans())
def test_joined_chunks_change_no_event_or_time(cuts: list[int], typed: bool) -> None:
    pieces = [BODY[a:b] for a, b in pairwise([0, *cuts, len(BODY)])]
    profile = find("strict", "openai.chat")
    setting = JudgeSetting(get("openai.chat"), profile, RULES.bound(profile))
    exchange = Exchange(response=NDJSON if typed else None, chunks=(Chunk(b"", 1.0),))
    single, joined = _Timed(setting, exchange), _TimedRunning(setting, exchange)
    for number, piece in enumerate(pieces, 1):
        single.feed(piece, float(number))
    ends = [sum(len(piece) for piece in pieces[:n]) for n in range(1, len(pieces) + 1)]
    joined.feed_gathered(JoinedChunks(BODY, ends, [float(n) for n in range(1, len(pieces) + 1)]))
    assert single.finish("eof").result == joined.finish("eof").result
    assert single.times == joined.times
    line_ends = [len(b"\n".join(LINES[:n])) for n in (1, 2, 3)]
    assert single.times == [next(n for n, e in enumerate(ends, 1) if e > at) for at in line_ends]


class _Timed(WireView):
    def frame(self, *frame: object) -> list:  # type: ignore[type-arg]
        self.times = [*getattr(self, "times", []), self.judge.ms]
        return super().frame(*frame)  # type: ignore[arg-type]


class _TimedRunning(_Timed, RunningView):
    pass


def test_lines_are_served_cut_after_lines_and_found_the_same(tmp_path: Path) -> None:
    path = as_cassette(tmp_path / "a.cassette.jsonl", BODY)
    options = ReplayOptions.parse(chunking="events", cut="event:2")
    got: list[bytes] = []

    def ask(url: str) -> None:
        with httpx.stream("POST", url, json=ASKED.json) as answer:
            assert answer.headers["content-type"] == "application/x-ndjson"
            got.extend(answer.iter_raw())

    with serving([path], options=options) as server, pytest.raises(httpx.RemoteProtocolError):
        ask(f"{server.url}/v1/chat/completions")
    assert got == [LINES[0] + b"\n", LINES[1] + b"\n"]


def test_two_recordings_of_lines_differ_in_what_they_say(tmp_path: Path) -> None:
    leaks = as_cassette(tmp_path / "a.cassette.jsonl", BODY)
    clean = as_cassette(tmp_path / "b.cassette.jsonl", BODY.replace(b"</think>", b"over"))
    (compared,) = compare(leaks, clean, rulebook=RULES).compared
    assert [c.what for c in compared.changes if c.kind == "verdict"] == [LEAK]
    assert not compare(leaks, leaks, rulebook=RULES).changed
