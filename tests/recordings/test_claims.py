"""What a recording says of itself: a rule that fails by evidence fails, or is told as silenced."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import Recording, open_recording
from conformance.cli import main
from conformance.core import shipped
from conformance.core.errors import SpecError, UsageError
from conformance.core.events import Chunk
from conformance.judging.result import Report
from conformance.profiles.lookup import available, find
from conformance.profiles.profile import Profile
from conformance.recordings.check import check_paths, check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.trust import configured_trust
from conformance.report import text
from conformance.report.files import render
from conformance.report.silences import rule_silences
from conformance.rules.verdicts import Verdict
from tests.rulebooks import rulebook

Failed = set[tuple[int, str, str]]
"""Number of an exchange, view, rule."""

_NAMED = 3  # profiles that are tried with each recording, those that change a failing rule


@cache
def known_profiles(dialect: str | None) -> tuple[Profile, ...]:
    return tuple(find(name, of) for name, of, _ in available() if of == dialect)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped mutants, where nobody trusts them."""
    folder = tmp_path_factory.mktemp("strangers") / "mutants"
    shutil.copytree(shipped.cassettes() / "mutants", folder)
    return folder


def stating(
    recording: Recording, hop: str = "", touched: tuple[str, ...] = (), **header: Any
) -> Recording:
    """The evidence of a recording, and these words of its header."""
    plain = {"profile": "strict", "fidelity": "bytes", "extra": {}}
    cassette = replace(
        recording.cassette,
        header=replace(recording.header, **plain | header),
        exchanges=tuple(replace(each, hop=hop, touched=touched) for each in recording.exchanges),
    )
    return replace(recording, cassette=cassette)


def judged(recording: Recording, *trusted: Path) -> Report:
    choices = CheckChoices(trusted=tuple(each.resolve() for each in trusted))
    return Report(tuple(check_recording(recording, rulebook(), choices)))


def failed(report: Report) -> Failed:
    return {
        (stream.exchange, stream.view, rule)
        for stream in report.streams
        for rule, verdict in stream.verdicts.items()
        if verdict is Verdict.FAIL
    }


def silenced(report: Report) -> Failed:
    return {
        (stream.exchange, stream.view, each.rule)
        for stream in report.streams
        for each in stream.changes
        if each.by == "claims"
    }


def run_of(recording: Recording, target: str = "server", **step: Any) -> dict[str, Any]:
    roles = {each.role for each in recording.exchanges}
    return {"extra": {"run": {"target": target, "steps": dict.fromkeys(roles, step)}}}


def excuses(recording: Recording, rules: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Words by which a file would say that its failures are none."""
    for target in ("", "client"):
        yield f"excused, {target}", run_of(recording, target, excused=rules)
    yield "untestable", run_of(recording, untestable="no time", ends=["complete"])
    yield "top excused", {"extra": {"run": {"excused": rules, "untestable": "so"}}}
    yield "expect", {"expect": dict.fromkeys(rules, "FAIL")}
    yield "all touched", {"touched": ("*",)}
    yield "touched", {"touched": tuple(rules)}


def claims(recording: Recording, rules: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Words that are taken, and by which rules fall silent."""
    for target in ("server", "gateway", "client"):
        for hop in ("", "upstream", "downstream", "app"):
            ends = ["complete", "refused", "failed", "cut", "length"]
            yield f"{target} {hop}", {"hop": hop, **run_of(recording, target, ends=ends)}
    chance = {"target": "server", "deterministic": False}
    yield "chance", {"extra": {"run": chance}}
    for fidelity in ("text", "events"):
        yield fidelity, {"fidelity": fidelity}
    yield "implementation", {"extra": {"implementation": {"name": "none", "events": []}}}
    for hop in ("upstream", "downstream", "app"):
        yield hop, {"hop": hop}
    for profile in _profiles_against(recording, rules):
        yield profile, {"profile": profile}
        yield f"{profile}, events", {"profile": profile, "fidelity": "events"}
        yield f"{profile}, run", {"profile": profile, **run_of(recording)}


def _profiles_against(recording: Recording, rules: list[str]) -> list[str]:
    dialect = recording.header.dialect
    about = [each for each in rulebook().rules if each.id in rules]
    found = {
        silence.profile
        for rule in about
        for silence in rule_silences(rule, known_profiles(dialect))
    }
    return sorted(found - {"strict"}, key=lambda name: (name != "lenient", name))[:_NAMED]


def assert_reported(folder: Path, every: int, step: int) -> tuple[int, int]:
    """Tries one of `every` recordings, with every `step`-th excuse and claim."""
    tried, honoured = 0, 0
    for path in sorted(folder.rglob("*.jsonl"))[::every]:
        recording = open_recording(path)
        evident = failed(judged(stating(recording)))
        rules = sorted({rule for _, _, rule in evident})
        if not rules:
            continue
        tried += 1
        for name, words in list(excuses(recording, rules))[tried % step :: step]:
            report = judged(stating(recording, **words))
            assert evident <= failed(report), f"{path.name}: {name}"
        for name, words in list(claims(recording, rules))[tried % step :: step]:
            report = judged(stating(recording, **words))
            hushed = evident - failed(report)
            assert hushed <= silenced(report), f"{path.name}: {name}"
            if hushed:
                honoured += 1
                assert report.exit_code(require_exercised=True) == 1, f"{path.name}: {name}"
    return tried, honoured


@pytest.mark.slow
def test_no_word_of_a_recording_silences_a_rule_unseen(elsewhere: Path) -> None:
    tried, honoured = assert_reported(elsewhere, 4, 13)
    assert tried > 150
    assert honoured > 10


@pytest.mark.long
def test_no_word_of_any_recording_silences_a_rule_unseen(elsewhere: Path) -> None:
    tried, honoured = assert_reported(elsewhere, 1, 1)
    assert tried > 150
    assert honoured > 300


def refused(recording: Recording) -> Recording:
    """The evidence, each of its answers under a status that says there is none."""
    plain = stating(recording)
    exchanges = tuple(
        replace(each, response=replace(each.response, status=500) if each.response else None)
        for each in plain.exchanges
    )
    return replace(plain, cassette=replace(plain.cassette, exchanges=exchanges))


def test_a_status_hides_no_fault_of_an_answer(elsewhere: Path) -> None:
    heard = 0
    for path in sorted(elsewhere.rglob("*.jsonl"))[::17]:
        recording = open_recording(path)
        evident, report = failed(judged(stating(recording))), judged(refused(recording))
        nothing_came = {each.exchange for each in report.streams if not each.framing or each.error}
        hushed = {each for each in evident - failed(report) if each[0] not in nothing_came}
        assert hushed <= silenced(report), path.name
        heard += bool(evident & failed(report))
    assert heard > 20


def test_what_is_neither_answer_nor_error_is_counted_under_a_status(elsewhere: Path) -> None:
    recording = open_recording(elsewhere / "wire/chat/done-present.cassette.jsonl")
    (exchange,) = refused(recording).exchanges
    silent = replace(exchange, chunks=(Chunk(b"data: {}\n\n"),))
    cassette = replace(recording.cassette, exchanges=(silent,))
    report = judged(replace(recording, cassette=cassette))
    assert not failed(report)
    assert "the recording's own status" in report.silenced
    assert report.exit_code(require_exercised=True) == 1


def test_a_failure_is_reported_where_a_recording_says_that_redaction_touched_it(
    elsewhere: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (elsewhere / "wire/chat/done-present.cassette.jsonl").read_text("utf-8").splitlines()
    end = json.loads(lines[-1])
    assert "end" in end
    lines[-1] = json.dumps({**end, "touched": ["*"]})
    path = tmp_path / "touched.cassette.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["check", str(path)]) == 1
    assert "wire/chat/done-present" in capsys.readouterr().out
    assert main(["check", str(path), "--trust", str(path)]) == 0


PLAYED: dict[str, Any] = {"extra": {"run": {"target": "server"}}}


def test_untrusted_claim_of_our_answer_is_judged(
    elsewhere: Path,
) -> None:
    """As it is of requests: `hop: upstream` in a run means that the toolkit played the server."""
    path = elsewhere / "wire/chat/done-present.cassette.jsonl"
    evidence = open_recording(path)
    plain = failed(judged(stating(evidence)))
    assert plain
    exchange = stating(evidence, hop="upstream", **PLAYED)
    assert failed(judged(exchange)) == plain
    assert judged(exchange).exit_code() == 1
    assert judged(exchange, path).exit_code() == 0


def excused(folder: Path) -> tuple[Path, str]:
    """A mutant whose header says that its one failure is none, and the rule that fails."""
    source = shipped.cassettes() / "mutants/wire/chat/done-present.cassette.jsonl"
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0])
    header["run"] = {"steps": {"": {"excused": ["wire/chat/done-present"]}}}
    request = json.loads(lines[1])
    header["run"]["steps"][request.get("role", "")] = header["run"]["steps"][""]
    path = folder / "excused.cassette.jsonl"
    path.write_text(json.dumps(header) + "\n" + "".join(lines[1:]), encoding="utf-8")
    return path, "wire/chat/done-present"


def test_only_user_says_what_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, rule = excused(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    for trust, verdict in (
        ([], Verdict.FAIL),
        ([other], Verdict.FAIL),
        ([path], Verdict.NOT_APPLICABLE),
        ([tmp_path], Verdict.NOT_APPLICABLE),
        ([shipped.cassettes()], Verdict.FAIL),
    ):
        assert check_paths([path], trust=trust).verdicts[rule] is verdict
    link = other / "linked.cassette.jsonl"
    link.symlink_to(path)
    assert check_paths([link], trust=[other]).verdicts[rule] is Verdict.FAIL
    with pytest.raises(UsageError, match="no such file or folder"):
        check_paths([path], trust=[tmp_path / "nothing"])
    monkeypatch.chdir(tmp_path)
    assert main(["check", str(path)]) == 1
    assert main(["check", str(path), "--trust", "."]) == 0
    Path("conformance.yaml").write_text("trust: other", encoding="utf-8")
    assert main(["check", str(path)]) == 1
    Path("conformance.yaml").write_text("trust: .", encoding="utf-8")
    assert main(["check", str(path)]) == 0


def test_the_configuration_names_trusted_paths(tmp_path: Path) -> None:
    assert configured_trust(tmp_path) == ()
    file = tmp_path / "conformance.yaml"
    (tmp_path / "runs").mkdir()
    for words, found in (
        ("trust: runs", (tmp_path / "runs",)),
        ("trust: [runs, .]", (tmp_path / "runs", tmp_path)),
        ("trust: []", ()),
    ):
        file.write_text(words, encoding="utf-8")
        assert configured_trust(tmp_path) == tuple(each.resolve() for each in found)
    for words in ("trusted: runs", "trust: {a: b}", "- runs"):
        file.write_text(words, encoding="utf-8")
        with pytest.raises(SpecError):
            configured_trust(tmp_path)


def test_what_silenced_a_rule_is_reported_everywhere(elsewhere: Path) -> None:
    recording = open_recording(elsewhere / "wire/chat/done-present.cassette.jsonl")
    report = judged(stating(recording, fidelity="events", profile="lenient"))
    (by,) = {by for by, rules in report.silenced.items() if "wire/chat/done-present" in rules}
    for name in ("text", "json", "markdown", "html", "junit", "sarif", "github"):
        assert by in html.unescape(render(report, name)), name
    assert "silenced" in text.render(report)
    assert "was FAIL; claims: " in text.render(report, verbose=True)


def test_a_profile_that_a_stream_shows_is_reported_as_what_silenced(elsewhere: Path) -> None:
    """The signs of a profile are fields that a sender may send or not."""
    for path in sorted((elsewhere / "wire/chat").rglob("*.jsonl")):
        recording = open_recording(path)
        evident = failed(judged(stating(recording)))
        report = judged(stating(recording, profile=None))
        assert evident - failed(report) <= silenced(report), path.name
