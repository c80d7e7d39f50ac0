"""The server under `conformance run`: clean as it is, and every defect found by its own rules."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from conformance.cli import main
from reference_impl.model import folder
from reference_impl.server.app import application
from reference_impl.server.defects import DEFECTS, Api, ServerDefect
from reference_impl.server.engine import Engine
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.reference.defective import app
from tests.reference.scenes import SETTINGS

pytestmark = pytest.mark.long

APIS: tuple[Api, ...] = (
    "chat",
    "responses",
    "messages",
    "ollama",
    "cohere",
    "interactions",
    "mistral",
    "ollama-generate",
    "gemini",
    "bedrock",
)
# Bedrock lists its models elsewhere.
NAMED = {"bedrock": ["--model", folder().name]}
PLANTED = [(name, api) for name, defect in DEFECTS.items() for api in defect.rules]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine.load(folder(), device="cpu")
    yield engine
    engine.close()


def failing(
    capsys: pytest.CaptureFixture[str], engine: Engine, api: Api, defect: ServerDefect | None
) -> set[str]:
    """Rules that a live run finds violated, those of its scenarios among them."""
    app.inner = application(Service(engine, SETTINGS.get(api, Settings()), defect=defect))
    where = ["--asgi", "tests.reference.defective:app", "--api", api]
    where += NAMED.get(api, [])
    assert main(["run", *where, "--profile", "reference", "--format", "json"]) in (0, 1)
    report = json.loads(capsys.readouterr().out)
    return {finding["rule"] for stream in report["streams"] for finding in stream["findings"]}


@pytest.mark.parametrize("api", APIS)
def test_run_finds_nothing(api: Api, engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(capsys, engine, api, None) == set()


@pytest.mark.parametrize(("name", "api"), PLANTED)
def test_run_finds_the_defect_and_nothing_else(
    name: str, api: Api, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    defect = DEFECTS[name]
    found = failing(capsys, engine, api, defect)
    assert found & set(defect.rules[api])
    assert found <= {*defect.rules[api], *defect.live}
