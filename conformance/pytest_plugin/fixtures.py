"""The fixtures, and what becomes of a test that used them."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from conformance.pytest_plugin.settings import Settings
    from conformance.pytest_plugin.stage import Stage
    from conformance.pytest_plugin.tracing import Tracer
    from conformance.pytest_plugin.transport import Transport

_STAGES: Final[pytest.StashKey[list[Stage]]] = pytest.StashKey()


@pytest.fixture(scope="session")
def conformance_config() -> Mapping[str, Any]:
    """Defaults for every test, by the names of the marker's arguments; override it at will."""
    return {}


@pytest.fixture
def conformance_server(
    request: pytest.FixtureRequest, conformance_config: Mapping[str, Any]
) -> Iterator[str]:
    """Base URL (without /v1) of a server that replays this test's recordings, or records them."""
    from conformance.core.errors import ConformanceError  # noqa: PLC0415  # only tests that use it pay
    from conformance.pytest_plugin import vcr  # noqa: PLC0415
    from conformance.pytest_plugin.staging import staged  # noqa: PLC0415

    if vcr.is_active():
        warnings.warn(vcr.FlattenedWarning(vcr.BETWEEN), stacklevel=1)
    try:
        with staged(_settings(request.node, conformance_config)) as stage:
            request.node.stash.setdefault(_STAGES, []).append(stage)
            yield stage.url
    except ConformanceError as err:
        raise pytest.fail.Exception(str(err), pytrace=False) from None


@pytest.fixture
def conformance_transport(
    request: pytest.FixtureRequest, conformance_config: Mapping[str, Any]
) -> Iterator[Transport]:
    """A transport for httpx clients that replays this test's recordings, or records them."""
    from conformance.core.errors import ConformanceError  # noqa: PLC0415  # only tests that use it pay
    from conformance.pytest_plugin import vcr  # noqa: PLC0415
    from conformance.pytest_plugin.staging import records, staged_inside  # noqa: PLC0415

    settings = _settings(request.node, conformance_config)
    if vcr.is_active() and records(settings):
        warnings.warn(vcr.FlattenedWarning(vcr.BETWEEN), stacklevel=1)
    try:
        with staged_inside(settings) as (stage, transport):
            request.node.stash.setdefault(_STAGES, []).append(stage)
            yield transport
    except ConformanceError as err:
        raise pytest.fail.Exception(str(err), pytrace=False) from None


@pytest.fixture
def conformance_trace(
    request: pytest.FixtureRequest, conformance_config: Mapping[str, Any]
) -> Tracer:
    """Makes a trace of an httpx response, a path or bytes; see `Tracer`."""
    from conformance.pytest_plugin.tracing import Tracer  # noqa: PLC0415  # only tests that use it

    return Tracer(_settings(request.node, conformance_config), request)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test whose client met a miss, or left an exchange unused, fails."""
    stages = item.stash.get(_STAGES, [])
    try:
        result = yield
    except BaseException:
        if found := _problems(stages, passed=False):
            item.add_report_section("call", "conformance", "\n".join(found))
        raise
    if found := _problems(stages, passed=True):
        pytest.fail("\n".join(found), pytrace=False)
    return result


def _problems(stages: list[Stage], *, passed: bool) -> list[str]:
    return [line for stage in stages for line in stage.problems(passed=passed)]


def _settings(item: pytest.Item, defaults: Mapping[str, Any]) -> Settings:
    from conformance.core.errors import ConformanceError  # noqa: PLC0415  # only tests that use it pay
    from conformance.pytest_plugin.settings import settings_of  # noqa: PLC0415

    try:
        return settings_of(item, defaults)
    except ConformanceError as err:
        raise pytest.fail.Exception(str(err), pytrace=False) from None
