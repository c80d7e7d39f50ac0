"""Both hops of an application: which answers belong together, and what is shown of a difference."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from conformance.cassette import open_recording
from conformance.cli import app
from conformance.core.errors import UsageError
from conformance.core.events import Exchange
from conformance.core.shipped import cassettes
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.evidence.application import provider_answers, read_answer
from conformance.evidence.side_content import read_content
from conformance.judging.group_id import group_id
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_paths, check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.verdicts import Verdict
from tests.evidence.two_hops import SIGNED
from tests.plain_results import plain_finding

LOOP: Final = cassettes() / "vercel.ui/ai-sdk/hops-tool-loop.cassette.jsonl"
AGUI: Final = cassettes() / "agui/agent/hops-signed.cassette.jsonl"


def test_an_application_stands_against_all_calls_after_it() -> None:
    recording = open_recording(LOOP)
    shown = recording.exchanges[0]
    assert [each.number for each in provider_answers(recording, shown)] == [2, 3]


def test_of_several_turns_each_has_what_stands_after_it_or_its_role() -> None:
    recording = open_recording(LOOP)
    shown, one, two = recording.exchanges
    turns = (one, shown, two, replace(shown, number=4), replace(two, number=5))
    numbered = tuple(replace(each, number=n) for n, each in enumerate(turns, 1))
    held = replace(recording, cassette=replace(recording.cassette, exchanges=numbered))
    upstream = [[e.number for e in provider_answers(held, numbered[n])] for n in (1, 3)]
    assert upstream == [[1, 3], [5]]
    named = tuple(replace(each, role="b" if each.number in (1, 4) else "a") for each in numbered)
    held = replace(recording, cassette=replace(recording.cassette, exchanges=named))
    assert [e.number for e in provider_answers(held, named[1])] == [3, 5]
    assert [e.number for e in provider_answers(held, named[3])] == [1]


@pytest.mark.parametrize(
    ("names", "is_lost"),
    [
        ({}, True),
        ({"previous_response_id": "resp_1"}, False),
        ({"conversation": "conv_1"}, False),
        # A template that is kept holds no answer.
        ({"prompt": {"id": "pmpt_1"}}, True),
    ],
)
def test_provider_state_need_not_be_sent_back(names: dict[str, object], *, is_lost: bool) -> None:
    recording = open_recording(LOOP)
    shown, one, two = recording.exchanges
    result = {"type": "function_call_output", "call_id": "call_1", "output": "5"}
    assert two.request is not None
    asked = replace(two.request, json={"input": [result], "store": True, **names})
    held = replace(
        recording,
        cassette=replace(recording.cassette, exchanges=(shown, one, replace(two, request=asked))),
    )
    first = check_recording(held, Rulebook.load(()), CheckChoices(profile="strict"))[0]
    assert ("hop/opaque-returned" in {each.rule for each in first.findings}) is is_lost


@pytest.mark.parametrize(
    ("named", "profiles"),
    [
        ("ai-7", ["ai-7", "strict", "strict"]),
        ("deepseek", ["strict", "deepseek", "deepseek"]),
        ("strict", ["strict", "strict", "strict"]),
        (None, ["strict", "strict", "strict"]),
    ],
)
@pytest.mark.parametrize("by", ["the user", "the recording"])
def test_unknown_profile_is_the_providers(named: str | None, profiles: list[str], by: str) -> None:
    recording = open_recording(LOOP)
    chosen = named if by == "the user" else None
    stated = named if by == "the recording" else None
    header = replace(recording.header, profile=stated)
    held = replace(recording, cassette=replace(recording.cassette, header=header))
    results = check_recording(held, Rulebook.load(()), CheckChoices(profile=chosen))
    assert [each.profile for each in results] == profiles


def test_a_profile_that_nobody_has_is_a_wrong_call() -> None:
    recording = open_recording(LOOP)
    with pytest.raises(UsageError, match=r"no profile 'ai-70' for vercel\.ui"):
        check_recording(recording, Rulebook.load(()), CheckChoices(profile="ai-70"))


def test_parts_of_several_calls_are_one_side() -> None:
    recording = open_recording(LOOP)
    content = read_content(
        [
            read_answer(each, get("openai.responses"), Reading()).transcript
            for each in recording.exchanges[1:]
        ]
    )
    assert [part.kind for part in content.parts] == ["thinking", "tool", "thinking", "text"]
    assert [kind for kind, _ in content.order] == ["thinking", "tool", "thinking", "text"]
    assert [place.answer for _, place in content.order] == [0, 0, 1, 1]
    whole = "".join(part.text for part in content.of("thinking"))
    first = content.of("thinking")[0]
    assert content.place_of(content.of("thinking"), 0) == first.pieces[0][0]
    assert content.place_of(content.of("thinking"), len(whole)) == content.last


def test_markers_upstream_are_thinking_wherever_nobody_says_so() -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    text = "<think>Two and two.</think>It is 4."
    choices = [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]
    body = f"data: {json.dumps({**chunk, 'choices': choices})}\n\ndata: [DONE]\n\n"
    exchange = open_recording(LOOP).exchanges[0]
    chunks = (replace(exchange.chunks[0], data=body.encode()),)
    upstream = replace(exchange, hop="upstream", chunks=chunks, dialect="openai.chat")
    read = read_answer(upstream, get("openai.chat"), Reading()).transcript
    assert ("".join(read.thinking), "".join(read.text)) == ("Two and two.", "It is 4.")
    read = read_answer(replace(upstream, hop="app"), get("openai.chat"), Reading()).transcript
    assert "".join(read.text) == text


@pytest.fixture
def two_files(tmp_path: Path) -> tuple[Path, Path]:
    """What an application sent, without its signature; and what was said to it."""
    shown, upstream = open_recording(SIGNED).exchanges
    lines = [line for line in shown.body.split(b"\n\n") if b"signature" not in line]
    (tmp_path / "app.sse").write_bytes(b"\n\n".join(lines))
    (tmp_path / "model.sse").write_bytes(upstream.body)
    return tmp_path / "app.sse", tmp_path / "model.sse"


def test_the_other_hop_may_stand_in_a_file_of_its_own(two_files: tuple[Path, Path]) -> None:
    shown, upstream = two_files
    report = check_paths([shown], upstream=[upstream])
    assert [stream.dialect for stream in report.streams] == ["vercel.ui"]
    assert report.verdicts["hop/thinking"] is Verdict.PASS
    (finding,) = report.findings
    assert finding.rule == "hop/opaque"
    assert finding.upstream is not None
    assert finding.upstream.file == str(upstream)
    assert finding.upstream.type == "content_block_delta"
    line = upstream.read_text(encoding="utf-8").splitlines()[(finding.upstream.line or 0) - 1]
    assert "event: content_block_delta" in line or "signature_delta" in line


@pytest.mark.parametrize("format_", ["text", "json", "markdown", "html"])
def test_reports_show_both_events(two_files: tuple[Path, Path], format_: str) -> None:
    shown, upstream = two_files
    asked = ["check", str(shown), "--upstream", str(upstream), "--format", format_]
    result = CliRunner().invoke(app, asked)
    assert "hop/opaque" in result.output
    assert "model.sse" in result.output
    assert "signature_delta" in result.output.replace("\\_", "_")


def test_files_of_both_hops_are_given_for_one_answer(two_files: tuple[Path, Path]) -> None:
    (error,) = check_paths([LOOP], upstream=[two_files[1]]).errors
    assert "--upstream goes with a recording of one answer" in error


def test_the_dialect_that_is_named_is_that_of_the_application(two_files: tuple[Path, Path]) -> None:
    shown, upstream = two_files
    report = check_paths([shown], upstream=[upstream], dialect="vercel.ui", profile="strict")
    assert not report.errors
    assert [finding.rule for finding in report.findings] == ["hop/opaque"]


@pytest.mark.parametrize("hop", ["upstream", ""])
def test_named_dialect_is_not_of_the_upstream_hop(hop: str, tmp_path: Path) -> None:
    """A cassette with both, whose provider's exchange names no dialect or its own."""
    lines = [json.loads(line) for line in SIGNED.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line.get("hop") == "upstream" and not hop:
            line.pop("dialect", None)
    held = tmp_path / "both.cassette.jsonl"
    held.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = check_paths([held], dialect="vercel.ui")
    assert not report.errors
    assert report.verdicts["hop/text"] is Verdict.PASS


_NO_API: Final = 'data: {"hello": 1}\n\n'


def test_an_error_names_the_file_that_has_it(two_files: tuple[Path, Path], tmp_path: Path) -> None:
    shown, upstream = two_files
    unknown = tmp_path / "unknown.sse"
    unknown.write_text(_NO_API, encoding="utf-8")
    (error,) = check_paths([shown], upstream=[unknown]).errors
    assert error.startswith(f"{unknown}: no known dialect")
    assert "--dialect NAME makes a cassette" in error
    (error,) = check_paths([shown], upstream=[upstream], dialect="agui").errors
    assert error.startswith(f"{shown}: the stated dialect is agui")
    (error,) = check_paths([upstream], upstream=[shown]).errors
    assert error.startswith(f"{shown}: --upstream takes what a provider sent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="empty: no recording for --upstream"):
        check_paths([shown], upstream=[tmp_path / "empty"])


def test_what_an_application_is_reported_to_hide_is_found_in_any_field() -> None:
    mutant = cassettes() / "mutants/hop/thinking-hidden.cassette.jsonl"
    report = check_paths([mutant])
    assert {finding.rule for finding in report.findings} == {"hop/thinking-hidden"}
    shown = check_paths([mutant], profile="strict")
    assert {finding.rule for finding in shown.findings} == {"hop/thinking", "hop/opaque"}


@pytest.mark.parametrize(
    ("reason", "broken"),
    [("interrupted", set()), ("error", set()), ("other", {"hop/failure-no-success"})],
)
def test_reason_may_be_a_break(two_files: tuple[Path, Path], reason: str, broken: set[str]) -> None:
    """AI SDK 7 finishes as `interrupted` where its provider's stream has no end."""
    shown, upstream = two_files
    begun = upstream.read_bytes().partition(b"event: message_delta")[0]
    upstream.write_bytes(begun)
    shown.write_bytes(shown.read_bytes().replace(b'"stop"', f'"{reason}"'.encode()))
    report = check_paths([shown], upstream=[upstream])
    expected = {"hop/failure-no-success", "hop/failure-told"}
    assert {finding.rule for finding in report.findings} & expected == broken
    assert (report.verdicts.get("hop/failure-told") is Verdict.PASS) is (not broken)


@pytest.mark.parametrize(
    ("upstream", "broken"), [("openrouter/overlapping-items", False), ("demo/summary", True)]
)
def test_parts_may_overlap_as_the_providers(tmp_path: Path, upstream: str, broken: bool) -> None:
    parts = [
        {"type": "start"},
        {"type": "start-step"},
        {"type": "reasoning-start", "id": "1"},
        {"type": "reasoning-delta", "id": "1", "delta": "The water has to be cooler."},
        {"type": "text-start", "id": "2"},
        {"type": "text-delta", "id": "2", "delta": "About eighty degrees."},
        {"type": "text-end", "id": "2"},
        {"type": "reasoning-end", "id": "1"},
        {"type": "finish-step"},
        {"type": "finish", "finishReason": "stop"},
    ]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in parts)
    (tmp_path / "app.sse").write_text(f"{body}data: [DONE]\n\n", "utf-8")
    upstreams = open_recording(cassettes() / f"openai.responses/{upstream}.cassette.jsonl")
    (tmp_path / "model.sse").write_bytes(upstreams.exchanges[0].body)
    report = check_paths([tmp_path / "app.sse"], upstream=[tmp_path / "model.sse"])
    found = {finding.rule for finding in report.findings}
    assert ("wire/ui-message/reasoning-ended-in-time" in found) is broken
    assert ("hop/thinking-apart" in found) is broken


@pytest.mark.parametrize(("texts", "found"), [(["It is"], {"hop/answer-whole"}), ([], set())])
def test_limit_may_end_in_an_error(tmp_path: Path, texts: list[str], found: set[str]) -> None:
    deltas = [{"reasoning_content": "Two and"}, *({"content": each} for each in texts), {}]
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [
        {**about, "choices": [{"index": 0, "delta": each, "finish_reason": reason}]}
        for each, reason in zip(deltas, [None] * (len(deltas) - 1) + ["length"], strict=True)
    ]
    parts = [
        *({"type": "start"}, {"type": "start-step"}, {"type": "reasoning-start", "id": "1"}),
        {"type": "reasoning-delta", "id": "1", "delta": "Two and"},
        *({"type": "reasoning-end", "id": "1"}, {"type": "error", "errorText": "The limit."}),
        *({"type": "finish-step"}, {"type": "finish", "finishReason": "error"}),
    ]
    for name, events in (("app", parts), ("model", chunks)):
        body = "".join(f"data: {json.dumps(each)}\n\n" for each in events)
        (tmp_path / f"{name}.sse").write_text(f"{body}data: [DONE]\n\n", "utf-8")
    report = check_paths([tmp_path / "app.sse"], upstream=[tmp_path / "model.sse"])
    assert {finding.rule for finding in report.findings} == found


@pytest.mark.parametrize(
    ("profile", "verdict"), [("strict", Verdict.FAIL), ("before-0.1.11", Verdict.NOT_APPLICABLE)]
)
def test_old_release_loses_no_signatures(profile: str, verdict: Verdict) -> None:
    recording = open_recording(AGUI)
    shown = recording.exchanges[0]
    chunks = tuple(each for each in shown.chunks if b"ENCRYPTED_VALUE" not in each.data)
    assert len(chunks) < len(shown.chunks)
    lost = (replace(shown, chunks=chunks), *recording.exchanges[1:])
    held = replace(recording, cassette=replace(recording.cassette, exchanges=lost))
    choices = CheckChoices(profile=profile)
    first = check_recording(held, Rulebook.load(()), choices)[0]
    assert first.verdicts["hop/opaque"] is verdict
    if verdict is Verdict.NOT_APPLICABLE:
        assert "has no place for signatures" in first.reasons["hop/opaque"]


def _without(exchange: Exchange, sealed: str) -> Exchange:
    """The exchange, which says it nowhere."""
    request = exchange.request
    if exchange.hop == "upstream":
        text = json.dumps(request.json if request else None).replace(sealed, "")
        return replace(exchange, request=request and replace(request, json=json.loads(text)))
    body = exchange.body.replace(sealed.encode(), b"")
    return replace(exchange, chunks=(replace(exchange.chunks[0], data=body),))


@pytest.mark.parametrize(
    ("lost_by", "left_out", "found"),
    [
        # It goes back to the model as little: the rule on that request says so.
        (("app", "upstream"), False, {"history/responses/sealed-or-left-out"}),
        (("upstream",), False, {"history/responses/sealed-or-left-out"}),
        (("app",), False, set()),
        (("app", "upstream"), True, {"history/responses/sealed-unchanged"}),
    ],
)
def test_loss_is_reported_once(lost_by: Sequence[str], left_out: bool, found: set[str]) -> None:
    recording = open_recording(LOOP)
    asked = json.dumps([each.request and each.request.json for each in recording.exchanges])
    sealed = re.search(r'"encrypted_content": "([^"]{20,})"', asked)
    assert sealed is not None
    edited = tuple(
        _without(each, sealed[1]) if each.hop in lost_by else each for each in recording.exchanges
    )
    if left_out:
        edited = (*edited[:-1], _without_reasoning(edited[-1]))
    held = replace(recording, cassette=replace(recording.cassette, exchanges=edited))
    results = check_recording(held, Rulebook.load(()), CheckChoices())
    named = ("hop/opaque", "history/")
    broken = {f.rule for each in results for f in each.findings if f.rule.startswith(named)}
    assert broken == found


def _without_reasoning(exchange: Exchange) -> Exchange:
    """The exchange, whose request has no item of reasoning."""
    request = exchange.request
    assert request is not None
    assert isinstance(request.json, dict)
    items = [each for each in request.json["input"] if each.get("type") != "reasoning"]
    return replace(exchange, request=replace(request, json={**request.json, "input": items}))


def test_data_of_another_kind_is_lost_in_the_same_way() -> None:
    groups = set()
    for kind in ("signature", "redacted", "encrypted"):
        message = f"expected the provider's {kind!r} data, got it nowhere"
        groups.add(group_id(plain_finding(rule="hop/opaque", message=message)))
    assert len(groups) == 1
