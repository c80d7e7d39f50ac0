"""A client that wrote a call's arguments anew reported them: its saved recording says so, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import read, write
from conformance.core import shipped
from conformance.core.reading import Reading
from conformance.dialects import get
from conformance.judging.transcript import read_transcript
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict

RULE = "thinking/client/agrees-with-wire"
CALLS = "anthropic.messages/anthropic/thinking-then-tools.cassette.jsonl"
EVENTS = ("thinking.delta", "text.delta", "tool.end", "finish")


def reported(folder: Path, change: tuple[str, str]) -> Path:
    """The recording with what a client reports that has changed how arguments are written."""
    cassette = read(shipped.cassettes() / CALLS)
    (exchange,) = cassette.exchanges
    dialect = get(exchange.dialect or cassette.header.dialect or "")
    sent = read_transcript(exchange, dialect, Reading(), keep="semantic")
    seen: list[dict[str, Any]] = []
    for event in sent.client_events:
        if event["type"] in EVENTS:
            own = dict(event)
            if event["type"] == "tool.end":
                own["arguments"] = event["arguments"].replace(*change)
            seen.append(own)
    extra = {"implementation": {"name": "c", "events": list(EVENTS)}}
    header = replace(cassette.header, extra=extra)
    path = folder / "run.cassette.jsonl"
    write(path, replace(cassette, header=header, exchanges=(replace(exchange, seen=tuple(seen)),)))
    return path


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ((":", ": "), Verdict.PASS),
        (("{", " { "), Verdict.PASS),
        (("Brest", "Quimper"), Verdict.FAIL),
    ],
)
def test_what_is_the_same_json_is_the_same(
    tmp_path: Path, change: tuple[str, str], verdict: Verdict
) -> None:
    report = check_paths([reported(tmp_path, change)])
    assert report.verdicts[RULE] is verdict
