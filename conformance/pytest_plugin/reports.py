"""Hooks about outcomes: where an item stands, and a letter for a verdict that is no pass."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from typing import Any

import pytest

_LETTERS = {"VACUOUS": "v", "UNTESTABLE": "u", "INCONCLUSIVE": "i", "SHOULD": "w", "MAY": "w"}
_WORD = "conformance_word"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """One item more for a baseline that all files share."""
    if "conformance.pytest_plugin.shared" not in sys.modules:
        return
    from conformance.pytest_plugin.items import stale_item  # noqa: PLC0415  # loaded by now
    from conformance.pytest_plugin.shared import pending  # noqa: PLC0415

    ledger = pending(config)
    if ledger is not None:
        items.append(stale_item(session, ledger.stale))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where an item stands, and its verdict."""
    report = yield
    told: Any = getattr(item, "told", None)
    if told is not None and report.when == "call":
        setattr(report, _WORD, str(told.word))
        if report.skipped and not hasattr(report, "wasxfail"):
            path, line, _ = item.reportinfo()
            # Else every skip would stand in the plugin's own file.
            report.longrepr = (os.fspath(path), (line or 0) + 1, told.why)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """A letter for a verdict that is no pass."""
    word = getattr(report, _WORD, None)
    if word is None or not report.skipped or hasattr(report, "wasxfail"):
        return None
    # The word stays pytest's own: its summary prints one word for all that was skipped.
    return "skipped", _LETTERS.get(word, "s"), "SKIPPED"
