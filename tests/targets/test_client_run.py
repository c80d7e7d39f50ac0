"""Whole runs: the reference client passes, and each of its defects is found by its own rules."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conformance import shipped
from conformance.cassette import open_recording
from conformance.check import check_paths
from conformance.errors import HarnessError, UsageError
from conformance.rules.verdicts import Verdict
from conformance.targets.client import Bounds, ClientOptions, ClientOutcome, run_client
from reference_impl.client.defects import DEFECTS

REFERENCE = (sys.executable, "-m", "reference_impl.client", "harness")
FAKE = str(Path(__file__).with_name("client_fake.py"))
SHORT = "openai.chat/deepseek/thinking-then-text"
# Between them these recordings show every defect to every rule that finds it.
SCENES = (
    "anthropic.messages/anthropic/error-in-text",
    "anthropic.messages/anthropic/interleaved-thinking",
    "anthropic.messages/anthropic/max-tokens",
    "anthropic.messages/anthropic/redacted",
    "openai.chat/deepseek/parallel-tools",
    "openai.chat/deepseek/tool-round",
    "openai.chat/llamacpp/split-characters",
    "openai.chat/openai/two-choices",
    "openai.chat/openhands/thinking-left-out",
    "openai.chat/openrouter/signed-details",
    "openai.chat/reference/opt-in-through-gateway",
    "openai.responses/deepseek/raw-thinking",
    "openai.responses/demo/summary",
    "openai.responses/openai/closed-by-client",
    "openai.responses/openai/refusal",
    "openai.responses/openai/summary-four-parts",
    "openai.responses/openai/third-turn",
    "openai.responses/openai/tool-round",
)
FAMILIES = ("thinking/", "summary/", "history/")


def cassette(name: str) -> Path:
    return shipped.cassettes() / f"{name}.cassette.jsonl"


def run(*names: str, command: tuple[str, ...] = REFERENCE, **chosen: object) -> ClientOutcome:
    options = ClientOptions(**{"extent": "quick", **chosen})  # type: ignore[arg-type]
    return run_client(command, [cassette(name) for name in names], options)


def rules_of(outcome: ClientOutcome) -> set[str]:
    return {finding.rule for finding in outcome.report.findings}


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


@pytest.mark.slow
def test_the_reference_leaves_no_gap() -> None:
    outcome = run(*SCENES)
    unclear = {
        rule
        for rule, verdict in outcome.report.verdicts.items()
        if rule.startswith(FAMILIES) and verdict is not Verdict.PASS
    }
    assert rules_of(outcome) == unclear == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_by_the_rules_it_lists_and_by_no_other(name: str) -> None:
    outcome = run(*SCENES, command=(*REFERENCE, "--defect", name))
    assert rules_of(outcome) == set(DEFECTS[name].rules)


def fake(mode: str, **chosen: object) -> ClientOutcome:
    bounds = Bounds(start=30, grace=0.2, line=1_000_000, case=3_000_000)
    return run(SHORT, command=(sys.executable, FAKE, mode), bounds=bounds, **chosen)


@pytest.mark.parametrize("mode", ["crashes", "floods", "prints", "deaf", "undeclared"])
def test_an_adapter_that_fails_the_smoke_case_is_no_client(mode: str) -> None:
    with pytest.raises(HarnessError, match="the smoke case failed"):
        fake(mode)


def test_an_adapter_that_hangs_is_given_up() -> None:
    with pytest.raises(HarnessError, match="the smoke case failed: errored: the adapter hangs"):
        fake("hangs", deadline=0.3)


def test_what_nobody_knows_must_be_skipped() -> None:
    with pytest.raises(HarnessError, match="an unknown command must be skipped, got completed"):
        fake("obeys-all")


def test_an_adapter_that_refuses_from_the_start_fails_the_smoke_case() -> None:
    with pytest.raises(HarnessError, match="skipped: not today"):
        fake("refuses")


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


def test_what_is_saved_is_judged_alike_without_the_client(tmp_path: Path) -> None:
    command = (*REFERENCE, "--defect", "thinking-summed")
    outcome = run(SHORT, command=command, save=tmp_path, rules=("thinking/*",))
    (saved,) = tmp_path.iterdir()
    again = check_paths([saved], rules=("thinking/*",))
    assert {finding.rule for finding in again.findings} == rules_of(outcome)
    seen = open_recording(saved).exchanges[0].seen
    assert seen is not None
    assert json.dumps(seen[0]) == json.dumps(dict(seen[0]))


def test_a_run_of_chosen_rules_judges_no_others() -> None:
    outcome = run(SHORT, rules=("thinking/client/*",))
    suites = {rule for rule in outcome.report.verdicts if not rule.startswith("harness/")}
    assert suites == {"thinking/client/agrees-with-wire"}
