"""A project of a team: a FastAPI service, pydantic-ai clients of two APIs, offline in CI."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.plugin.conftest import Project, counts

SAMPLE = Path(__file__).with_name("sample")
SERVE = """
import socket, sys, uvicorn
from service import app

taken = socket.create_server(("127.0.0.1", 0))
print(taken.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[taken])
"""


def needs(*modules: str) -> pytest.MarkDecorator:
    missing = [name for name in modules if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@pytest.fixture
def sample(project: Project) -> Project:
    shutil.copytree(SAMPLE, project.path, dirs_exist_ok=True)
    return project


@pytest.fixture(scope="module")
def _clients() -> None:
    """Loaded once for all runs in this process: each of them forgets what it has imported."""
    for name in ("fastapi", "pydantic_ai.models.anthropic", "pydantic_ai.models.openai"):
        import_module(name)


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """The sample's service on a port of its own."""
    command = [sys.executable, "-c", SERVE]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


@pytest.mark.slow
@pytest.mark.usefixtures("_clients")
@needs("fastapi", "pydantic_ai", "anthropic", "httpx2", "uvicorn")
def test_clients_are_recorded_once(sample: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with service(sample.path) as url:
        live = ("--conformance-record=once", f"--conformance-url={url}")
        counts(sample.spawn("test_assistant.py", *live), passed=3)
    monkeypatch.setenv("CI", "true")
    counts(sample.run("test_assistant.py"), passed=3)
    result = sample.run("recorded.conformance.yaml", "-v")
    result.stdout.fnmatch_lines_random(
        ["*::wire/chat/done-present PASSED*", "*::wire/messages/stop-present PASSED*"]
    )
    judged = result.parseoutcomes()
    assert judged["passed"] > 30
    assert "failed" not in judged


@pytest.mark.slow
@pytest.mark.usefixtures("_clients")
@needs("fastapi", "pydantic_ai", "anthropic", "httpx2")
def test_client_is_recorded_in_process(sample: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    live = ("--conformance-record=once", "--conformance-url=asgi:service:app")
    counts(sample.run("test_assistant.py", "-k", "messages", *live), passed=1)
    monkeypatch.setenv("CI", "true")
    counts(sample.run("test_assistant.py", "-k", "messages"), passed=1)


@pytest.mark.slow
@pytest.mark.usefixtures("_clients")
@needs("fastapi", "pydantic_ai", "anthropic", "httpx2")
def test_client_fails_without_recordings(sample: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    result = sample.run("test_assistant.py")
    counts(result, failed=3)
    result.stdout.fnmatch_lines(["*holds no recording*"])


@needs("fastapi")
def test_service_is_tested_without_a_port(sample: Project) -> None:
    counts(sample.run("test_service.py"), passed=2)


@pytest.mark.slow
@needs("fastapi")
def test_service_takes_scenarios_without_a_port(sample: Project) -> None:
    result = sample.run("service.conformance.yaml", "--conformance-url=asgi:service:app")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] > 50
    assert "failed" not in outcomes
