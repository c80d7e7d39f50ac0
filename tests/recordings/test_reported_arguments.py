"""Calls as a client reported them: its saved recording is judged as the run was."""

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


HOSTED = "anthropic.messages/anthropic/interleaved-thinking.cassette.jsonl"


def reported(
    folder: Path, change: tuple[str, str] = ("", ""), name: str = CALLS, *, hosted: bool = True
) -> Path:
    """The recording with what a client reports that changes how arguments are written.

    Without `hosted` it does not report the calls that the server carries out itself.
    """
    cassette = read(shipped.cassettes() / name)
    (exchange,) = cassette.exchanges
    dialect = get(exchange.dialect or cassette.header.dialect or "")
    sent = read_transcript(exchange, dialect, Reading(), keep="semantic")
    seen: list[dict[str, Any]] = []
    for event in sent.client_events:
        if event["type"] in EVENTS and (hosted or not event.get("hosted")):
            own = {key: value for key, value in event.items() if key != "hosted"}
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
def test_equal_json_is_the_same(tmp_path: Path, change: tuple[str, str], verdict: Verdict) -> None:
    assert check_paths([reported(tmp_path, change)]).verdicts[RULE] is verdict


@pytest.mark.parametrize("hosted", [True, False])
def test_server_call_may_be_reported_or_not(tmp_path: Path, *, hosted: bool) -> None:
    assert check_paths([reported(tmp_path, name=HOSTED, hosted=hosted)]).verdicts[RULE] is (
        Verdict.PASS
    )
    changed = reported(tmp_path, ("{", '{"a": 1, '), HOSTED)
    assert check_paths([changed]).verdicts[RULE] is Verdict.FAIL
