"""Runs a preset under a profile, as a user would, and gives the report of the run."""

from __future__ import annotations

import asyncio
import contextlib
import io
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from conformance.cli import main
from conformance.core import shipped
from conformance.profiles.lookup import available
from conformance.report import json
from conformance.runs import RunOptions, RunOutcome, run_server
from conformance.scenarios import load_scenarios
from conformance.systems import Preset, ReportStream, read_streams
from conformance.targets import asgi
from conformance.targets.gateway import serve_upstream
from conformance.targets.server import LiveServer
from reference_impl.client.wire import Api
from reference_impl.model import folder
from reference_impl.server.app import application
from reference_impl.server.engine import Engine
from reference_impl.server.service import Service
from reference_impl.server.settings import LIKENESSES, Settings
from tests.fakes.translating import Translator
from tests.reference.defective import app

REFERENCE: Final = "reference"  # without --like
# Presets that are recordings which ship, judged by `check`: the dialect of these.
RECORDINGS: Final = {"recordings": "openai.chat", "rpc-recordings": "opal.rpc"}
_ASGI: Final = "tests.reference.defective:app"
_CLIENT: Final = (sys.executable, "-m", "reference_impl.client", "harness")
_CODES: Final = (0, 1)
# Presets, and those with one choice more.
SERVERS: Final[Mapping[str, Settings]] = {
    **LIKENESSES,
    "neuron-may-field": replace(LIKENESSES["neuron-may"], include_field="extra.include_thinking"),
    "ogx-streamed-unstated": replace(LIKENESSES["ogx-streamed"], summary_text_done=False),
}
# Those that the documents of servers speak of.
_BEHIND: Final[tuple[Api, ...]] = ("chat", "responses")
_APIS: Final = {"openai.chat": "chat", "openai.responses": "responses"}


class _Finding(msgspec.Struct, frozen=True):
    rule: str


class _Judged(msgspec.Struct, frozen=True):
    findings: tuple[_Finding, ...]


class _Report(msgspec.Struct, frozen=True):
    streams: tuple[_Judged, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of one run: the exchanges with their verdicts, and the rules that were broken."""

    streams: tuple[ReportStream, ...] = ()
    broken: frozenset[str] = frozenset()

    def __add__(self, other: Ran) -> Ran:
        return Ran(self.streams + other.streams, self.broken | other.broken)


@contextlib.contextmanager
def presets() -> Iterator[Callable[[Preset, str], Ran]]:
    """A way to run presets; the model is loaded when the first server is asked for."""
    with contextlib.ExitStack() as stack:
        engines: list[Engine] = []
        known: dict[tuple[str, str], Ran] = {}

        def once(preset: Preset, profile: str) -> Ran:
            cell = preset.name, profile
            if cell not in known:
                known[cell] = ran(preset, profile)
            return known[cell]

        def ran(preset: Preset, profile: str) -> Ran:
            if (dialect := RECORDINGS.get(preset.name)) is not None:
                return _judged("check", str(shipped.cassettes() / dialect / profile))
            if preset.side == "client":
                return _judged("run", *_client(preset.name), "--profile", profile)
            if not engines:
                engines.append(Engine.load(folder(), device="cpu"))
                stack.callback(engines[0].close)
            app.inner = application(Service(engines[0], settings=SERVERS[preset.name]))
            served = _judged("run", "--asgi", _ASGI, *_apis(profile), "--profile", profile)
            if preset.is_gateway and profile == preset.profile:
                return served + _between(preset.name, profile)
            return served

        yield once


def _client(name: str) -> tuple[str, ...]:
    like = () if name == REFERENCE else ("--like", name)
    return ("--client", shlex.join((*_CLIENT, *like)), "--cases", "quick")


def _apis(profile: str) -> Iterator[str]:
    """The APIs that a profile is there for."""
    spoken = {dialect for name, dialect, _ in available() if name == profile}
    for dialect, api in _APIS.items():
        if dialect in spoken:
            yield from ("--api", api)


def _between(name: str, profile: str) -> Ran:
    """The preset as a gateway to a server of Chat Completions, and to one of Responses."""
    found = Ran()
    for upstream in _BEHIND:
        gateway = Translator(upstream, settings=SERVERS[name])
        with tempfile.TemporaryDirectory() as work:
            outcome = asyncio.run(_through(gateway, profile, Path(work)))
            report = Path(work) / "report.json"
            report.write_text(json.render(outcome.report), encoding="utf-8")
            found += _ran(report)
    return found


async def _through(gateway: Translator, profile: str, folder: Path) -> RunOutcome:
    options = RunOptions(model=gateway.model_id, dialects=("openai.responses",), profile=profile)
    # These systems skip the wish for sealed thinking in silence, which that scenario finds.
    asked = [each for each in load_scenarios() if each.name != "gateway-sealed"]
    async with serve_upstream(0) as upstream:
        gateway.upstream = f"http://127.0.0.1:{upstream.port}/v1"
        async with LiveServer(asgi.URL, transport=asgi.AsgiTransport(gateway)) as server:
            return await run_server(server, asked, options, folder, upstream=upstream)


def _judged(*arguments: str) -> Ran:
    with tempfile.TemporaryDirectory() as work:
        report = Path(work) / "report.json"
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = main([*arguments, "-o", f"json={report}"])
        assert code in _CODES, printed.getvalue()[-2000:]
        return _ran(report)


def _ran(report: Path) -> Ran:
    found = msgspec.json.decode(report.read_bytes(), type=_Report)
    broken = {finding.rule for stream in found.streams for finding in stream.findings}
    return Ran(read_streams(report), frozenset(broken))
