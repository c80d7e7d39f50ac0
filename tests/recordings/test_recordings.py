"""Dialects and profiles are chosen openly; scenarios and comparisons span exchanges."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance import Verdict
from conformance.cassette import Recording, open_recording
from conformance.core.errors import SpecError, UsageError
from conformance.core.events import Exchange
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_paths, check_recording
from conformance.recordings.choices import CheckChoices

CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def stream(text: str, thought: str = "") -> str:
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": thought}] if thought else []
    deltas += [{"content": text}, {}]
    lines = []
    for at, delta in enumerate(deltas):
        reason = "stop" if at == len(deltas) - 1 else None
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        lines.append(f"data: {json.dumps({**CHUNK, 'choices': [choice]})}\n\n")
    return "".join([*lines, "data: [DONE]\n\n"])


def cassette(path: Path, *exchanges: tuple[str, str], profile: str = "strict") -> Path:
    """A cassette whose exchanges have a role and a body."""
    head_line: dict[str, object] = {"cassette": "1.0", "origin": "synthetic"}
    records = [head_line | {"dialect": "openai.chat", "profile": profile}]
    for number, (role, body) in enumerate(exchanges, 1):
        request = {"method": "POST", "path": "/v1/chat/completions", "headers": [], "json": {}}
        head = {"status": 200, "http": "1.1", "headers": [["content-type", "text/event-stream"]]}
        records += [
            {"request": request, "exchange": number, "role": role},
            {"response": head, "exchange": number, "ms": 1.0},
            {"ms": 0.5, "text": body, "exchange": number},
            {"end": "eof", "exchange": number},
        ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def suite(path: Path, rule: str) -> Path:
    head = "suite: own/rules\nevents: {}\nrules:\n"
    base = "  - {id: it, level: SHOULD, says: It is so., since: 0.1.0, source: {advice: ours}, "
    path.write_text(f"{head}{base}{rule}}}\n", encoding="utf-8")
    return path


def test_comparison_spans_exchanges_and_stands_with_the_last(tmp_path: Path) -> None:
    rule = (
        "compare: {left: {role: plain, over: text.delta, take: text}, "
        "right: {role: opted-in, over: text.delta, take: text}, are: equal}"
    )
    own = str(suite(tmp_path / "own.yaml", rule))
    same = cassette(
        tmp_path / "same.cassette.jsonl", ("plain", stream("4")), ("opted-in", stream("4", "2+2"))
    )
    differs = cassette(
        tmp_path / "differs.cassette.jsonl", ("plain", stream("4")), ("opted-in", stream("5"))
    )
    alone = cassette(tmp_path / "alone.cassette.jsonl", ("plain", stream("4")))
    found = {
        path.name: check_paths([path], suites=[own]).verdicts["own/rules/it"]
        for path in (same, differs, alone)
    }
    assert list(found.values()) == [Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE]
    report = check_paths([differs], suites=[own])
    assert [len(result.findings) for result in report.streams] == [0, 1]
    assert "'4'" in report.findings[0].message


def test_scenario_scope_goes_on_over_exchanges(tmp_path: Path) -> None:
    rule = "scope: scenario, values: {of: text.delta, path: text, are: distinct}"
    own = str(suite(tmp_path / "own.yaml", rule))
    path = cassette(tmp_path / "two.cassette.jsonl", ("a", stream("4")), ("b", stream("4")))
    report = check_paths([path], suites=[own])
    assert report.verdicts["own/rules/it"] is Verdict.FAIL
    (finding,) = report.findings
    assert finding in report.streams[1].findings
    assert (finding.event, finding.line) == (2, 8)


def test_exchange_scope_does_not(tmp_path: Path) -> None:
    rule = "values: {of: text.delta, path: text, are: distinct}"
    own = str(suite(tmp_path / "own.yaml", rule))
    path = cassette(tmp_path / "two.cassette.jsonl", ("a", stream("4")), ("b", stream("4")))
    assert check_paths([path], suites=[own]).findings == ()


class _CountedExchanges(tuple[Exchange, ...]):
    """Exchanges that count how often somebody goes through them."""

    __slots__ = ()

    passes = 0

    def __iter__(self) -> Iterator[Exchange]:
        type(self).passes += 1
        return super().__iter__()


def test_a_recording_is_not_searched_again_for_each_exchange(tmp_path: Path) -> None:
    path = cassette(tmp_path / "a.cassette.jsonl", *[("", "")] * 40)
    found = open_recording(path)
    counted = _CountedExchanges(found.exchanges)
    found = replace(found, cassette=replace(found.cassette, exchanges=counted))
    assert len(check_recording(found, Rulebook.load(), CheckChoices())) == len(counted)
    assert 0 < _CountedExchanges.passes < len(counted)


def test_a_stated_dialect_that_the_stream_contradicts_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "chat.sse"
    path.write_text(stream("4"), encoding="utf-8")
    report = check_paths([path], dialect="openai.responses")
    assert report.streams == ()
    assert "openai.chat" in report.errors[0]


def test_a_profile_that_nobody_named_is_called_assumed(tmp_path: Path) -> None:
    path = tmp_path / "chat.sse"
    path.write_text(stream("4"), encoding="utf-8")
    assert check_paths([path]).streams[0].named is False
    assert check_paths([path], profile="openai").streams[0].named is True


def test_one_broken_file_does_not_stop_the_others(tmp_path: Path) -> None:
    good = tmp_path / "a.sse"
    good.write_text(stream("4"), encoding="utf-8")
    (tmp_path / "b.cassette.jsonl").write_text('{"cassette":"9.0"}\n', encoding="utf-8")
    report = check_paths([tmp_path], profile="openai")
    assert [Path(result.file).name for result in report.streams] == ["a.sse"]
    assert len(report.errors) == 1
    assert report.exit_code() == 2


FAILING = {
    "reader": ("conformance.cassette.importers.mitmproxy.read_netstrings", "a.mitm"),
    "look into a folder": ("conformance.cassette.importers.mitmproxy._BEGINNING", "a.mitm"),
    "judge": ("conformance.recordings.check.check_untrusted", "a.cassette.jsonl"),
}


@pytest.mark.parametrize("where", FAILING)
def test_bug_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    target, name = FAILING[where]
    cassette(tmp_path / "a.cassette.jsonl", ("plain", stream("4")))
    (tmp_path / "a.mitm").write_bytes(b"12:4:type;1:a;}")
    (tmp_path / "b.sse").write_text(stream("4"), encoding="utf-8")

    def failing(recording: Recording, *_: object) -> object:
        if where == "judge" and recording.path.name != name:
            return []
        raise ZeroDivisionError

    monkeypatch.setattr(target, failing)
    report = check_paths([tmp_path])
    [error] = (each for each in report.errors if name in each)
    assert re.search(rf"{name}: internal error: \w+Error in conformance/\S+:\d+ \(our fault", error)
    assert report.streams or where == "judge"
    assert report.exit_code() == 2


def test_a_path_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UsageError, match="no such file"):
        check_paths(["nowhere.sse"])


def test_a_knob_that_no_profile_declares_is_an_error_with_its_place(tmp_path: Path) -> None:
    rule = "fold: {over: text.delta, take: text, lacks: $nothing_like_it}"
    own = suite(tmp_path / "own.yaml", rule)
    path = tmp_path / "chat.sse"
    path.write_text(stream("4"), encoding="utf-8")
    with pytest.raises(SpecError, match="nothing_like_it") as caught:
        check_paths([path], suites=[str(own)])
    assert caught.value.place is not None
    assert caught.value.place.file == str(own)


def test_globs_select_rules_and_a_glob_for_nothing_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "chat.sse"
    path.write_text(stream("4"), encoding="utf-8")
    report = check_paths([path], rules=["wire/chat/done-*"])
    assert set(report.verdicts) == {
        "wire/chat/done-last",
        "wire/chat/done-once",
        "wire/chat/done-present",
    }
    with pytest.raises(UsageError, match="no rule matches"):
        check_paths([path], rules=["wire/chat/dun-*"])
