"""What came of cases: how many were answered, and many judgements of one exchange as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.judging.result import Finding, StreamResult
from conformance.report.wording import count
from conformance.rules.verdicts import Verdict, combine
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.client_judge import ClientJudge, ClientLedger, stream_result
from conformance.targets.client.replay_endpoint import ReplayEndpoint

_SHOWN: Final = 6  # replays that a finding names
_REASONS: Final = 3  # why cases were skipped
_TEXT_KEYS: Final = {
    **dict.fromkeys(("thinking.delta", "text.delta", "refusal.delta"), "text"),
    "tool.delta": "arguments",
}


class CaseTally(Struct):
    """Cases by op and dialect: how many were answered, and why others were skipped.

    `optional` counts those among the skipped that ask for more than a client needs to have.
    """

    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    skipped: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    optional: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count_case(
        self, op: str, dialect: str, answered: AdapterAnswer, *, is_optional: bool = False
    ) -> None:
        if answered.how == "skipped":
            self.skipped.setdefault((op, dialect), []).append(answered.why)
            self.optional[op, dialect] += is_optional
        else:
            self.answered[op, dialect] += 1

    def add_tally(self, other: CaseTally) -> None:
        """Adds what another worker counted."""
        self.answered.update(other.answered)
        self.optional.update(other.optional)
        for key, reasons in other.skipped.items():
            self.skipped.setdefault(key, []).extend(reasons)

    def refused(self) -> Iterator[tuple[tuple[str, str], list[str]]]:
        """What was never answered, and why, though some case requested no more than is due."""
        for key, reasons in sorted(self.skipped.items()):
            if not self.answered[key] and len(reasons) > self.optional[key]:
                yield key, reasons

    def skip_notes(self) -> Iterator[str]:
        """Which cases the client skipped, and why, a line for each op of a dialect."""
        for (op, dialect), reasons in sorted(self.skipped.items()):
            shown = "; ".join(list(dict.fromkeys(reasons))[:_REASONS])
            yield f"{dialect}: {count(len(reasons), 'case')} of {op} skipped by the client: {shown}"


class RecordingOutcome(Struct):
    streams: list[StreamResult] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    tally: CaseTally = field(default_factory=CaseTally)


class CaseSeries(Struct):
    """Cases of one dialect for one client: where they are put, judged and counted."""

    endpoint: ReplayEndpoint
    judging: ClientJudge
    tally: CaseTally

    @property
    def dialect(self) -> str:
        return self.judging.dialect.name

    def count_case(self, op: str, answered: AdapterAnswer, *, is_optional: bool = False) -> None:
        self.tally.count_case(op, self.dialect, answered, is_optional=is_optional)

    def result(self, place: Exchange, answered: AdapterAnswer, made: ClientLedger) -> StreamResult:
        """The line in the report for one case; of one that the client skips nothing is judged."""
        if answered.how == "skipped":
            notes = (f"not run: the client skips it: {answered.why}",)
            return stream_result(self.judging, place, ClientLedger(), notes)
        return stream_result(self.judging, place, made)


class GatheredReplays(Struct):
    """The results of the replays of one exchange, by their names; why others are left out."""

    replays: list[tuple[str, ClientLedger]] = field(default_factory=list)
    left_out: str = ""

    def add_replay(self, name: str, made: ClientLedger) -> None:
        """The judgement of one replay; that of an earlier one where the reports are equal."""
        self.replays.append((name, made))

    def combined_verdicts(self, call_of: Callable[[str], str] = lambda _: "") -> ClientLedger:
        """The ledger over all replays; findings tell in which of them they came.

        `call_of` gives the command that makes one replay again.
        """
        ledgers = list({id(made): made for _, made in self.replays}.values())
        ledger = ClientLedger()
        for rule in dict.fromkeys(rule for made in ledgers for rule in made.verdicts):
            given = [made for made in ledgers if rule in made.verdicts]
            verdict = combine(made.verdicts[rule] for made in given)
            ledger.own()
            ledger.verdicts[rule] = verdict
            first = next(made for made in given if made.verdicts[rule] is verdict)
            ledger.changes += [change for change in first.changes if change.rule == rule]
            whys = [made.reasons[rule] for made in ledgers if rule in made.reasons]
            if whys and verdict not in (Verdict.PASS, Verdict.FAIL):
                ledger.reasons[rule] = whys[0]
        found: dict[str, Finding] = {}
        for each in (finding for made in ledgers for finding in made.findings):
            found.setdefault(each.rule, each)
        ledger.findings = [self._name_replays(each, call_of) for each in found.values()]
        return ledger

    def _name_replays(self, found: Finding, call_of: Callable[[str], str]) -> Finding:
        names = [n for n, made in self.replays if any(f.rule == found.rule for f in made.findings)]
        shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        replays = count(len(self.replays), "replay")
        message = f"{found.message} (in {len(names)} of {replays}: {shown})"
        return replace(found, message=message, reproduce=call_of(names[0]))


def answer_digest(answered: AdapterAnswer) -> tuple[Any, ...]:
    """Return the content of a report, however it is cut into deltas: equal for equal answers.

    An empty delta is never joined, since it is a separate fault.
    """
    runs = groupby(enumerate(answered.events), key=_run_key)
    joined = ((key[0], "".join(_delta_text(event) for _, event in run)) for key, run in runs)
    return (answered.how, *joined)


def _run_key(numbered: tuple[int, Mapping[str, Any]]) -> tuple[str, int]:
    """Equal for neighbours that are deltas of one text; any other event stands alone."""
    number, event = numbered
    left_out = (_TEXT_KEYS.get(event["type"]), "ms")
    fields = sorted((key, value) for key, value in event.items() if key not in left_out)
    return repr(fields), -1 if _delta_text(event) else number


def _delta_text(event: Mapping[str, Any]) -> str:
    return str(event.get(_TEXT_KEYS.get(event["type"], ""), ""))
