"""`check_chunks` and friends: what a Python caller gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import conformance
from conformance import Verdict
from conformance.cassette import open_recording
from conformance.core.errors import UsageError
from conformance.core.shipped import cassettes
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices


def chunk(finish: str | None = None, **delta: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    fields = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**fields, "choices": [choice]}).encode() + b"\n\n"


LEAK = [
    chunk(role="assistant", content=""),
    chunk(reasoning_content="Two and two."),
    chunk(content="</thi"),
    chunk(content="nk>Four."),
    b"data: [DONE]\n\n",
]


def test_a_leak_is_found_while_the_stream_runs() -> None:
    taken: list[int] = []

    def chunks() -> Iterator[bytes]:
        for number, data in enumerate(LEAK, 1):
            taken.append(number)
            yield data

    report = conformance.check_chunks(chunks(), dialect="openai.chat", profile="openai")
    assert taken == [1, 2, 3, 4, 5]
    leak = next(f for f in report.findings if f.rule == "stripping/visible-text/no-markers")
    assert (leak.event, leak.line, leak.byte) == (4, None, sum(map(len, LEAK[:3])))
    assert [line.event for line in leak.context] == [1, 2, 3, 4]
    assert report.verdicts["wire/chat/finish-present"] is Verdict.FAIL
    assert report.exit_code() == 1


def test_events_are_kept_only_on_demand() -> None:
    kept = conformance.check_chunks(LEAK, dialect="openai.chat", keep=True)
    assert "thinking.delta" in [event.type for event in kept.events]
    assert conformance.check_chunks(LEAK, dialect="openai.chat").events == ()


def test_rules_about_the_request_need_one() -> None:
    rule = "wire/chat/usage-when-asked"
    asked = {"stream_options": {"include_usage": True}}
    chunks = [*LEAK[:-1], chunk("stop"), LEAK[-1]]
    without = conformance.check_chunks(chunks, dialect="openai.chat")
    with_request = conformance.check_chunks(chunks, dialect="openai.chat", request=asked)
    other = conformance.check_chunks(chunks, dialect="openai.chat", request={"stream": True})
    assert without.verdicts[rule] is Verdict.UNTESTABLE
    assert rule not in [finding.rule for finding in without.findings]
    assert with_request.verdicts[rule] is Verdict.FAIL
    assert other.verdicts[rule] is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("dialect", "profile", "message"),
    [
        ("openai.chatt", None, "openai.chat"),
        ("anthropic.complete", None, "not supported yet"),
        ("openai.chat", "openia", "openai"),
    ],
)
def test_unknown_names_are_usage_errors(dialect: str, profile: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        conformance.check_chunks([], dialect=dialect, profile=profile)


@pytest.mark.parametrize(
    ("dialect", "rule"),
    [
        ("openai.chat", "wire/chat/finish-present"),
        ("openai.responses", "wire/responses/terminal-present"),
    ],
)
def test_an_empty_stream_is_no_answer(dialect: str, rule: str) -> None:
    report = conformance.check_chunks([], dialect=dialect)
    assert report.verdicts[rule] is Verdict.FAIL
    assert report.exit_code() == 1


@pytest.mark.slow
def test_threads_share_one_rulebook() -> None:
    rulebook = Rulebook.load()
    paths = sorted(Path(cassettes()).rglob("*.cassette.jsonl"))[::7]
    recordings = [open_recording(path) for path in paths]
    alone = [check_recording(each, Rulebook.load(), CheckChoices()) for each in recordings]
    with ThreadPoolExecutor(4) as pool:
        together = list(
            pool.map(lambda each: check_recording(each, rulebook, CheckChoices()), recordings * 2)
        )
    assert together == alone * 2


def test_a_profile_that_changed_on_disk_is_judged_by_as_it_stands_now(tmp_path: Path) -> None:
    leak = "stripping/visible-text/no-markers"
    path = tmp_path / "own.yaml"
    head = "profile: own\ndialect: openai.chat\nextends: strict\n"
    off = f"overrides: {{{leak}: {{level: off, because: b, seen: s}}}}\n"
    found = []
    for text in (head, head + off):
        path.write_text(text, encoding="utf-8")
        report = conformance.check_chunks(LEAK, dialect="openai.chat", profile=str(path))
        found.append(report.verdicts[leak])
    assert found == [Verdict.FAIL, Verdict.NOT_APPLICABLE]
