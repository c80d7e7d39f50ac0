"""Conversations whose exchanges stand in files of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from conformance.cassette import Cassette, Header, write
from conformance.cli import app
from conformance.core.events import Exchange
from conformance.judging.result import Report
from conformance.recordings import linked_files
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.evidence.links import edits
from tests.evidence.links.talks import TALKERS, TEXT, history_of, talk, with_history
from tests.evidence.links.test_repeated_faults import edited, without_result

SEALED: Final = {
    "messages": "history/messages/signed-unchanged",
    "responses": "history/responses/sealed-unchanged",
    "google": "history/chat/signed-calls",
    "openrouter": "history/chat/details-signed",
    "mistral": "history/mistral/signature-unchanged",
    "gemini": "history/gemini/signed-unchanged",
    "interactions": "history/interactions/signed-unchanged",
    "converse": "history/converse/signed-unchanged",
}
MESSAGES: Final = "messages"
SIGNED: Final = SEALED[MESSAGES]


def filed(folder: Path, name: str, exchanges: Sequence[Exchange], files: str = "turn") -> None:
    """Writes each exchange into a file of its own."""
    talker = TALKERS[name]
    header = Header(dialect=talker.dialect, profile=talker.profile)
    folder.mkdir(exist_ok=True)
    for number, each in enumerate(exchanges, 1):
        cassette = Cassette(header, (replace(each, number=1),))
        write(folder / f"{files}-{number}.cassette.jsonl", cassette)


def altered(exchanges: Sequence[Exchange], name: str, edit: edits.Edit, at: int) -> list[Exchange]:
    """The exchanges, with another history in one of them."""
    key = TALKERS[name].history
    changed = with_history(exchanges[at], key, edit(history_of(exchanges[at], key)))
    return [*exchanges[:at], changed, *exchanges[at + 1 :]]


def history_findings(report: Report) -> list[tuple[str, str]]:
    """Rules of the history that fail, each with the file in which."""
    return [
        (finding.rule, Path(stream.file).name.partition(".")[0])
        for stream in report.streams
        for finding in stream.findings
        if finding.rule.startswith("history/")
    ]


def linked(report: Report) -> dict[str, list[tuple[str, str]]]:
    """What each file carries on: the other file, and the evidence."""
    return {
        Path(stream.file).name.partition(".")[0]: [
            (Path(each.file).name.partition(".")[0], each.evidence) for each in stream.links
        ]
        for stream in report.streams
        if stream.links
    }


@pytest.mark.parametrize("name", TALKERS)
def test_turns_in_files_of_their_own_are_linked(name: str, tmp_path: Path) -> None:
    filed(tmp_path, name, talk(TALKERS[name]))
    report = check_paths([tmp_path])
    assert history_findings(report) == []
    found = {file: [other for other, _ in links] for file, links in linked(report).items()}
    assert found == {
        "turn-2": ["turn-1"],
        "turn-3": ["turn-1", "turn-2"],
        "turn-4": ["turn-1", "turn-2", "turn-3"],
    }


@pytest.mark.parametrize("name", SEALED)
@pytest.mark.parametrize(
    "edit", [edits.cut(edits.SEALS[0]), edits.signed_anew(edits.SEALS[0])], ids=["cut", "anew"]
)
def test_what_is_altered_on_its_way_is_found(name: str, edit: edits.Edit, tmp_path: Path) -> None:
    filed(tmp_path, name, altered(talk(TALKERS[name]), name, edit, 2))
    report = check_paths([tmp_path])
    assert (SEALED[name], "turn-3") in history_findings(report)
    (finding,) = (f for s in report.streams for f in s.findings if f.rule == SEALED[name])
    assert "turn-1.cassette.jsonl" in finding.message
    assert finding.upstream is not None
    assert finding.upstream.file == str(tmp_path / "turn-1.cassette.jsonl")
    assert finding.upstream.exchange == 1
    assert finding.upstream.line is not None


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    exchanges = altered(talk(TALKERS[MESSAGES]), MESSAGES, edits.cut(edits.SEALS[0]), 2)
    filed(tmp_path, MESSAGES, exchanges[::-1])
    assert history_findings(check_paths([tmp_path])) == [(SIGNED, "turn-2")]


def test_half_a_conversation_says_nothing_of_the_other_half(tmp_path: Path) -> None:
    exchanges = altered(talk(TALKERS[MESSAGES]), MESSAGES, edits.cut(edits.SEALS[0]), 2)
    filed(tmp_path, MESSAGES, exchanges[1:])
    report = check_paths([tmp_path])
    assert history_findings(report) == []
    assert all("turn-0" not in str(links) for links in linked(report).values())


def test_the_same_session_recorded_twice_is_one(tmp_path: Path) -> None:
    exchanges = altered(talk(TALKERS[MESSAGES]), MESSAGES, edits.cut(edits.SEALS[0]), 2)
    filed(tmp_path, MESSAGES, exchanges, "first")
    filed(tmp_path, MESSAGES, exchanges, "second")
    found = history_findings(check_paths([tmp_path]))
    assert found
    assert {rule for rule, _ in found} == {SIGNED}


def _signed_otherwise(exchange: Exchange) -> Exchange:
    chunks = tuple(
        replace(each, data=each.data.replace(edits.SEALS[0].encode(), b"AnotherSealAltogether=="))
        for each in exchange.chunks
    )
    return replace(exchange, chunks=chunks)


def test_two_answers_that_fit_and_differ_leave_it_open(tmp_path: Path) -> None:
    exchanges = talk(TALKERS[MESSAGES])
    filed(tmp_path, MESSAGES, exchanges[:2])
    filed(tmp_path, MESSAGES, [_signed_otherwise(exchanges[0])], "again")
    report = check_paths([tmp_path])
    (stream,) = (s for s in report.streams if s.links)
    assert stream.verdicts[SIGNED] is Verdict.UNTESTABLE
    assert "fit this turn alike, and differ in it" in stream.reasons[SIGNED]
    assert "1 of again-1.cassette.jsonl" in stream.reasons[SIGNED]
    assert stream.links[0].other_files


def test_what_the_same_file_holds_is_not_sought_elsewhere(tmp_path: Path) -> None:
    exchanges = talk(TALKERS[MESSAGES])
    header = Header(dialect=TALKERS[MESSAGES].dialect)
    write(tmp_path / "whole.cassette.jsonl", Cassette(header, tuple(exchanges)))
    filed(tmp_path, MESSAGES, [_signed_otherwise(exchanges[0])], "again")
    report = check_paths([tmp_path])
    assert history_findings(report) == []
    assert not any(link.file for stream in report.streams for link in stream.links)


def _with_question(exchange: Exchange, text: str) -> Exchange:
    """The same exchange, in a talk that began with another question."""
    key = TALKERS[MESSAGES].history

    def asked(history: list[Any]) -> list[Any]:
        return [{"role": "user", "content": text}, *history[1:]]

    return with_history(exchange, key, asked(history_of(exchange, key)))


def _signed(seal: str) -> dict[str, str]:
    return {"type": "thinking", "thinking": "Once more.", "signature": seal}


def test_the_text_alone_makes_nobody_guilty(tmp_path: Path) -> None:
    """Another talk may have said the same: what it was signed with is not this one's."""
    key = TALKERS[MESSAGES].history
    *_, answered, last = talk(TALKERS[MESSAGES])
    body = json.loads(answered.body)
    body["content"].insert(0, _signed("SignedHereOnly=="))
    answered = replace(answered, chunks=(replace(answered.chunks[0], data=_encoded(body)),))
    held = history_of(last, key)
    turn = next(each for each in held if TEXT in json.dumps(each, ensure_ascii=False))
    content = [_signed("SignedElsewhere=="), *turn["content"]]
    only = [held[0], {"role": "assistant", "content": content}, held[-1]]
    filed(tmp_path, MESSAGES, [answered, _with_question(with_history(last, key, only), "Hello?")])
    report = check_paths([tmp_path])
    assert history_findings(report) == []
    (stream,) = (s for s in report.streams if s.links)
    left_open = [rule for rule, why in stream.reasons.items() if "but what it shows" in why]
    assert left_open
    assert {stream.verdicts[rule] for rule in left_open} == {Verdict.UNTESTABLE}


def _calls_alone(history: list[Any]) -> list[Any]:
    """The history as one writes it by hand: a call without thought, signature or id."""
    kept = [
        {**turn, "parts": [_bare(each) for each in turn["parts"] if not each.get("thought")]}
        for turn in history
    ]
    return [turn for turn in kept if turn["parts"]]


def _bare(part: dict[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in part.items() if key != "thoughtSignature"}
    for key in ("functionCall", "functionResponse"):
        if key in plain:
            plain[key] = {name: value for name, value in plain[key].items() if name != "id"}
    return plain


def test_the_same_call_in_two_files_makes_nobody_guilty(tmp_path: Path) -> None:
    """A model that is asked the same again makes the same call, and tests ask so all the time."""
    exchanges = talk(TALKERS["gemini"])[:2]
    body = _calls_alone([json.loads(exchanges[0].body)["candidates"][0]["content"]])
    assert any("functionCall" in part for part in body[0]["parts"])
    changed = altered(exchanges, "gemini", _calls_alone, at=1)
    filed(tmp_path, "gemini", changed)
    report = check_paths([tmp_path])
    assert history_findings(report) == []
    (stream,) = (each for each in report.streams if each.links)
    assert stream.verdicts["history/gemini/signed-in-place"] is Verdict.UNTESTABLE


def _encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()


def test_two_talks_side_by_side_stay_apart(tmp_path: Path) -> None:
    filed(tmp_path, MESSAGES, talk(TALKERS[MESSAGES]), "one")
    filed(tmp_path, "converse", talk(TALKERS["converse"]), "two")
    report = check_paths([tmp_path])
    assert history_findings(report) == []
    for file, links in linked(report).items():
        assert {other.partition("-")[0] for other, _ in links} == {file.partition("-")[0]}


def test_reports_show_the_file_and_the_evidence(tmp_path: Path) -> None:
    filed(tmp_path, MESSAGES, talk(TALKERS[MESSAGES])[:2])
    result = CliRunner().invoke(app, ["check", str(tmp_path), "-v"])
    assert "continues the answer of exchange 1 of turn-1.cassette.jsonl" in result.output
    assert "(evidence: call call00001)" in result.output
    result = CliRunner().invoke(app, ["check", str(tmp_path), "--format", "json"])
    links = [link for each in json.loads(result.stdout)["streams"] for link in each["links"]]
    assert [link["file"] for link in links] == [str(tmp_path / "turn-1.cassette.jsonl")]


def test_large_conversation_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filed(tmp_path, MESSAGES, talk(TALKERS[MESSAGES])[:2])
    monkeypatch.setattr(linked_files, "MOST_BYTES", 100)
    report = check_paths([tmp_path])
    assert linked(report) == {}
    (note,) = (each for each in report.notes if "are not linked" in each)
    assert note.startswith("2 files that continue each other, turn-1.cassette.jsonl among them")


@pytest.mark.parametrize("name", ["messages", "deepseek", "mistral"])
def test_a_fault_that_files_repeat_is_one_of_the_first(name: str, tmp_path: Path) -> None:
    filed(tmp_path, name, edited(name, 1, without_result))
    report = check_paths([tmp_path])
    assert history_findings(report) == [("history/calls/answered", "turn-2")]
    given = [each.reasons.get("history/calls/answered") for each in report.streams]
    where = "reported in exchange 1 of turn-2.cassette.jsonl"
    assert given[2:] == [where] * 2
