"""How often the bytes of one exchange are read: each place that reads them is listed, and why."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from weakref import WeakSet

import pytest
from msgspec.structs import replace

from conformance.cassette import discover, open_recording, read, write
from conformance.core import shipped
from conformance.core.events import Exchange
from conformance.core.framing import Framer
from conformance.recordings.check import check_paths
from conformance.recordings.lint_recording import find_flaws
from conformance.targets.client import ClientOptions, run_client
from tests.fakes.chatty import Chatty
from tests.runs.conftest import Runner, run

__all__ = ["run"]

# These only hand on what somebody else reads.
_HANDING_ON = frozenset(
    {
        *("conformance.core.framing", "conformance.core.trace", "conformance.dialects.base"),
        "conformance.judging.fast.joined",
    }
)

_JUDGE = "conformance.judging.wire"

Allowed = Mapping[str, tuple[int, str]]
"""How often a module may read an exchange, and why."""


CHECK: Allowed = {
    "conformance.dialects.recognition": (1, "the first frames show the dialect"),
    "conformance.dialects.doubt": (1, "the next frames are of the dialect, too"),
    "conformance.recordings.sender": (1, "signs name the profile, which the judge needs"),
    _JUDGE: (1, "the judge"),
}
RUN: Allowed = {
    "conformance.runs.arrival": (1, "when what was said came, of the recording as it was written"),
    "conformance.judging.transcript": (1, "the answer as it came: the next turn builds on it"),
    "conformance.dialects.recognition": (1, "the first frames show the dialect of the recording"),
    _JUDGE: (1, "the judge of the recording as it was written"),
}
CLIENT: Allowed = {
    "conformance.dialects.recognition": (1, "the first frames show the dialect"),
    "conformance.dialects.doubt": (1, "the next frames are of the dialect, too"),
    "conformance.judging.transcript": (1, "what a correct client would see"),
    _JUDGE: (1, "the request that would follow is judged beside the answer"),
}


class Readings:
    """Which modules read which bytes: each framer counts once, by the first bytes it gets."""

    def __init__(self) -> None:
        self.met: list[tuple[bytes, str]] = []
        self._begun: WeakSet[Framer] = WeakSet()

    def note(self, framer: Framer, data: bytes) -> None:
        if data and framer not in self._begun:
            self._begun.add(framer)
            self.met.append((data, _reader_module()))

    def excess(self, allowed: Allowed, *exchanges: Exchange) -> list[str]:
        """What is read too often, or by nobody, in words."""
        found: list[str] = []
        for exchange in exchanges:
            times = Counter(module for data, module in self.met if exchange.body.startswith(data))
            found += [] if times else [f"nobody reads exchange {exchange.number}"]
            found += [
                f"{module} reads exchange {exchange.number} {count} times; allowed: {most}, {why}"
                for module, count in times.items()
                for most, why in [allowed.get(module, (0, "no reading"))]
                if count > most
            ]
        return found


def _reader_module() -> str:
    frame = sys._getframe(2)
    while (module := str(frame.f_globals["__name__"])) in _HANDING_ON | {__name__}:
        assert frame.f_back is not None
        frame = frame.f_back
    return _JUDGE if module.startswith("conformance.judging.fast.") else module


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    found = Readings()
    settle = Framer.settle

    def noted(framer: Framer, data: bytes, mark: object) -> Sequence[tuple[bytes, object]]:
        found.note(framer, data)
        return settle(framer, data, mark)

    monkeypatch.setattr(Framer, "settle", noted)
    return found


def cassette(name: str) -> Path:
    return shipped.cassettes() / f"{name}.cassette.jsonl"


NAMED: Allowed = {each: CHECK[each] for each in CHECK if "sender" not in each}


@pytest.mark.parametrize(
    "name", ["openai.chat/deepseek/tool-round", "openai.responses/openai/tool-round"]
)
def test_check_judges_in_one_reading(readings: Readings, name: str) -> None:
    check_paths([cassette(name)], profile="strict")
    assert readings.excess(NAMED, *read(cassette(name)).exchanges) == []


def test_check_looks_for_the_sender_once(readings: Readings, tmp_path: Path) -> None:
    path = tmp_path / "unnamed.cassette.jsonl"
    known = read(cassette("openai.chat/deepseek/tool-round"))
    write(path, replace(known, header=replace(known.header, profile=None)))
    check_paths([path])
    assert "conformance.recordings.sender" in {module for _, module in readings.met}
    assert readings.excess(CHECK, *known.exchanges) == []


def test_run_reads_its_recording_once(readings: Readings, run: Runner, tmp_path: Path) -> None:
    run(Chatty(), "tools", "history")
    taken = [each for path in discover(tmp_path) for each in read(path).exchanges]
    alike = Counter(each.body for each in taken)
    assert len(taken) > 2
    often = {module: (most * max(alike.values()), why) for module, (most, why) in RUN.items()}
    assert readings.excess(often, *taken) == []


def test_lint_reads_once(readings: Readings) -> None:
    path = cassette("openai.chat/deepseek/tool-round")
    find_flaws(open_recording(path), set())
    assert readings.excess(NAMED, *read(path).exchanges) == []


def test_a_client_is_judged_by_one_reading_of_a_recording(readings: Readings) -> None:
    adapter = (sys.executable, "-m", "reference_impl.client", "harness")
    path = cassette("openai.chat/deepseek/thinking-then-text")
    assert run_client(adapter, [path], ClientOptions(extent="quick")).cases > 1
    assert readings.excess(CLIENT, *read(path).exchanges) == []
