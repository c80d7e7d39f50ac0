"""Recorded applications beside their recorded providers: what is lost, and no other finding.

What was said upstream of the recorded applications, as the index of the captures names it.

Rule 1: `FILE (cut after N events)` is the beginning of a recording, with an end of that kind.
Rule 2: what was scripted is made anew: by scripted.yaml, `HTTP 500`, or an error in the thinking.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, Recording, open_recording, write
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.judging.result import Finding
from conformance.judging.rulebook import Rulebook
from conformance.recordings.both_hops import pair_recordings
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.verdicts import Verdict
from tests.tables import read_table

_NAMED: Final = re.compile(r"(\S+\.(?:sse|jsonl))(?: \((cut|ended|hangs) after (\d+) events.*\))?")
_ENDS: Final[Mapping[str, Ending]] = {"cut": "reset", "ended": "eof", "hangs": "client-closed"}
_MADE: Final = tempfile.TemporaryDirectory(prefix="conformance-scripted-")
_FAILED: Final = "HTTP 500"
_THEN_FAILED: Final = f", then {_FAILED}"
_THINKING: Final = "hosted/anthropic_thinking_text.sse"
_OVERLOADED: Final = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error",'
_TABLE: Final[list[dict[str, Any]]] = read_table(Path(__file__).parent / "scripted.yaml")
_SCRIPTED: Final = {name: row for row in _TABLE for name in row["named"]}


def recorded_pairs(captures: Path, protocols: set[str]) -> Iterator[tuple[str, Recording]]:
    """Name and both hops of every stream of these protocols."""
    for entry in json.loads((captures / "INDEX.json").read_text(encoding="utf-8")):
        if entry.get("protocol") in protocols:
            yield entry["file"], _pair(captures, entry)


def _pair(captures: Path, entry: Mapping[str, Any]) -> Recording:
    shown = open_recording(captures / entry["file"])
    if entry.get("read_error"):
        shown = _with_exchange(shown, replace(shown.exchanges[0], end="reset"))
    upstream = [each for name in entry["upstream"] for each in _upstream(captures, name, entry)]
    if (later := entry.get("second_upstream_request")) and upstream[1:]:
        asked = json.loads((captures / later).read_text(encoding="utf-8"))
        request = Request("POST", json=asked.get("body", asked))
        upstream[1] = _with_exchange(
            upstream[1], replace(upstream[1].exchanges[0], request=request)
        )
    return pair_recordings(shown, upstream)


def _upstream(captures: Path, name: str, entry: Mapping[str, Any]) -> Iterator[Recording]:
    if row := _SCRIPTED.get(name) or _SCRIPTED.get(entry["asked"]):
        lines = [_chunk(_delta(each)) for each in row["said"]]
        lines += [_chunk({}, row.get("finish", "stop")), "data: [DONE]\n\n"]
        yield _made("openai.chat", "".join(lines).encode())
    elif (named := _NAMED.fullmatch(name.removesuffix(_THEN_FAILED))) is not None:
        yield _beginning(captures, named)
    elif name != _FAILED:  # thinking that an error ends
        (begun,) = _upstream(captures, f"{_THINKING} (ended after 6 events)", entry)
        body = begun.exchanges[0].body + _OVERLOADED + b' "message": "Overloaded"}}\n\n'
        yield _with_exchange(begun, replace(begun.exchanges[0], chunks=(Chunk(body),)))
    if name.endswith(_FAILED):
        yield _failed("anthropic.messages" if "anthropic" in name else _api_of(entry))


def _beginning(captures: Path, named: re.Match[str]) -> Recording:
    recording = open_recording(captures / named[1])
    exchange = recording.exchanges[0]
    if named[2]:
        events = exchange.body.replace(b"\r\n", b"\n").split(b"\n\n")[: int(named[3])]
        body = b"".join(event + b"\n\n" for event in events)
        exchange = replace(exchange, chunks=(Chunk(body),), end=_ENDS[named[2]])
    return _with_exchange(recording, exchange)


def _failed(api: str) -> Recording:
    error = {"type": "error", "error": {"type": "server_error", "message": "nothing scripted"}}
    return _made(api, json.dumps(error).encode(), status=500, media="application/json")


def _made(api: str, body: bytes, status: int = 200, media: str = "text/event-stream") -> Recording:
    response = Response(status=status, headers=(("content-type", media),))
    exchange = Exchange(response=response, chunks=(Chunk(body),), end="eof")
    path = Path(tempfile.mkdtemp(dir=_MADE.name)) / "scripted.cassette.jsonl"
    write(path, Cassette(Header(dialect=api), (exchange,)))
    return open_recording(path)


def _api_of(entry: Mapping[str, Any]) -> str:
    if entry["protocol"].startswith("claude"):
        return "anthropic.messages"
    return "openai.responses" if entry["protocol"].startswith("codex") else "openai.chat"


def _delta(said: str | Mapping[str, str]) -> Mapping[str, str]:
    return {"content": said} if isinstance(said, str) else said


def _chunk(delta: Mapping[str, str], reason: str | None = None) -> str:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": reason}
    chunk = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n"


def _with_exchange(recording: Recording, exchange: Exchange) -> Recording:
    return replace(recording, cassette=replace(recording.cassette, exchanges=(exchange,)))


HERE: Final = Path(__file__).parent
FINDINGS: Final[dict[str, dict[str, str]]] = read_table(HERE / "hops.yaml")
LOSSES: Final[list[dict[str, Any]]] = read_table(HERE / "losses.yaml")
PROTOCOLS: Final = {
    *("vercel.ui-message-stream", "ag-ui", "claude-code.stream-json", "codex.exec-jsonl", "acp"),
    "codex.app-server",
}

pytestmark = pytest.mark.captures


@pytest.fixture(scope="module")
def found(captures: Path) -> dict[str, tuple[Finding, ...]]:
    rulebook = Rulebook.load(())
    given = {}
    for file, recording in recorded_pairs(captures, PROTOCOLS):
        hides = "sendReasoning_false" in file
        choices = CheckChoices(profile="no-reasoning" if hides else "strict")
        (result,) = check_recording(recording, rulebook, choices)
        assert Verdict.ERROR not in result.verdicts.values()
        given[file] = result.findings
    return given


def test_findings_over_both_hops_are_the_known_ones(found: dict[str, tuple[Finding, ...]]) -> None:
    over_both = {
        file: {each.rule for each in findings if each.rule.startswith("hop/")}
        for file, findings in found.items()
    }
    assert {file: rules for file, rules in over_both.items() if rules} == {
        file: set(rules) for file, rules in FINDINGS.items()
    }


def test_each_shows_the_events_of_both_hops(found: dict[str, tuple[Finding, ...]]) -> None:
    for finding in (each for findings in found.values() for each in findings):
        if finding.rule.startswith("hop/"):
            assert finding.line is not None
            assert finding.upstream is not None
            assert finding.upstream.line is not None
            assert "/apps/" not in finding.upstream.file


@pytest.mark.parametrize("row", LOSSES, ids=lambda row: str(row["upstream"]))
def test_the_table_of_losses(row: dict[str, Any], found: dict[str, tuple[Finding, ...]]) -> None:
    cells = {name: cell for name, cell in row.items() if name not in ("upstream", "only")}
    judged = {file.removeprefix("apps/").rpartition(".")[0]: each for file, each in found.items()}
    lost = {
        name: sorted({finding.rule for finding in judged[name]} & set(row["only"])) or "kept"
        for name in cells
    }
    assert lost == cells
