"""Fixtures, items of files, and what becomes of them: hooks that need pytest imported."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from conformance.pytest_plugin.application import AgentJudge, ApplicationJudge
    from conformance.pytest_plugin.model_stub import ModelStub
    from conformance.pytest_plugin.settings import ReplaySettings
    from conformance.pytest_plugin.trace import Tracer
    from conformance.pytest_plugin.transport import Transport

_LETTERS: Final = {
    "VACUOUS": "v",
    "UNTESTABLE": "u",
    "INCONCLUSIVE": "i",
    "SHOULD": "w",
    "MAY": "w",
}
_WORD: Final = "conformance_word"
_IS_COUNTED: Final = "conformance_is_counted"
_STUBS: Final[pytest.StashKey[list[ModelStub]]] = pytest.StashKey()


@pytest.fixture(scope="session")
def conformance_config() -> Mapping[str, Any]:
    """Defaults for every test, by the names of the marker's arguments; override it at will."""
    return {}


@pytest.fixture
def conformance_server(
    request: pytest.FixtureRequest, conformance_config: Mapping[str, Any]
) -> Iterator[str]:
    """Base URL (without /v1) of a server that replays this test's recordings, or records them."""
    with _running_stub(request.node, conformance_config, has_port=True) as stub:
        yield stub.url


@pytest.fixture
def conformance_transport(
    request: pytest.FixtureRequest, conformance_config: Mapping[str, Any]
) -> Iterator[Transport]:
    """A transport for clients in this process that replays this test's recordings, or records."""
    with _running_stub(request.node, conformance_config, has_port=False) as stub:
        assert stub.transport is not None
        try:
            yield stub.transport
        finally:
            stub.transport.end_sockets()


@contextmanager
def _running_stub(
    item: pytest.Item, defaults: Mapping[str, Any], *, has_port: bool
) -> Iterator[ModelStub]:
    from conformance.core.errors import ConformanceError  # noqa: PLC0415  # only tests that use it pay
    from conformance.pytest_plugin import model_stub, responses  # noqa: PLC0415

    settings = _test_settings(item, defaults)
    if responses.is_vcr_active() and (has_port or model_stub.may_record(settings)):
        warnings.warn(responses.FlattenedWarning(responses.BETWEEN), stacklevel=1)
    opened = model_stub.served_stub if has_port else model_stub.transport_stub
    try:
        with opened(settings) as stub:
            item.stash.setdefault(_STUBS, []).append(stub)
            yield stub
    except ConformanceError as err:
        raise pytest.fail.Exception(str(err), pytrace=False) from None


@pytest.fixture
def conformance_trace(
    request: pytest.FixtureRequest, conformance_config: Mapping[str, Any]
) -> Tracer:
    """Makes a trace of an httpx response, a path or bytes; see `Tracer`."""
    from conformance.pytest_plugin.trace import Tracer  # noqa: PLC0415  # only tests that use it

    return Tracer(_test_settings(request.node, conformance_config), request)


@pytest.fixture
def conformance_application(
    request: pytest.FixtureRequest, conformance_config: Mapping[str, Any]
) -> ApplicationJudge:
    """Judges an ASGI application with a played model behind it; see `ApplicationJudge`."""
    from conformance.pytest_plugin.application import ApplicationJudge  # noqa: PLC0415  # as above

    settings = _test_settings(request.node, conformance_config)
    return ApplicationJudge(strict=settings.strict, profile=settings.profile)


@pytest.fixture
def conformance_agent(
    request: pytest.FixtureRequest, conformance_config: Mapping[str, Any]
) -> AgentJudge:
    """Judges an agent's command with a played model behind it; see `AgentJudge`."""
    from conformance.pytest_plugin.application import AgentJudge  # noqa: PLC0415  # as above

    settings = _test_settings(request.node, conformance_config)
    return AgentJudge(strict=settings.strict, profile=settings.profile)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test whose client met a miss, or left an exchange unused, fails."""
    stubs = item.stash.get(_STUBS, [])
    try:
        result = yield
    except BaseException:
        if found := _stub_problems(stubs, passed=False):
            item.add_report_section("call", "conformance", "\n".join(found))
        raise
    if found := _stub_problems(stubs, passed=True):
        pytest.fail("\n".join(found), pytrace=False)
    return result


def _stub_problems(stubs: list[ModelStub], *, passed: bool) -> list[str]:
    return [line for stub in stubs for line in stub.problems(passed=passed)]


def _test_settings(item: pytest.Item, defaults: Mapping[str, Any]) -> ReplaySettings:
    from conformance.core.errors import ConformanceError  # noqa: PLC0415  # only tests that use it pay
    from conformance.pytest_plugin.settings import settings_of  # noqa: PLC0415

    try:
        return settings_of(item, defaults)
    except ConformanceError as err:
        raise pytest.fail.Exception(str(err), pytrace=False) from None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """One item more for a baseline that all files share."""
    if "conformance.pytest_plugin.verdicts" not in sys.modules:
        return
    from conformance.pytest_plugin.items import stale_item  # noqa: PLC0415  # loaded by now
    from conformance.pytest_plugin.verdicts import pending_baseline  # noqa: PLC0415

    shared = pending_baseline(config)
    if shared is not None:
        items.append(stale_item(session, shared.stale_entries))


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Of two traces that are not equal, the difference of their event sequences."""
    loaded = sys.modules.get("conformance.pytest_plugin.trace")
    if op != "==" or loaded is None:
        return None
    if not (isinstance(left, loaded.Trace) and isinstance(right, loaded.Trace)):
        return None
    from conformance.pytest_plugin.event_lines import sequence_difference  # noqa: PLC0415  # as above

    one, other = left.sequence, right.sequence
    if one == other:
        return [f"{left!r} == {right!r}", "the events are equal; bytes, times or names differ"]
    comparison = f"{left!r} == {right!r}"
    return [
        comparison,
        "events of the left (-) and of the right (+):",
        *sequence_difference(one, other),
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where an item stands, and its verdict."""
    report = yield
    outcome: Any = getattr(item, "conformance_outcome", None)
    if outcome is not None and report.when == "call":
        setattr(report, _WORD, str(outcome.word))
        if report.skipped and not hasattr(report, "wasxfail"):
            path, line, _ = item.reportinfo()
            counted = getattr(item, "counted_with", None)
            others = counted(outcome) if counted else 0
            setattr(report, _IS_COUNTED, others is not None)
            more = f" (and {others} more of this exchange)" if others else ""
            # Else every skip would be in the plugin's own file.
            report.longrepr = (os.fspath(path), (line or 0) + 1, f"{outcome.why}{more}")
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """A letter for a verdict that is no pass."""
    word = getattr(report, _WORD, None)
    if word is None or not report.skipped or hasattr(report, "wasxfail"):
        return None
    # The word stays pytest's own: its summary prints one word for all that was skipped.
    category = "skipped" if getattr(report, _IS_COUNTED, True) else ""
    return category, _LETTERS.get(word, "s"), "SKIPPED"


class SpecFile(pytest.File):
    """A `*.conformance.yaml` file, which may hold rules with examples.

    Its mistakes are errors of the collection, in one line.
    """

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        from conformance.core.errors import ConformanceError  # noqa: PLC0415  # as above
        from conformance.pytest_plugin.collecting import SpecCollection  # noqa: PLC0415
        from conformance.pytest_plugin.rule_examples import example_items, suite_in  # noqa: PLC0415

        try:
            if (suite := suite_in(self.path)) is not None:
                yield from example_items(self, [suite])
                return
            collection = SpecCollection(self)
            yield from collection.example_nodes()
            if collection.is_offline:
                yield from collection.offline_nodes()
            else:
                from conformance.pytest_plugin.live_targets import live_nodes  # noqa: PLC0415  # HTTP

                yield from live_nodes(collection)
        except ConformanceError as err:
            raise self.CollectError(str(err)) from err
