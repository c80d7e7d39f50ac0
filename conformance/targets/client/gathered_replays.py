"""Many judgements of one exchange made into one: a verdict per rule, a finding per rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.judging.result import Finding, VerdictChange
from conformance.report.wording import count
from conformance.rules.verdicts import Verdict, combine
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.client_judge import ClientLedger

_SHOWN: Final = 6  # replays that a finding names
_ADDED: Final = {"tool.delta": "arguments"}  # deltas -> what they add, where it is not `text`
_DELTAS: Final = frozenset({"thinking.delta", "text.delta", "refusal.delta", "tool.delta"})


@dataclass(slots=True)
class GatheredReplays:
    """What came of the replays of one exchange so far."""

    replays: int = 0
    _verdicts: dict[str, list[Verdict]] = field(default_factory=dict)
    _reasons: dict[str, str] = field(default_factory=dict)
    _first: dict[str, Finding] = field(default_factory=dict)
    _where: dict[str, list[str]] = field(default_factory=dict)
    _changes: dict[tuple[str, Verdict], list[VerdictChange]] = field(default_factory=dict)

    def add_replay(self, name: str, made: ClientLedger) -> None:
        """The judgement of one replay."""
        self.replays += 1
        for rule, verdict in made.verdicts.items():
            self._verdicts.setdefault(rule, []).append(verdict)
            changes = [change for change in made.changes if change.rule == rule]
            self._changes.setdefault((rule, verdict), changes)
        for rule, why in made.reasons.items():
            self._reasons.setdefault(rule, why)
        for rule in dict.fromkeys(found.rule for found in made.findings):
            first = next(found for found in made.findings if found.rule == rule)
            self._first.setdefault(rule, first)
            self._where.setdefault(rule, []).append(name)

    def add_repeated(self, name: str, made: ClientLedger) -> None:
        """A replay that the client told exactly as it told an earlier one."""
        self.replays += 1
        for rule in {found.rule for found in made.findings}:
            self._where.setdefault(rule, []).append(name)

    def combined_verdicts(self) -> ClientLedger:
        """ClientLedger over all replays; findings tell in which of them they came."""
        verdicts = {rule: combine(given) for rule, given in self._verdicts.items()}
        reasons = {rule: why for rule, why in self._reasons.items() if _is_unclear(verdicts, rule)}
        findings = [self._name_replays(rule, found) for rule, found in self._first.items()]
        ledger = ClientLedger()
        ledger.verdicts, ledger.reasons, ledger.findings = verdicts, reasons, findings
        for each in verdicts.items():
            ledger.changes += self._changes[each]
        return ledger

    def _name_replays(self, rule: str, found: Finding) -> Finding:
        names = self._where[rule]
        shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        answered = f"{found.message} (in {len(names)} of {count(self.replays, 'replay')}: {shown})"
        return replace(found, message=answered)


def _is_unclear(verdicts: Mapping[str, Verdict], rule: str) -> bool:
    return verdicts.get(rule) not in (None, Verdict.PASS, Verdict.FAIL)


def answer_digest(answered: AdapterAnswer) -> tuple[Any, ...]:
    """What a client told, however it was cut into deltas: equal for equal answers.

    An empty delta is never joined, since it is a fault of its own.
    """
    return (answered.how, *_joined_deltas(answered.events))


def _joined_deltas(events: Iterable[Mapping[str, Any]]) -> Iterable[tuple[Any, str]]:
    before: Any = None
    parts: list[str] = []
    for event in events:
        kind = str(event["type"])
        name = _ADDED.get(kind, "text")
        text = event.get(name) if kind in _DELTAS else None
        place = {key: value for key, value in event.items() if key not in (name, "ms")}
        if text and place == before:
            parts.append(str(text))
            continue
        if before is not None:
            yield _sorted_fields(before), "".join(parts)
        if not text:
            place = dict(event)
            place.pop("ms", None)
        before, parts = place, [str(text)] if text else []
        if kind in _DELTAS and not text:
            yield _sorted_fields(place), ""
            before, parts = None, []
    if before is not None:
        yield _sorted_fields(before), "".join(parts)


def _sorted_fields(place: Mapping[str, Any]) -> str:
    return repr(sorted(place.items()))
