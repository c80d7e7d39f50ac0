"""What is wrong with one recording, as evidence.

Rule 1: an error is a recording that proves something else than it seems to; a warning may be meant.
Rule 2: a cassette that says what fails on it (`expect`) is broken on purpose: only its header and
what is private are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.cassette import Recording
from conformance.cassette.recording import MUTANTS
from conformance.check.claims import asked, denied, named
from conformance.check.identifiers import Leftover, Scanner
from conformance.check.recordings import Choices, check_recording
from conformance.check.result import StreamResult
from conformance.check.rulebook import Rulebook
from conformance.check.splices import splice
from conformance.check.trace import decode, frames, is_body
from conformance.dialects.base import NOT_JSON
from conformance.errors import Place
from conformance.events import Exchange, Frame
from conformance.rules.lint import Problem, Severity
from conformance.rules.node import nearest
from conformance.rules.verdicts import Verdict

_NO_RULES: Final = Rulebook(())
_BAD_REQUEST: Final = 400
_NO_ANSWER: Final = frozenset({"refusal.delta", "error"})


def flaws(recording: Recording, rules: set[str], folders: tuple[Path, ...] = ()) -> list[Problem]:
    """Problems of a recording. `rules` are the ids that there are, `folders` hold profiles.

    Raises ConformanceError where the recording cannot be judged at all.
    """
    return list(_Lint(recording, rules, folders).problems())


@dataclass(frozen=True, slots=True)
class _Lint:
    """One recording under the lint."""

    recording: Recording
    rules: set[str]
    folders: tuple[Path, ...]

    def problems(self) -> Iterator[Problem]:
        yield from self._expectations()
        yield from self._leftovers()
        yield from self._chain()
        if self.recording.header.expect:
            return
        choices = Choices(folders=self.folders, keep=True)
        results = check_recording(self.recording, _NO_RULES, choices)
        wire = {result.exchange: result for result in results if result.view == "wire"}
        yield from self._clocks()
        for exchange in self.recording.exchanges:
            yield from self._pairing(exchange)
            yield from self._ending(exchange)
            yield from self._splices(exchange, wire[exchange.number])
        yield from self._claims(wire)

    def _problem(
        self, message: str, severity: Severity, exchange: Exchange | None = None, byte: int = -1
    ) -> Problem:
        file = str(self.recording.path)
        line = None
        if exchange is not None:
            several = len(self.recording.exchanges) > 1
            message = f"exchange {exchange.number}: {message}" if several else message
            line = self.recording.locate(exchange.number, [byte])[0] if exchange.chunks else None
        return Problem(Place(file, line), message, severity)

    def _expectations(self) -> Iterator[Problem]:
        expect = self.recording.header.expect
        for rule, verdict in expect.items():
            if rule not in self.rules:
                near = nearest(rule, self.rules)
                message = f"`expect` names {rule!r}, which is no rule"
                yield self._problem(f"{message} ({near})" if near else message, "error")
            if verdict not in tuple(Verdict):
                wanted = ", ".join(Verdict)
                message = f"`expect` of {rule!r} is one of {wanted}, got {verdict!r}"
                yield self._problem(message, "error")
        if expect and MUTANTS not in self.recording.path.resolve().parts:
            message = f"it fails on purpose, but lies in no folder {MUTANTS!r}"
            yield self._problem(f"{message}: scans of folders will meet it", "warning")

    def _leftovers(self) -> Iterator[Problem]:
        cassette = self.recording.cassette
        scanner = Scanner(cassette.header, {each.rule: each.count for each in cassette.trailer})
        for exchange in self.recording.exchanges:
            if exchange.request is not None:
                for left in scanner.request(exchange.request):
                    yield self._leftover(left, "the request", None)
            if exchange.response is not None:
                for left in scanner.head(exchange.response.headers):
                    yield self._leftover(left, "the response head", exchange)
            body = b"".join(chunk.data for chunk in exchange.chunks)
            for left in scanner.text(body):
                yield self._leftover(left, "the body", exchange)

    def _leftover(self, left: Leftover, where: str, exchange: Exchange | None) -> Problem:
        message = f"{where} holds {left.what} (conformance.cassette.redact takes secrets out)"
        at = left.start if where == "the body" else -1
        return self._problem(message, "error" if left.certain else "warning", exchange, at)

    def _chain(self) -> Iterator[Problem]:
        earlier: set[int] = set()
        for exchange in self.recording.exchanges:
            if exchange.after is not None and exchange.after not in earlier:
                message = f"`after` names exchange {exchange.after}, which does not come before it"
                yield self._problem(message, "error", exchange)
            earlier.add(exchange.number)
        header = self.recording.header
        if self.recording.kind == "cassette" and header.origin == "live":
            for exchange in self.recording.exchanges:
                if exchange.request is None:
                    message = "no request is recorded: no replay can match the exchange"
                    yield self._problem(message, "warning", exchange)

    def _clocks(self) -> Iterator[Problem]:
        fidelity = self.recording.header.fidelity
        for exchange in self.recording.exchanges:
            timed = [chunk.ms is not None for chunk in exchange.chunks]
            if any(timed) and fidelity == "events":
                message = "chunks have times, but fidelity 'events' says that they were rebuilt"
                yield self._problem(message, "error", exchange)
            if any(timed) and not all(timed):
                message = f"{timed.count(False)} of {len(timed)} chunks have no time"
                yield self._problem(message, "error", exchange)
            if self.recording.header.origin == "live" and len(timed) > 1 and not any(timed):
                message = "a live recording without times: no rule about timing can judge it"
                yield self._problem(message, "warning", exchange)
        if self.recording.torn:
            yield self._problem("the recording is torn: it stops before its end", "warning")

    def _pairing(self, exchange: Exchange) -> Iterator[Problem]:
        request, response = exchange.request, exchange.response
        if request is None or not isinstance(request.json, Mapping) or not exchange.chunks:
            return
        refused = response is not None and (response.status or 0) >= _BAD_REQUEST
        streams = not is_body(response, exchange.chunks[0].data)
        if streams and not request.json.get("stream"):
            message = "the request does not ask for a stream, but the answer is an event stream"
            yield self._problem(message, "error", exchange)
        elif request.json.get("stream") is True and not streams and not refused:
            message = "the request asks for a stream, but the answer is a JSON body"
            yield self._problem(message, "error", exchange)

    def _ending(self, exchange: Exchange) -> Iterator[Problem]:
        last = None
        for frame, _ in frames(exchange):
            last = last if frame.kind == "comment" else frame
        if last is not None and exchange.end == "eof" and _is_cut(last):
            message = "the last event is cut off, and the recording says that the stream ended"
            yield self._problem(message, "error", exchange, last.offset)

    def _splices(self, exchange: Exchange, result: StreamResult) -> Iterator[Problem]:
        number = splice(result.events)
        if number is not None:
            every = enumerate(frames(exchange), 1)
            at = next((frame.offset for n, (frame, _) in every if n == number), -1)
            message = "a second answer begins after the first has ended: record one to an exchange"
            yield self._problem(message, "error", exchange, at)

    def _claims(self, wire: Mapping[int, StreamResult]) -> Iterator[Problem]:
        shown = {number for number, result in wire.items() if _thinks(result)}
        name = self.recording.path.name.partition(".")[0]
        word = named(name)
        if word and not shown:
            yield self._problem(f"the file's name says {word!r}, but no thinking is in it", "error")
            return
        for exchange in () if denied(name) else self.recording.exchanges:
            if exchange.number in shown or not _answered(exchange, wire[exchange.number]):
                continue
            field = asked(exchange.request) if exchange.request else ""
            if field:
                message = f"the request asks for thinking ({field}), but none is in the answer"
                yield self._problem(message, "warning", exchange)
        for scenario in sorted({each.scenario for each in self.recording.exchanges}):
            same = {e.number for e in self.recording.exchanges if e.scenario == scenario}
            if named(scenario) and not shown & same:
                message = f"scenario {scenario!r} names thinking, but none is in its answers"
                yield self._problem(message, "error")


def _is_cut(frame: Frame) -> bool:
    """Whether an event breaks off inside its JSON; a missing blank line alone is no cut."""
    if frame.kind == "ignored":
        if frame.event != "unfinished":
            return False
        lines = (line.partition(":") for line in frame.data.splitlines())
        data = "\n".join(value.removeprefix(" ") for name, _, value in lines if name == "data")
    else:
        data = frame.data
    return data[:1] in ("{", "[") and data != "[DONE]" and decode(data) is NOT_JSON


def _thinks(result: StreamResult) -> bool:
    return any(e.layer == "semantic" and e.type.startswith("thinking.") for e in result.events)


def _answered(exchange: Exchange, result: StreamResult) -> bool:
    """Whether there was an answer to look for thinking in: an end, no refusal, no error."""
    types = {event.type for event in result.events if event.layer == "semantic"}
    return exchange.end == "eof" and "finish" in types and types.isdisjoint(_NO_ANSWER)
