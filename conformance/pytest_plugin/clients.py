"""`cassettes:` replayed to a client: what it says it saw is judged, not what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from conformance.judging.result import StreamResult
from conformance.pytest_plugin.collecting import Collecting, names
from conformance.pytest_plugin.live import Asked, Target, kept, nodes
from conformance.pytest_plugin.options import jobs, value
from conformance.pytest_plugin.verdicts import Told
from conformance.targets.client import RULES, ClientOptions, run_client

_FOR_SERVERS = "scenarios are asked of servers: this run has a client"


def collect(origin: Collecting, command: str) -> Iterator[pytest.Item | pytest.Collector]:
    """A node for every recording; files of scenarios are skipped, visibly."""
    spec = origin.spec
    if spec.live is not None:
        yield origin.fixed("scenarios", Told("skipped", "NO-TARGET", _FOR_SERVERS), spec.live.line)
        return
    paths = [str(origin.near(each.path)) for each in spec.cassettes]
    called = dict(zip(paths, names(spec.cassettes), strict=True))
    rules = (*(rule.id for rule in spec.rulebook.rules), *(rule.id for rule in RULES))

    def place_of(stream: StreamResult) -> str:
        return called.get(stream.file, stream.file)

    target = Target(partial(_asked, origin, command, paths), place_of, spec.cassettes[0].line)
    yield from nodes(origin, target, dict.fromkeys(called.values(), rules))


def _asked(origin: Collecting, command: str, paths: list[str]) -> Asked:
    spec = origin.spec
    options = ClientOptions(
        profile=origin.choices().profile,
        suites=spec.suites,
        rules=spec.rules,
        extent="full" if value(origin.config, "cases") == "full" else "quick",
        jobs=jobs(origin.config),
        save=kept(origin),
    )
    return Asked(run_client(command, paths, options).report)
