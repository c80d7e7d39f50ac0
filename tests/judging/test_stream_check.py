"""A stream that is judged while it passes: it never raises, ends in time, and may be left out."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import Checker, Request, StreamCheck, StreamResult, Verdict
from conformance.judging import stream_check
from conformance.judging.fast.running import RunningView
from conformance.judging.wire import WireView

DIALECTS = ("openai.chat", "openai.responses", "anthropic.messages", "ollama.chat")
CHECKERS = {dialect: Checker(dialect) for dialect in DIALECTS}
LEAK = "stripping/visible-text/no-markers"
FRAME = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'

PIECES = (
    *(b"data: ", b"event: ", b"\n\n", b"\r\n", b"\r", b": c\n", b"\xef\xbb\xbf", b"\xff", b"\x00"),
    *(b'{"type":"message_start","message":null}', b'{"choices":[{"delta":{"content":[1]}}]}'),
    *(b'{"type":"response.created","response":7}', b'{"message":{"content":{}},"done":true}'),
    *(b'{"choices":{"0":[]}}', b'{"type":[]}', b"[" * 2000, b'{"a":' * 2000, b"NaN", b"1e999"),
    *(b'{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":3}}',),
    b'{"type":"response.output_text.delta","output_index":"x","delta":{}}',
)
HOSTILE = st.lists(st.one_of(st.binary(max_size=40), st.sampled_from(PIECES)), max_size=12)


@given(st.sampled_from(DIALECTS), HOSTILE, st.one_of(st.none(), st.floats()), st.binary())
def test_nothing_raises(dialect: str, chunks: list[bytes], ms: float | None, header: bytes) -> None:
    response = {"status": 200, "headers": [(b"content-type", header)]}
    stream = CHECKERS[dialect].stream(response=response, request=[1])
    for chunk in chunks:
        stream.feed(chunk, ms)
    assert Verdict.ERROR not in stream.close("reset").verdicts.values()


def test_findings_come_with_their_chunk_and_stand_in_the_result() -> None:
    stream = CHECKERS["openai.chat"].stream()
    came = [stream.feed(FRAME % text) for text in (b"a", b"<think>b", b"c")]
    assert [LEAK in [each.rule for each in found] for found in came] == [False, True, False]
    result = stream.close()
    early = [each for found in came for each in found]
    assert all(each in result.findings for each in early)
    assert result == CHECKERS["openai.chat"].check(FRAME % t for t in (b"a", b"<think>b", b"c"))


def test_what_ends_a_run_of_deltas_is_judged_when_it_comes() -> None:
    stream = CHECKERS["openai.chat"].stream()
    for _ in range(60):
        stream.feed(FRAME % b"word ")
    end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"of its own"}]}\n\n'
    assert "wire/chat/finish-known" in [each.rule for each in stream.feed(end)]


def test_what_waits_is_judged_when_somebody_asks_for_it() -> None:
    stream, heard = CHECKERS["openai.chat"].stream(), list[str]()
    listened = CHECKERS["openai.chat"].stream(
        listener=lambda events: heard.extend(e.data["text"] for e in events if "text" in e.data)
    )
    early = list[str]()
    for number in range(60):
        text = b"<think>" if number == 50 else b"word "
        early += [found.rule for found in stream.feed(FRAME % text)]
        early += [found.rule for found in stream.catch_up()]
        assert (LEAK in early) is (number >= 50)
        listened.feed(FRAME % text)
        listened.catch_up()
        assert len("".join(heard)) == 5 * (number + 1) + 2 * (number >= 50)
    assert stream.close() == listened.close()
    assert stream.catch_up() == ()


def test_a_buffer_may_be_used_again() -> None:
    stream = CHECKERS["openai.chat"].stream()
    buffer = bytearray(FRAME % b"word ")
    for _ in range(60):
        stream.feed(buffer)
    buffer[:] = bytes(len(buffer))
    assert stream.close() == CHECKERS["openai.chat"].check([FRAME % b"word "] * 60)


def test_a_stream_that_is_closed_stays_as_it_is() -> None:
    stream = CHECKERS["openai.chat"].stream()
    before = stream.is_judging
    result = stream.close("reset")
    assert (before, stream.is_judging) == (True, False)
    assert stream.feed(FRAME % b"<think>") == ()
    assert stream.close("eof") is result


class _Clock:
    """Time that passes with every look at it."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def fed_slowly(
    monkeypatch: pytest.MonkeyPatch, budget_ms: float, chunks: list[bytes]
) -> tuple[StreamCheck, StreamResult]:
    """A stream each of whose looks at the clock takes ten milliseconds."""
    monkeypatch.setattr(stream_check, "perf_counter", _Clock(0.010))
    stream = CHECKERS["openai.chat"].stream(budget_ms=budget_ms)
    for chunk in chunks:
        stream.feed(chunk)
    return stream, stream.close()


def test_past_its_budget_a_stream_is_untestable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = [FRAME % text for text in (b"<think>a", b"b", b"c", b"d")]
    stream, result = fed_slowly(monkeypatch, 65, frames)
    assert not stream.is_judging
    spent = f"the budget of 65 ms was spent after {len(frames[0] + frames[1] + frames[2])} bytes"
    assert result.verdicts[LEAK] is Verdict.FAIL
    assert LEAK not in result.reasons
    assert LEAK in [found.rule for found in result.findings]
    assert result.verdicts["wire/chat/finish-present"] is Verdict.UNTESTABLE
    assert result.reasons["wire/chat/finish-present"] == spent
    assert spent in result.notes
    assert set(result.verdicts.values()) <= {
        *(Verdict.FAIL, Verdict.UNTESTABLE, Verdict.NOT_APPLICABLE)
    }
    monkeypatch.setattr(RunningView, "feed", _fails)
    assert stream.feed(FRAME % b"x") == ()


def test_a_large_chunk_is_left_when_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = (FRAME % b"a") * 2000
    _, result = fed_slowly(monkeypatch, 25, [frames])
    reason = result.reasons["wire/chat/finish-present"]
    assert reason == f"the budget of 25 ms was spent after {2 * stream_check.PIECE} bytes"


def test_cutting_a_large_chunk_changes_nothing() -> None:
    frames = b"".join(FRAME % (b"%d" % n) for n in range(2000)) + FRAME % b"<think>"
    stream = CHECKERS["openai.chat"].stream()
    stream.feed(frames, 3.0)
    assert stream.close() == CHECKERS["openai.chat"].check([(3.0, frames)])


def _fails(*_: Any, **__: Any) -> Any:
    raise RuntimeError("a bug")


@pytest.mark.parametrize(("name", "where"), [("feed", RunningView), ("finish", WireView)])
def test_error_of_ours_is_verdict(monkeypatch: pytest.MonkeyPatch, name: str, where: type) -> None:
    stream = CHECKERS["openai.chat"].stream()
    stream.feed(FRAME % b"<think>")
    monkeypatch.setattr(where, name, _fails)
    assert stream.feed(b"") == ()
    result = stream.close()
    assert result.verdicts[LEAK] is Verdict.FAIL
    assert result.verdicts["wire/chat/finish-present"] is Verdict.ERROR
    reason = result.reasons["wire/chat/finish-present"]
    assert reason == "the judge failed: RuntimeError: a bug"


def test_unchosen_stream_costs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checker = CHECKERS["openai.chat"]
    checker.stream(sample=0.0).close()
    monkeypatch.setattr(RunningView, "__init__", _fails)
    stream = checker.stream(sample=0.0)
    assert not stream.is_judging
    assert stream.feed(FRAME % b"<think>") == ()
    result = stream.close()
    assert set(result.verdicts.values()) == {Verdict.UNTESTABLE, Verdict.NOT_APPLICABLE}
    assert result.notes == ("the stream was not chosen to be judged",)
    assert checker.stream(sample=0.0).close() is result


def test_a_sample_is_a_share_or_says_of_each_request() -> None:
    checker = CHECKERS["openai.chat"]
    assert sum(checker.stream(sample=0.5).is_judging for _ in range(200)) not in (0, 200)
    seen: list[Request | None] = []

    def every_second(request: Request | None) -> bool:
        seen.append(request)
        return len(seen) % 2 == 0

    chosen = [checker.stream(request={"n": n}, sample=every_second) for n in range(4)]
    assert [each.is_judging for each in chosen] == [False, True, False, True]
    assert [request.json for request in seen if request] == [{"n": n} for n in range(4)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_body_that_is_compressed_is_not_judged(dialect: str) -> None:
    packed = gzip.compress(FRAME % b"Hi")
    in_bytes = [packed[at : at + 1] for at in range(len(packed))]
    stream = CHECKERS[dialect].stream()
    for byte in in_bytes:
        stream.feed(byte)
    results = CHECKERS[dialect].check([packed]), CHECKERS[dialect].check(in_bytes), stream.close()
    for result in results:
        assert result.findings == ()
        assert set(result.verdicts.values()) <= {Verdict.UNTESTABLE, Verdict.NOT_APPLICABLE}
        assert "the body is compressed (gzip): give it decoded" in result.notes
