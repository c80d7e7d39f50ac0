"""What is slow, and what runs first. No test asserts a time: machines are slow at times."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
from collections import defaultdict
from collections.abc import Generator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import pytest
from hypothesis import settings

from conformance.core import own_keys
from conformance.core.excerpts import now_about
from tests import costs

GARBAGE = 100_000
"""Objects that are made between two looks for garbage; a few tests leave so many, most few."""

LONG: Final = 5.0
"""Seconds of processor time; a case that takes more of them begins before the others."""

pytest_plugins = ["pytester"]

QUICK_EXAMPLES: Final = 30
"""Examples that hypothesis draws in `make test`; in `make test-slow` and CI it draws a hundred."""

settings.register_profile("untimed", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=QUICK_EXAMPLES)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    costs.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    costs.record_if_asked(config)
    if "not slow" in config.option.markexpr:
        settings.load_profile("quick")
        _draw_no_literals()
    gc.disable()  # nearly all that collection makes stays


def _draw_no_literals() -> None:
    """Hypothesis also draws literals of our modules, and parses all of them: 6 s of each process.

    It still does so in `make test-slow` and CI.
    """
    with suppress(ImportError, AttributeError):  # an older one reads none
        providers: Any = import_module("hypothesis.internal.conjecture.providers")
        none = providers._local_constants
        providers._get_local_constants = lambda: none


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A module that is slow as a whole is not even imported where slow tests are left out.

    Torch and the clients of providers take seconds of each process.
    """
    if collection_path.suffix != ".py" or "not slow" not in config.option.markexpr:
        return None
    text = collection_path.read_text(encoding="utf-8")
    return "\npytestmark = pytest.mark.slow\n" in text or None


@pytest.fixture(autouse=True)
def _knows_no_secret() -> None:
    """What one test sent, or named a key, is no secret of the next: looking for it takes time."""
    now_about(None)
    own_keys.KEYS.clear()
    own_keys.NAMES.clear()


@pytest.fixture(autouse=True, scope="session")
def _outside_ci() -> Generator[None]:
    """Under CI a run without a profile is an error: tests do not depend on where they run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)
        yield


@pytest.fixture(scope="session")
def captures() -> Path:
    """The folder of real recordings."""
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        pytest.skip("CONFORMANCE_CAPTURES names no folder of recordings")
    return Path(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine function runs in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Marks as slow what every run cannot afford, before others select and sort."""
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        families[item.nodeid.partition("[")[0]].append(item)
    known = costs.known_costs()
    for name, family in families.items():
        for item in _left_out(family, known.get(name)):
            item.add_marker(pytest.mark.slow)
    yield
    # One that began last would leave the other processes idle.
    items.sort(key=lambda item: not _is_long(item, known))


def pytest_collection_finish() -> None:
    """What was imported and collected stays: looking through it time and again took a sixth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)
    gc.enable()


def pytest_sessionfinish() -> None:
    """One look at what the last tests left; pytest and Python would look through all six times."""
    gc.collect()
    gc.freeze()


def _is_long(item: pytest.Item, known: Mapping[str, tuple[float, int]]) -> bool:
    seconds, cases = known.get(item.nodeid.partition("[")[0], (0.0, 1))
    return item.get_closest_marker("first") is not None or seconds / cases > LONG


def _left_out(family: list[pytest.Item], cost: tuple[float, int] | None) -> list[pytest.Item]:
    """The cases that only `make test-slow` runs, chosen by name: a new case moves few others."""
    marker = family[0].get_closest_marker("one_in")
    kept = -(-len(family) // marker.args[0]) if marker else len(family)
    if cost and not family[0].get_closest_marker("every_run"):
        kept = min(kept, costs.affordable(*cost))
    family.sort(key=lambda item: crc32(item.nodeid.partition("[")[2].encode()))
    return family[kept:]
