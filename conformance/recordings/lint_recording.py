"""What is wrong with one recording, as evidence.

Rule 1: an error is a recording that proves something else than it seems to; a warning may be meant.
Rule 2: a cassette that says what fails on it (`expect`) is broken on purpose: only its header and
what is private are looked at.
Rule 3: every kind of flaw has a code, explained in docs/recording.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from conformance.cassette import Recording
from conformance.cassette.search import MUTANTS
from conformance.core.errors import Place
from conformance.core.events import Exchange
from conformance.core.framing import framing_of
from conformance.dialects import SUPPORTED, asks_for_stream, get
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_trusted
from conformance.recordings.choices import CheckChoices
from conformance.recordings.lint_claims import claimed_word, denies_thinking, thinking_field
from conformance.recordings.lint_events import cut_events, find_splice, frame_offset
from conformance.recordings.lint_privacy import PrivacyScanner, PrivateLeftover
from conformance.rules.lint import Problem, Severity
from conformance.rules.node import nearest
from conformance.rules.verdicts import Verdict

_NO_RULES: Final = Rulebook(())
_BAD_REQUEST: Final = 400
_THINKING: Final = frozenset({"thinking.delta", "thinking.opaque"})
_NO_ANSWER: Final = frozenset({"refusal.delta", "error"})


class RecordingFlaws(NamedTuple):
    """Problems of a recording, and whether thinking is in it; None where it was not looked for."""

    problems: list[Problem]
    thinks: bool | None


def find_flaws(
    recording: Recording, rules: set[str], folders: tuple[Path, ...] = ()
) -> RecordingFlaws:
    """What is wrong with a recording. `rules` are the ids that there are, `folders` hold profiles.

    Raises ConformanceError where the recording cannot be judged at all.
    """
    lint = _RecordingLint(recording, rules, folders)
    of_header = list(lint.of_header())
    if recording.header.expect:
        return RecordingFlaws(of_header, None)
    results = check_trusted(recording, _NO_RULES, CheckChoices(folders=folders, keep=True))
    wire = {result.exchange: result for result in results if result.view == "wire"}
    return RecordingFlaws(
        [*of_header, *lint.of_exchanges(wire)], any(map(_shows_thinking, wire.values()))
    )


class _RecordingLint(Struct, frozen=True):
    recording: Recording
    rules: set[str]
    folders: tuple[Path, ...]

    def of_header(self) -> Iterator[Problem]:
        yield from self._expectation_faults()
        yield from self._private_leftovers()
        yield from self._chain_faults()

    def of_exchanges(self, wire: Mapping[int, StreamResult]) -> Iterator[Problem]:
        yield from self._clock_faults()
        for exchange in self.recording.exchanges:
            yield from self._pairing_faults(exchange)
            yield from self._cut_events(exchange, wire[exchange.number])
            yield from self._second_answers(exchange, wire[exchange.number])
        yield from self._unmet_claims(wire)

    def _make_problem(
        self,
        code: str,
        message: str,
        severity: Severity,
        exchange: Exchange | None = None,
        byte: int = -1,
    ) -> Problem:
        file = str(self.recording.path)
        line = None
        if exchange is not None:
            several = len(self.recording.exchanges) > 1
            message = f"exchange {exchange.number}: {message}" if several else message
            line = self.recording.locate(exchange.number, [byte])[0] if exchange.chunks else None
        return Problem(Place(file, line), message, severity, code)

    def _expectation_faults(self) -> Iterator[Problem]:
        expect = self.recording.header.expect
        for rule, verdict in expect.items():
            if rule not in self.rules:
                near = nearest(rule, self.rules)
                message = f"`expect` names {rule!r}, which is no rule"
                explained = f"{message} ({near})" if near else message
                yield self._make_problem("expect-rule", explained, "error")
            if verdict not in tuple(Verdict):
                wanted = ", ".join(Verdict)
                message = f"`expect` of {rule!r} is one of {wanted}, got {verdict!r}"
                yield self._make_problem("expect-verdict", message, "error")
        if expect and MUTANTS not in self.recording.path.resolve().parts:
            message = f"it fails on purpose, but is in no folder {MUTANTS!r}"
            explained = f"{message}: scans of folders will meet it"
            yield self._make_problem("expect-place", explained, "warning")

    def _private_leftovers(self) -> Iterator[Problem]:
        cassette = self.recording.cassette
        scanner = PrivacyScanner(
            cassette.header, {each.rule: each.count for each in cassette.trailer}
        )
        for left in scanner.text(json.dumps(dict(cassette.header.extra)).encode()):
            yield self._leftover_problem(left, "the header", None)
        for exchange in self.recording.exchanges:
            if exchange.request is not None:
                for left in scanner.request(exchange.request):
                    yield self._leftover_problem(left, "the request", None)
            if exchange.response is not None:
                for left in scanner.head(exchange.response.headers):
                    yield self._leftover_problem(left, "the response head", exchange)
            body = exchange.body
            for left in scanner.text(body):
                yield self._leftover_problem(left, "the body", exchange)

    def _leftover_problem(
        self, left: PrivateLeftover, where: str, exchange: Exchange | None
    ) -> Problem:
        message = f"{where} holds {left.what} (conformance.cassette.redact takes secrets out)"
        at = left.start if where == "the body" else -1
        severity: Severity = "error" if left.certain else "warning"
        return self._make_problem("private", message, severity, exchange, at)

    def _chain_faults(self) -> Iterator[Problem]:
        earlier: set[int] = set()
        for exchange in self.recording.exchanges:
            if exchange.after is not None and exchange.after not in earlier:
                message = f"`after` names exchange {exchange.after}, which does not come before it"
                yield self._make_problem("after-unknown", message, "error", exchange)
            earlier.add(exchange.number)
        header = self.recording.header
        if self.recording.kind == "cassette" and header.origin == "live":
            for exchange in self.recording.exchanges:
                if exchange.request is None:
                    message = "no request is recorded: no replay can match the exchange"
                    yield self._make_problem("request-missing", message, "warning", exchange)

    def _clock_faults(self) -> Iterator[Problem]:
        for exchange in self.recording.exchanges:
            timed = [chunk.ms is not None for chunk in exchange.chunks]
            if any(timed) and not all(timed):
                message = f"{timed.count(False)} of {len(timed)} chunks have no time"
                yield self._make_problem("times", message, "error", exchange)
            if self.recording.header.origin == "live" and len(timed) > 1 and not any(timed):
                message = "a live recording without times: no rule about timing can judge it"
                yield self._make_problem("times", message, "warning", exchange)
        if self.recording.torn:
            yield self._make_problem(
                "torn", "the recording is torn: it stops before its end", "warning"
            )

    def _pairing_faults(self, exchange: Exchange) -> Iterator[Problem]:
        request, response = exchange.request, exchange.response
        if request is None or not isinstance(request.json, Mapping) or not exchange.chunks:
            return
        refused = response is not None and (response.status or 0) >= _BAD_REQUEST
        dialect = exchange.dialect or self.recording.header.dialect
        if (known := SUPPORTED.get(dialect or "")) is not None and known.request is None:
            return  # it is only listened to: how it asks for a stream is not known
        asks = asks_for_stream(request.path, request.json, dialect)
        # An array may be a body, or a stream of its elements: the request decides.
        streams = framing_of(exchange, None if asks else "body") != "body"
        is_message = response is not None and response.is_upgrade
        if streams and not asks and not is_message:
            message = "the request does not ask for a stream, but the answer is an event stream"
            yield self._make_problem("stream", message, "error", exchange)
        elif asks and not streams and not refused:
            message = "the request asks for a stream, but the answer is a JSON body"
            yield self._make_problem("stream", message, "error", exchange)

    def _cut_events(self, exchange: Exchange, result: StreamResult) -> Iterator[Problem]:
        rebuilt = self.recording.header.fidelity == "events"
        for cut in cut_events(exchange, result.events):
            at = frame_offset(exchange, cut.number)
            if cut.is_last and exchange.end == "eof":
                message = "the last event is cut off, and the recording says that the stream ended"
                yield self._make_problem("event-cut", message, "error", exchange, at)
            elif not cut.is_last:
                message = f"event {cut.number} breaks off inside its JSON"
                severity: Severity = "error" if rebuilt else "warning"
                yield self._make_problem("event-cut", message, severity, exchange, at)

    def _second_answers(self, exchange: Exchange, result: StreamResult) -> Iterator[Problem]:
        number = find_splice(result.events, get(result.dialect).bounds)
        if number is not None and not get(result.dialect).is_application:
            message = f"a second answer begins with event {number}: record one to an exchange"
            at = frame_offset(exchange, number)
            yield self._make_problem("second-answer", message, "error", exchange, at)

    def _unmet_claims(self, wire: Mapping[int, StreamResult]) -> Iterator[Problem]:
        shown = {number for number, result in wire.items() if _shows_thinking(result)}
        name = self.recording.path.name.partition(".")[0]
        if not shown and (claim := self._thinking_claim(name)):
            message = f"{claim}, but no thinking is in it"
            yield self._make_problem("thinking-claimed", message, "error")
            return
        for exchange in () if denies_thinking(name) else self.recording.exchanges:
            result = wire[exchange.number]
            if (
                _opens_thinking(result)
                or _hides_thinking(result)
                or not _is_answered(exchange, result)
                or self._carries_on_thinking(exchange, shown)
            ):
                continue
            field = thinking_field(exchange.request) if exchange.request else ""
            if field:
                message = f"the request asks for thinking ({field}), but none is in the answer"
                yield self._make_problem("thinking-asked", message, "warning", exchange)
        for scenario in sorted({each.scenario for each in self.recording.exchanges}):
            same = {e.number for e in self.recording.exchanges if e.scenario == scenario}
            if claimed_word(scenario) and not shown & same:
                message = f"scenario {scenario!r} names thinking, but none is in its answers"
                yield self._make_problem("thinking-claimed", message, "error")

    def _carries_on_thinking(self, exchange: Exchange, shown: set[int]) -> bool:
        """Whether the model thought before in the same talk: it need not think in every turn."""
        same = (each for each in self.recording.exchanges if each.scenario == exchange.scenario)
        earlier = {each.number for each in same if each.number < exchange.number}
        return bool(earlier & shown)

    def _thinking_claim(self, name: str) -> str:
        """What says that there is thinking: the file's name, or how the recording is described."""
        if word := claimed_word(name):
            return f"the file's name says {word!r}"
        described = self.recording.header.extra.get("description")
        if isinstance(described, str) and (word := claimed_word(described)):
            return f"its description says {word!r}"
        return ""


def _opens_thinking(result: StreamResult) -> bool:
    """Whether a block of thinking was opened, be it empty."""
    return any(e.layer == "semantic" and e.type.startswith("thinking.") for e in result.events)


def _hides_thinking(result: StreamResult) -> bool:
    """Whether tokens were spent on thinking that is not shown."""
    counts = (event.data.get("reasoning") for event in result.events if event.type == "usage")
    return any(isinstance(count, int) and count > 0 for count in counts)


def _shows_thinking(result: StreamResult) -> bool:
    """Whether there is any thinking, or a block that the limit of tokens closed."""
    types = {event.type for event in result.events if event.layer == "semantic"}
    reasons = (event.data.get("reason") for event in result.events if event.type == "finish")
    return not _THINKING.isdisjoint(types) or (_opens_thinking(result) and "length" in reasons)


def _is_answered(exchange: Exchange, result: StreamResult) -> bool:
    """Whether there was an answer to look for thinking in: an end, no refusal, no error."""
    types = {event.type for event in result.events if event.layer == "semantic"}
    return exchange.end == "eof" and "finish" in types and types.isdisjoint(_NO_ANSWER)
