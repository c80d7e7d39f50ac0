"""A checker that is held: the same judge for bytes, chunks with times, threads and processes."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Barrier

import pytest

from conformance import (
    Checker,
    Report,
    Request,
    Response,
    StreamResult,
    Verdict,
    check_cassette,
    check_chunks,
)
from conformance.cassette import open_recording
from conformance.core.errors import SpecError, UsageError
from conformance.core.events import Exchange
from conformance.core.shipped import cassettes
from conformance.judging.checker import _shipped_rulebook

DIALECT = "openai.chat"
FRAME = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
ASKED = {"model": "m", "messages": [], "stream": True}


@cache
def recorded() -> tuple[tuple[Path, str, Exchange], ...]:
    """Some recordings of one exchange each, with a clock, and the dialect that each speaks."""
    found = []
    for path in sorted(Path(cassettes()).rglob("*.cassette.jsonl"))[::5]:
        recording = open_recording(path)
        exchange = recording.exchanges[0]
        dialect = exchange.dialect or recording.header.dialect
        timed = [chunk.ms is not None for chunk in exchange.chunks]
        whole = recording.header.fidelity == "bytes" and exchange.seen is None
        if len(recording.exchanges) == 1 and dialect and all(timed) and timed and whole:
            found.append((path, dialect, exchange))
    return tuple(found)


def judged(checker: Checker, exchange: Exchange) -> StreamResult:
    """By `check`, with all that is known of the exchange."""
    chunks = [(chunk.ms, chunk.data) for chunk in exchange.chunks]
    request, response = exchange.request, exchange.response
    return checker.check(chunks, request=request, response=response, end=exchange.end)


def streamed(checker: Checker, exchange: Exchange) -> StreamResult:
    """As `judged`, fed chunk by chunk."""
    stream = checker.stream(request=exchange.request, response=exchange.response)
    for chunk in exchange.chunks:
        stream.feed(chunk.data, chunk.ms)
    return stream.close(exchange.end)


def result_fields(result: StreamResult) -> tuple[object, ...]:
    """What is said of a stream, whatever the file and the name of the exchange."""
    found = [(f.rule, f.event, f.byte, f.message) for f in result.findings]
    return dict(result.verdicts), dict(result.reasons), found


def test_chunks_with_times_are_judged_as_the_cassette_that_holds_them() -> None:
    checkers: dict[str, Checker] = {}
    for path, dialect, exchange in recorded():
        checker = checkers.setdefault(dialect, Checker(dialect))
        result = judged(checker, exchange)
        (by_file,) = check_cassette(path, profile="strict").streams
        shared = result.verdicts.keys() & by_file.verdicts.keys() - {
            c.rule for c in by_file.changes
        }
        assert {r: result.verdicts[r] for r in shared} == {r: by_file.verdicts[r] for r in shared}
        assert result_fields(streamed(checker, exchange)) == result_fields(result)
    assert len(recorded()) > 20
    assert len(checkers) > 2


def test_without_times_rules_about_time_are_untestable() -> None:
    exchange = next(each for _, dialect, each in recorded() if dialect == DIALECT)
    checker = Checker(DIALECT)
    timed = judged(checker, exchange)
    untimed = checker.check(
        [c.data for c in exchange.chunks], request=exchange.request, response=exchange.response
    )
    differing = {r for r, v in timed.verdicts.items() if untimed.verdicts[r] is not v}
    assert differing
    assert {untimed.reasons[rule] for rule in differing} == {"no clock was recorded"}


def test_the_head_is_evidence_as_a_value_and_as_plain_data() -> None:
    checker = Checker(DIALECT)
    pairs = (("Content-Type", "text/plain"),)
    of_bytes = [(b"Content-Type", b"text/plain")]
    heads = (
        Response(200, headers=pairs),
        {"status": 200, "headers": dict(pairs)},
        {"status": 200, "headers": of_bytes},
    )
    first, *others = (checker.check([FRAME], request=ASKED, response=head) for head in heads)
    assert [first, first] == others
    assert first.verdicts["wire/sse/content-type"] is Verdict.FAIL
    headless = checker.check([FRAME], request=Request(json=ASKED))
    assert headless.verdicts["wire/sse/content-type"] is Verdict.UNTESTABLE
    assert headless == checker.check([FRAME], request=ASKED)


@pytest.mark.parametrize("end", ["done", ""])
def test_an_unknown_ending_is_a_usage_error(end: str) -> None:
    checker = Checker(DIALECT)
    with pytest.raises(UsageError, match="there are: eof, reset"):
        checker.check([], end=end)
    with pytest.raises(UsageError, match="no ending"):
        checker.stream().close(end)


def test_a_response_has_a_status_and_headers_only() -> None:
    with pytest.raises(UsageError, match="'body'"):
        Checker(DIALECT).check([], response={"body": "x"})


def test_rules_and_suites_narrow_a_checker() -> None:
    narrow = Checker(DIALECT, rules=["wire/chat/*"]).check([FRAME])
    assert narrow.verdicts
    assert all(rule.startswith("wire/chat/") for rule in narrow.verdicts)
    by_suite = Checker(DIALECT, suites=["wire/chat"]).check([FRAME])
    assert by_suite.verdicts == narrow.verdicts
    with pytest.raises(UsageError, match="no rule matches"):
        Checker(DIALECT, rules=["wirre/*"])
    with pytest.raises(UsageError, match="no suite"):
        Checker(DIALECT, suites=["wirre"])


def test_a_profile_for_another_dialect_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("profile: own\ndialect: openai.responses\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"for openai\.responses"):
        Checker(DIALECT, path)
    path.write_text("profile: own\n", encoding="utf-8")
    with pytest.raises(SpecError):
        Checker(DIALECT, path)


def cold_checker() -> Checker:
    """One whose rules nobody has judged by."""
    _shipped_rulebook.cache_clear()
    return Checker(DIALECT, rules=["*"])


def test_eight_threads_share_a_checker_that_has_judged_nothing_yet() -> None:
    exchanges = [each for _, dialect, each in recorded() if dialect == DIALECT]
    alone = [result_fields(judged(cold_checker(), each)) for each in exchanges]
    for _ in range(3):
        cold = cold_checker()
        barrier = Barrier(8)

        def work(turn: int, cold: Checker = cold, barrier: Barrier = barrier) -> list[object]:
            barrier.wait(60)
            found: list[object] = [None] * len(exchanges)
            for step in range(len(exchanges)):
                at = (step + turn) % len(exchanges)
                found[at] = result_fields((judged, streamed)[turn % 2](cold, exchanges[at]))
            return found

        with ThreadPoolExecutor(8) as pool:
            assert all(found == alone for found in pool.map(work, range(8)))


OWN_SUITE = """
suite: own/rules
title: Own
rules:
  - id: no-text
    level: MUST
    says: No text comes.
    source: {observed: "own"}
    since: 0.1.0
    never: text.delta
"""


@pytest.fixture
def own_files(tmp_path: Path) -> tuple[Path, Path]:
    suite, profile = tmp_path / "suite.yaml", tmp_path / "own.yaml"
    suite.write_text(OWN_SUITE, encoding="utf-8")
    text = "profile: own\ndialect: openai.chat\nextends: openrouter\n"
    profile.write_text(text, encoding="utf-8")
    return suite, profile


def test_the_users_suites_stand_next_to_shipped_ones(own_files: tuple[Path, Path]) -> None:
    suite, _ = own_files
    wanted = ["wire/chat", str(suite)]
    made = Checker(DIALECT, suites=wanted)
    assert pickle.loads(pickle.dumps(made)).check([FRAME]) == made.check([FRAME])
    by_chunks = check_chunks([FRAME], dialect=DIALECT, suites=wanted).streams[0]
    assert by_chunks.verdicts == made.check([FRAME]).verdicts
    rules = {rule.rpartition("/")[0] for rule in by_chunks.verdicts}
    assert rules == {"wire/chat", "own/rules"}


def test_shipped_suites_do_not_travel() -> None:
    for suites, rules in (((), ()), (["wire"], ()), ((), ["wire/*"])):
        made = Checker(DIALECT, "openrouter", suites=suites, rules=rules)
        assert len(pickle.dumps(made)) < 16_384


@pytest.mark.parametrize("profile", [None, "openrouter"])
def test_a_checker_pickles_as_what_it_was_made_of(profile: str | None) -> None:
    checker = Checker(DIALECT, profile, rules=["wire/*"])
    again = pickle.loads(pickle.dumps(checker))
    exchanges = [each for _, dialect, each in recorded() if dialect == DIALECT]
    assert [judged(again, each) for each in exchanges] == [judged(checker, e) for e in exchanges]
    assert repr(again) == repr(checker)


def test_files_of_the_users_own_travel_as_data(own_files: tuple[Path, Path]) -> None:
    suite, profile = own_files
    checker = Checker(DIALECT, profile, suites=[str(suite)])
    sent = pickle.dumps(checker)
    for path in own_files:
        path.unlink()
    again = pickle.loads(sent)
    assert again.check([FRAME]) == checker.check([FRAME])
    assert again.check([FRAME]).verdicts == {"own/rules/no-text": Verdict.FAIL}
    assert again.check([FRAME]).profile == "own"


def test_a_result_can_stand_in_a_report() -> None:
    result = Checker(DIALECT).check([FRAME], keep=True)
    assert Report((result,)).events
    assert Report((result,)).exit_code() == 1
