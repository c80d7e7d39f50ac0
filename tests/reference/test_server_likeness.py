"""Presets: each keeps the profile of its name, and the command line is laid over it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main as conformance
from reference_impl.model import folder
from reference_impl.server.app import application
from reference_impl.server.defects import DEFECTS, Api
from reference_impl.server.engine import Engine
from reference_impl.server.options import parse
from reference_impl.server.service import Service
from reference_impl.server.settings import LIKENESSES, REFERENCE, Settings
from tests.reference.actor import Actor
from tests.reference.defective import app
from tests.reference.scenes import SCENES, judged, play, recorded

PRESETS = tuple(name for name in LIKENESSES if name != REFERENCE)
APIS: tuple[Api, ...] = ("chat", "responses")
RUN = [
    *((preset, preset, {}) for preset in PRESETS),
    ("neuron-may", "neuron-may-field", {"include_field": "extra.include_thinking"}),
    ("ogx-streamed", "ogx-streamed-unstated", {"summary_text_done": False}),
]
JUDGED = ("thinking", "stripping", "summary")
# No model of ours seals thinking in chat, and OGX ignores the wish for it. Its answers finish once,
# nothing of them is flushed at the finish, and no summary part is cut. neuron of May sends raw
# thinking without a summary.
NOT_THERE = {
    "stripping/visible-text/no-opaque-data",
    "thinking/stream/one-reason",
    "thinking/stream/tail-kept",
    "summary/lifecycle/after-raw",
    "summary/lifecycle/part-status",
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine.load(folder(), device="cpu")
    yield engine
    engine.close()


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("preset", PRESETS)
def test_acted_answers_of_a_preset_conform(preset: str, api: Api, tmp_path: Path) -> None:
    service = Service(Actor(), LIKENESSES[preset])
    played = asyncio.run(play(application(service), api, SCENES[api](), "actor"))
    path = recorded(api, played, tmp_path / "all.cassette.jsonl", profile=preset)
    assert {each.answer.status for each in played} == {200}
    assert [(each.rule, each.message) for each in judged(path).findings] == []


def ran(
    capsys: pytest.CaptureFixture[str], engine: Engine, settings: Settings, api: Api, profile: str
) -> list[dict[str, Any]]:
    """The streams of a whole run."""
    app.inner = application(Service(engine, settings))
    where = ["--asgi", "tests.reference.defective:app", "--api", api, "--profile", profile]
    assert conformance(["run", *where, "--strict", "--format", "json"]) == 0
    streams: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["streams"]
    return streams


@pytest.mark.long
@pytest.mark.parametrize(("preset", "profile", "choices"), RUN, ids=[each[1] for each in RUN])
@pytest.mark.parametrize("api", APIS)
def test_run_finds_nothing_and_leaves_nothing_out(
    preset: str,
    profile: str,
    choices: dict[str, Any],
    api: Api,
    engine: Engine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if (api, profile) in {("responses", "neuron-may-field"), ("chat", "ogx-streamed-unstated")}:
        pytest.skip("the choice is about the other API")
    streams = ran(capsys, engine, replace(LIKENESSES[preset], **choices), api, profile)
    assert [finding for stream in streams for finding in stream["findings"]] == []
    assert gaps(streams) <= NOT_THERE


def gaps(streams: list[dict[str, Any]]) -> set[str]:
    """Rules about thinking that speak under the profile, and that nothing put to the test."""
    found: dict[str, set[str]] = {}
    for stream in streams:
        for rule, verdict in stream["verdicts"].items():
            found.setdefault(rule, set()).add(verdict)
    fired = {"PASS", "FAIL"}
    return {
        rule
        for rule, verdicts in found.items()
        if rule.startswith(JUDGED) and verdicts != {"NOT-APPLICABLE"} and not verdicts & fired
    }


def test_without_a_preset_nothing_is_chosen() -> None:
    assert parse([]).settings == Settings(model_name="tiny-think")
    assert LIKENESSES[REFERENCE] == Settings()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_named_on_the_command_line(preset: str) -> None:
    settings = parse(["--like", preset]).settings
    assert settings == replace(LIKENESSES[preset], model_name="tiny-think")
    assert settings != Settings(model_name="tiny-think")


def test_options_are_laid_over_a_preset() -> None:
    over = ["--summary-text-done", "never", "--chat-reasoning", "wrap"]
    settings = parse(["--like", "ogx-streamed", *over]).settings
    assert (settings.summary_text_done, settings.chat_reasoning) == (False, "wrap")
    assert settings.needs_effort


def test_a_preset_and_a_defect_go_together() -> None:
    options = parse(["--like", "ogx-merged", "--defect", "sequence-gap"])
    assert options.defect is DEFECTS["sequence-gap"]
    assert options.settings.needs_effort


def test_unknown_preset_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--like", "neuron-june"])
    assert ended.value.code == 2
    assert "invalid choice: 'neuron-june'" in capsys.readouterr().err


def test_help_tells_the_presets_and_what_one_chooses(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--like", "ogx-merged", "--help"])
    assert ended.value.code == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "neuron-may,neuron-august,ogx-streamed,ogx-merged" in printed
    assert "none makes no summaries (default: item_done)" in printed
