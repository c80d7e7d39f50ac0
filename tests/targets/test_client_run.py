"""Whole runs: the reference client passes, and each of its defects is found by its own rules."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conformance.cassette import open_recording
from conformance.core import shipped
from conformance.core.errors import HarnessError, UsageError
from conformance.judging.result import Report
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from conformance.targets.client import AdapterBounds, ClientOptions, ClientOutcome, run_client
from conformance.targets.client.kept_reports import kept_path
from conformance.targets.client.replay_endpoint import MOST_FAULTS
from reference_impl.client.defects import DEFECTS, REQUEST_DEFECTS

REFERENCE = (sys.executable, "-m", "reference_impl.client", "harness")
FAKE = str(Path(__file__).with_name("client_fake.py"))
SHORT = "openai.chat/deepseek/thinking-then-text"
TOOLS = "openai.chat/deepseek/tool-round"
SUMMARY = "openai.responses/demo/summary"
# Between them these recordings show every defect to every rule that finds it.
SCENES = (
    "anthropic.messages/anthropic/error-in-text",
    "anthropic.messages/anthropic/interleaved-thinking",
    "anthropic.messages/anthropic/max-tokens",
    "anthropic.messages/anthropic/redacted",
    "anthropic.messages/anthropic/redacted-round",
    "openai.chat/deepseek/parallel-tools",
    "openai.chat/deepseek/tool-round",
    "openai.chat/llamacpp/split-characters",
    "openai.chat/openai/two-choices",
    "openai.chat/openhands/thinking-left-out",
    "openai.chat/openrouter/signed-details",
    "openai.chat/openrouter/talk",
    "openai.chat/strict/talk",
    "openai.chat/reference/opt-in-through-gateway",
    "openai.responses/deepseek/raw-thinking",
    "openai.responses/demo/summary",
    "openai.responses/openai/closed-by-client",
    "openai.responses/openai/refusal",
    "openai.responses/openai/summary-four-parts",
    "openai.responses/openai/third-turn",
    "openai.responses/openai/tool-round",
)
# What clients send back to others than OpenAI and Anthropic: nothing that they report differs.
SENT_BACK = (
    "bedrock.converse/claude/tool-round",
    "bedrock.converse/never-sends-back/second-turn",
    "cohere.v2/cohere/next-turn",
    "cohere.v2/cohere/spoken-round",
    "cohere.v2/cohere/tool-round",
    "cohere.v2/never-sends-back/second-turn",
    "gemini.generate/gemini/thinking-then-tools",
    "gemini.generate/gemini/tool-round",
    "gemini.generate/never-sends-back/second-turn",
    "gemini.interactions/gemini/next-turn",
    "gemini.interactions/gemini/tool-round",
    "gemini.interactions/never-sends-back/second-turn",
    "mistral.chat/mistral/tool-round",
    "mistral.chat/never-sends-back/second-turn",
    "ollama.chat/never-sends-back/second-turn",
    "ollama.chat/ollama/tool-round",
)
FAMILIES = ("thinking/", "summary/", "history/", "harness/")
# What is only judged of a client whose profile promises it.
PROMISES = {
    *(f"effort/{api}/{rule}" for api in ("chat", "responses") for rule in ("sent", "max-is-high")),
    *(f"effort/{api}/changed-level" for api in ("chat", "responses", "messages")),
    *(f"effort/{api}/off-is-silent" for api in ("chat", "responses", "messages")),
    *(f"effort/messages/budget-{level}" for level in ("low", "medium", "high", "max")),
    *("effort/messages/adaptive", "effort/messages/adaptive-level"),
    *("effort/responses/developer-role", "effort/responses/system-role"),
    *("summary/request/auto-beside-effort", "history/responses/summary-carried"),
    *("history/chat/always-carried", "history/messages/always-carried"),
    "harness/extracts-in-order",
}


# The reference client keeps no extra_content of a call, and goes one turn on from an answer.
NOT_REACHED = {
    *("history/chat/signed-calls", "history/chat/signed-in-place"),
    *("history/chat/earlier-calls-signed", "history/chat/earlier-details-sealed"),
    "thinking/stream/tail-kept",  # no stream of these brings text in its last chunk
    # None of these has thinking of two kinds in one turn.
    *("history/messages/blocks-in-order", "history/responses/items-in-order"),
    "history/mistral/turn-signed",  # a new question follows none of Mistral's signed turns
    # The reference client sends the whole history and names no earlier response.
    *("history/responses/named-once", "history/responses/named-by-its-id"),
}


def cassette(name: str) -> Path:
    return shipped.cassettes() / f"{name}.cassette.jsonl"


def run(*names: str, command: tuple[str, ...] = REFERENCE, **chosen: object) -> ClientOutcome:
    options = ClientOptions(**{"extent": "quick", **chosen})  # type: ignore[arg-type]
    return run_client(command, [cassette(name) for name in names], options)


def rules_of(outcome: ClientOutcome) -> set[str]:
    return {finding.rule for finding in outcome.report.findings}


def test_promises_of_a_recordings_own_client_are_not_asked_of_another() -> None:
    """That client sends its default level; this one, asked like it, sends none."""
    outcome = run("openai.chat/opal/default-level")
    assert outcome.report.findings == ()
    assert outcome.report.verdicts["effort/chat/default-level"] is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(
    "name",
    [
        SHORT,
        "openai.responses/openai/summary-four-parts",
        "anthropic.messages/anthropic/thinking-then-tools",
    ],
)
@pytest.mark.slow
def test_the_reference_passes_every_replay(name: str) -> None:
    outcome = run(name, extent="full")
    assert outcome.report.findings == ()
    assert outcome.cases > 40


@pytest.mark.parametrize(("profile", "promised"), [(None, False), ("reference-client", True)])
@pytest.mark.every_run
def test_the_reference_leaves_no_gap(profile: str | None, promised: bool) -> None:
    outcome = run(*SCENES, *(() if promised else SENT_BACK), profile=profile)
    judged = outcome.report.verdicts
    held = {rule for rule, verdict in judged.items() if verdict is Verdict.PASS}
    excused = {rule for rule, verdict in judged.items() if verdict is Verdict.NOT_APPLICABLE}
    unclear = {rule for rule in judged.keys() - held - excused if rule.startswith(FAMILIES)}
    assert rules_of(outcome) == set()
    assert unclear <= NOT_REACHED
    assert held.issuperset(PROMISES) is promised
    assert excused.issuperset(PROMISES) is not promised


@pytest.mark.one_in(27)
@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_by_the_rules_it_lists_and_by_no_other(name: str) -> None:
    defect = DEFECTS[name]
    scenes = (*SCENES, *SENT_BACK) if defect in REQUEST_DEFECTS else SCENES
    outcome = run(*scenes, command=(*REFERENCE, "--defect", name))
    assert rules_of(outcome) == set(defect.rules)


def fake(mode: str, **chosen: object) -> ClientOutcome:
    bounds = AdapterBounds(start=30, grace=0.2, first=0, line=1_000_000, case=3_000_000)
    return run(SHORT, command=(sys.executable, FAKE, mode), bounds=bounds, **chosen)


SMOKELESS = {
    **dict.fromkeys(("crashes", "floods", "prints", "deaf", "undeclared"), "the smoke case failed"),
    "hangs": "the smoke case failed: errored: the adapter hangs",
    "obeys-all": "an unknown command must be skipped, got completed",
    "refuses": "skipped: not today",
}


@pytest.mark.parametrize("mode", SMOKELESS)
def test_an_adapter_that_fails_the_smoke_case_is_no_client(mode: str) -> None:
    with pytest.raises(HarnessError, match=SMOKELESS[mode]):
        fake(mode, **({"deadline": 0.3} if mode == "hangs" else {}))


def test_a_client_that_looks_its_model_up_afterwards_asks_once() -> None:
    outcome = fake("looks-up", deadline=5.0)
    given = {each.verdicts.get("harness/one-request") for each in outcome.report.streams}
    assert Verdict.PASS in given
    assert Verdict.FAIL not in given


def test_a_client_that_loads_in_its_first_case_is_waited_for() -> None:
    bounds = AdapterBounds(start=30, grace=0.3, first=20)
    outcome = run(SHORT, command=(sys.executable, FAKE, "loads"), bounds=bounds, deadline=0.2)
    assert {each.verdicts.get(ANSWERS) for each in outcome.report.streams} == {Verdict.PASS}


ANSWERS = "harness/answers"


@pytest.mark.slow
def test_a_malformed_report_costs_its_case_and_no_other() -> None:
    outcome = fake("second-no-text", extent="full")
    (found,) = [each for each in outcome.report.findings if each.rule == ANSWERS]
    assert found.verdict is Verdict.FAIL
    assert "event.text: expected text, got 7" in found.message
    assert int(found.message.partition("(in ")[2].partition(" of")[0]) > 2 * MOST_FAULTS
    (stream,) = [each for each in outcome.report.streams if ANSWERS in each.verdicts]
    assert stream.verdicts["thinking/client/agrees-with-wire"] in (Verdict.PASS, Verdict.FAIL)
    assert outcome.report.exit_code() == 1  # its author can mend it


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["later-crashes", "later-floods"])
def test_faults_in_a_row_cost_the_rest_of_a_recording(mode: str) -> None:
    bounds = AdapterBounds(start=30, grace=0.2, first=0, line=1_000_000, case=300_000)
    names = [SHORT, TOOLS] * 4
    outcome = run(
        *names,
        command=(sys.executable, FAKE, mode),
        bounds=bounds,
        extent="full",
        rules=("harness/*",),
    )
    streams = [stream for stream in outcome.report.streams if stream.scenario != "farewell"]
    assert {stream.verdicts[ANSWERS] for stream in streams} == {Verdict.ERROR}
    assert {stream.notes for stream in streams} == {
        ("not tried further after 5 faults of the adapter in a row",)
    }
    messages = [finding.message for finding in outcome.report.findings]
    assert sum("stopped after 25 faults in a row: the adapter" in each for each in messages) > 1
    assert outcome.report.exit_code() == 4


def test_a_fault_after_all_cases_keeps_the_report() -> None:
    for mode, reason in {"last-no-text": "errored: the adapter", "talks-on": "nothing was"}.items():
        outcome = fake(mode)
        (found,) = outcome.report.findings
        assert (found.rule, found.verdict) == (ANSWERS, Verdict.FAIL)
        assert reason in found.message
        assert outcome.report.verdicts["thinking/client/agrees-with-wire"] is Verdict.PASS


def test_what_a_client_says_of_a_failure_reaches_the_report() -> None:
    (found,) = [each for each in fake("later-fails").report.findings if "ending" in each.rule]
    text = (
        "expected completed, got failed: the client's own\\nwords; stderr ends: the trace of case "
    )
    assert found.message.startswith(text)
    assert found.message.count("the trace") == 1


def test_a_stream_is_not_replayed_to_a_client_that_asks_for_none() -> None:
    outcome = fake("later-asks-whole", extent="full")
    assert outcome.report.findings == ()
    (stream,) = outcome.report.streams
    assert stream.verdicts == {}
    assert stream.notes == (
        "not run: the client skips it: it asked for a whole body where a stream was recorded",
    )


def test_a_dialect_that_the_client_does_not_speak_is_the_user_s_mistake() -> None:
    with pytest.raises(UsageError, match=r"the client speaks openai\.chat"):
        fake("plain", dialects=("anthropic.messages",))


def test_a_small_right_adapter_passes() -> None:
    outcome = fake("plain")
    assert outcome.report.findings == ()
    assert outcome.about.target == "fake-1"


def test_several_adapters_find_what_one_finds() -> None:
    command = (*REFERENCE, "--defect", "marker-leak")
    one, two = (run(*SCENES[:6], command=command, jobs=jobs) for jobs in (1, 2))
    assert [stream.findings for stream in one.report.streams] == [
        stream.findings for stream in two.report.streams
    ]


def test_what_is_saved_is_judged_the_same_without_the_client(tmp_path: Path) -> None:
    command = (*REFERENCE, "--defect", "thinking-summed")
    outcome = run(SHORT, command=command, save=tmp_path, rules=("thinking/*",))
    saved = kept_path(tmp_path, cassette(SHORT))
    again = check_paths([saved], rules=("thinking/*",))
    assert {finding.rule for finding in again.findings} == rules_of(outcome)
    seen = open_recording(saved).exchanges[0].seen
    assert seen is not None
    assert json.dumps(seen[0]) == json.dumps(dict(seen[0]))


def test_recordings_that_are_called_the_same_are_kept_apart(tmp_path: Path) -> None:
    alike = ("openai.chat/deepseek/tool-round", "openai.responses/openai/tool-round")
    run(*alike, save=tmp_path, rules=("thinking/client/*",))
    saved = sorted(tmp_path.rglob("tool-round.cassette.jsonl"))
    assert [path.parent.name for path in saved] == ["deepseek", "openai"]
    assert all("seen_at" in open_recording(path).header.extra for path in saved)


def test_a_run_of_chosen_rules_judges_no_others() -> None:
    outcome = run(SHORT, rules=("thinking/client/*",))
    suites = {rule for rule in outcome.report.verdicts if not rule.startswith("harness/")}
    assert suites == {"thinking/client/agrees-with-wire"}


def test_requests_that_are_saved_are_judged_the_same_without_the_client(tmp_path: Path) -> None:
    command = (*REFERENCE, "--like", "opal")
    chosen = {"profile": "openhands-sdk", "rules": ("effort/chat/*",)}
    outcome = run(SHORT, command=command, save=tmp_path, dialects=("openai.chat",), **chosen)
    saved = tmp_path / "choices-openai.chat.cassette.jsonl"
    again = check_paths([saved], rules=("effort/chat/*",))
    assert {stream.profile for stream in again.streams} == {"openhands-sdk/strict"}
    assert kept(again) == {rule for rule in kept(outcome.report) if rule.startswith("effort/")}
    assert again.findings == ()
    assert "effort/chat/sent" in kept(again)
    asked = [each.user_choices for each in open_recording(saved).exchanges]
    assert {"model": "gpt-5", "effort": "low"} in asked


def test_requests_that_are_saved_break_no_rule_of_servers(tmp_path: Path) -> None:
    run(SHORT, profile="reference-client", save=tmp_path, rules=("effort/*",))
    saved = sorted(tmp_path.glob("choices-*"))
    assert len(saved) == 3
    assert [finding.message for finding in check_paths(saved).findings] == []


def kept(report: Report) -> set[str]:
    return {rule for rule, verdict in report.verdicts.items() if verdict is Verdict.PASS}


def test_a_client_is_held_to_its_own_promises_on_every_recording() -> None:
    wanted = ("history/*", "effort/chat/*")
    never = run(SHORT, TOOLS, profile="openhands-document", rules=wanted)
    assert rules_of(never) == set()
    assert {s.profile for s in never.report.streams} >= {"openhands-document/deepseek"}
    like = (*REFERENCE, "--like", "openhands-document")
    found = run(SHORT, TOOLS, command=like, profile="opal", rules=wanted)
    assert rules_of(found) == {"history/chat/always-carried", "effort/chat/default-level"}


def test_a_dialect_without_a_profile_of_the_client_is_left_out() -> None:
    outcome = run(SHORT, SUMMARY, profile="openhands-document")
    assert {stream.dialect for stream in outcome.report.streams} == {"openai.chat"}
    with pytest.raises(UsageError, match=r"profile 'openhands-document' is for openai\.chat only"):
        run(SUMMARY, profile="openhands-document", dialects=("openai.responses",))
    with pytest.raises(UsageError, match=r"is for openai\.chat only"):
        run(SHORT, profile="openhands-document", dialects=("openai.chat", "openai.responses"))
    with pytest.raises(UsageError, match="no profile 'openhand'"):
        run(SHORT, profile="openhand")


FORMS = {
    "flat": set(),
    "nested": {"harness/stored-flat"},
    "empty": {"harness/stored-lean"},
    "thoughtless": {"harness/stored-flat", "harness/restores"},
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_client_stores_is_what_it_promises(form: str) -> None:
    command = (sys.executable, str(Path(FAKE).with_name("client_store.py")), form)
    outcome = run(SHORT, command=command, profile="openhands-document", rules=("thinking/*",))
    assert rules_of(outcome) == FORMS[form]
    assert "harness/stored-flat" not in run(SHORT, command=command).report.verdicts


EXTRACTS = {
    "in-order": set(),
    "first": {"two-fields", "other-fields", "field-and-blocks"},
    "blocks-first": {"field-and-blocks"},
    "by-key": {"two-fields", "other-fields"},
    "blank": {"two-fields", "other-fields", "field-and-blocks"},
    "twice": {"mirrored"},
    "two-fields": {"other-fields"},
}


@pytest.mark.parametrize("way", EXTRACTS)
def test_thinking_in_several_places_is_extracted_as_promised(way: str) -> None:
    command = (sys.executable, str(Path(FAKE).with_name("client_extract.py")), way)
    outcome = run(SHORT, command=command, profile="openhands-document", rules=("thinking/*",))
    assert rules_of(outcome) == ({"harness/extracts-in-order"} if EXTRACTS[way] else set())
    broken = {stream.role for stream in outcome.report.streams if stream.findings}
    assert broken == EXTRACTS[way]


def test_extraction_is_the_clients_own_business_unless_promised() -> None:
    command = (sys.executable, str(Path(FAKE).with_name("client_extract.py")), "first")
    outcome = run(SHORT, command=command, rules=("thinking/*",))
    verdict = outcome.report.verdicts["harness/extracts-in-order"]
    assert (verdict, outcome.cases) == (Verdict.NOT_APPLICABLE, 0)
    silent = run(SHORT, command=(sys.executable, FAKE, "plain"))
    assert "harness/extracts-in-order" not in silent.report.verdicts


def test_a_client_that_asks_for_nothing_is_reported_in_its_own_words() -> None:
    outcome = fake("later-says-why")
    messages = {each.message for each in outcome.report.findings if each.rule == ANSWERS}
    assert len(messages) == 1
    assert "asked for nothing; the adapter says failed: TypeError: no such mo" in messages.pop()
