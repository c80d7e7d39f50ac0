"""Answers that get mixed under load: a soak says so, and names both requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.judging.demand_rules import HISTORY_COUNTED
from conformance.judging.groups import finding_groups
from conformance.judging.result import Report
from conformance.runs import RunOptions, run_server
from conformance.scenarios import load_scenarios
from conformance.targets import asgi
from conformance.targets.server import LiveServer
from reference_impl.server.app import application
from reference_impl.server.defects import DEFECTS, Api
from reference_impl.server.engine import EngineEvent, TextDelta
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.reference.actor import Actor
from tests.reference.scenes import DIALECTS, SETTINGS

NAMES = ("think", "history")
CROSS_TALK = "scenario/cross-talk"
_WISH = "\nBegin your answer with the word "


class Obedient(Actor):
    """Begins its answers with the word that it was asked for."""

    def generate(self, prompt: Any, limits: Any, *, parent: Any = None) -> Any:
        asked = str(self._asked[prompt][0][-1]["content"])
        events = super().generate(prompt, limits, parent=parent)
        word = asked.partition(_WISH)[2].rstrip(".")
        return _with_word(events, word) if word else events


async def _with_word(
    events: AsyncIterator[EngineEvent], word: str
) -> AsyncGenerator[EngineEvent, None]:
    async for event in events:
        if isinstance(event, TextDelta) and word:
            yield TextDelta(word[:4])
            yield TextDelta(f"{word[4:]} ")
            word = ""
        yield event


def soak(api: Api, defect: str, folder: Path, model: Actor) -> Report:
    settings = SETTINGS.get(api, Settings())
    app = application(Service(model, settings, defect=DEFECTS.get(defect)))
    options = RunOptions("actor", (DIALECTS[api],), profile="reference", soak=0.5, jobs=6)

    async def go() -> Report:
        transport = asgi.AsgiTransport(app)
        async with LiveServer(asgi.URL, transport=transport) as server:
            return (await run_server(server, load_scenarios(NAMES), options, folder)).report

    return asyncio.run(go())


def found(report: Report) -> dict[str, Sequence[str]]:
    """Messages by rule; the actor counts every prompt alike, which is left out."""
    words: dict[str, list[str]] = {}
    groups = (each for each in finding_groups(report) if each.first.rule != HISTORY_COUNTED.id)
    for group in groups:
        words.setdefault(group.first.rule, []).append(group.first.message)
    return {rule: tuple(messages) for rule, messages in words.items()}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("api", DIALECTS)
def test_the_server_as_it_is_mixes_nothing_up(api: Api, tmp_path: Path) -> None:
    assert found(soak(api, "", tmp_path, Obedient())) == {}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("api", DIALECTS)
def test_crossed_texts_are_cross_talk_and_nothing_else(api: Api, tmp_path: Path) -> None:
    findings = found(soak(api, "crossed-texts", tmp_path, Obedient()))
    # An answer whose words went to another one may have none left.
    assert {CROSS_TALK} <= set(findings) <= {CROSS_TALK, "thinking/answer/said"}
    assert all("is the word of request" in message for message in findings[CROSS_TALK])


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_crossed_chunks_are_known_by_their_ids(api: Api, tmp_path: Path) -> None:
    findings = found(soak(api, "crossed-chunks", tmp_path, Actor()))
    assert CROSS_TALK in findings
    assert any("belongs to the answer to" in message for message in findings[CROSS_TALK])


@pytest.mark.one_in(6)
@pytest.mark.parametrize("api", DIALECTS)
def test_crossed_chunks_are_cross_talk(api: Api, tmp_path: Path) -> None:
    assert CROSS_TALK in found(soak(api, "crossed-chunks", tmp_path, Obedient()))
