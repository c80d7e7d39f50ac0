"""What a client reports of reasons to finish: all, the last, or none of those that it was sent."""

from __future__ import annotations

import pytest

from conformance.cassette import open_recording
from conformance.core import shipped
from tests.targets.test_client_judging import (
    AGREES,
    CHAT,
    REPEATED,
    completed,
    events_of,
    failing,
    judging,
)


def test_a_finish_that_a_server_repeats_may_be_reported_once() -> None:
    """OpenRouter sends it again beside the usage; a client that shows two of one is wrong."""
    judge, _ = judging(REPEATED)
    exchange = open_recording(shipped.cassettes() / f"{REPEATED}.cassette.jsonl").exchanges[1]
    events = events_of(judge, exchange)
    finishes = [at for at, each in enumerate(events) if each["type"] == "finish"]
    assert len(finishes) == 2
    once = [each for at, each in enumerate(events) if at != finishes[1]]
    assert not completed(judge, exchange, events).findings
    assert not completed(judge, exchange, once).findings
    none = [each for each in events if each["type"] != "finish"]
    assert failing(completed(judge, exchange, none)) >= {AGREES}
    one, asked = judging(CHAT)
    report = events_of(one, asked)
    again = [*report, next(each for each in report if each["type"] == "finish")]
    assert failing(completed(one, asked, again)) >= {AGREES}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("gemini.generate/allowed/default-values-of-enums", set[str]()),
        (CHAT, {AGREES, "thinking/stream/one-reason"}),
    ],
)
def test_of_gemini_the_last_reason_to_finish_counts(name: str, wanted: set[str]) -> None:
    """Its chunks may state one that means none; a client may show what each of them states."""
    judge, exchange = judging(name)
    events = events_of(judge, exchange)
    at = next(at for at, each in enumerate(events) if each["type"] == "text.delta")
    early = {"type": "finish", "choice": 0, "reason": "FINISH_REASON_UNSPECIFIED"}
    report = [*events[:at], early, *events[at:]]
    assert failing(completed(judge, exchange, report)) == wanted
    other = [{**e, "reason": "length"} if e["type"] == "finish" else e for e in events]
    assert AGREES in failing(completed(judge, exchange, other))
