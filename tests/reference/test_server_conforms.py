"""What the server sends keeps every rule, under the profile that declares its promises."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import load_suites
from conformance.rules.verdicts import Verdict
from reference_impl.model import folder
from reference_impl.server.__main__ import main
from reference_impl.server.app import application
from reference_impl.server.defects import DEFECTS, Api
from reference_impl.server.engine import Engine, Model
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.reference.actor import Actor
from tests.reference.scenes import SCENES, SETTINGS, Played, failing, judged, play, recorded

APIS: tuple[Api, ...] = (
    "chat",
    "responses",
    "messages",
    "ollama",
    "cohere",
    "interactions",
    "mistral",
    "ollama-generate",
)
VARIANTS = ("think", "bracket", "plain", "prompt-opened")


@pytest.fixture(scope="module", params=VARIANTS)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    place = folder(request.param, under=tmp_path_factory.mktemp("model"))
    engine = Engine.load(place, device="cpu")
    yield engine
    engine.close()


def answers(model: Model, api: Api, settings: Settings) -> list[Played]:
    app = application(Service(model, settings))
    return asyncio.run(play(app, api, SCENES[api](), model.model_id))


def findings(api: Api, played: list[Played], place: Path, profile: str = "reference") -> list[Any]:
    report = judged(recorded(api, played, place / "all.cassette.jsonl", profile=profile))
    return [(finding.rule, finding.message) for finding in report.findings]


@pytest.mark.parametrize("api", APIS)
def test_acted_answers_conform(api: Api, tmp_path: Path) -> None:
    settings = SETTINGS.get(api, Settings())
    assert findings(api, answers(Actor(), api, settings), tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_answers_of_every_variant_conform(engine: Engine, api: Api, tmp_path: Path) -> None:
    played = answers(engine, api, SETTINGS.get(api, Settings()))
    # Who cannot think refuses to be asked for it, as Ollama does.
    refused = {400} if api.startswith("ollama") and engine.markers is None else set()
    assert {each.answer.status for each in played} == {200, *refused}
    profile = "reference"
    if engine.markers is None:
        profile = "strict"  # who marks no thinking cannot hide it, nor summarise it
    elif api == "chat" and engine.markers.open == "[THINK]":
        profile = "reference-bracket"
    assert findings(api, played, tmp_path, profile=profile) == []
    assert engine.wait_idle(5)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_in_a_field_of_its_own_conforms(field: Any, tmp_path: Path) -> None:
    played = answers(Actor(), "chat", Settings(chat_reasoning=field))
    assert f'"{field}"'.encode() in played[0].answer.data
    assert findings("chat", played, tmp_path, profile="strict") == []


def test_redacted_thinking_conforms(tmp_path: Path) -> None:
    played = answers(Actor(), "messages", Settings(messages_thinking="redacted"))
    assert b"redacted_thinking" in played[0].answer.data
    assert findings("messages", played, tmp_path) == []


@pytest.mark.parametrize(
    ("carrier", "left_out"),
    [
        (
            "item_done",
            {
                "summary/lifecycle/item-agrees",
                "summary/lifecycle/summary-streamed",
                "summary/request/comes-when-asked",
            },
        ),
        (
            "none",
            {
                "summary/request/comes-when-asked",
                "summary/request/in-body-when-asked",
                "summary/request/usage-includes-summary",
            },
        ),
    ],
)
def test_other_summary_carriers_fail(carrier: Any, left_out: set[str], tmp_path: Path) -> None:
    played = answers(Actor(), "responses", Settings(summary_carrier=carrier))
    assert {rule for rule, _ in findings("responses", played, tmp_path)} == left_out


RULES = {rule.id for suite in load_suites() for rule in suite.rules}
PLANTED = [(name, api) for name, defect in DEFECTS.items() for api in defect.rules]


@pytest.mark.one_in(7)
@pytest.mark.parametrize(("name", "api"), PLANTED)
def test_defect_fails_the_rules_it_lists(name: str, api: Api, tmp_path: Path) -> None:
    defect = DEFECTS[name]
    app = application(Service(Actor(), SETTINGS.get(api, Settings()), defect=defect))
    played = asyncio.run(play(app, api, SCENES[api](), "actor"))
    report = judged(recorded(api, played, tmp_path / "all.cassette.jsonl"))
    assert failing(report) == set(defect.rules[api])
    assert Verdict.ERROR not in report.verdicts.values()


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_lists_rules_that_exist(name: str) -> None:
    defect = DEFECTS[name]
    assert all(defect.rules.values())
    assert set(defect.all_rules) <= {*RULES, *ADDED_RULES}


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_hooks_in_at_one_place(name: str) -> None:
    defect = DEFECTS[name]
    hooks = (defect.events, defect.wires, defect.frames)
    assert sum(hook is not None for hook in hooks) == 1


def test_there_are_defects_enough() -> None:
    assert len(DEFECTS) >= 20


def test_defects_are_listed_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-defects"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == list(DEFECTS)
    rules = [set(line.split("\t")[2].split()) for line in lines]
    assert rules == [set(defect.all_rules) for defect in DEFECTS.values()]


def test_unknown_defect_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--defect", "leak-everything"])
    assert ended.value.code == 2
    assert "no defect 'leak-everything'" in capsys.readouterr().err
