"""Whatever a server does, a run gives the right verdict, or says that nobody answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.core.errors import RemoteError
from conformance.recordings.check import check_paths
from conformance.runs import RunOptions, RunOutcome, run_server
from conformance.scenarios import load_scenarios
from conformance.targets.server import LiveServer
from conformance.wire.faults import ExchangeLimits
from tests.fakes.hostile import (
    CHUNK,
    LAST,
    Behaviour,
    bomb,
    chunked,
    dripping,
    endlessly,
    head,
    serving,
    then_reset,
    then_silent,
    whole,
)

# A busy machine may need seconds for what ends by its bytes.
PATIENT = ExchangeLimits(timeout=60.0, idle=1.0, connect=10.0, max_bytes=200_000)
QUICK = replace(PATIENT, timeout=1.0)
ENDING = "scenario/ending"
JSON = "application/json"
HTML = b"<!doctype html>\n<h1>Bad gateway</h1>\n"
ERROR = b'{"error": {"message": "out of memory", "type": "server_error", "code": null}}'


def ran(behave: Behaviour, folder: Path, limits: ExchangeLimits = PATIENT) -> RunOutcome:
    options = RunOptions(model="m", dialects=("openai.chat",), profile="strict", save=folder)

    async def go() -> RunOutcome:
        async with serving(behave) as heard, LiveServer(heard.url, limits=limits) as server:
            return await run_server(server, load_scenarios(["think"]), options, folder)

    return asyncio.run(go())


HOSTILE: list[tuple[str, Behaviour, set[str], str]] = [
    # what it does, the rules that it breaks, what the ending says
    ("endless", endlessly(CHUNK), {ENDING}, "it had not ended after 200000 bytes"),
    ("an endless line", endlessly(b"x" * 999, b"data: "), {ENDING}, "not ended after 200000"),
    ("a slow drip", dripping(b":" * 300, head()), {ENDING}, "it had not ended after 1 s"),
    ("silence", then_silent(head() + CHUNK), {ENDING, "wire/sse/ends-cleanly"}, "nothing came"),
    ("a bomb", whole(bomb(50_000_000)), {ENDING}, "it had not ended after 200000 bytes"),
    (
        "a reset inside an event",
        then_reset(head() + CHUNK + CHUNK[:50]),
        {ENDING, "wire/sse/ends-cleanly"},
        "the connection was reset",
    ),
    ("a web page", whole(head(kind="text/html") + HTML), {ENDING}, "an HTML page"),
    (
        "a wrong content type",
        whole(head(kind="text/plain") + CHUNK + LAST),
        {"wire/sse/content-type"},
        "",
    ),
    (
        "bytes that are no UTF-8",
        whole(chunked(CHUNK.replace(b'"x"', b'"\xc3"'), LAST)),
        {"wire/sse/utf8"},
        "",
    ),
    ("an error with JSON", whole(head("500 Oops", kind=JSON) + ERROR), {ENDING}, "out of memory"),
    (
        "an error page",
        whole(head("502 Bad Gateway", kind="text/html") + HTML),
        {ENDING},
        "HTTP 502",
    ),
    ("a refusal", whole(head("418 Teapot", kind=JSON) + ERROR), {ENDING}, "HTTP 418"),
    (
        "a redirect",
        whole(head("302 Found", location="http://other.invalid/")),
        {ENDING},
        "redirect",
    ),
    ("an empty body", whole(head()), {ENDING}, "content type text/event-stream"),
]


@pytest.mark.parametrize(
    ("behave", "rules", "message"),
    [each[1:] for each in HOSTILE],
    ids=[each[0] for each in HOSTILE],
)
def test_fault_is_found(behave: Behaviour, rules: set[str], message: str, tmp_path: Path) -> None:
    outcome = ran(behave, tmp_path, QUICK if message.endswith(" 1 s") else PATIENT)
    report = outcome.report
    assert outcome.unanswered == ()
    assert report.exit_code() == 1
    assert rules <= {finding.rule for finding in report.findings}
    texts = [finding.message for finding in report.findings if finding.rule == ENDING]
    assert not message or message in texts[0]
    assert any("the rest was not run" in note for note in report.notes) == bool(texts)
    # What came was kept, and tells the same afterwards.
    again = check_paths([tmp_path])
    assert {f.id for f in again.findings} == {f.id for f in report.findings}


def test_an_answer_that_ends_by_closing_is_no_finding_about_the_transport(tmp_path: Path) -> None:
    old = b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    outcome = ran(whole(old + CHUNK + LAST), tmp_path)
    wire = {f.rule for f in outcome.report.findings if f.rule.startswith("wire/sse")}
    assert wire == set()


@pytest.mark.parametrize(
    "behave", [then_silent(b""), then_reset(b""), whole(b""), whole(b"\x00\x01\x02\r\n\r\n")]
)
def test_nobody_who_answers_is_an_error_of_the_target(behave: Behaviour, tmp_path: Path) -> None:
    with pytest.raises(RemoteError):
        ran(behave, tmp_path)
