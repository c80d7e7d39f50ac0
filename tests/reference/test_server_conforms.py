"""What the server sends keeps every rule, under the profile that declares its promises."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reference_impl.model import folder
from reference_impl.server.app import application
from reference_impl.server.defects import Api
from reference_impl.server.engine import Engine, Model
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.reference.actor import Actor
from tests.reference.scenes import SCENES, SETTINGS, Played, judged, play, recorded

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
def test_other_carriers_of_summaries_fail_only_for_what_they_leave_out(
    carrier: Any, left_out: set[str], tmp_path: Path
) -> None:
    played = answers(Actor(), "responses", Settings(summary_carrier=carrier))
    assert {rule for rule, _ in findings("responses", played, tmp_path)} == left_out
